// SPDX-License-Identifier: BSD-2-Clause
/* The interface of the replay: checks events and passes them to their threads. */
#include <errno.h>
#include <stdlib.h>
#include "trace/runs/ways.h"
#include "calls.h"

/* Marks the functions whose probes are being attached or removed: in their own code or in what
 * their control flow leads to. */
static void note_changing(struct trace *t)
{
	const struct plan_site *s;

	t->any_changing = false;
	vec__each (s, &t->plan->sites)
		t->any_changing |= s->probe == PROBE_CHANGING;
	if (!t->any_changing)
		return;
	free(t->changing);
	t->changing = xcalloc(t->plan->functions.len, sizeof(bool));
	vec__each (s, &t->plan->sites)
		t->changing[s->function] |= s->probe == PROBE_CHANGING;
	walk__close_backward(t->walk, t->changing);
}

/* Sets what is derived from the plan. */
static void take_plan(struct trace *t)
{
	t->has_kernel = plan__has_kernel(t->plan);
	t->switches = plan__has_named(t->plan, NAMED_ON_CPU);
	t->judges_entries = plan__judges(t->plan, false);
	t->judges_returns = plan__judges(t->plan, true);
	t->places = xcalloc(t->plan->sites.len, sizeof(*t->places));
	t->walk = walk__new(t->plan);
	if (!t->options.account)
		return;
	t->site_hits = xextend(t->site_hits, t->nsites, t->plan->sites.len, sizeof(*t->site_hits));
	t->nsites = t->plan->sites.len;
}

struct trace *trace__new(const struct plan *plan, const struct trace_options *options,
			 const struct resolver *resolver, step_fn fn, void *ctx)
{
	struct trace *t = xcalloc(1, sizeof(*t));

	t->plan = plan;
	t->options = *options;
	t->resolver = resolver;
	t->fn = fn;
	t->counts =
		!fn && !options->max_depth && !options->min_duration && !plan__judges(plan, true);
	t->ctx = ctx;
	t->prices.apart = plan->return_probes;
	take_plan(t);
	note_changing(t);
	return t;
}

static void make_all_uncertain(struct trace *t, const struct map64 *threads)
{
	uint64_t th;

	for (size_t i = 0; i < threads->cap; i++)
		if (map64__slot(threads, i, &th))
			replay__make_uncertain(t, (struct thread *)(uintptr_t)th);
}

/* Marks what the tasks did up to now, and will do, since probes of changing functions may or may
 * not report it. */
static void make_tasks_uncertain(struct trace *t)
{
	if (!t->any_changing)
		return;
	make_all_uncertain(t, &t->threads);
	make_all_uncertain(t, &t->goroutines);
}

void trace__plan_extended(struct trace *t)
{
	make_tasks_uncertain(t);
	free(t->places);
	walk__free(t->walk);
	ways__free(t->ways);
	t->ways = NULL;
	map64__free(&t->landings);
	t->record_per_event = PER_EVENT_UNKNOWN;
	take_plan(t);
	note_changing(t);
	make_tasks_uncertain(t);
}

static int bad_event(void)
{
	return err__set(EINVAL, "an event does not belong to this plan");
}

static bool is_kernel(const struct event_context *n)
{
	return n->t->plan->objects.data[n->s->object].kernel;
}

static int on_entry(struct event_context *n)
{
	int err;

	n->entry = n->e->entry;
	if (!n->s->entry || !n->entry)
		return bad_event();
	if (!is_kernel(n)) {
		n->bias = n->entry->ip - n->s->probe_at - n->s->vaddr;
		return replay__entry(n);
	}
	err = kernel_side__enter(n);
	return err ? err : replay__entry(n);
}

static int on_return(struct event_context *n)
{
	if (!n->s->entry)
		return bad_event();
	return is_kernel(n) ? replay__tail_return(n) : replay__return(n);
}

/* Returns the function whose first instruction a thread has executed, or tried to, before the hit
 * of the entry's probe; NULL if there is none. vaddr is that of the next instruction. */
