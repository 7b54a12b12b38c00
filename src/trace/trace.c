// SPDX-License-Identifier: BSD-2-Clause
/* The front door of the replay: records are checked and given to their thread. */
#include <errno.h>
#include <stdlib.h>
#include "calls.h"

struct trace *trace__new(const struct plan *plan, const struct trace_options *options,
			 const struct resolver *resolver, step_fn fn, void *ctx)
{
	struct trace *t = xcalloc(1, sizeof(*t));

	t->plan = plan;
	t->options = *options;
	t->resolver = resolver;
	t->fn = fn;
	t->counts = !fn && !options->max_depth && !options->min_duration;
	t->ctx = ctx;
	t->places = xcalloc(plan->sites.len, sizeof(*t->places));
	t->walk = walk__new(plan);
	return t;
}

static size_t size_of(uint32_t type)
{
	static const size_t sizes[WIRE_TYPES] = {[WIRE_BRANCH] = sizeof(struct wire_event),
						 [WIRE_VALUE] = sizeof(struct wire_value),
						 [WIRE_ENTRY] = sizeof(struct wire_entry),
						 [WIRE_LOST] = sizeof(struct wire_value),
						 [WIRE_SIGNAL] = sizeof(struct wire_event),
						 [WIRE_GOROUTINE] = sizeof(struct wire_value),
						 [WIRE_RETURN] = sizeof(struct wire_value)};

	return type < WIRE_TYPES ? sizes[type] : SIZE_MAX;
}

static int bad_record(void)
{
	return err__set(EINVAL, "a record of the ring buffer does not belong to this plan");
}

static int take_entry(struct now *n, const void *record, size_t size)
{
	const struct wire_entry_stack *s = record;

	n->entry = record;
	n->value = (const uint64_t *)n->entry->value;
	if (!n->s->entry)
		return bad_record();
	if (!n->t->plan->kernel)
		n->bias = n->entry->regs[16] - n->s->probe_at - n->s->vaddr;
	if (size < sizeof(*s))
		return 0;
	n->frames = min_of((uint64_t)s->frames, (uint64_t)WIRE_STACK);
	n->stack = (const uint64_t *)s->stack;
	return 0;
}

int trace__feed(struct trace *t, const void *record, size_t size)
{
	const struct wire_event *e = record;
	struct now n = {.t = t, .e = e};
	uint32_t type;

	if (size < sizeof(*e))
		return bad_record();
	type = e->site_type >> WIRE_SITE_BITS;
	n.site = e->site_type & WIRE_SITE_MASK;
	if (size < size_of(type) || (type != WIRE_LOST && type != WIRE_SIGNAL &&
				     type != WIRE_GOROUTINE && n.site >= t->plan->sites.len))
		return bad_record();
	n.th = tasks__thread(t, e->pid, e->tid, e->cpu);
	if (type == WIRE_SIGNAL) {
		n.th->signals++;
		if (n.th->other)
			n.th->other->signals++;
		return 0;
	}
	if (type == WIRE_GOROUTINE) {
		goroutines__run(t, n.th, ((const struct wire_value *)record)->value[0]);
		return 0;
	}
	n.th = n.th->other ? n.th->other : n.th;
	n.th->seen = true;
	if (type == WIRE_VALUE || type == WIRE_LOST || type == WIRE_RETURN)
		n.value = (const uint64_t *)((const struct wire_value *)record)->value;
	if (type == WIRE_LOST)
		return replay__lost(&n);
	n.s = &t->plan->sites.data[n.site];
	n.block = &t->plan->blocks.data[n.s->block];
	if (type == WIRE_RETURN)
		return !n.s->entry	 ? bad_record()
		       : t->plan->kernel ? replay__tail_return(&n)
					 : replay__return(&n);
	if (n.s->kind == BRANCH_NONE && !n.s->entry)
		return replay__witness(&n);
	if (type != WIRE_ENTRY)
		return n.s->kind == BRANCH_NONE ? bad_record() : replay__branch(&n);
	return take_entry(&n, record, size) ? -EINVAL : replay__entry(&n);
}

int trace__lost(struct trace *t, uint32_t pid, uint32_t tid, uint64_t count)
{
	static struct thread nobody;
	struct now n = {.t = t};

	n.th = pid ? tasks__thread(t, pid, tid, 0) : &nobody;
	return step__lost(&n, count);
}

void trace__missed(struct trace *t, uint64_t hits)
{
	t->totals.missed += hits;
}

int trace__gap(struct trace *t, uint32_t pid, uint32_t tid)
{
	struct now n = {.t = t, .th = tasks__thread(t, pid, tid, 0)};

	n.th = n.th->other ? n.th->other : n.th;

	return replay__gap(&n);
}

static void count_function(struct trace_totals *totals, const struct plan_function *f)
{
	if (f->flags & FUNCTION_SILENT)
		return;
	totals->functions++;
	totals->undecoded += f->unreached;
	totals->code += plan_function__size(f);
}

const struct trace_totals *trace__totals(const struct trace *t)
{
	struct trace_totals *totals = (struct trace_totals *)&t->totals;

	totals->functions = totals->undecoded = totals->code = 0;
	for (size_t i = 0; i < t->plan->functions.len; i++)
		count_function(totals, &t->plan->functions.data[i]);
	totals->probes = t->plan->probes;
	totals->skipped = t->plan->skipped;
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
	walk__free(t->walk);
	free(t->places);
	free(t);
}
