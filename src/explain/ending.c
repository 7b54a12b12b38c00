// SPDX-License-Identifier: BSD-2-Clause
/* How CMD ended: judges the calls that were open at the last branch, from the innermost one
 * outward. */
#include <stdlib.h>
#include "explain/message.h"
#include "explain/state.h"

const struct verdict *verdict__innermost(const struct verdict *v)
{
	while (v->inner)
		v = v->inner;
	return v;
}

static bool is_untraced(const struct verdict *v)
{
	return v->origin.kind == VALUE_CALL && !v->inner && !v->callee_traced;
}

bool verdict__is_followed(const struct verdict *v)
{
	const struct verdict *inner = verdict__innermost(v);
	enum value_origin_kind kind = inner->origin.kind;

	return !is_untraced(inner) && kind != VALUE_LOAD && kind != VALUE_CODE &&
	       kind != VALUE_UNKNOWN;
}

static bool decides(const struct verdict *v)
{
	return v->decided || v->choice;
}

const struct verdict *verdict__deciding(const struct verdict *v)
{
	const struct verdict *found = NULL;

	for (; v; v = v->inner)
		found = decides(v) ? v : found;
	return found;
}

/* Returns the thread of CMD that was active last. */
static const struct thread *last_thread(const struct explain_state *s, const struct explaining *e)
{
	const struct thread *last = NULL;
	struct thread *const *t;

	vec__each (t, &s->threads)
		if ((*t)->death.known && (!e->pid || (*t)->pid == e->pid))
			return *t;
	vec__each (t, &s->threads)
		if ((!e->pid || (*t)->pid == e->pid) && ((*t)->calls[0].len || (*t)->ended.len) &&
		    (!last || (*t)->time > last->time))
			last = *t;
	return last;
}

bool ending__is_exit(const struct location *to)
{
	static const char *const names[] = {"exit", "_exit", "_Exit", "quick_exit", "exit_group"};

	return location__among(to, names, ARRAY_SIZE(names));
}

static bool is_call_site(const struct plan *p, uint32_t site)
{
	uint8_t kind = p->sites.data[site].kind;

	return kind == BRANCH_CALL || kind == BRANCH_ICALL;
}

static bool is_status(const struct explaining *e, uint64_t value)
{
	return !e->signal && (int)(value & 0xff) == e->status;
}

/* Returns the verdict on main's result, which its caller in the C library has passed to exit(3);
 * else that on the last function that returned the status. */
static struct verdict *take_status(const struct plan *p, verdict_vec *v, const struct explaining *e)
{
	struct verdict *found;
	size_t at = v->len;

	for (size_t i = v->len; i-- > 0;) {
		bool of_main = plan__is_main(p, v->data[i]->function);

		if (!is_status(e, v->data[i]->value) || (at < v->len && !of_main))
			continue;
		at = i;
		if (of_main)
			break;
	}
	if (at == v->len)
		return NULL;
	found = v->data[at];
	v->data[at] = *vec__last(v);
	v->len--;
	return found;
}

static void add(struct ending_found *out, struct verdict *v, uint32_t site)
{
	vec__push(&out->chain, v);
	vec__push(&out->sites, site);
}

static bool has_main(const struct plan *p, const verdict_vec *v)
{
	for (size_t i = 0; i < v->len; i++)
		if (plan__is_main(p, v->data[i]->function))
			return true;
	return false;
}

/* Returns the verdict on main's result where its callers are traced, too, as in a program that is
 * linked statically: they call exit(3) with it. */
static struct verdict *take_mains(const struct plan *p, const struct thread *t,
				  const struct explaining *e)
{
	for (size_t i = 0; i < t->calls[0].len; i++) {
		struct call *c = t->calls[0].data[i];
		struct item *it;

		vec__each (it, &c->items)
			if (has_main(p, &it->results))
				return take_status(p, &it->results, e);
	}
	/* or what called it isn't known any more */
	return has_main(p, &t->ended) ? take_status(p, (verdict_vec *)&t->ended, e) : NULL;
}

/* Returns true if main, or the outermost function of the trace, has returned the status. */
static bool find_result(const struct plan *p, const struct thread *t, const struct explaining *e,
			struct ending_found *out)
{
	struct call *top = t->calls[0].len ? *vec__last((call_vec *)&t->calls[0]) : NULL;
	struct verdict *v = NULL;

