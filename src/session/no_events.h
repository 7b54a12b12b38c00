/* SPDX-License-Identifier: BSD-2-Clause */
/* no_events: explains why a trace has no events. */
#ifndef BBTRACE_SESSION_NO_EVENTS_H
#define BBTRACE_SESSION_NO_EVENTS_H

#include "live.h"

/* Print a note if no event was shown: of a live trace that has ended, of a file that was read. */
void no_events__explain_live(const struct request *req, const struct trace_meta *meta,
			     struct live *l, const struct source *source);
void no_events__explain_report(const struct trace_meta *meta, struct show *s);
/* Says what is missing while the trace continues without an event. reports_calls: events are
 * read while they happen. */
void no_events__explain_early(const struct request *req, struct live *l,
			      const struct source *source, bool reports_calls);
/* Returns true, after a note, if the functions may have run but could be traced in no process. */
bool no_events__report_untraced(struct show *s, const struct source *source);

#endif
