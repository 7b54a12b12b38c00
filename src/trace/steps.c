// SPDX-License-Identifier: BSD-2-Clause
/* Steps: the replay's output for an event, or for a branch that the path implies. */
#include "calls.h"

/* What a thread runs in the kernel is deeper than what it runs in its program. */
static unsigned depth_of(const struct thread *th, const struct thread *current)
{
	unsigned own = calls__depth(th), below = th == current ? 0 : calls__depth(current);

	return own ? below + own - 1 : below ? below - 1 : 0;
}

static uint64_t innermost_of(struct thread *th, struct thread *current)
{
	const struct call *top = calls__top(th);

	top = top ? top : calls__top(current);
	return top ? top->id : 0;
}

static void begin(struct step *step, struct event_context *n, enum step_type type, uint32_t site)
{
	struct thread *current = thread__shown(n->th);

	memset(step, 0, sizeof(*step));
	step->type = type;
	step->pid = current->pid;
	step->tid = current->tid;
	step->goroutine = current->goroutine;
	step->ns_pid = trace__inner_of(n->t, current->pid);
	step->comm = current->comm;
	step->plan = n->t->plan;
	step->site = site;
	step->function = site == NO_SITE ? NO_FUNCTION : n->t->plan->sites.data[site].function;
	step->depth = depth_of(n->th, current);
	step->call = innermost_of(n->th, current);
	step->era = n->t->judges_entries ? 0 : current->account.id << 32 | current->account.era;
	step->spent = current->account.spent;
	step->spread = current->account.spread;
	if (n->e) {
		step->time = n->e->untimed ? 0 : n->e->time;
		step->cpu = n->e->cpu;
		step->interrupt = n->e->interrupt;
		step->timed = !n->e->untimed;
	}
}

int step__mark(struct event_context *n, enum step_type type, uint64_t count)
{
	struct step step;

	if (type == STEP_UNKNOWN && judge__hides(n->t, n->th))
		return 0;
	n->t->totals.unknown += type == STEP_UNKNOWN;
	if (live_filter__count(n->t, type))
		return 0;
	begin(&step, n, type, NO_SITE);
	step.count = count;
	step.at_least = type == STEP_LOST && n->t->totals.at_least;
	return live_filter__step(n->t, n->th, &step);
}

int step__note(struct trace *t, struct thread *th, enum step_type type, uint64_t time,
	       uint64_t count, const char *text)
{
	struct event_context n = {.t = t, .th = th};
	struct step step = {.type = type,
			    .comm = "",
			    .plan = t->plan,
			    .site = NO_SITE,
			    .function = NO_FUNCTION};

	if (live_filter__count(t, type))
		return 0;
	if (th)
		begin(&step, &n, type, NO_SITE);
	step.timed = true;
	step.time = time;
	step.count = count;
	step.text = text;
	return th ? live_filter__step(t, th, &step) : live_filter__pass(t, &step);
}

int step__lost(struct event_context *n, uint64_t count)
{
	struct trace *t = n->t;

	/* This is decided on first use, since sites may lose their probes until then. */
	if (t->record_per_event == PER_EVENT_UNKNOWN)
		t->record_per_event = plan__has_record_per_event(t->plan, t->options.events)
					      ? PER_EVENT_YES
					      : PER_EVENT_NO;
	t->totals.lost += count;
	t->totals.at_least |= t->record_per_event == PER_EVENT_NO;
	return step__mark(n, count ? STEP_LOST : STEP_UNKNOWN, count);
}

/* A direct or conditional branch whose outcome is known. */
int step__implied(struct event_context *n, uint32_t site, bool taken, uint32_t to_block)
{
	const struct plan_site *s = &n->t->plan->sites.data[site];
	const struct site_places *places;
	struct step step;

	if (judge__hides(n->t, n->th) || live_filter__count(n->t, STEP_BRANCH))
		return 0;
	places = locate__site(n->t, site);
	begin(&step, n, STEP_BRANCH, site);
	step.timed = false;
	step.time = 0;
	step.implied = true;
	step.at = places->at;
	step.taken = taken;
	if (s->target || !taken) {
		step.to = taken ? places->taken : places->next;
		step.to_known = true;
	} else if (s->kind == BRANCH_IJMP && to_block != NO_BLOCK) {
		const struct plan_block *b = &n->t->plan->blocks.data[to_block];

		locate__vaddr(n->t, b->object, b->start, &step.to);
		step.to_known = true;
	}
	return live_filter__step(n->t, n->th, &step);
}

int step__implied_ret(struct event_context *n, uint32_t site, uint64_t to)
{
	struct step step;

	if (judge__hides(n->t, n->th) || live_filter__count(n->t, STEP_BRANCH))
		return 0;
	begin(&step, n, STEP_BRANCH, site);
	step.timed = false;
	step.time = 0;
	step.implied = true;
	step.at = locate__site(n->t, site)->at;
	step.taken = true;
	step.to_known = to;
	if (to)
		locate__running(n->t, thread__space(n->th), n->e->time, to, &step.to);
	return live_filter__step(n->t, n->th, &step);
}

