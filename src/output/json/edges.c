// SPDX-License-Identifier: BSD-2-Clause
/* Edges as JSON (-c -F json): one object for each branch. */
#include "json.h"
#include "output/base/fields.h"
#include "output/stats/edges.h"

static void put_targets(struct json *j, const struct stats_site *counts)
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

static void put_edge(struct output *o, const struct plan_site *s, const struct location *at,
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
	put_targets(&j, counts);
	if (counts->low & LOW_TAKEN)
		json__member(&j, bool, "taken_at_least", true);
	if (counts->low & LOW_NOT_TAKEN && plan_site__is_conditional(s))
		json__member(&j, bool, "not_taken_at_least", true);
	if (*o->more)
		json__member(&j, bool, "at_least", true);
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
}

static int interval_json(struct output *o, uint64_t time, const struct trace_totals *t)
{
	struct json j = {.out = &o->buffer};
	int err = edges__put(o, put_edge, NULL);

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

static int end_json(struct output *o, const struct trace_totals *t)
{
	int err = edges__put(o, put_edge, NULL);

	json__put_summary(&o->buffer, t, o);
	return err;
}

const struct output_format output_json_counted = {
	.name = "json",
	.form = FORM_JSON,
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.help = "edges",
	.size = sizeof(struct stats),
	.covers = COVERS,
	AGGREGATES,
	.count = aggregate__count,
	.interval = interval_json,
	.end = end_json,
};
