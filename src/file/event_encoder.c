// SPDX-License-Identifier: BSD-2-Clause
/* Blocks of events, written. */
#include <errno.h>
#include <stdlib.h>
#include "file/event_codec.h"
#include "file/format.h"

/* Bytes: what a cut costs at most. Smaller ones cost more room, each begins without knowledge. */
#define BLOCK_FULL	(1u << 17)
#define BLOCK_ITEMS_MAX (1u << 20)
#define SIZE_EVERY	16 /* items: how often the bytes are counted */

struct event_encoder {
	struct codec c;
	struct map64 threads; /* pid, tid -> number; 0 is side events */
	uint64_t key, number; /* of the thread that was looked up last; number 0: none */
	uint64_t run, length; /* whose items were written last, how many */
	uint64_t items;
};

struct event_encoder *event_encoder__new(const struct plan *plan)
{
	struct event_encoder *e = xcalloc(1, sizeof(*e));

	e->c.writing = true;
	event_model__init(&e->c.m, plan, true);
	return e;
}

void event_encoder__free(struct event_encoder *e)
{
	if (!e)
		return;
	for (int i = 0; i < COLUMNS; i++)
		str__free(i < BIT_COLUMNS ? &e->c.bits_out[i].bytes : &e->c.out[i]);
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

static void begin_item(struct event_encoder *e, uint64_t run)
{
	if (run != e->run)
		end_run(e);
	e->run = run;
	e->length++;
	e->items++;
}

static uint64_t number_of(struct event_encoder *e, uint64_t key, const struct wire_event *w)
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

static struct thread_state *thread_of(struct event_encoder *e, const struct wire_event *w)
{
	/* every CPU has an idle thread, and all of them have the number 0 */
	uint64_t key = w->tid ? (uint64_t)w->pid << 32 | w->tid : 1ull << 63 | w->cpu;

	if (!e->number || key != e->key)
		e->number = number_of(e, key, w);
	e->key = key;
	begin_item(e, e->number);
	return e->c.m.threads.data[e->number - 1];
}

static int kind_of(const struct event_encoder *e, const void *record, size_t size, struct record *x)
{
	static const uint8_t kinds[WIRE_TYPES] = {
		[WIRE_BRANCH] = RECORD_BRANCH, [WIRE_VALUE] = RECORD_VALUE,
		[WIRE_ENTRY] = RECORD_ENTRY,   [WIRE_LOST] = RECORD_LOST,
		[WIRE_SIGNAL] = RECORD_SIGNAL, [WIRE_GOROUTINE] = RECORD_GOROUTINE,
		[WIRE_RETURN] = RECORD_RETURN,
	};
	const struct wire_event *w = record;
	uint32_t type, nsites = e->c.m.plan->sites.len;

	if (size < sizeof(*w) || w->site_type >> WIRE_SITE_BITS >= WIRE_TYPES)
		return -EINVAL;
	type = w->site_type >> WIRE_SITE_BITS;
	x->kind = type == WIRE_ENTRY && size >= sizeof(struct wire_entry_stack) ? RECORD_STACK
										: kinds[type];
	x->site = w->site_type & WIRE_SITE_MASK;
	if (x->site == WIRE_SITE_MASK)
		x->site = nsites;
	else if (x->site >= nsites)
		return -EINVAL;
	return size < record_sizes[x->kind] ? -EINVAL : 0;
}

int event_encoder__record(struct event_encoder *e, const void *record, size_t size)
{
	struct record x;
	int err = kind_of(e, record, size, &x);

	if (err)
		return err__set(-err, "a record of the ring buffer does not belong to this plan");
	memcpy(&x.r, record, record_sizes[x.kind]);
	codec__record(&e->c, &x, thread_of(e, record));
	return 0;
}

static void add_sideband(struct event_encoder *e, uint64_t type,
			 const struct sideband_event *sideband)
{
	struct sideband_event copy = *sideband;

	begin_item(e, 0);
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
	size_t size = 0;

	for (int i = 0; i < COLUMNS; i++)
		size += column_of((struct event_encoder *)e, i)->len;
	return size;
}

bool event_encoder__is_full(const struct event_encoder *e)
{
	return (e->items % SIZE_EVERY == 0 && event_encoder__size(e) >= BLOCK_FULL) ||
	       e->items >= BLOCK_ITEMS_MAX || e->c.m.nthreads >= MODEL_THREADS_MAX;
}

bool event_encoder__end(struct event_encoder *e, struct str *out)
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
	e->items = 0;
	e->run = e->number = 0;
	map64__free(&e->threads);
	event_model__reset(&e->c.m);
	return true;
}
