// SPDX-License-Identifier: BSD-2-Clause
/* A failure as a few lines of text. */
#include <stdlib.h>
#include <string.h>
#include "explain/libraries.h"
#include "explain/message.h"
#include "explain/show.h"

void explained__put_place(struct output *o, uint32_t function, uint64_t vaddr)
{
	uint64_t offset;
	const char *name = plan__name_at(o->plan, function, vaddr, &offset);

	str__shown(&o->buffer, name ? name : "?");
	str__printf(&o->buffer, "+0x%llx", (unsigned long long)offset);
}

static void put_source(struct output *o, uint32_t object, uint64_t vaddr)
{
	size_t before = o->buffer.len;

	str__puts(&o->buffer, "  ");
	show__read_source(o, object);
	if (o->options.no_src || !src__put_line(&o->buffer, o->plan, object, vaddr))
		o->buffer.data[o->buffer.len = before] = 0;
}

static void put_location(struct output *o, const struct location *l)
{
	if (l->symbol)
		str__shown(&o->buffer, l->symbol);
	else
		str__hex(&o->buffer, l->addr);
}

/* "1 EINVAL" for -1 with errno */
void explained__put_error(struct output *o, int64_t result)
{
	const char *name = show__errno_name(-result);

	str__printf(&o->buffer, "%lld", (long long)result);
	if (name)
		str__printf(&o->buffer, " %s (%s)", name, strerrordesc_np((int)-result));
}

static void put_branch(struct output *o, const struct verdict *v)
{
	const struct plan_site *s = &o->plan->sites.data[v->branch.site];
	struct step step = show__step_of(o, v);
	struct str proves = {0};
	const char *words, *name;

	explained__put_place(o, v->function, s->vaddr);
	str__printf(&o->buffer, "  %s", s->mnemonic ? s->mnemonic : "jmp");
	if (plan_site__is_conditional(s))
		str__puts(&o->buffer, v->branch.taken ? " taken" : " not taken");
	put_source(o, s->object, s->vaddr);
	if (v->branch.tested.flags & TESTED) {
		str__puts(&o->buffer, "\n    tested: ");
		why__put_text(o, &o->buffer, &step);
	} else if (s->compare) {
		str__puts(&o->buffer, "\n    tested: ");
		str__puts(&o->buffer, s->compare);
		if (plan__condition(o->plan, v->branch.site, v->branch.taken, &proves))
			str__printf(&o->buffer, ", which shows %s", proves.data);
		str__puts(&o->buffer, "; the values aren't known");
	}
	words = passing__words(o->options.explaining->passing, o->plan, v->branch.site,
			       v->branch.taken, &name);
	if (words)
		str__printf(&o->buffer, "\n    %s", words);
	str__putc(&o->buffer, '\n');
	str__free(&proves);
}

/* line: the source of what it chooses, as it was put */
static void put_setter(struct output *o, uint32_t object, uint64_t vaddr, const char *line)
{
	char text[128];
	size_t before;

	if (!vaddr || !code__text(o->plan, object, vaddr, text, sizeof(text)))
		return;
	str__printf(&o->buffer, "\n    tested: %s; the values aren't known", text);
	before = o->buffer.len;
	put_source(o, object, vaddr);
	if (!strcmp(o->buffer.data + before, line))
		o->buffer.data[o->buffer.len = before] = 0;
}

static void put_choice(struct output *o, const struct verdict *v)
{
	uint32_t object = o->plan->functions.data[v->function].object;
	autofree char *line = NULL;
	char text[128];
	size_t before;

	explained__put_place(o, v->function, v->choice);
	if (code__text(o->plan, object, v->choice, text, sizeof(text)))
		str__printf(&o->buffer, "  %s", text);
	str__puts(&o->buffer, ", which chooses without a branch");
	before = o->buffer.len;
	put_source(o, object, v->choice);
	line = xstrdup(o->buffer.data + before);
	put_setter(o, object,
		   code__setter(&((struct explain_state *)o->state)->code, v->block, v->choice),
		   line);
	str__putc(&o->buffer, '\n');
}

static void put_failed_call(struct output *o, const struct verdict *v)
{
	struct explaining *e = o->options.explaining;
	const char *name;

	name = e->syscall_name ? e->syscall_name(v->failed.number) : NULL;
	str__puts(&o->buffer, "    which is the result of ");
	put_location(o, &v->failed_in);
	str__puts(&o->buffer, ", in which ");
	if (!outcome__put_call(
		    o, outcome__of(&((struct explain_state *)o->state)->outcomes, &v->failed)))
		str__puts(&o->buffer, name ? name : "a system call");
	str__puts(&o->buffer, " failed: ");
	explained__put_error(o, v->failed.result);
	str__putc(&o->buffer, '\n');
}

