// SPDX-License-Identifier: BSD-2-Clause
/* The table of a run's counters, as the summary line, and as members of a JSON object. */
#include "paint.h"
#include "totals.h"

#define TOTAL_AS(text, member)                                                                     \
	.name = (text), .key = JSON_KEY(text), .offset = offsetof(struct trace_totals, member)
#define TOTAL(member) TOTAL_AS(#member, member)

const struct total totals[] = {
	{TOTAL(functions), .before = "bbtrace: ", .after = " functions", .one = " function"},
	{TOTAL(probes), .before = ", ", .after = " probes", .one = " probe"},
	{TOTAL(skipped), .before = " (", .after = " skipped)"},
	{TOTAL(events), .before = ", ", .after = " events", .one = " event"},
	{TOTAL(lost), .before = ", ", .after = " lost", .bound = true},
	{TOTAL(at_least), .flag = true},
	{TOTAL(unmatched_returns), .before = ", ", .after = " unmatched returns",
	 .one = " unmatched return"},
	{TOTAL(unseen_tail_returns), .before = ", ", .after = " unseen returns of tail calls",
	 .rare = true},
	{TOTAL(open_calls), .before = ", ", .after = " calls still open", .one = " call still open",
	 .rare = true, .nonzero = true},
	{TOTAL(ended_calls), .nonzero = true},
	{TOTAL(unknown)},
	{TOTAL(unmet), .before = ", ", .after = " invocations left out by --if",
	 .one = " invocation left out by --if", .rare = true, .nonzero = true},
	{TOTAL(unjudged), .before = ", ", .after = " left out that --if can't judge", .rare = true,
	 .nonzero = true},
	{TOTAL(undecided), .before = ", ", .after = " shown before --if could judge", .rare = true,
	 .nonzero = true},
	{TOTAL(undecoded), .before = ", ", .after = " of ", .rare = true},
	{TOTAL(code), .before = "", .after = " bytes not decoded", .second = true},
	{TOTAL(unknown_code), .before = ", ", .after = " of ", .rare = true, .nonzero = true},
	{TOTAL(all_code), .before = "", .after = " bytes of code in no known function",
	 .second = true, .nonzero = true},
	{TOTAL_AS("missed_at_most", missed), .before = ", at most ",
	 .after = " hits missed, of all processes", .one = " hit missed, of all processes",
	 .rare = true},
	{TOTAL_AS("untraced_processes", untraced), .before = ", ",
	 .after = " processes not fully traced", .one = " process not fully traced", .rare = true,
	 .nonzero = true},
	{TOTAL(named), .before = ", ", .after = " named events", .one = " named event",
	 .rare = true, .nonzero = true},
	{TOTAL(residue), .before = ", counts contradict each other by ", .after = "", .rare = true,
	 .nonzero = true},
	{TOTAL(stops), .before = ", ", .after = " stops (", .one = " stop (", .rare = true,
	 .nonzero = true},
	{TOTAL(stopped_ms), .before = "", .after = " ms)", .second = true, .nonzero = true},
	{TOTAL(cut), .before = ", up to ", .after = " counts open", .one = " count open",
	 .rare = true, .nonzero = true},
	{TOTAL(hits), .nonzero = true},
	{TOTAL_AS("tracing_ns", tracing), .nonzero = true},
	{TOTAL_AS("hits_unpriced", unpriced), .nonzero = true},
};
const size_t ntotals = ARRAY_SIZE(totals);

bool totals__tracing(const struct trace_totals *t, struct str *s)
{
	if (t->hits) {
		str__printf(s, "about %llu hits x ", (unsigned long long)t->hits);
		put_duration(s, t->tracing / t->hits);
		str__puts(s, " = ");
		put_duration(s, t->tracing);
		str__puts(s, " of tracing");
	}
	if (t->unpriced)
		str__printf(s, "%s%llu %shit%s%s", t->hits ? "; the cost of " : "tracing: ",
			    (unsigned long long)t->unpriced, t->hits ? "more " : "",
			    t->unpriced == 1 ? "" : "s",
			    t->hits ? " is not known" : ", whose cost is not known");
	return t->hits || t->unpriced;
}

void totals__text(const struct trace_totals *t, struct str *s)
{
	bool said = true;

	for (const struct total *row = totals; row < totals + ntotals; row++) {
		said = row->before && (row->second ? said : !row->rare || total__of(row, t));
		if (!said)
			continue;
		str__puts(s, row->before);
		str__puts(s, row->bound && t->at_least ? "at least " : "");
		str__dec(s, total__of(row, t));
		str__puts(s, row->one && total__of(row, t) == 1 ? row->one : row->after);
	}
}

void totals__json(const struct trace_totals *t, struct json *j)
{
	for (const struct total *row = totals; row < totals + ntotals; row++) {
		uint64_t value = total__of(row, t);

		if ((row->flag || row->nonzero) && !value)
			continue;
		json__put_key(j, row->key);
		if (row->flag)
			json__bool(j, true);
		else
			json__unsigned(j, value);
	}
}