	if (e->signal)
		return false;
	if (top && top->items.len && !ending__is_exit(&vec__last(&top->items)->to))
		v = take_status(p, &vec__last(&top->items)->results, e);
	if (!v && top)
		v = take_mains(p, t, e);
	if (!v && !top)
		v = take_status(p, (verdict_vec *)&t->ended, e);
	if (!v)
		return false;
	out->returned = true;
	add(out, v, NO_SITE);
	return true;
}

/* Returns where the signal came, if it was in this call's function; 0 if it was elsewhere, or is
 * not known. */
static uint64_t killed_in(const struct plan *p, const struct death *d, const struct call *c)
{
	uint32_t object = p->functions.data[c->function].object;

	return d->has_at && d->at.object && !strcmp(p->objects.data[object].path, d->at.object) &&
			       plan__function_at(p, object, d->at.vaddr) == c->function
		       ? d->at.vaddr
		       : 0;
}

/* Returns why nothing that the thread did led to the signal; NULL if something may have. */
static const char *is_from_outside(const struct explaining *e, const struct thread *t)
{
	if (!e->signal)
		return NULL;
	if (t->death.has_sender)
		return t->death.sender == t->pid ? NULL : "another process sent the signal";
	return !e->is_own_signal || e->is_own_signal(e->signal)
		       ? NULL
		       : "the signal came from elsewhere: it may come at any place";
}

/* Judges each open call, the innermost first, until one decides. */
static void find_open(struct explain_state *s, const struct thread *t, const struct explaining *e,
		      struct ending_found *out)
{
	const call_vec *calls = &t->calls[0];
	place_t place = PLACE_NONE;

	for (size_t i = calls->len; i-- > 0;) {
		const struct call *c = calls->data[i];
		const struct item *last = c->items.len ? vec__last(&c->items) : NULL;
		bool inner = i + 1 == calls->len;
		uint64_t at = inner ? killed_in(s->code.plan, &t->death, c) : 0;
		bool fault = !last || at || (inner && !is_call_site(s->code.plan, last->site));
		struct verdict *v;

		if (inner && last && !fault && !e->signal && ending__is_exit(&last->to))
			place = code__argument(&s->code);
		v = judge__end(&s->code, c, fault, at, fault ? PLACE_NONE : place, false, 0);
		judge__find_way(&s->code, c, c->items.len, v);
		state__join(s, t->pid, v);
		add(out, v, last ? last->site : NO_SITE);
		if (verdict__deciding(v))
			return;
		if (v->unsure) {
			out->unknown = v->unsure;
			return;
		}
		place = v->origin.kind == VALUE_ARGUMENT && !(v->origin.place & PLACE_SLOT)
				? v->origin.place
				: PLACE_NONE;
	}
	out->unknown = "no branch of the traced functions could have led elsewhere";
}

void ending__find(struct explain_state *s, const struct explaining *e, struct ending_found *out)
{
	const struct thread *t = last_thread(s, e);

	*out = (struct ending_found){.thread = t};
	if (!t) {
		out->unknown = "none of its functions was traced";
		return;
	}
	if (find_result(s->code.plan, t, e, out))
		return;
	out->unknown = is_from_outside(e, t);
	if (!out->unknown)
		find_open(s, t, e, out);
}

static bool shows_because(const struct message *m, uint32_t pid)
{
	return m->text && m->pid == pid && message__because(m);
}

bool ending__find_child(struct explain_state *s, const struct explaining *e,
			const struct ended_child *c, struct ending_found *out)
{
	struct explaining of_child = *e;

	of_child.pid = c->pid;
	of_child.status = c->status >> 8 & 0xff;
	of_child.signal = c->status & 0x7f;
	if (!of_child.signal &&
	    (shows_because(&s->outcomes.first, c->pid) || shows_because(&s->outcomes.last, c->pid)))
		return false;
	ending__find(s, &of_child, out);
	if (out->chain.len)
		return true;
	ending__free(out);
	return false;
}

void ending__free(struct ending_found *f)
{
	struct verdict **v;

	vec__each (v, &f->chain)
		verdict__free(*v);
	vec__free(&f->chain);
	vec__free(&f->sites);
}
