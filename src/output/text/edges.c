// SPDX-License-Identifier: BSD-2-Clause
/*
 * Edges (-c): one line per branch with its taken and not-taken counts, and the targets of indirect
 * branches and rets, as text and JSON. Not rows of output_formats: they replace text and json.
 */
#include "output/base/fields.h"
#include "output/stats/stats.h"

static struct location place_of(const struct output *o, uint32_t site)
{
	const struct plan_site *s = &o->plan->sites.data[site];
	struct location at = {.object = o->plan->objects.data[s->object].path, .vaddr = s->vaddr};

	at.symbol = plan__name_at(o->plan, s->function, s->vaddr, &at.offset);
	return at;
}

static void put_targets_json(struct json *j, const struct stats_site *counts)
{
	const struct stats_target *t;

	json__key(j, "targets");
	json__open_array(j);
	vec__each (t, &counts->targets) {
		json__open_object(j);
		json__key(j, "to");
		json__put_place_value(j, &t->to);
		json__member(j, unsigned, "count", t->count);
		json__close_object(j);
	}
	json__close_array(j);
}

static void put_json(struct output *o, const struct plan_site *s, const struct location *at,
		     const struct stats_site *counts)
{
	const struct src *src = src__of(o, s->object, s->vaddr);
	struct json j = {.out = &o->buffer};

	json__open_object(&j);
	json__member(&j, string, "event", "edge");
	json__put_place(&j, at);
	if (src)
		json__put(&j, src->json.data, src->json.len);
	json__member(&j, string, "kind", branch_kind_names[s->kind]);
	json__member(&j, string, "insn", s->mnemonic);
	if (counts->taken != COUNT_UNKNOWN)
		json__member(&j, unsigned, "taken_count", counts->taken);
	if (plan_site__is_conditional(s) && counts->not_taken != COUNT_UNKNOWN)
		json__member(&j, unsigned, "not_taken_count", counts->not_taken);
	if (s->refusal != PROBE_OK)
		json__member(&j, string, "probe", probe_refusal_text[s->refusal]);
	put_targets_json(&j, counts);
	if (counts->low & LOW_TAKEN)
		json__member(&j, bool, "taken_at_least", true);
	if (counts->low & LOW_NOT_TAKEN && plan_site__is_conditional(s))
		json__member(&j, bool, "not_taken_at_least", true);
	if (*o->more)
		json__member(&j, bool, "at_least", true);
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
}

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

static void put_text(struct output *o, const struct plan_site *s, const struct location *at,
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

/* Is it to be listed even if it didn't run? Without branch events (-e) its count is unknown. */
static bool is_asked_for(const struct output *o, const struct plan_site *s)
{
	return s->kind != BRANCH_NONE &&
	       !(o->plan->functions.data[s->function].flags & FUNCTION_HELPER) &&
	       (!o->options.events || o->options.events & PLAN_BRANCH) &&
	       (!o->options.functions || o->options.functions[s->function]);
}

static int put_all(struct output *o,
		   void (*put)(struct output *o, const struct plan_site *s,
			       const struct location *at, const struct stats_site *counts))
{
	struct stats *p = o->state;
	int err = 0;

	stats__end(p);
	for (uint32_t i = 0; !err && i < o->plan->sites.len; i++) {
		const struct plan_site *s = &o->plan->sites.data[i];
		struct location at = place_of(o, i);

		if (!is_asked_for(o, s))
			continue;
		put(o, s, &at, &p->sites[i]);
		err = aggregate__flush_full(o);
	}
	return err;
}

static int interval_text(struct output *o, uint64_t time, const struct trace_totals *t)
{
	int err = put_all(o, put_text);

	put_elapsed(o, time, t);
	return err;
}

static int interval_json(struct output *o, uint64_t time, const struct trace_totals *t)
{
	struct json j = {.out = &o->buffer};
	int err = put_all(o, put_json);

	json__open_object(&j);
	json__member(&j, string, "event", "interval");
	json__member(&j, unsigned, "ts", time);
	if (t->missed)
		json__member(&j, unsigned, "missed_at_most", t->missed);
	missed__json(o->missed, o->plan, &j);
	untraced__json(o->untraced, o->plan, &j);
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
	return err;
}

static int end_text(struct output *o, const struct trace_totals *t)
{
	struct str missing = {0};
	int err = put_all(o, put_text);

	if (totals__are_low(t) && stats__missing(o->state, t, &missing))
		str__printf(&o->buffer, "Missing: %s.\n", missing.data);
	str__free(&missing);
	return err;
}

static int end_json(struct output *o, const struct trace_totals *t)
{
	int err = put_all(o, put_json);

	json__put_summary(&o->buffer, t, o);
	return err;
}

static const struct output_format edges_text = {
	.name = "text",
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.help = "edges",
	.size = sizeof(struct stats),
	.covers = COVERS,
	AGGREGATES,
	.count = aggregate__count,
	.interval = interval_text,
	.end = end_text,
};
static const struct output_format edges_json = {
	.name = "json",
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.help = "edges",
	.size = sizeof(struct stats),
	.covers = COVERS,
	AGGREGATES,
	.count = aggregate__count,
	.interval = interval_json,
	.end = end_json,
};

const struct output_format *output__counting(const struct output_format *format)
{
	if (!strcmp(format->name, "json"))
		return &edges_json;
	if (!strcmp(format->name, "summary"))
		return &output_summary_counted;
	if (!strcmp(format->name, "html"))
		return &output_html_counted;
	return strcmp(format->name, "text") ? NULL : &edges_text;
}
