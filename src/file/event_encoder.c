// SPDX-License-Identifier: BSD-2-Clause
/* Writes blocks of events. */
#include <errno.h>
#include <stdlib.h>
#include "file/event_codec.h"
#include "file/format.h"

/* Bytes of a block. A file that is cut loses the last one, and those that were not written yet
 * (pipeline/write/packer.h). Smaller blocks compress worse: each starts with an empty model. */
#define BLOCK_FULL	(1u << 17)
#define BLOCK_ITEMS_MAX (1u << 20)
#define SIZE_EVERY	16 /* items between two counts of the bytes */

struct event_encoder {
	struct codec c;
	size_t full; /* bytes */
	unsigned size_every;
	struct map64 threads;	  /* pid, tid -> number; 0 is sideband events */
	uint64_t key, number;	  /* of the last thread looked up; number 0: none */
	uint64_t run, length;	  /* thread of the current run, and its number of items */
	uint64_t items, sideband; /* sideband: of these */
	struct str fetched;
};

struct event_encoder *event_encoder__new(const struct plan *plan, size_t full)
{
	struct event_encoder *e = xcalloc(1, sizeof(*e));

	e->full = full ? full : BLOCK_FULL;
	e->size_every = full ? 1 : SIZE_EVERY;
	e->c.writing = true;
	event_model__init(&e->c.m, plan);
	return e;
}

void event_encoder__free(struct event_encoder *e)
{
	if (!e)
		return;
	for (int i = 0; i < COLUMNS; i++)
		str__free(i < BIT_COLUMNS ? &e->c.bits_out[i].bytes : &e->c.out[i]);
	str__free(&e->fetched);
	event_model__free(&e->c.m);
	map64__free(&e->threads);
	free(e);
}

static void end_run(struct event_encoder *e)
{
	if (!e->length)
		return;
	put_number(&e->c.out[COLUMN_RUNS], e->run);
	put_number(&e->c.out[COLUMN_RUNS], e->length);
	e->length = 0;
}

/* Not at the end of the last one: an increment of the plan may come between them. */
static void begin_block(struct event_encoder *e)
{
	if (!e->items)
		event_model__reset(&e->c.m);
}

static void begin_item(struct event_encoder *e, uint64_t run)
{
	if (run != e->run)
		end_run(e);
	e->run = run;
	e->length++;
	e->items++;
}

static uint64_t number_of(struct event_encoder *e, uint64_t key, const struct event *w)
{
	uint64_t *number = map64__put(&e->threads, key);

	if (*number)
		return *number;
	event_model__add_thread(&e->c.m, w->pid, w->tid);
	end_run(e);
	put_number(&e->c.out[COLUMN_MISSES], w->pid);
	put_delta(&e->c.out[COLUMN_MISSES], w->tid, w->pid);
	return *number = e->c.m.nthreads;
}

static struct thread_state *thread_of(struct event_encoder *e, const struct event *w)
{
	/* all CPUs' idle tasks have tid 0 */
	uint64_t key = w->tid ? (uint64_t)w->pid << 32 | w->tid : 1ull << 63 | w->cpu;

	if (!e->number || key != e->key)
		e->number = number_of(e, key, w);
	e->key = key;
	begin_item(e, e->number);
	return e->c.m.threads.data[e->number - 1];
}

static bool is_of_site(const struct event *w)
{
	return w->type == EVENT_BRANCH || w->type == EVENT_ENTRY || w->type == EVENT_RETURN;
}

static enum record_kind kind_of(const struct plan *plan, const struct event *w)
{
	static const uint8_t kinds[EVENT_TYPES] = {
		[EVENT_ENTRY] = RECORD_ENTRY,	      [EVENT_RETURN] = RECORD_RETURN,
		[EVENT_LOST] = RECORD_LOST,	      [EVENT_SIGNAL] = RECORD_SIGNAL,
		[EVENT_GOROUTINE] = RECORD_GOROUTINE, [EVENT_NAMED] = RECORD_NAMED,
	};
	uint8_t kind;

	if (w->type == EVENT_ENTRY && w->entry->stack)
		return RECORD_STACK;
	if (w->type != EVENT_BRANCH)
		return kinds[w->type];
	if (w->tested.flags)
		return RECORD_VALUE;
	kind = plan->sites.data[w->site].kind;
	return kind == BRANCH_RET || kind == BRANCH_IJMP || kind == BRANCH_ICALL ? RECORD_VALUE
										 : RECORD_BRANCH;
}

static void take_entry(struct record *x, const struct event_entry *e)
{
	memset(&x->caller, 0, offsetof(struct record, stack) - offsetof(struct record, caller));
	if (!e->caller)
		x->state |= RECORD_NO_CALLER;
	if (e->pending)
		x->state |= RECORD_PENDING;
	x->caller = e->caller;
	x->user[0] = e->user_ip;
	x->user[1] = e->user_sp;
	memcpy(x->comm, e->comm, strnlen(e->comm, sizeof(x->comm)));
	if (e->regs)
		memcpy(x->regs, e->regs, min_of(e->nregs, EVENT_REGS) * sizeof(*x->regs));
	else
		x->state |= RECORD_NO_REGS;
	if (e->args)
		memcpy(x->args, e->args, sizeof(x->args));
	else
		x->state |= RECORD_NO_ARGS;
	x->frames = min_of(e->nstack, STACK_FRAMES);
	if (e->stack)
		memcpy(x->stack, e->stack, x->frames * sizeof(*x->stack));
	x->stack_end = e->stack_end | e->exact >> 1 << 8;
}