static const struct plan_function *entered_at(const struct trace *t, uint32_t object,
					      uint64_t vaddr, bool fault, bool tried)
{
	uint32_t block = plan__block_holding(t->plan, object, vaddr), function;
	const struct plan_function *f;
	const struct plan_site *s;

	function = block == NO_BLOCK ? NO_FUNCTION : t->plan->blocks.data[block].function;
	f = function == NO_FUNCTION ? NULL : &t->plan->functions.data[function];
	if (!f || f->entry_block != block || f->entry_site == NO_SITE ||
	    f->flags & (FUNCTION_HELPER | FUNCTION_RANGE))
		return NULL;
	s = &t->plan->sites.data[f->entry_site];
	/* With the probe at the start, the instruction can only fault after the probe's hit. */
	return s->entry && plan_site__has_events(s) &&
			       vaddr + tried > t->plan->blocks.data[block].start &&
			       vaddr < s->vaddr + s->probe_at + !fault
		       ? f
		       : NULL;
}

/* Returns the return address, at this number of bytes above the stack pointer of a signal, or in
 * the link register; 0 if not known. */
static uint64_t return_above(const struct arch *arch, const struct event *e, uint32_t bytes)
{
	if (!bytes || arch->link_reg != REG_NONE)
		return e->has_value ? e->value : 0;
	return bytes / 8 <= e->nabove ? arch__address(arch, e->above[bytes / 8 - 1]) : 0;
}

/* Begins the call if a signal is delivered in front of its entry's probe. */
static int enter_early(struct trace *t, struct thread *th, const struct event *e)
{
	/* If the handler that was about to run could not, the fault isn't the instruction's. */
	bool tried = e->fault && th->interrupted_at != e->target;
	struct event_entry entry = {0};
	struct event at = {.time = e->time,
			   .pid = e->pid,
			   .tid = e->tid,
			   .cpu = e->cpu,
			   .sp = e->sp,
			   .type = EVENT_ENTRY,
			   .entry = &entry};
	struct event_context n = {.t = t, .th = th, .e = &at, .entry = &entry, .early = true};
	const struct plan_function *f;
	uint32_t object, lowered;
	uint64_t vaddr;

	if (!t->plan->late_entries || !e->has_target || th->other ||
	    !locate__in_object(t, th->pid, e->time, e->target, &object, &vaddr))
		return 0;
	f = entered_at(t, object, vaddr, e->fault, tried);
	if (!f)
		return 0;
	n.bias = e->target - vaddr;
	n.site = at.site = f->entry_site;
	n.s = &t->plan->sites.data[n.site];
	n.block = &t->plan->blocks.data[n.s->block];
	lowered = vaddr - n.block->start < n.s->lowered_at ? 0 : n.s->lowered;
	at.sp += lowered;
	entry.caller = return_above(t->plan->arch, e, lowered);
	th->seen = true;
	return replay__entry(&n);
}

static int on_signal(struct trace *t, struct thread *th, const struct event *e)
{
	int err = enter_early(t, th, e);

	th->interrupted_at = e->unhandled || e->fault ? 0 : e->target;
	if (e->unhandled)
		return err;
	th->signals++;
	if (th->other)
		th->other->signals++;
	return err;
}

/* Handles an event of a site of the plan. */
static int on_site(struct event_context *n)
{
	n->site = n->e->site;
	n->s = &n->t->plan->sites.data[n->site];
	n->block = &n->t->plan->blocks.data[n->s->block];
	if (n->e->type == EVENT_RETURN)
		return on_return(n);
	if (n->s->role == ROLE_WITNESS)
		return replay__witness(n);
	if (n->e->type == EVENT_ENTRY)
		return on_entry(n);
	return n->s->role == ROLE_BRANCH ? replay__branch(n) : bad_event();
}

/* A named event shows nothing of the thread's path. */
static int on_named(struct trace *t, struct thread *th, const struct event *e)
{
	struct event_context n = {.t = t, .th = kernel_side__innermost(th), .e = e};
	int err;

	if (!e->named || e->named->which >= t->plan->named.len)
		return bad_event();
	if (e->named->comm[0])
		snprintf(th->comm, sizeof(th->comm), "%s", e->named->comm);
	err = stop__mark(&n);
	return err ? err : step__named(&n);
}

static bool is_of_site(const struct event *e)
{
	return e->type == EVENT_BRANCH || e->type == EVENT_ENTRY || e->type == EVENT_RETURN;
}

