// SPDX-License-Identifier: BSD-2-Clause
/* A failure as a JSON object. */
#include <stdlib.h>
#include "explain/libraries.h"
#include "explain/show.h"

static void put_place(struct json *j, const struct output *o, uint32_t function, uint64_t vaddr)
{
	uint32_t object = o->plan->functions.data[function].object;
	uint64_t offset;
	const char *name = plan__name_at(o->plan, function, vaddr, &offset);

	if (name)
		json__member(j, string, "function", name);
	json__member(j, unsigned, "offset", offset);
	json__member(j, hex, "vaddr", address__shown(o, object, vaddr));
	show__read_source(o, object);
	if (!o->options.no_src)
		src__put_json(j, o->plan, object, vaddr);
}

static void put_branch(struct json *j, const struct output *o, const struct verdict *v)
{
	const struct plan_site *s = &o->plan->sites.data[v->branch.site];
	struct step step = show__step_of(o, v);
	const char *name;

	put_place(j, o, v->function, s->vaddr);
	if (s->mnemonic)
		json__member(j, string, "mnemonic", s->mnemonic);
	if (plan_site__is_conditional(s))
		json__member(j, bool, "taken", v->branch.taken);
	if (passing__words(o->options.explaining->passing, o->plan, v->branch.site, v->branch.taken,
			   &name))
		json__member(j, string, "passing", name);
	if (s->compare)
		json__member(j, string, "compare", s->compare);
	if (v->branch.tested.flags & TESTED) {
		json__key(j, "why");
		why__put_json(o, j, &step);
	}
}

static void put_choice(struct json *j, struct output *o, const struct verdict *v)
{
	uint32_t object = o->plan->functions.data[v->function].object;
	uint64_t setter =
		code__setter(&((struct explain_state *)o->state)->code, v->block, v->choice);
	char text[128];

	put_place(j, o, v->function, v->choice);
	if (code__text(o->plan, object, v->choice, text, sizeof(text)))
		json__member(j, string, "chooses", text);
	if (setter && code__text(o->plan, object, setter, text, sizeof(text)))
		json__member(j, string, "compare", text);
}

static void put_failed_call(struct json *j, const struct output *o, const struct verdict *v)
{
	struct explaining *e = o->options.explaining;
	const char *name = e->syscall_name ? e->syscall_name(v->failed.number) : NULL;
	const char *error = show__errno_name(-v->failed.result);

	json__key(j, "tested_result_of");
	json__open_object(j);
	if (v->failed_in.symbol)
		json__member(j, string, "function", v->failed_in.symbol);
	if (name)
		json__member(j, string, "syscall", name);
	if (error)
		json__member(j, string, "error", error);
	json__close_object(j);
}

/* What the branch tested is what a function returned that isn't traced. */
static void put_result_of(struct json *j, const struct output *o, const struct verdict *v)
{
	const char *library = library__of(o, &v->failed_in);

	if (!v->failed_in.symbol)
		return;
	json__key(j, "tested_result_of");
	json__open_object(j);
	json__member(j, string, "function", v->failed_in.symbol);
	if (library)
		json__member(j, string, "library", library);
	json__close_object(j);
}

#define CAUSES_MOST 10 /* nested */
#define NAME(name)  ((struct json_key)JSON_KEY(name))

/* Another branch of the function, if there is one. */
static void put_other(struct json *j, const struct output *o, struct json_key key,
		      const struct verdict *v, const struct item *branch)
{
	struct verdict other;

	if (!branch || branch->site == NO_SITE)
		return;
	other = verdict__of_branch(v, branch);
	json__put_key(j, key);
	json__open_object(j);
	put_branch(j, o, &other);
	json__close_object(j);
}

static void put_decision_at(struct json *j, struct output *o, const struct verdict *v, unsigned n);

/* A decision of its own; none if it isn't known. of: it is about this function's result, unless
 * NULL. */
static bool put_nested(struct json *j, struct output *o, struct json_key key,
		       const struct verdict *v, const struct verdict *of, unsigned n)
{
	if (!v || n >= CAUSES_MOST)
		return false;
	json__put_key(j, key);
	json__open_object(j);
	if (of) {
		json__member(j, string, "function", o->plan->functions.data[of->function].name);
		json__member(j, signed, "value", (int32_t)of->value);
	}
	put_decision_at(j, o, v, n + 1);
	json__close_object(j);
	return true;
}

