// SPDX-License-Identifier: BSD-2-Clause
/*
 * Edges as text (-c): one line for each branch with its taken and not-taken counts, and the targets
 * of indirect branches and rets.
 */
#include "output/stats/edges.h"
#include "text.h"

static void put_name(struct str *out, const struct location *at)
{
	if (at->symbol)
		str__shown(out, at->symbol);
	else
		str__shown(out, at->object ? at->object : "?");
	str__printf(out, "+0x%llx",
		    (unsigned long long)(at->symbol   ? at->offset
					 : at->object ? at->vaddr
						      : at->addr));
}

static void put_count(struct output *o, const char *before, uint64_t count, bool low)
{
	str__puts(&o->buffer, before);
	if (count == COUNT_UNKNOWN)
		str__puts(&o->buffer, "?");
	else
		str__printf(&o->buffer, "%llu%s", (unsigned long long)count, low ? "+" : o->more);
}

static void put_target(struct output *o, uint64_t count)
{
	str__printf(&o->buffer, "    %10llu%s -> ", (unsigned long long)count, o->more);
}

static void put_edge(struct output *o, const struct plan_site *s, const struct location *at,
		     const struct stats_site *counts)
{
	const struct src *src = src__of(o, s->object, s->vaddr);
	struct str *out = &o->buffer;
	size_t line = out->len;
	const struct stats_target *t;

	put_name(out, at);
	str__printf(out, "  %s  ", s->mnemonic);
	put_count(o, plan_site__is_conditional(s) ? "taken " : "", counts->taken,
		  counts->low & LOW_TAKEN);
	if (plan_site__is_conditional(s))
		put_count(o, ", not taken ", counts->not_taken, counts->low & LOW_NOT_TAKEN);
	if (s->refusal != PROBE_OK)
		str__printf(out, "  [no probe: %s]", probe_refusal_text[s->refusal]);
	if (src)
		src__put_cell(o, line, 0, &src->text);
	str__putc(out, '\n');
	vec__each (t, &counts->targets) {
		put_target(o, t->count);
		put_name(out, &t->to);
		str__putc(out, '\n');
	}
	if (counts->more) {
		put_target(o, counts->more);
		str__puts(out, "further targets\n");
	}
	if (counts->unknown_target) {
		put_target(o, counts->unknown_target);
		str__puts(out, "where to is not known\n");
	}
}

static void put_left_out(struct output *o, const struct edges_zero *zero)
{
	struct str *out = &o->buffer;

	if (!zero->branches)
		return;
	str__printf(out, "-- not shown: %llu branch%s with the count 0%s",
		    (unsigned long long)zero->branches, zero->branches == 1 ? "" : "es", o->more);
	if (zero->functions)
		str__printf(out, ", among them all those of %llu function%s",
			    (unsigned long long)zero->functions, zero->functions == 1 ? "" : "s");
	str__puts(out, " (--all)\n");
}

static int put_edges(struct output *o)
{
	struct edges_zero zero = {0};
	int err = edges__put(o, put_edge, o->options.zeros ? NULL : &zero);

	put_left_out(o, &zero);
	return err;
}

static int interval_text(struct output *o, uint64_t time, const struct trace_totals *t)
{
	int err = put_edges(o);

	put_elapsed(o, time, t);
	return err;
}

static int end_text(struct output *o, const struct trace_totals *t)
{
	struct str missing = {0};
	int err = put_edges(o);

	if (totals__are_low(t) && stats__missing(o->state, t, &missing))
		str__printf(&o->buffer, "Missing: %s.\n", missing.data);
	str__free(&missing);
	return err;
}

const struct output_format output_text_counted = {
	.name = "text",
	.cuts = true,
	.form = FORM_TEXT,
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.help = "edges",
	.size = sizeof(struct stats),
	.covers = COVERS,
	AGGREGATES,
	.count = aggregate__count,
	.interval = interval_text,
	.end = end_text,
};
