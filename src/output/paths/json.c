// SPDX-License-Identifier: BSD-2-Clause
/* The format paths:json: a line for each path, one for what was not counted of each function, and
 * the summary. */
#include "output/base/fields.h"
#include "paths.h"

static void put_function(const struct output *o, struct json *j, const char *event,
			 uint32_t function)
{
	const struct plan_function *f = &o->plan->functions.data[function];

	json__open_object(j);
	json__member(j, string, "event", event);
	json__member(j, string, "function", f->name);
	json__member(j, string, "object", o->plan->objects.data[f->object].path);
}

static void put_place(const struct output *o, struct json *j, uint32_t object, uint64_t vaddr)
{
	json__member(j, hex, "vaddr", address__shown(o, object, vaddr));
	if (!o->options.no_src)
		src__put_json(j, o->plan, object, vaddr);
}

static void put_block(const struct output *o, struct json *j, const char *key, uint32_t block)
{
	const struct plan_block *b = &o->plan->blocks.data[block];

	json__name(j, key);
	json__open_object(j);
	put_place(o, j, b->object, b->start);
	json__close_object(j);
}

static void put_part(const struct output *o, struct json *j, const struct path_part *part)
{
	const struct plan_site *s = &o->plan->sites.data[part->site];
	const struct path_counts *p = o->state;
	const uint64_t *called = map64__get(&p->callees, part->site);

	json__open_object(j);
	put_place(o, j, s->object, s->vaddr);
	json__member(j, string, "kind", branch_kind_names[s->kind]);
	if (plan_site__is_conditional(s))
		json__member(j, bool, "taken", part->way == WAY_TAKEN);
	else if (s->kind == BRANCH_IJMP && part->way != WAY_OUT)
		put_block(o, j, "to", WAY_BLOCK(part->way));
	else if (called)
		json__member(j, string, "symbol", (const char *)(uintptr_t)*called);
	json__close_object(j);
}

static void put_end(const struct output *o, struct json *j, const struct path_end *end)
{
	const struct plan_block *b = &o->plan->blocks.data[end->block];
	const struct plan_site *s = end->site == NO_SITE ? NULL : &o->plan->sites.data[end->site];

	json__name(j, "end");
	json__open_object(j);
	put_place(o, j, b->object, s ? s->vaddr : b->end);
	json__close_object(j);
	json__member(j, string, "ends",
		     end->edge == PATH_LOOPS	  ? "loop"
		     : s && s->kind == BRANCH_RET ? "return"
						  : "tail-call");
	if (end->edge == PATH_LOOPS)
		put_block(o, j, "loop", end->to);
}

static void put_times(struct json *j, const struct path_row *r)
{
	uint64_t ns;
	enum net net = stats_net__state(&r->net, &ns);

	json__member(j, unsigned, "timed", r->timed);
	if (!r->timed)
		return;
	json__member(j, unsigned, "near", r->near);
	json__member(j, unsigned, "total_ns", r->ns);
	json__member(j, unsigned, "min_ns", r->min);
	json__member(j, unsigned, "max_ns", r->max);
	if (net == NET_KNOWN)
		json__member(j, unsigned, "net_ns", ns);
	if (net == NET_NOISE)
		json__member(j, bool, "below_noise", true);
	if (net != NET_UNKNOWN)
		json__member(j, unsigned, "net_of", r->net.calls);
}

static void put_path(struct output *o, const struct path_row *r)
{
	struct json j = {.out = &o->buffer};
	path_parts parts = {0};
	const struct path_part *part;
	struct path_end end;

	path__parts(o->state, r, &parts, &end);
	put_function(o, &j, "path", r->function);
	if (r->number)
		json__member(&j, unsigned, "number", r->number);
	json__member(&j, unsigned, "count", r->count);
	put_times(&j, r);
	json__member(&j, string, "begins", r->is_entry ? "entry" : "loop");
	put_block(o, &j, "start", r->start);
	json__name(&j, "parts");
	json__open_array(&j);
	vec__each (part, &parts)
		put_part(o, &j, part);
	json__close_array(&j);
	put_end(o, &j, &end);
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
	vec__free(&parts);
}

static void put_counts(struct output *o, uint32_t function)
{
	static const char *const keys[APARTS] = {
		[APART_BEFORE] = "before", [APART_UNKNOWN] = "unknown", [APART_LEFT] = "left",
		[APART_OPEN] = "open",	   [APART_MORE] = "more",
	};
	struct path_counts *p = o->state;
	const struct paths_function *f = &p->functions[function];
	uint64_t all = acyclic__paths(p->ways, function);
	struct json j = {.out = &o->buffer};

	put_function(o, &j, "paths", function);
	json__member(&j, unsigned, "ran", f->n);
	if (all != PATHS_MANY)
		json__member(&j, unsigned, "possible", all);
	if (acyclic__is_open(p->ways, function))
		json__member(&j, bool, "at_least", true);
	json__member(&j, unsigned, "calls", f->calls);
	json__member(&j, unsigned, "loops", f->loops);
	json__member(&j, unsigned, "total_ns", f->ns);
	json__name(&j, "apart");
	json__open_object(&j);
	for (int i = APART_NOT + 1; i < APARTS; i++) {
		json__name(&j, keys[i]);
		json__unsigned(&j, f->apart[i]);
	}
	json__close_object(&j);
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
}

static int put_all(struct output *o, const struct trace_totals *t)
{
	struct path_counts *p = o->state;
	id_vec functions = {0};
	const uint32_t *f;
	int err = 0;

	path_counts__end(p);
	paths_format__functions(o, &functions);
	vec__each (f, &functions) {
		put_counts(o, *f);
		for (uint32_t i = 0; i < p->functions[*f].n && !err; i++) {
			put_path(o, &p->rows.data[p->functions[*f].first + i]);
			err = aggregate__flush_full(o);
		}
	}
	vec__free(&functions);
	json__put_summary(&o->buffer, t, o);
	return err;
}

const struct output_format output_paths_json = {
	.name = "paths:json",
	.help = "the same, one JSON object per path",
	PATHS_FORMAT,
	.end = put_all,
};
