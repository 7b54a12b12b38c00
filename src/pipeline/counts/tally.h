/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally: what probes counted in the kernel, added up, and from that the counts of all edges.
 */
#ifndef BBTRACE_PIPELINE_COUNTS_TALLY_H
#define BBTRACE_PIPELINE_COUNTS_TALLY_H

#include "cli/request.h"
#include "plan/counting/counting.h"

struct tally;
/* plan and trace, which resolves addresses, must outlive it. */
struct tally *tally__new(const struct plan *plan, struct trace *trace);
void tally__free(struct tally *t);
/* Something was counted. Its target is resolved at once. */
int tally__add(struct tally *t, const struct count *n);
/* A process is about to get this mapping, or has ended its program: what was counted before is
 * passed on before or after that, so targets that it gives another name have none. */
void tally__map(struct tally *t, const struct spaces *spaces, uint32_t pid, const struct map *m);
void tally__end_program(struct tally *t, uint32_t pid);
/* A signal found the thread in its program. */
void tally__signal(struct tally *t, const struct event *e);
/* A signal's handler returned. */
void tally__resume(struct tally *t, const struct event *e);
/* A thread ended. */
void tally__end_thread(struct tally *t, const struct event *e);
/* So many threads may have been between two counters when counting began or ended. */
void tally__cut(struct tally *t, uint64_t threads);
/* Passes the counts of all edges to the output. */
void tally__give(struct tally *t, struct output *o);
/* Passes the counts that were given last to another output, too. */
void tally__pass(const struct tally *t, struct output *o);
/*
 * What was counted between the last call of this and the last tally__give(), for a file of which
 * each part has a name (tally_part.c). It is valid until the next call.
 */
struct edge_counts tally__part(struct tally *t);
/* What the probes counted, by site. */
const struct site_count *tally__counted(const struct tally *t);
/* The probe of this site was removed. */
void tally__retire(struct tally *t, uint32_t site);
/* Begins with 0 again. */
void tally__reset(struct tally *t);
/*
 * Other functions are counted from a moment on (tally_change.c). Call tally__plan_changes() before
 * the plan is extended: what is counted of its PROBE_CHANGING sites is dropped;
 * tally__plan_changed() when all probes are in place and their counts were added, before
 * plan_change__end(): so far they are what the plan before tells.
 */
void tally__plan_changes(struct tally *t);
void tally__plan_changed(struct tally *t);
/* All hits that were counted. */
uint64_t tally__hits(const struct tally *t);
/* Fills in the events and what is not certain about them, as they were given last. */
void tally__totals(const struct tally *t, struct trace_totals *totals);

#endif
