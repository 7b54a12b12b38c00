/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counted: what copied functions count (PROBE_INLINE_COUNT): executions by the counters of their
 * threads, the targets of indirect branches by records. Private to src/source/inline.
 */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_COUNTED_H
#define BBTRACE_SOURCE_INLINE_MERGE_COUNTED_H

#include "source/inline/logs/rings.h"
#include "source/source.h"

struct counted;
struct counted *counted__new(const struct plan *plan, const struct copies *copies,
			     struct rings *rings);
void counted__free(struct counted *c);
/* A sink that counts the records of sites that only count, and passes on all else to sink, which
 * must outlive it. Targets are reported before the process that they belong to execs or ends. */
struct source_sink counted__sink(struct counted *c, const struct source_sink *sink);
/* What is counted until counted__go_on() is never reported. */
void counted__hold(struct counted *c);
void counted__go_on(struct counted *c);
/* Reports what was counted since the last time. Returns 0, or what sink returned. */
int counted__report(struct counted *c, const struct source_sink *sink);

#endif