/* What the branch tested is what a function returned that isn't traced. */
static void put_result_of(struct output *o, const struct verdict *v)
{
	const char *library = library__of(o, &v->failed_in);

	if (!v->failed_in.symbol && !v->failed_in.object)
		return;
	str__puts(&o->buffer, "    which ");
	put_location(o, &v->failed_in);
	if (library)
		str__printf(&o->buffer, " of %s, which is not traced,", library);
	str__puts(&o->buffer, " returned\n");
}

static void put_loop(struct output *o, const struct verdict *v)
{
	struct verdict exit = verdict__of_branch(v, &v->loop_exit);

	if (v->loop_exit.site == NO_SITE)
		return;
	str__puts(&o->buffer, "    which was computed in a loop that ended by ");
	put_branch(o, &exit);
	if (v->unchanged.site == NO_SITE)
		return;
	exit = verdict__of_branch(v, &v->unchanged);
	str__puts(&o->buffer, "    and stayed as it was there, the last time by ");
	put_branch(o, &exit);
}

#define CAUSES_MOST 10 /* in a row */

static void put_last_test(struct output *o, const struct verdict *v)
{
	const struct item *test = verdict__last_test(v);
	struct verdict last;

	if (!test)
		return;
	last = verdict__of_branch(v, test);
	str__puts(&o->buffer, "    which ended a loop, where the last test was ");
	put_branch(o, &last);
}

/* Why what was tested is the constant that it is, and so on. */
static void put_set(struct output *o, const struct verdict *v)
{
	for (v = v->set; v; v = v->set) {
		str__puts(&o->buffer, "    which was set because of ");
		put_branch(o, v);
		put_loop(o, v);
	}
}

/* What a function returned that is a part of what was tested, and so on. */
static void put_part(struct output *o, const struct verdict *v)
{
	for (unsigned n = 0; v->part && n < CAUSES_MOST; n++) {
		const struct verdict *next = verdict__deciding(v->part);

		if (!next)
			return;
		str__puts(&o->buffer, "    a part of which was returned by ");
		str__shown(&o->buffer, o->plan->functions.data[v->part->function].name);
		str__printf(&o->buffer, " = %d, by ", (int32_t)v->part->value);
		v = next;
		(v->decided ? put_branch : put_choice)(o, v);
		put_loop(o, v);
	}
}

/* Where the value came about that the branch tested, and what else it was made of. */
static const struct verdict *put_causes(struct output *o, const struct verdict *v, const char *verb)
{
	bool sure = strstr(verb, "decided by");

	for (unsigned n = 0; v->cause && n < CAUSES_MOST; n++) {
		const struct verdict *next = verdict__deciding(v->cause);

		if (!next)
			break;
		str__puts(&o->buffer,
			  sure ? "    which is the result of " : "    which was returned by ");
		str__shown(&o->buffer, o->plan->functions.data[v->cause->function].name);
		str__printf(&o->buffer, " = %d, %s ", (int32_t)v->cause->value, sure ? verb : "by");
		v = next;
		(v->decided ? put_branch : put_choice)(o, v);
		put_loop(o, v);
		put_set(o, v);
	}
	put_part(o, v);
	return v;
}

void explained__put_decision(struct output *o, const struct verdict *v, const char *verb)
{
	str__printf(&o->buffer, "  %s ", verb);
	(v->decided ? put_branch : put_choice)(o, v);
	put_last_test(o, v);
	put_loop(o, v);
	put_set(o, v);
	v = put_causes(o, v, verb);
	if (v->decided && v->failed.result && !v->cause)
		put_failed_call(o, v);
	else if (v->tests_call && !v->cause)
		put_result_of(o, v);
}

/* of_child: no message of CMD shows why that failed. */
static const char *verb_of(const struct output *o, const struct verdict *v, bool of_child)
{
	const struct explain_state *s = o->state;
	bool of_message = !of_child && s->outcomes.first.reached.len &&
			  !plan__is_kernel_function(o->plan, v->function);

	return of_message || verdict__is_passed_on(o, v) ? "passed on by" : "decided by";
}

/* The calls on the way to the failure, from the outermost one on. */
static void put_way(struct output *o, const struct verdict *v)
{
	str__puts(&o->buffer, "  in ");
	for (const char *before = ""; v; v = v->inner, before = " > ") {
		str__puts(&o->buffer, before);
		str__shown(&o->buffer, o->plan->functions.data[v->function].name);
	}
	str__putc(&o->buffer, '\n');
}

