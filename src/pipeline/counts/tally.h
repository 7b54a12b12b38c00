/* SPDX-License-Identifier: BSD-2-Clause */
/* tally: adds up what probes counted in the kernel, and derives the counts of all edges. */
#ifndef BBTRACE_PIPELINE_COUNTS_TALLY_H
#define BBTRACE_PIPELINE_COUNTS_TALLY_H

#include "cli/request.h"
#include "plan/counting/counting.h"

struct tally;
/* plan and trace, which resolves addresses, must outlive the tally. */
struct tally *tally__new(const struct plan *plan, struct trace *trace);
void tally__free(struct tally *t);
/* Adds a count. Its target is resolved at once. Returns 0, or -errno with a message. */
int tally__add(struct tally *t, const struct count *n);
/* A process is about to get this mapping, or has ended its program. Earlier counts may be passed
 * on before or after this call: so a target that would get another name by it has none. */
void tally__map(struct tally *t, const struct spaces *spaces, uint32_t pid, const struct map *m);
void tally__end_program(struct tally *t, uint32_t pid);
/* A signal interrupted the thread in its program. */
void tally__signal(struct tally *t, const struct event *e);
/* A signal's handler returned. */
void tally__resume(struct tally *t, const struct event *e);
/* A thread ended. */
void tally__end_thread(struct tally *t, const struct event *e);
/* This number of threads may have been between two counters when counting began or ended. */
void tally__cut(struct tally *t, uint64_t threads);
/* Passes the counts of all edges to the output. */
void tally__give(struct tally *t, struct output *o);
/* Passes the counts that were given last to another output, too. */
void tally__pass(const struct tally *t, struct output *o);
/* Returns what was counted between the last call of this and the last tally__give(), for a file
 * of which each part has a name (tally_part.c). Valid until the next call. */
struct edge_counts tally__part(struct tally *t);
/* Returns what the probes counted, by site. */
const struct site_count *tally__counted(const struct tally *t);
/* Notes that the probe of this site was removed. */
void tally__retire(struct tally *t, uint32_t site);
/* Sets all counts to 0. */
void tally__reset(struct tally *t);
/*
 * A change of the functions that are counted (tally_change.c). Call tally__plan_changes() before
 * the plan is extended: counts of its PROBE_CHANGING sites are dropped. Call tally__plan_changed()
 * when all probes are in place and their counts were added, before plan_change__end(): the counts
 * so far are solved by the old plan.
 */
void tally__plan_changes(struct tally *t);
void tally__plan_changed(struct tally *t);
/* Returns the number of all hits that were counted. */
uint64_t tally__hits(const struct tally *t);
/* Sets the number of events and what is uncertain about them, as they were given last. */
void tally__totals(const struct tally *t, struct trace_totals *totals);

#endif