int step__branch(struct event_context *n, bool taken)
{
	const struct site_places *places;
	struct step step;

	if (judge__hides(n->t, n->th) || live_filter__count(n->t, STEP_BRANCH))
		return 0;
	places = locate__site(n->t, n->site);
	begin(&step, n, STEP_BRANCH, n->site);
	step.at = places->at;
	step.taken = taken;
	step.tested = n->e->tested;
	if (n->s->target || !taken) {
		step.to = taken ? places->taken : places->next;
		step.to_known = true;
	} else if (n->e->has_target) {
		locate__running(n->t, thread__space(n->th), n->e->time, n->e->target, &step.to);
		step.to_known = true;
	}
	return live_filter__step(n->t, n->th, &step);
}

/* Returns the number of the innermost call's caller. */
static uint64_t caller_of(struct thread *th)
{
	struct call *c = calls__top(th);

	c = c ? calls__caller(th, c) : NULL;
	if (c)
		return c->id;
	return th->user_side ? innermost_of(thread__shown(th), thread__shown(th)) : 0;
}

/* Sets the location of a frame by the call that it made, which may be the last instruction of its
 * function. */
static void locate_code(struct event_context *n, uint32_t space, uint64_t addr, uint64_t code,
			struct location *out)
{
	uint64_t after = addr - code;

	locate__running(n->t, space, n->e->time, code, out);
	out->addr += after;
	out->vaddr += out->object ? after : 0;
	out->offset += out->symbol ? after : 0;
}

static void locate_frame(struct event_context *n, unsigned i, struct location *out)
{
	uint32_t space = thread__space(n->th);
	uint64_t addr = n->entry->stack[i];

	locate_code(n, space, addr, space ? entry__frame_code(n->entry, i) : addr, out);
}

int step__entry(struct event_context *n)
{
	const struct plan_function *fn = &n->t->plan->functions.data[n->s->function];
	const struct arch *arch = n->t->plan->arch;
	const struct event_entry *entry = n->entry;
	struct location stack[STACK_FRAMES];
	uint64_t regs[EVENT_REGS] = {0}, *last;
	struct step step;

	if (judge__hides(n->t, n->th) || live_filter__count(n->t, STEP_ENTRY))
		return 0;
	last = map64__get(&n->th->entered, n->s->function);
	begin(&step, n, STEP_ENTRY, n->site);
	/* The step has the function's start, not the address of the probe. */
	step.at = locate__site(n->t, n->site)->entry;
	step.caller = caller_of(n->th);
	if (entry->regs) {
		memcpy(regs, entry->regs, min_of(entry->nregs, EVENT_REGS) * sizeof(*regs));
		regs[arch->ip_reg] = n->bias + fn->ranges[0].vaddr;
		step.regs = regs;
	}
	step.syscall_args = entry->args;
	step.nsyscall_args =
		fn->arguments ? min_of(fn->arguments - 1u, (unsigned)EVENT_ARGS) : EVENT_ARGS;
	step.fetched = n->e->fetched;
	step.nfetched = n->e->nfetched;
	/* With conditions, entries in between may have been left out. */
	step.has_since = last && *last && step.timed && !n->t->plan->conditions.len;
	step.since_entry = step.has_since ? n->e->time - *last : 0;
	*map64__put(&n->th->entered, n->s->function) = n->e->untimed ? 0 : n->e->time;
	step.stack = entry->stack ? stack : NULL;
	step.stack_end = entry->stack_end;
	step.nstack = min_of(entry->nstack, STACK_FRAMES);
	for (size_t i = 0; i < step.nstack; i++)
		locate_frame(n, i, &stack[i]);
	return live_filter__step(n->t, n->th, &step);
}

int step__named(struct event_context *n)
{
	const struct event_named *e = n->e->named;
	struct location stack[NAMED_FRAMES];
	size_t nstack = e->stack ? min_of(e->nkernel + e->nuser, (unsigned)NAMED_FRAMES) : 0;
	struct thread *th = n->th->user_side ? n->th->user_side : n->th;
	uint8_t kind = n->t->plan->named.data[e->which].kind;
	uint32_t pid = n->e->pid;
	bool has_off = false;
	uint64_t off = 0;
	struct step step;

	if (kind == NAMED_OFF_CPU)
		account__off_cpu(th, n->e->time);
	if (kind == NAMED_ON_CPU)
		has_off = account__on_cpu(n->t, th, n->e->time, &off);
	n->t->totals.named += e->count;
	if (live_filter__count(n->t, STEP_NAMED))
		return 0;
	begin(&step, n, STEP_NAMED, NO_SITE);
	step.named = e;
	step.has_off = has_off;
	step.off = off;
	step.has_at = e->ip;
	if (e->ip)
		locate__running(n->t, e->kernel ? 0 : pid, n->e->time, e->ip, &step.at);
	step.stack = nstack ? stack : NULL;
	step.nstack = nstack;
	step.stack_end = e->user_end;
	for (size_t i = 0; i < nstack; i++) {
		if (i < e->nkernel)
			locate__running(n->t, 0, n->e->time, e->stack[i], &stack[i]);
		else
			locate_code(n, pid, e->stack[i], named__frame_code(e, i - e->nkernel),
				    &stack[i]);
	}
	return live_filter__step(n->t, n->th, &step);
}