/* The assumptions, from the outermost function on. */
static void put_assumed(struct output *o, const struct verdict *v)
{
	for (; v; v = v->inner)
		if (show__assumed(o, v))
			str__printf(&o->buffer, "  assumed: %s\n", show__assumed(o, v));
}

static void put_untraced(struct output *o, const struct verdict *v, bool kernel)
{
	if (v->origin.kind != VALUE_CALL || v->inner || v->callee_traced)
		return;
	str__puts(&o->buffer, "  not known farther: the value is from ");
	if (v->callee_known)
		put_location(o, &v->callee);
	else
		str__puts(&o->buffer, "a function");
	if (show__is_planned(o->plan, v)) {
		str__puts(&o->buffer, ", whose calls the kernel lets nobody see\n");
		return;
	}
	if (v->callee_known && !kernel && library__of(o, &v->callee))
		str__printf(&o->buffer, " of %s", library__of(o, &v->callee));
	str__puts(&o->buffer, ", which is not traced");
	if (kernel && v->callee_known && v->callee.symbol)
		str__puts(&o->buffer, ": add it, or give --again");
	str__putc(&o->buffer, '\n');
}

/* Who stored the variable. Returns false if that isn't known. */
static bool put_stored(struct output *o, const struct verdict *v, const struct verdict *deciding)
{
	const struct explain_state *s = o->state;
	const struct stored *st = show__stored(o, v, deciding);
	const struct verdict *why = st && st->why ? verdict__deciding(st->why) : NULL;
	bool message = s->outcomes.first.reached.len;

	if (!st)
		return false;
	str__puts(&o->buffer, "  which was stored by ");
	explained__put_place(o, st->function, st->vaddr);
	if (st->has_value)
		str__printf(&o->buffer, ": %d", (int32_t)st->value);
	put_source(o, st->object, st->vaddr);
	str__putc(&o->buffer, '\n');
	if (why)
		explained__put_decision(
			o, why,
			message || why->tests_loaded || !st->has_value ? "because" : "decided by");
	return why;
}

static void put_deciding(struct output *o, const struct verdict *v, const char *where,
			 bool of_child)
{
	const struct verdict *first = verdict__first(v);
	const struct explain_state *s = o->state;
	char verb[64];

	snprintf(verb, sizeof(verb), "%s%s", where, verb_of(o, first, of_child));
	explained__put_decision(o, first, verb);
	if (first != v)
		explained__put_decision(o, v, "and which failure, by");
	/* a condition may have another half; of a message they are shown with that */
	for (v = first->way; v && !s->outcomes.first.text; v = v->way)
		explained__put_decision(o, v, "on the way");
}

void explained__put_verdict(struct output *o, const struct verdict *v, const char *where)
{
	const struct verdict *deciding = verdict__deciding(v), *inner = verdict__innermost(v);
	const char *unknown = show__unknown(v);
	bool stored, kernel = plan__is_kernel_function(o->plan, inner->function);

	if (deciding)
		put_deciding(o, deciding, where, false);
	if (inner != deciding)
		put_causes(o, inner, "");
	stored = put_stored(o, inner, deciding);
	if (unknown && !stored)
		str__printf(&o->buffer, "  not known: %s\n", unknown);
	put_untraced(o, inner, kernel);
	put_way(o, v);
	put_assumed(o, v);
}

static void put_failure(struct output *o, const struct explained *f)
{
	const struct verdict *v = f->verdict;
	const char *name = show__syscall_of(o->plan, v->function);

	str__shown(&o->buffer, name ? name : o->plan->functions.data[v->function].name);
	str__putc(&o->buffer, '(');
	for (unsigned i = 0; i < f->nargs; i++) {
		str__puts(&o->buffer, i ? ", " : "");
		if (f->args[i] < 10)
			str__dec(&o->buffer, f->args[i]);
		else
			str__hex(&o->buffer, f->args[i]);
	}
	str__puts(&o->buffer, f->nargs || name ? ") = " : "...) = ");
	explained__put_error(o, (int32_t)v->value);
	str__puts(&o->buffer, "  ");
	str__shown(&o->buffer, f->comm);
	str__printf(&o->buffer, "-%u", f->tid);
	if (f->times > 1)
		str__printf(&o->buffer, ", %llu times", (unsigned long long)f->times);
	str__putc(&o->buffer, '\n');
	explained__put_verdict(o, v, "");
}

static void put_hidden(struct output *o, uint64_t failures)
{
	str__printf(&o->buffer, "%llu more failures, at other branches, are not shown\n",
		    (unsigned long long)failures);
}

/* ---- the end of CMD ---- */