static bool put_result(struct json *j, struct output *o, struct json_key key,
		       const struct verdict *of, unsigned n)
{
	return of && put_nested(j, o, key, verdict__deciding(of), of, n);
}

static void put_decision_at(struct json *j, struct output *o, const struct verdict *v, unsigned n)
{
	json__key(j, "decided_by");
	json__open_object(j);
	if (v->decided)
		put_branch(j, o, v);
	else
		put_choice(j, o, v);
	json__close_object(j);
	put_other(j, o, NAME("last_test"), v, verdict__last_test(v));
	put_other(j, o, NAME("loop_ended_by"), v, &v->loop_exit);
	if (v->loop_exit.site != NO_SITE)
		put_other(j, o, NAME("unchanged_by"), v, &v->unchanged);
	put_nested(j, o, NAME("set_because"), v->set, NULL, n);
	if (!put_result(j, o, NAME("tested_result"), v->cause, n)) {
		if (v->decided && v->failed.result)
			put_failed_call(j, o, v);
		else if (v->tests_call && !v->cause)
			put_result_of(j, o, v);
	}
	put_result(j, o, NAME("part"), v->part, n);
}

static void put_decision(struct json *j, struct output *o, const struct verdict *v)
{
	const struct verdict *first = verdict__first(v);

	put_decision_at(j, o, first, 0);
	if (first != v)
		put_nested(j, o, NAME("which_failure"), v, NULL, 0);
}

/* The same of a verdict, which may have been passed on from elsewhere. */
static void put_deciding(struct json *j, struct output *o, const struct verdict *v)
{
	const struct verdict *way = verdict__first(v)->way;

	put_decision(j, o, v);
	if (verdict__is_passed_on(o, verdict__first(v)))
		json__member(j, bool, "passed_on", true);
	if (!way)
		return;
	json__key(j, "on_the_way");
	json__open_array(j);
	for (; way; way = way->way) {
		json__open_object(j);
		put_decision(j, o, way);
		json__close_object(j);
	}
	json__close_array(j);
}

static void put_stored(struct json *j, struct output *o, const struct verdict *v,
		       const struct verdict *deciding)
{
	const struct stored *st = show__stored(o, v, deciding);

	if (!st)
		return;
	json__key(j, "stored");
	json__open_object(j);
	put_place(j, o, st->function, st->vaddr);
	if (st->has_value)
		json__member(j, signed, "value", (int32_t)st->value);
	if (st->why && verdict__deciding(st->why))
		put_decision(j, o, verdict__deciding(st->why));
	json__close_object(j);
}

static void put_assumed(struct json *j, struct output *o, const struct verdict *v,
			const char *first)
{
	json__key(j, "assumed");
	json__open_array(j);
	if (first)
		json__string(j, first);
	for (; v; v = v->inner)
		if (show__assumed(o, v))
			json__string(j, show__assumed(o, v));
	json__close_array(j);
}

static void put_verdict(struct json *j, struct output *o, const struct verdict *v)
{
	const struct verdict *deciding = verdict__deciding(v), *inner = verdict__innermost(v);
	const char *unknown = show__unknown(v);

	if (deciding)
		put_deciding(j, o, deciding);
	if (inner != deciding) {
		put_result(j, o, NAME("value_result"), inner->cause, 0);
		put_result(j, o, NAME("value_part"), inner->part, 0);
	}
	put_stored(j, o, inner, deciding);
	if (unknown)
		json__member(j, string, "unknown", unknown);
	if (inner->origin.kind == VALUE_CALL && !inner->inner && !inner->callee_traced)
		json__member(j, string, "untraced",
			     inner->callee_known && inner->callee.symbol ? inner->callee.symbol
									 : "");
	json__key(j, "functions");
	json__open_array(j);
	for (; v; v = v->inner)
		json__string(j, o->plan->functions.data[v->function].name);
	json__close_array(j);
}

