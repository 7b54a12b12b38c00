// SPDX-License-Identifier: BSD-2-Clause
/* The calls of each thread, built from steps. */
#include <stdlib.h>
#include "explain/message.h"
#include "explain/state.h"

/* ---- calls ---- */

static void pop_to(call_vec *v, size_t len)
{
	while (v->len > len)
		call__free(v->data[--v->len]);
}

/* Returns v->len if there is none. */
static size_t find_call(const call_vec *v, uint64_t id)
{
	for (size_t i = v->len; i-- > 0;)
		if (v->data[i]->id == id)
			return i;
	return v->len;
}

static struct call *push(call_vec *v, const struct step *s, const char *cut)
{
	struct call *c = xcalloc(1, sizeof(*c));

	*c = (struct call){.id = s->call, .function = s->function, .cut = cut};
	vec__push(v, c);
	return c;
}

/* ---- threads ---- */

static struct thread *thread_of(struct explain_state *s, const struct step *step)
{
	uint64_t key = step__thread_key(step);
	struct thread **t, *n;

	for (size_t i = s->threads.len; i-- > 0;)
		if (s->threads.data[i]->key == key) {
			t = &s->threads.data[i];
			n = *t; /* The next step is probably of this thread, too. */
			*t = *vec__last(&s->threads);
			*vec__last(&s->threads) = n;
			return n;
		}
	n = xcalloc(1, sizeof(*n));
	n->key = key;
	n->pid = step->pid;
	n->tid = step->tid;
	vec__push(&s->threads, n);
	return n;
}

static void free_thread(struct thread *t)
{
	struct verdict **v;

	for (unsigned side = 0; side < 2; side++) {
		pop_to(&t->calls[side], 0);
		vec__free(&t->calls[side]);
	}
	vec__each (v, &t->ended)
		verdict__free(*v);
	vec__free(&t->ended);
	free(t);
}

/* What isn't known matters if the thread continues. */
static void cut_if_it_continues(struct thread *t, const char *why)
{
	t->cut = why;
}

static void cut_all(struct explain_state *s, struct thread *t, const char *why)
{
	stores__gap(&s->stores);
	t->cut = NULL;
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < t->calls[side].len; i++)
			call__forget(t->calls[side].data[i], why);
}

/* ---- steps ---- */

static unsigned side_of(const struct explain_state *s, const struct step *step)
{
	return plan__is_kernel_function(s->code.plan, step->function);
}

static void take_arguments(struct call *c, const struct arch *arch, const uint64_t *regs)
{
	const struct convention *v = &arch->conventions[CONVENTION_C];

	c->sp = arch->sp_reg < EVENT_REGS ? regs[arch->sp_reg] : 0;
	c->nargs = min_of((unsigned)v->nargs, (unsigned)EVENT_ARGS);
	for (unsigned i = 0; i < c->nargs; i++)
		c->args[i] = regs[v->args[i]];
}

static void on_entry(struct explain_state *s, struct thread *t, const struct step *step)
{
	unsigned side = side_of(s, step);
	call_vec *v = &t->calls[side];
	size_t parent = find_call(v, step->caller);
	bool called = parent < v->len;
	struct call *c;

	if (called) {
		pop_to(v, parent + 1);
		if (v->data[parent]->items.len)
			vec__last(&v->data[parent]->items)->enters = true;
	} else if (!side && !step->caller) {
		pop_to(v, 0);
	}
	c = push(v, step, NULL);
	c->outermost = !called;
	if (step->regs && !side)
		take_arguments(c, s->code.plan->arch, step->regs);
	if (!step->syscall_args)
		return;
	c->nargs = min_of(step->nsyscall_args, (unsigned)EVENT_ARGS);
	memcpy(c->args, step->syscall_args, c->nargs * sizeof(*c->args));
}

static struct call *call_of(struct explain_state *s, struct thread *t, const struct step *step)
{
	call_vec *v = &t->calls[side_of(s, step)];
	size_t i = find_call(v, step->call);

	if (i == v->len)
		return push(v, step, "it began before it was traced");
	pop_to(v, i + 1);
	return v->data[i];
}

static bool is_asked(const struct explaining *e, uint32_t pid)
{
	return !e->pid || e->pid == pid;
}

/* A module may be loaded by dlopen(3): nothing else says that the program has it. */
static void see_object(struct explain_state *s, const char *path)
{
	char *const *known;

	if (path == s->last_called || s->called.len == CALLED_MOST)
		return;
	s->last_called = path;
	vec__each (known, &s->called)
		if (!strcmp(*known, path))
			return;
	vec__push(&s->called, xstrdup(path));
}

static void on_branch(struct explain_state *s, const struct explaining *e, struct thread *t,
		      const struct step *step)
{
	struct call *c = call_of(s, t, step);
	struct item *it;

	if (c->items.len == CALL_ITEMS)
		call__drop_half(c);
	it = vec__add(&c->items);
	it->site = step->site;
	it->taken = step->taken;
	it->to_known = step->to_known;
	it->to = step->to;
	it->tested = step->tested;
	if (e->ends && !side_of(s, step) && is_asked(e, step->pid))
		stored__see(s, c);
	it->stores = s->stores.seen;
	if (e->ends && it->to_known && it->to.object && !side_of(s, step))
		see_object(s, it->to.object);
	if (e->ends && !side_of(s, step))
		made__take(&s->made, &s->code, t->calls[0].data, t->calls[0].len, step);
}