int step__implied_entry(struct event_context *n, uint32_t site)
{
	struct step step;

	if (judge__hides(n->t, n->th) || live_filter__count(n->t, STEP_ENTRY))
		return 0;
	begin(&step, n, STEP_ENTRY, site);
	step.timed = false;
	step.time = 0;
	step.implied = true;
	step.at = locate__site(n->t, site)->entry;
	step.caller = caller_of(n->th);
	return live_filter__step(n->t, n->th, &step);
}

enum net net__of(uint64_t duration, uint64_t tracing, uint64_t noise, uint64_t *ns)
{
	*ns = duration - min_of(duration, tracing);
	/* The noise may be part of it: more than half of it must be the call's own. */
	return *ns <= 2 * noise ? NET_NOISE : NET_KNOWN;
}

enum net step__net(const struct step *s, uint64_t *ns)
{
	return s->has_tracing ? net__of(s->duration, s->tracing, s->noise, ns) : NET_UNKNOWN;
}

/* Returns the location of the function's start. */
static struct location start_of(struct trace *t, uint32_t function)
{
	const struct plan_function *fn = &t->plan->functions.data[function];
	struct location at;

	if (fn->entry_site != NO_SITE && t->plan->sites.data[fn->entry_site].entry)
		return locate__site(t, fn->entry_site)->entry;
	locate__vaddr(t, fn->object, fn->ranges[0].vaddr, &at);
	return at;
}

static int put_return(struct event_context *n, const struct call *c, uint64_t time,
		      struct step *step)
{
	bool timed = !c->untimed && !(n->e && n->e->untimed);

	step->function = c->function;
	step->at = start_of(n->t, c->function);
	step->has_duration = c->seen_entry && !c->holed && timed;
	step->duration = step->has_duration ? time - c->time : 0;
	/* Hits that the kernel left out took time, too. */
	step->has_tracing = step->has_duration && !n->t->judges_entries &&
			    account__of_call(n, c, &step->tracing, &step->noise);
	step->tracing = min_of(step->tracing, step->duration);
	step->has_off = c->seen_entry && timed && account__off_of_call(n, c, time, &step->off);
	step->off = min_of(step->off, step->duration);
	return live_filter__step(n->t, n->th, step);
}

/* Counts a return; returns true if that is all to do with it. */
static bool count_return(struct trace *t, const struct call *c)
{
	if (c->hidden)
		return true;
	t->totals.unmatched_returns += !c->seen_entry && !c->implied;
	return live_filter__count(t, STEP_RETURN);
}

int step__return(struct event_context *n, const struct call *c)
{
	struct step step;

	if (count_return(n->t, c))
		return 0;
	begin(&step, n, STEP_RETURN, n->site);
	step.has_value = n->e->has_value;
	step.value = step.has_value ? n->e->value : 0;
	/* The ret of a function that the call jumped to loads the values of that function. */
	if (n->e->type != EVENT_ENTRY && n->t->plan->sites.data[n->site].function == c->function) {
		step.fetched = n->e->fetched;
		step.nfetched = n->e->nfetched;
	}
	return put_return(n, c, n->e->time, &step);
}

/* ---- of a log, without an event ---- */

static void begin_logged(struct step *step, struct event_context *n, enum step_type type,
			 uint64_t time)
{
	begin(step, n, type, n->site);
	step->time = time;
	step->timed = true;
	step->cpu = EVENT_NO_CPU;
}

int step__logged_entry(struct trace *t, struct thread *th, uint32_t site, uint64_t time)
{
	struct event_context n = {.t = t, .th = th, .site = site};
	struct step step;

	if (judge__hides(t, th) || live_filter__count(t, STEP_ENTRY))
		return 0;
	begin_logged(&step, &n, STEP_ENTRY, time);
	step.at = locate__site(t, site)->entry;
	step.caller = caller_of(th);
	return live_filter__step(t, th, &step);
}

int step__logged_return(struct trace *t, struct thread *th, const struct call *c, uint32_t site,
			uint64_t time, uint64_t value)
{
	struct event_context n = {.t = t, .th = th, .site = site};
	struct step step;

	if (count_return(t, c))
		return 0;
	begin_logged(&step, &n, STEP_RETURN, time);
	step.has_value = true;
	step.value = value;
	return put_return(&n, c, time, &step);
}