static void put_failure(struct output *o, const struct explained *f)
{
	const struct verdict *v = f->verdict;
	const char *name = show__syscall_of(o->plan, v->function);
	const char *error = show__errno_name(-(int64_t)(int32_t)v->value);
	struct json j = {.out = &o->buffer};

	json__open_object(&j);
	json__member(&j, string, "event", "failure");
	json__member(&j, string, "function", o->plan->functions.data[v->function].name);
	if (name)
		json__member(&j, string, "syscall", name);
	json__key(&j, "args");
	json__open_array(&j);
	for (unsigned i = 0; i < f->nargs; i++)
		json__hex(&j, f->args[i]);
	json__close_array(&j);
	json__member(&j, signed, "value", (int32_t)v->value);
	if (error)
		json__member(&j, string, "error", error);
	json__member(&j, unsigned, "pid", f->pid);
	json__member(&j, unsigned, "tid", f->tid);
	json__member(&j, string, "comm", f->comm);
	json__member(&j, unsigned, "times", f->times);
	put_verdict(&j, o, v);
	put_assumed(&j, o, v, NULL);
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
}

static void put_calls(struct json *j, struct output *o, const struct ending_found *f)
{
	json__key(j, "calls");
	json__open_array(j);
	for (size_t i = f->chain.len; i-- > 0;) {
		uint32_t site = f->sites.data[i], function = f->chain.data[i]->function;

		json__open_object(j);
		if (site != NO_SITE)
			put_place(j, o, function, o->plan->sites.data[site].vaddr);
		else
			json__member(j, string, "function", o->plan->functions.data[function].name);
		json__close_object(j);
	}
	json__close_array(j);
}

/* ---- what it wrote, and what failed ---- */

static void put_failed(struct json *j, struct output *o, const struct outcome *f)
{
	const struct explained *in_kernel = failure__in_kernel(o, f);
	const struct explaining *e = o->options.explaining;
	const char *name = e->syscall_name ? e->syscall_name(f->number) : NULL;
	const char *error = show__errno_name(-f->result);
	uint32_t texts = e->syscall_texts ? e->syscall_texts(f->number) : 0;
	unsigned text = 0;

	json__open_object(j);
	if (name)
		json__member(j, string, "syscall", name);
	json__key(j, "args");
	json__open_array(j);
	for (unsigned i = 0; i < EVENT_ARGS; i++) {
		bool is_text = texts >> i & 1 && text < 2;

		if (is_text && f->text[text])
			json__string(j, f->text[text]);
		else
			json__hex(j, f->args[i]);
		text += is_text;
	}
	json__close_array(j);
	if (error)
		json__member(j, string, "error", error);
	json__member(j, unsigned, "pid", f->pid);
	json__member(j, unsigned, "times", f->times);
	if (in_kernel && verdict__deciding(in_kernel->verdict))
		put_decision(j, o, verdict__deciding(in_kernel->verdict));
	json__close_object(j);
}

static void put_reached(struct json *j, struct output *o, const struct message *m,
			const struct reached *r)
{
	json__open_object(j);
	put_decision(j, o, r->verdict);
	json__member(j, unsigned, "frame", r->frame);
	if (r->frame < m->printing.len)
		json__member(j, bool, "prints", true);
	if (r->made)
		json__member(j, bool, "makes", true);
	json__close_object(j);
}

/* The code of libraries that has the text. */
static void put_text_places(struct json *j, struct output *o, const struct message *m)
{
	struct text_places text;

	libraries__find_text(o, m, &text);
	if (!text.n)
		return;
	json__key(j, "text_in");
	json__open_array(j);
	for (size_t i = 0; i < text.n; i++) {
		const struct text_place *p = &text.all[i];
		const struct symbol *symbol = object__symbol_at(p->object, p->code);
		size_t len;

		json__open_object(j);
		json__member(j, string, "object", p->object->path);
		if (symbol) {
			json__member(j, string, "function", symbol__show(p->object, symbol)->shown);
			json__member(j, unsigned, "offset", p->code - symbol->vaddr);
		}
		json__member(j, hex, "vaddr", p->code);
		json__member(j, string, "text",
			     (const char *)object__bytes(p->object, p->literal, &len));
		json__member(j, bool, "traced", library__is_traced(o->plan, p));
		json__close_object(j);
	}
	json__close_array(j);
}

/* Who had made the text, which others wrote later. */
static void put_made(struct json *j, struct output *o, const struct message *m)
{
	autofree struct str text = {0};

	message__put_made(o->plan, m, &text);
	json__key(j, "made_by");
	json__open_object(j);
	json__member(j, string, "function", o->plan->functions.data[m->made_in].name);
	json__member(j, hex, "vaddr", m->made_by.code);
	json__member(j, string, "text", text.data);
	json__close_object(j);
}