/* Small numbers that a program's function returns may become the exit status. */
static bool matters(unsigned side, uint64_t value)
{
	int32_t number = (int32_t)value;

	return side ? value__is_error(value) : number >= -4095 && number <= 4095;
}

static void keep_result(struct item *it, struct verdict *v)
{
	if (it->results.len == CALL_RESULTS) {
		verdict__free(it->results.data[0]);
		memmove(it->results.data, it->results.data + 1,
			(it->results.len - 1) * sizeof(*it->results.data));
		it->results.len--;
	}
	vec__push(&it->results, v);
}

static bool is_same_failure(const struct verdict *a, const struct verdict *b)
{
	const struct verdict *x = verdict__deciding(a), *y = verdict__deciding(b);

	if (a->function != b->function || a->value != b->value || !x != !y)
		return false;
	return !x || (x->function == y->function && x->choice == y->choice &&
		      x->branch.site == y->branch.site && x->branch.taken == y->branch.taken);
}

static void add_failure(struct explain_state *s, const struct explaining *e, struct thread *t,
			const struct call *c, struct verdict *v)
{
	uint64_t times = 1;
	struct explained *f;

	vec__each (f, &s->failures) {
		bool same = is_same_failure(f->verdict, v);

		if (!same && !(e->last && f->verdict->function == v->function))
			continue;
		times = same ? f->times + 1 : 1;
		verdict__free(f->verdict);
		memmove(f, f + 1, (vec__end(&s->failures) - f - 1) * sizeof(*f));
		s->failures.len--;
		break;
	}
	if (s->failures.len == FAILURES_MOST) {
		s->hidden++;
		verdict__free(v);
		return;
	}
	f = vec__add(&s->failures);
	*f = (struct explained){
		.verdict = v, .pid = t->pid, .tid = t->tid, .nargs = c->nargs, .times = times};
	memcpy(f->args, c->args, sizeof(f->args));
	memcpy(f->comm, t->comm, sizeof(f->comm));
}

static void keep_ended(struct thread *t, struct verdict *v)
{
	if (t->ended.len == CALL_RESULTS) {
		verdict__free(t->ended.data[0]);
		memmove(t->ended.data, t->ended.data + 1,
			(t->ended.len - 1) * sizeof(*t->ended.data));
		t->ended.len--;
	}
	vec__push(&t->ended, v);
}

/* Returns the verdict on the only function with which another thread ended and that returned the
 * value; NULL if there is none, or another one, too. */
static struct verdict *joined(const struct explain_state *s, uint32_t pid, uint64_t value)
{
	struct verdict *found = NULL, **v;
	struct thread *const *t;

	vec__each (t, &s->threads) {
		if ((*t)->pid != pid || (*t)->tid == pid)
			continue;
		vec__each (v, &(*t)->ended) {
			if ((*v)->value != value)
				continue;
			if (found && found->function != (*v)->function)
				return NULL;
			found = *v;
		}
	}
	return found;
}

void state__join(const struct explain_state *s, uint32_t pid, struct verdict *v)
{
	for (; v; v = v->inner) {
		struct verdict *thread =
			v->tests_thread && !v->cause ? joined(s, pid, v->joined) : NULL;

		if (!thread || !verdict__deciding(thread))
			continue;
		v->cause = verdict__share(thread);
		v->tests_call = true;
		v->tests_loaded = false;
		if (!v->origin.assumed)
			v->origin.assumed = "it was that thread which pthread_join waited for: no "
					    "function of another one has returned this value";
	}
}

static void on_return(struct explain_state *s, const struct explaining *e, struct thread *t,
		      const struct step *step)
{
	unsigned side = side_of(s, step);
	call_vec *v = &t->calls[side];
	size_t i = find_call(v, step->call);
	struct verdict *verdict;

	if (i == v->len)
		return;
	pop_to(v, i + 1);
	if (step->has_value && matters(side, step->value)) {
		verdict = judge__result(&s->code, v->data[i], step->value);
		if (e->ends && plan__is_main(s->code.plan, v->data[i]->function))
			judge__find_way(&s->code, v->data[i], v->data[i]->items.len, verdict);
		if (!side)
			state__join(s, t->pid, verdict);
		if (i && !v->data[i]->outermost && v->data[i - 1]->items.len)
			keep_result(vec__last(&v->data[i - 1]->items), verdict);
		else if (side)
			add_failure(s, e, t, v->data[i], verdict);
		else
			keep_ended(t, verdict);
	}
	pop_to(v, i);
}

static void on_exec(struct thread *t)
{
	struct verdict **v;

	pop_to(&t->calls[0], 0);
	vec__each (v, &t->ended)
		verdict__free(*v);
	t->ended.len = 0;
}

