// SPDX-License-Identifier: BSD-2-Clause
/* The two formats, text and JSON, and the results for the caller. */
#include <stdlib.h>
#include "explain/libraries.h"
#include "explain/message.h"
#include "explain/show.h"

static int begin(struct output *o)
{
	state__begin(o->state, o->plan);
	return 0;
}

static void plan_extended(struct output *o)
{
	state__free(o->state);
	memset(o->state, 0, o->format->size);
	state__begin(o->state, o->plan);
}

static int step(struct output *o, const struct step *s)
{
	state__step(o->state, o->options.explaining, s);
	return 0;
}

static void program(struct output *o, uint32_t pid, const char *path)
{
	program__take(&((struct explain_state *)o->state)->outcomes, pid, path);
}

static void release(struct output *o)
{
	state__free(o->state);
}

/* ---- the results for the caller ---- */

static bool is_wanted(const struct explaining *e, const char *name)
{
	char *const *known;

	vec__each (known, &e->wanted)
		if (!strcmp(*known, name))
			return true;
	return false;
}

static void learn(struct explaining *e, const struct plan *p, const struct explained *f)
{
	const struct verdict *v = verdict__innermost(f->verdict);
	bool open = v->origin.kind == VALUE_CALL && !v->callee_traced;

	e->complete &= !open && verdict__deciding(f->verdict);
	if (open && v->callee_known && v->callee.symbol && !show__is_planned(p, v) &&
	    !is_wanted(e, v->callee.symbol))
		vec__push(&e->wanted, xstrdup(v->callee.symbol));
}

void explaining__free(struct explaining *e)
{
	char **name;

	vec__each (name, &e->wanted)
		free(*name);
	vec__free(&e->wanted);
	vec__each (name, &e->elsewhere)
		free(*name);
	vec__free(&e->elsewhere);
	vec__each (name, &e->programs)
		free(*name);
	vec__free(&e->programs);
	vec__free(&e->failed);
	str__free(&e->text);
}

static void blame_call(struct explaining *e, uint64_t number, int64_t result)
{
	const struct failed_call *c;

	vec__each (c, &e->failed)
		if (c->number == number && c->result == result)
			e->blamed = *c;
}

/* Notes the failed system call that was the reason: that which a message names, or whose result the
 * deciding branch tested. */
static void blame(const struct explain_state *s, struct explaining *e, const struct ending_found *f)
{
	const struct message *m = s->outcomes.last.text ? &s->outcomes.last : &s->outcomes.first;
	const struct outcome *failed = m->text ? message__failed(&s->outcomes, m) : NULL;
	const struct verdict *v = f->chain.len ? verdict__deciding(*vec__last(&f->chain)) : NULL;

	if (v && v->decided && v->failed.result)
		blame_call(e, v->failed.number, v->failed.result);
	if (failed)
		blame_call(e, failed->number, failed->result);
}

static void put_failures(struct output *o, const struct shown_as *as)
{
	const struct explain_state *s = o->state;
	const struct explaining *e = o->options.explaining;
	const struct explained *f;
	uint64_t hidden = s->hidden;

	vec__each (f, &s->failures) {
		/* --again has added these functions for one system call; others use them, too */
		bool is_part = as->ending_first && e->again && e->ends && e->status &&
			       !show__syscall_of(o->plan, f->verdict->function);

		hidden += is_part;
		if (!f->shown && !is_part)
			as->failure(o, f);
	}
	if (hidden)
		as->hidden(o, hidden);
}

static void end_with(struct output *o, const struct shown_as *as)
{
	struct explain_state *s = o->state;
	struct explaining *e = o->options.explaining;
	struct ending_found found;
	const struct explained *f;

	e->complete = true;
	e->explained = s->failures.len;
	vec__each (f, &s->failures)
		learn(e, o->plan, f);
	if (!as->ending_first)
		put_failures(o, as);
	if (e->ends && (e->status || e->signal)) {
		ending__find(s, e, &found);
		blame(s, e, &found);
		programs__want(o);
		if (e->again)
			libraries__want(o);
		as->ending(o, &found);
		ending__free(&found);
	}
	if (as->ending_first)
		put_failures(o, as);
}

/* Treats the output as written, and keeps it. */
static int pass_on(struct output *o)
{
	struct explaining *e = o->options.explaining;

	if (!e->captured)
		return 0;
	if (o->hides_addresses)
		address__hide(&o->buffer, false);
	str__put(&e->text, o->buffer.data ? o->buffer.data : "", o->buffer.len);
	str__clear(&o->buffer);
	return 0;
}

static int end_text(struct output *o, const struct trace_totals *t)
{
	end_with(o, &shown_as_text);
	return pass_on(o);
}

static int end_json(struct output *o, const struct trace_totals *t)
{
	end_with(o, &shown_as_json);
	json__put_summary(&o->buffer, t, o);
	return pass_on(o);
}

static int end_sarif(struct output *o, const struct trace_totals *t)
{
	sarif__begin(o);
	end_with(o, &shown_as_sarif);
	sarif__end(o);
	return pass_on(o);
}

#define FORMAT(of_end, ...)                                                                        \
	{                                                                                          \
		.size = sizeof(struct explain_state),                                              \
		.wants = {.events = OUTPUT_STEPS,                                                  \
			  .regs = true,                                                            \
			  .tests = true,                                                           \
			  .lines = true,                                                           \
			  .scopes = true,                                                          \
			  .late_source = true},                                                    \
		.begin = begin, .plan_extended = plan_extended, .step = step, .program = program,  \
		.end = of_end, .free = release, __VA_ARGS__                                        \
	}

#define HELP "which branch chose that calls failed"

const struct output_format explain_text =
	FORMAT(end_text, .name = "text", .help = HELP, .form = FORM_TEXT, .wraps = true);
const struct output_format explain_json =
	FORMAT(end_json, .name = "json", .help = HELP, .form = FORM_JSON);
const struct output_format explain_sarif = FORMAT(
	end_sarif, .name = "sarif", .help = "the same for viewers of code analysis: SARIF 2.1.0",
	.form = FORM_OTHER, .suffixes = ".sarif");

/* ---- which functions to trace as well ---- */

void explain__callees(const struct plan *p, void (*fn)(void *ctx, const char *name), void *ctx)
{
	struct code code;
	id_vec sites = {0};
	const uint32_t *site;

	code__init(&code, p);
	for (uint32_t f = 0; f < p->functions.len; f++)
		if (plan__is_kernel_function(p, f) &&
		    !(p->functions.data[f].flags & (FUNCTION_HELPER | FUNCTION_RANGE)))
			code__callees(&code, f, &sites);
	vec__each (site, &sites) {
		const struct plan_site *s = &p->sites.data[*site];
		const struct object *o = p->objects.data[s->object].object;
		const struct symbol *symbol = s->target ? object__symbol_at(o, s->target) : NULL;

		if (symbol && symbol->vaddr == s->target &&
		    plan__function_at(p, s->object, s->target) == NO_FUNCTION)
			fn(ctx, symbol->name);
	}
	vec__free(&sites);
	code__free(&code);
}