static void take_named(struct record *x, const struct event_named *n)
{
	x->named = *n;
	memset(x->comm, 0, sizeof(x->comm));
	memcpy(x->comm, n->comm, strnlen(n->comm, sizeof(x->comm)));
	if (n->stack)
		memcpy(x->named_stack, n->stack, (n->nkernel + n->nuser) * sizeof(*n->stack));
}

static bool is_named_of(const struct plan *plan, const struct event *w)
{
	const struct event_named *n = w->named;

	return n && n->which < plan->named.len && n->len <= NAMED_DATA &&
	       n->nkernel <= NAMED_KERNEL_FRAMES && n->nuser <= NAMED_USER_FRAMES;
}

static void take_values(struct record *x, const struct event *w)
{
	switch (w->type) {
	case EVENT_LOST:
		x->value[0] = w->count;
		x->value[1] = w->hits;
		break;
	case EVENT_GOROUTINE:
		x->value[0] = w->goroutine;
		break;
	default:
		x->value[0] = w->target;
		x->value[1] = w->value;
		x->state |= w->has_target ? 0 : RECORD_NO_TARGET;
		x->state |= w->has_value ? 0 : RECORD_NO_VALUE;
	}
	if (w->tested.flags) {
		x->state |= (uint32_t)w->tested.flags << RECORD_TESTED_SHIFT;
		memcpy(x->value, w->tested.value, sizeof(x->value));
	}
}

int event_encoder__event(struct event_encoder *e, const struct event *w)
{
	const struct plan *plan = e->c.m.plan;
	struct record x;

	if (w->type >= EVENT_TYPES || (is_of_site(w) && w->site >= plan->sites.len) ||
	    (w->type == EVENT_ENTRY && !w->entry) ||
	    (w->type == EVENT_NAMED && !is_named_of(plan, w)))
		return err__set(EINVAL, "an event does not belong to this plan");
	begin_block(e);
	/* what follows is an entry's, and take_entry() sets it; clearing it for each event takes as
	 * long as encoding one */
	memset(&x, 0, offsetof(struct record, caller));
	x.site = is_of_site(w) ? w->site : (uint32_t)plan->sites.len;
	x.kind = kind_of(plan, w);
	x.pid = w->pid;
	x.tid = w->tid;
	x.time = w->time;
	x.sp = w->sp;
	x.cpu = w->cpu;
	x.state = (uint32_t)w->interrupt << RECORD_INTERRUPT_SHIFT |
		  (w->untimed ? RECORD_UNTIMED : 0);
	x.taken = w->taken;
	take_values(&x, w);
	if (w->type == EVENT_ENTRY)
		take_entry(&x, w->entry);
	if (w->type == EVENT_NAMED)
		take_named(&x, w->named);
	codec__record(&e->c, &x, thread_of(e, w));
	if (event__has_fetched(plan, w))
		fetched__put(&e->fetched, w);
	return 0;
}

static void add_sideband(struct event_encoder *e, uint64_t type,
			 const struct sideband_event *sideband)
{
	struct sideband_event copy = *sideband;

	begin_block(e);
	begin_item(e, 0);
	e->sideband++;
	codec__sideband(&e->c, &type, &copy, NULL);
}

void event_encoder__sideband(struct event_encoder *e, const struct sideband_event *sideband)
{
	add_sideband(e, sideband->type, sideband);
}

void event_encoder__lost(struct event_encoder *e, uint32_t pid, uint32_t tid, uint64_t count)
{
	add_sideband(e, SIDEBAND_ITEM_LOST,
		     &(struct sideband_event){.pid = pid, .tid = tid, .count = count});
}

static struct str *column_of(struct event_encoder *e, int i)
{
	return i < BIT_COLUMNS ? &e->c.bits_out[i].bytes : &e->c.out[i];
}

size_t event_encoder__size(const struct event_encoder *e)
{
	size_t size = e->fetched.len;

	for (int i = 0; i < COLUMNS; i++)
		size += column_of((struct event_encoder *)e, i)->len;
	return size;
}

bool event_encoder__is_full(const struct event_encoder *e)
{
	return (e->items % e->size_every == 0 && event_encoder__size(e) >= e->full) ||
	       e->items >= BLOCK_ITEMS_MAX || e->c.m.nthreads >= MODEL_THREADS_MAX;
}

bool event_encoder__is_sideband(const struct event_encoder *e)
{
	return e->items && e->items == e->sideband;
}

void block_totals__put(struct str *out, const struct block_totals *t)
{
	put_number(out, t->events);
	put_number(out, t->sideband);
	put_number(out, t->tables);
	put_number(out, t->plans);
}

void event_encoder__put_empty(struct str *out, const struct block_totals *t)
{
	put_number(out, 0);
	for (int i = 0; i < COLUMNS; i++)
		put_part(out, NULL, 0);
	block_totals__put(out, t);
}

bool event_encoder__end(struct event_encoder *e, struct str *out, struct block_totals *t)
{
	if (!e->items)
		return false;
	end_run(e);
	for (int i = 0; i < BIT_COLUMNS; i++)
		end_bits(&e->c.bits_out[i]);
	put_number(out, e->items);
	for (int i = 0; i < COLUMNS; i++) {
		put_part(out, column_of(e, i)->data, column_of(e, i)->len);
		column_of(e, i)->len = 0;
	}
	block_totals__put(out, t);
	/* readers take it only if it is there */
	if (e->fetched.len)
		put_part(out, e->fetched.data, e->fetched.len);
	e->fetched.len = 0;
	t->events += e->items - e->sideband;
	t->sideband += e->sideband;
	e->items = e->sideband = 0;
	e->run = e->number = 0;
	map64__free(&e->threads);
	return true;
}