/* ---- system calls ---- */

static bool number_of(const struct plan *p, const struct event_named *n, const char *name,
		      uint64_t *out)
{
	struct named_value value;

	if (!plan__named_value(p, n->which, name, n->data, n->len, &value))
		return false;
	*out = value.number;
	return true;
}

static void count_failure(struct explaining *e, const struct failure *f, uint64_t time)
{
	struct failed_call *c, one = {f->number, f->result, 0, 0};

	vec__each (c, &e->failed)
		if (c->number == f->number && c->result == f->result)
			break;
	if (c == vec__end(&e->failed)) {
		vec__push(&e->failed, one);
		c = vec__last(&e->failed);
	}
	c->times++;
	c->time = time;
}

static bool is_exec(const struct explaining *e, uint64_t number)
{
	const char *name = e->syscall_name ? e->syscall_name(number) : NULL;

	return name && (!strcmp(name, "execve") || !strcmp(name, "execveat"));
}

static void on_named(struct explain_state *s, struct explaining *e, struct thread *t,
		     const struct step *step)
{
	const struct plan *p = s->code.plan;
	const struct plan_named *n = &p->named.data[step->named->which];
	uint64_t number, result;
	struct failure f;
	call_vec *v = &t->calls[0];

	if (n->kind == NAMED_KILLED) {
		t->death = (struct death){.known = true, .has_at = step->has_at, .at = step->at};
		t->death.has_sender = number_of(p, step->named, "sender", &t->death.sender);
		return;
	}
	if (n->kind == NAMED_OUTCOME) {
		if (t->cut)
			cut_all(s, t, t->cut);
		outcome__take(s, e, t, step);
		return;
	}
	if (n->kind != NAMED_TRACEPOINT || strcmp(n->name, "raw_syscalls:sys_exit") ||
	    !number_of(p, step->named, "id", &number) || !number_of(p, step->named, "ret", &result))
		return;
	if (!result && is_exec(e, number))
		on_exec(t);
	f = (struct failure){number, value__is_error(result) ? (int64_t)result : 0};
	if (v->len && (*vec__last(v))->items.len)
		vec__last(&(*vec__last(v))->items)->failed = f;
	if (f.result && is_asked(e, step->pid))
		count_failure(e, &f, step->time);
}

/* ---- all of them ---- */

static void cut_threads(struct explain_state *s, const char *why)
{
	struct thread **t;

	vec__each (t, &s->threads)
		cut_all(s, *t, why);
}

/* A branch that was not seen may have gone any way. */
static void note_passing(struct explain_state *s, struct explaining *e, const struct step *step)
{
	struct thread *t;

	if (step->type == STEP_LOST) {
		e->passing->full = true;
	} else if (step->type == STEP_UNKNOWN) {
		cut_if_it_continues(thread_of(s, step), "");
	} else if (step->type == STEP_BRANCH) {
		t = thread_of(s, step);
		e->passing->full |= t->cut != NULL;
		passing__note(e->passing, s->code.plan, step->site, step->taken);
	}
}

void state__step(struct explain_state *s, struct explaining *e, const struct step *step)
{
	struct thread *t;

	if (e->passes) {
		note_passing(s, e, step);
		return;
	}
	if (step->type == STEP_OMITTED || step->type == STEP_MARK)
		return;
	if (!step->pid && (step->type == STEP_LOST || step__is_global(step))) {
		cut_threads(s, "events were lost, or not recorded");
		return;
	}
	t = thread_of(s, step);
	if (step->comm && *step->comm)
		snprintf(t->comm, sizeof(t->comm), "%s", step->comm);
	if (step->type == STEP_ENTRY || step->type == STEP_BRANCH || step->type == STEP_RETURN) {
		t->time = step->time;
		if (t->cut)
			cut_all(s, t, t->cut);
	}
	switch (step->type) {
	case STEP_ENTRY:
		on_entry(s, t, step);
		break;
	case STEP_BRANCH:
		on_branch(s, e, t, step);
		if (!side_of(s, step) && is_asked(e, step->pid))
			jump__take(s, e, t, step);
		break;
	case STEP_RETURN:
		on_return(s, e, t, step);
		break;
	case STEP_NAMED:
		on_named(s, e, t, step);
		break;
	case STEP_LOST:
		cut_all(s, t, "events were lost");
		break;
	case STEP_UNKNOWN:
		cut_if_it_continues(t, "a part of its path isn't known");
		break;
	default:
		break;
	}
}

void state__begin(struct explain_state *s, const struct plan *p)
{
	code__init(&s->code, p);
}

void state__free(struct explain_state *s)
{
	char **path;
	struct thread **t;
	struct explained *f;

	vec__each (t, &s->threads)
		free_thread(*t);
	vec__each (f, &s->failures)
		verdict__free(f->verdict);
	messages__free(&s->outcomes);
	stores__free(&s->stores);
	made__free(&s->made);
	vec__each (path, &s->called)
		free(*path);
	vec__free(&s->called);
	vec__free(&s->threads);
	vec__free(&s->failures);
	code__free(&s->code);
}