static void put_head(struct output *o)
{
	const struct explaining *e = o->options.explaining;
	const char *name = e->signal ? sigabbrev_np(e->signal) : NULL;

	str__shown(&o->buffer, e->command ? e->command : "the command");
	if (name)
		str__printf(&o->buffer, " was killed by SIG%s\n", name);
	else if (e->signal)
		str__printf(&o->buffer, " was killed by signal %d\n", e->signal);
	else
		str__printf(&o->buffer, " exited with %d\n", e->status);
}

/* The calls from the deciding one on: where each continued to the end. */
static void put_calls(struct output *o, const struct ending_found *f)
{
	str__puts(&o->buffer, "  in ");
	for (size_t i = f->chain.len; i-- > 0;) {
		uint32_t function = f->chain.data[i]->function;

		if (f->sites.data[i] != NO_SITE)
			explained__put_place(o, function,
					     o->plan->sites.data[f->sites.data[i]].vaddr);
		else
			str__shown(&o->buffer, o->plan->functions.data[function].name);
		str__puts(&o->buffer, i ? " > " : "\n");
	}
}

/* Returns true if CMD ended where it had written the message, so that what made it write that is
 * the reason of its end. */
static bool is_explained(const struct explain_state *s, const struct ending_found *f,
			 const struct verdict *deciding)
{
	const struct message *last = s->outcomes.last.text ? &s->outcomes.last : &s->outcomes.first;
	const struct reached *because = message__because(last);

	if (!because || !deciding)
		return false;
	return (!f->returned && message__prints(last, deciding->function)) ||
	       (deciding->decided && deciding->function == because->verdict->function &&
		deciding->branch.site == because->verdict->branch.site);
}

/* The branch that led to the end. */
static void put_chain(struct output *o, const struct ending_found *f, bool of_child)
{
	const struct verdict *last = f->chain.len ? *vec__last(&f->chain) : NULL;
	const struct verdict *deciding = last ? verdict__deciding(last) : NULL;

	if (f->returned) {
		explained__put_verdict(o, last, "");
		str__printf(&o->buffer, "  assumed: the status is what %s returned\n",
			    o->plan->functions.data[last->function].name);
		return;
	}
	if (deciding)
		put_deciding(o, deciding, "", of_child);
	put_stored(o, last, deciding);
	if (f->unknown)
		str__printf(&o->buffer, "  not known: %s\n", f->unknown);
	if (f->chain.len)
		put_calls(o, f);
	if (last)
		put_assumed(o, last);
}

/* The lines of the buffer from this place on by two columns. */
static void indent(struct str *s, size_t from)
{
	autofree char *text = xstrdup(s->data + from);

	s->len = from;
	for (char *line = text, *end; *line; line = end) {
		end = strchrnul(line, '\n');
		end += *end == '\n';
		str__puts(s, "  ");
		str__put(s, line, end - line);
	}
}

void child__put_text(struct output *o, const struct ended_child *c)
{
	size_t from = o->buffer.len;
	struct ending_found f;

	if (!ending__find_child(o->state, o->options.explaining, c, &f))
		return;
	put_chain(o, &f, true);
	indent(&o->buffer, from);
	ending__free(&f);
}

/* Of two that have the same reason, only the first one is shown. */
static void put_messages(struct output *o, const struct outcomes *all)
{
	const struct message *m[] = {&all->first, &all->before, &all->last}, *shown[ARRAY_SIZE(m)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
		bool same = !m[i]->text;

		for (size_t k = 0; k < n; k++)
			same |= message__is_same(shown[k], m[i]);
		if (!same)
			shown[n++] = m[i];
	}
	for (size_t i = 0; i < n; i++)
		message__put_text(o, shown[i], i + 1 < n);
	if (message__output(all, o->options.explaining->pid))
		message__put_text(o, &all->output, true);
}

static void put_ending(struct output *o, const struct ending_found *f)
{
	const struct verdict *last = f->chain.len ? *vec__last(&f->chain) : NULL;
	const struct verdict *deciding = last ? verdict__deciding(last) : NULL;
	const struct explain_state *s = o->state;
	const struct explaining *e = o->options.explaining;
	put_head(o);
	put_messages(o, &s->outcomes);
	if (!s->outcomes.first.text && e->pid)
		failures__put_text(o, e->pid);
	children__put_text(o, e->pid);
	losses__put_text(o, &s->outcomes);
	if (!s->outcomes.first.text && !deciding)
		jump__put_text(o, e->pid);
	if (!is_explained(s, f, deciding))
		put_chain(o, f, false);
}

const struct shown_as shown_as_text = {
	.ending_first = true, .failure = put_failure, .ending = put_ending, .hidden = put_hidden};
