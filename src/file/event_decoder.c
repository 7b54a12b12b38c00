// SPDX-License-Identifier: BSD-2-Clause
/* Blocks of events, read. Bytes from outside: a column that ends too early, or a number that can't
 * be, is damage. */
#include <errno.h>
#include <stdlib.h>
#include "file/event_codec.h"
#include "file/format.h"

struct event_decoder {
	struct codec c;
};

struct event_decoder *event_decoder__new(const struct plan *plan, unsigned major)
{
	struct event_decoder *d = xcalloc(1, sizeof(*d));

	event_model__init(&d->c.m, plan, major > 1);
	return d;
}

void event_decoder__free(struct event_decoder *d)
{
	if (d)
		event_model__free(&d->c.m);
	free(d);
}

static bool is_bad(const struct codec *c)
{
	bool bad = c->bad;

	for (int i = 0; i < COLUMNS; i++)
		bad |= i < BIT_COLUMNS ? c->bits_in[i].bytes.bad : c->in[i].bad;
	return bad;
}

static struct thread_state *new_thread(struct codec *c)
{
	uint32_t pid = get_number(&c->in[COLUMN_MISSES]);
	uint32_t tid = get_delta(&c->in[COLUMN_MISSES], pid);

	return event_model__add_thread(&c->m, pid, tid);
}

static int give_record(struct codec *c, struct thread_state *th,
		       int (*fn)(void *ctx, const struct item *item), void *ctx)
{
	static const uint32_t types[RECORDS] = {
		[RECORD_BRANCH] = WIRE_BRANCH,	     [RECORD_VALUE] = WIRE_VALUE,
		[RECORD_ENTRY] = WIRE_ENTRY,	     [RECORD_STACK] = WIRE_ENTRY,
		[RECORD_LOST] = WIRE_LOST,	     [RECORD_SIGNAL] = WIRE_SIGNAL,
		[RECORD_GOROUTINE] = WIRE_GOROUTINE, [RECORD_RETURN] = WIRE_RETURN,
	};
	struct item item = {.type = ITEM_RECORD};
	struct wire_event *e;
	struct record x;

	memset(&x.r.entry, 0, sizeof(x.r.entry));
	x.r.frames = 0;
	codec__record(c, &x, th);
	if (is_bad(c))
		return -EBADMSG;
	e = &x.r.entry.event;
	e->pid = th->pid;
	e->tid = th->tid;
	e->site_type = (x.site < c->m.plan->sites.len ? x.site : WIRE_SITE_MASK) |
		       types[x.kind] << WIRE_SITE_BITS;
	if (x.kind == RECORD_STACK)
		memset(&x.r.stack[x.r.frames], 0, (WIRE_STACK - x.r.frames) * sizeof(*x.r.stack));
	item.record = &x.r;
	item.size = record_sizes[x.kind];
	return fn(ctx, &item);
}

static int give_sideband(struct codec *c, int (*fn)(void *ctx, const struct item *item), void *ctx)
{
	struct item item = {.type = ITEM_SIDEBAND};
	autofree char *own = NULL;
	uint64_t type = 0;

	codec__sideband(c, &type, &item.sideband, &own);
	if (is_bad(c))
		return -EBADMSG;
	item.sideband.type = type;
	if (type == SIDEBAND_ITEM_LOST)
		item.type = ITEM_LOST;
	return fn(ctx, &item);
}

static int give_run(struct codec *c, uint64_t items, uint64_t *given,
		    int (*fn)(void *ctx, const struct item *item), void *ctx)
{
	uint64_t run = get_number(&c->in[COLUMN_RUNS]), n = get_number(&c->in[COLUMN_RUNS]);
	struct thread_state *th = NULL;
	int err = 0;

	if (c->in[COLUMN_RUNS].bad || !n || n > items - *given || run > c->m.nthreads + 1 ||
	    run > MODEL_THREADS_MAX)
		return -EBADMSG;
	if (run)
		th = run > c->m.nthreads ? new_thread(c) : c->m.threads.data[run - 1];
	for (uint64_t i = 0; !err && i < n; i++)
		err = th ? give_record(c, th, fn, ctx) : give_sideband(c, fn, ctx);
	*given += n;
	return err;
}

int event_decoder__run(struct event_decoder *d, const uint8_t *raw, size_t len,
		       int (*fn)(void *ctx, const struct item *item), void *ctx)
{
	struct reader r = {raw, raw + len, false};
	uint64_t items = get_number(&r), given = 0;
	struct codec *c = &d->c;
	int err = 0;

	c->bad = false;
	for (int i = 0; i < COLUMNS; i++) {
		c->in[i] = get_part(&r);
		if (i < BIT_COLUMNS)
			c->bits_in[i] = (struct bit_reader){.bytes = c->in[i]};
	}
	event_model__reset(&c->m);
	if (r.bad)
		return -EBADMSG;
	while (!err && given < items)
		err = give_run(c, items, &given, fn, ctx);
	return err;
}