static void put_message(struct json *j, struct output *o, const struct message *m)
{
	const struct explain_state *s = o->state;
	const struct outcome *failed = message__failed(&s->outcomes, m);
	const struct reached *because = message__because(m), *r;

	json__open_object(j);
	json__member(j, string, "text", m->text);
	if (m == &s->outcomes.output)
		json__member(j, bool, "stdout", true);
	json__member(j, string, "comm", m->comm);
	json__member(j, unsigned, "pid", m->pid);
	json__member(j, unsigned, "tid", m->tid);
	if (failed) {
		json__key(j, "failed");
		put_failed(j, o, failed);
	}
	if (because) {
		json__key(j, "because");
		put_reached(j, o, m, because);
	}
	put_text_places(j, o, m);
	if (m->made)
		put_made(j, o, m);
	json__key(j, "on_the_way");
	json__open_array(j);
	vec__each (r, &m->reached)
		if (r != because)
			put_reached(j, o, m, r);
	json__close_array(j);
	json__close_object(j);
}

static void put_child_end(struct json *j, struct output *o, const struct ended_child *c)
{
	const struct verdict *last;
	struct ending_found f;

	if (!ending__find_child(o->state, o->options.explaining, c, &f))
		return;
	last = *vec__last(&f.chain);
	if (f.returned)
		put_verdict(j, o, last);
	else if (verdict__deciding(last))
		put_deciding(j, o, verdict__deciding(last));
	put_calls(j, o, &f);
	ending__free(&f);
}

static void put_outcomes(struct json *j, struct output *o)
{
	const struct outcomes *all = &((struct explain_state *)o->state)->outcomes;
	const struct ended_child *c;
	const struct outcome *f;

	json__key(j, "messages");
	json__open_array(j);
	if (all->first.text)
		put_message(j, o, &all->first);
	if (all->before.text)
		put_message(j, o, &all->before);
	if (all->last.text)
		put_message(j, o, &all->last);
	if (message__output(all, o->options.explaining->pid))
		put_message(j, o, &all->output);
	json__close_array(j);
	json__key(j, "children");
	json__open_array(j);
	vec__each (c, &all->children) {
		json__open_object(j);
		json__member(j, unsigned, "pid", c->pid);
		json__member(j, unsigned, "parent", c->parent);
		json__member(j, string, "comm", c->comm);
		if (c->status & 0x7f)
			json__member(j, unsigned, "signal", c->status & 0x7f);
		else
			json__member(j, unsigned, "status", c->status >> 8 & 0xff);
		put_child_end(j, o, c);
		json__close_object(j);
	}
	json__close_array(j);
	json__key(j, "failed_calls");
	json__open_array(j);
	vec__each (f, &all->all)
		if (!f->starts)
			put_failed(j, o, f);
	json__close_array(j);
	if (all->messages > MESSAGES_MOST)
		json__member(j, unsigned, "more_writes", all->messages - MESSAGES_MOST);
	if (all->more_children)
		json__member(j, unsigned, "more_children", all->more_children);
	if (all->hidden)
		json__member(j, unsigned, "more_failed_calls", all->hidden);
}

static void put_ending(struct output *o, const struct ending_found *f)
{
	const struct explaining *e = o->options.explaining;
	const struct verdict *last = f->chain.len ? *vec__last(&f->chain) : NULL;
	const char *signal = e->signal ? sigabbrev_np(e->signal) : NULL;
	struct json j = {.out = &o->buffer};

	json__open_object(&j);
	json__member(&j, string, "event", "ending");
	if (e->signal)
		json__member(&j, string, "signal", signal ? signal : "?");
	else
		json__member(&j, signed, "status", e->status);
	if (f->returned)
		put_verdict(&j, o, last);
	else if (last && verdict__deciding(last))
		put_deciding(&j, o, verdict__deciding(last));
	if (last && !f->returned)
		put_stored(&j, o, last, verdict__deciding(last));
	if (f->unknown && !f->returned)
		json__member(&j, string, "unknown", f->unknown);
	put_calls(&j, o, f);
	put_outcomes(&j, o);
	put_assumed(&j, o, last,
		    f->returned ? "the status is what the outermost function returned" : NULL);
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
}

static void put_hidden(struct output *o, uint64_t failures)
{
	struct json j = {.out = &o->buffer};

	json__open_object(&j);
	json__member(&j, string, "event", "hidden");
	json__member(&j, unsigned, "failures", failures);
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
}

const struct shown_as shown_as_json = {put_failure, put_ending, put_hidden};