/* Ends of threads and of handlers are for the code that adds up counts. */
static bool suits(const struct trace *t, const struct event *e)
{
	if (e->type >= EVENT_TYPES || e->type == EVENT_END || e->type == EVENT_RESUME)
		return false;
	return !is_of_site(e) || e->site < t->plan->sites.len;
}

int trace__feed(struct trace *t, const struct event *e)
{
	struct event_context n = {.t = t, .e = e};
	struct thread *th;
	int err;

	if (!suits(t, e))
		return bad_event();
	th = tasks__thread(t, e->pid, e->tid, e->cpu);
	if (is_of_site(e))
		th->interrupted_at = 0;
	else
		th->last_hit = (struct last_hit){0};
	if (e->type == EVENT_SIGNAL)
		return on_signal(t, th, e);
	if (e->type == EVENT_GOROUTINE)
		return goroutines__run(t, th, e->goroutine), 0;
	if (e->type == EVENT_NAMED)
		return on_named(t, th, e);
	n.th = e->type == EVENT_LOST ? kernel_side__innermost(th) : kernel_side__of(t, th, e->site);
	n.th->seen = true;
	n.last_hit = &th->last_hit;
	err = stop__mark(&n);
	if (err)
		return err;
	if (e->type == EVENT_LOST)
		return replay__lost(&n);
	err = t->changing ? replay__mark_uncertain(&n) : 0;
	if (err)
		return err;
	err = on_site(&n);
	account__hit(&n);
	if (t->any_changing)
		replay__make_uncertain(t, n.th);
	return err;
}

int trace__lost(struct trace *t, uint32_t pid, uint32_t tid, uint64_t count)
{
	static struct thread nobody;
	struct event_context n = {.t = t};

	n.th = pid ? tasks__thread(t, pid, tid, 0) : &nobody;
	return step__lost(&n, count);
}

void trace__missed(struct trace *t, uint64_t hits)
{
	t->totals.missed += hits;
}

void trace__muted(struct trace *t, uint64_t invocations, uint64_t hits)
{
	t->totals.muted += invocations;
	t->totals.muted_hits += hits;
	t->totals.unmet += invocations;
}

int trace__gap(struct trace *t, uint32_t pid, uint32_t tid)
{
	struct thread *th = tasks__thread(t, pid, tid, 0);
	struct event_context n = {.t = t, .th = kernel_side__innermost(th)};

	th->last_hit = (struct last_hit){0};
	return replay__gap(&n);
}

static void count_function(struct trace_totals *totals, const struct plan_function *f)
{
	if (f->flags & FUNCTION_HELPER)
		return;
	totals->functions++;
	totals->undecoded += f->unreached;
	totals->code += plan_function__size(f);
}

void totals__add(struct trace_totals *sum, const struct trace_totals *t)
{
	uint64_t at_least = sum->at_least | t->at_least, *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)t;

	_Static_assert(sizeof(*sum) % sizeof(*to) == 0, "all of them are counters");
	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
	sum->at_least = at_least;
}

void totals__of_plan(struct trace_totals *totals, const struct plan *p)
{
	totals->functions = totals->undecoded = totals->code = 0;
	for (size_t i = 0; i < p->functions.len; i++)
		count_function(totals, &p->functions.data[i]);
	if (p->all_code) {
		totals->unknown_code = p->unknown_code;
		totals->all_code = p->all_code;
	}
	totals->probes = p->probes;
	totals->skipped = p->skipped;
}

const struct trace_totals *trace__totals(const struct trace *t)
{
	struct trace_totals *totals = (struct trace_totals *)&t->totals;

	totals__of_plan(totals, t->plan);
	account__total(t, totals);
	return totals;
}

const char *trace__comm_of(const struct trace *t, uint32_t tid)
{
	const uint64_t *slot = map64__get(&t->threads, tid);

	return slot ? ((const struct thread *)(uintptr_t)*slot)->comm : NULL;
}

void trace__free(struct trace *t)
{
	if (!t)
		return;
	tasks__free(t);
	map64__free(&t->biases);
	map64__free(&t->landings);
	map64__free(&t->returning);
	walk__free(t->walk);
	ways__free(t->ways);
	map64__free(&t->by_process);
	vec__free(&t->costs);
	free(t->site_hits);
	free(t->places);
	free(t->changing);
	free(t);
}
