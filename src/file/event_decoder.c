// SPDX-License-Identifier: BSD-2-Clause
/* Reads blocks of events. The bytes are untrusted: a column that ends early or an impossible number
 * means that the file is damaged. */
#include <errno.h>
#include <stdlib.h>
#include "file/event_codec.h"
#include "file/format.h"

struct event_decoder {
	struct codec c;
	uint64_t items;		 /* of the block, not read yet */
	uint64_t run;		 /* of these, the next ones of thread th */
	struct thread_state *th; /* NULL: sideband events */
	/* the last item */
	struct item item;
	struct record record;
	struct event event;
	struct event_entry entry;
	char comm[sizeof(((struct record *)0)->comm) + 1];
	char *text; /* of a sideband event; owned */
	struct reader fetched_in;
	struct fetched fetched[VALUES_FETCHED];
};

struct event_decoder *event_decoder__new(const struct plan *plan)
{
	struct event_decoder *d = xcalloc(1, sizeof(*d));

	event_model__init(&d->c.m, plan);
	return d;
}

void event_decoder__free(struct event_decoder *d)
{
	if (!d)
		return;
	event_model__free(&d->c.m);
	free(d->text);
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

/* ---- events ---- */

static const uint8_t types[RECORDS] = {
	[RECORD_BRANCH] = EVENT_BRANCH,	      [RECORD_VALUE] = EVENT_BRANCH,
	[RECORD_ENTRY] = EVENT_ENTRY,	      [RECORD_STACK] = EVENT_ENTRY,
	[RECORD_LOST] = EVENT_LOST,	      [RECORD_SIGNAL] = EVENT_SIGNAL,
	[RECORD_GOROUTINE] = EVENT_GOROUTINE, [RECORD_RETURN] = EVENT_RETURN,
	[RECORD_NAMED] = EVENT_NAMED,
};

static void give_entry(const struct codec *c, const struct record *x, char *comm,
		       struct event_entry *out)
{
	memcpy(comm, x->comm, sizeof(x->comm));
	*out = (struct event_entry){
		.ip = x->regs[c->m.plan->arch->ip_reg],
		.caller = x->state & RECORD_NO_CALLER ? 0 : x->caller,
		.user_ip = x->user[0],
		.user_sp = x->user[1],
		.pending = x->state & RECORD_PENDING,
		.comm = comm,
		.regs = x->state & RECORD_NO_REGS ? NULL : x->regs,
		.nregs = min_of(c->m.plan->arch->nregs, (unsigned)EVENT_REGS),
		.args = x->state & RECORD_NO_ARGS ? NULL : x->args,
		.stack = x->kind == RECORD_STACK ? x->stack : NULL,
		.nstack = x->frames,
		.stack_end = min_of(x->stack_end & 0xff, (uint64_t)STACK_ENDS - 1),
		.exact = x->stack_end >> 8 << 1,
	};
}

static void give_tested(const struct record *x, struct tested *out)
{
	uint8_t flags = x->state >> RECORD_TESTED_SHIFT & ((1u << TESTED_BITS) - 1);

	if (!(flags & TESTED))
		return;
	out->flags = flags;
	memcpy(out->value, x->value, sizeof(out->value));
}

static void give_values(const struct codec *c, const struct record *x, struct event *out)
{
	uint8_t kind =
		x->site < c->m.plan->sites.len ? c->m.plan->sites.data[x->site].kind : BRANCH_NONE;
	bool is_return = out->type == EVENT_RETURN || kind == BRANCH_RET;

	if (out->type == EVENT_LOST) {
		out->count = x->value[0];
		out->hits = x->value[1];
	} else if (out->type == EVENT_GOROUTINE) {
		out->goroutine = x->value[0];
	} else if (is_return || kind == BRANCH_IJMP || kind == BRANCH_ICALL) {
		out->has_target = !(x->state & RECORD_NO_TARGET);
		out->has_value = is_return && !(x->state & RECORD_NO_VALUE);
		out->target = out->has_target ? x->value[0] : 0;
		out->value = out->has_value ? x->value[1] : 0;
	} else if (kind == BRANCH_JCC || kind == BRANCH_LOOP) {
		give_tested(x, &out->tested);
	}
}

static void give_named(struct record *x, char *comm)
{
	struct event_named *n = &x->named;

	memcpy(comm, x->comm, sizeof(x->comm));
	n->comm = comm;
	n->stack = n->nkernel + n->nuser ? x->named_stack : NULL;
}

static int take_fetched(struct event_decoder *d)
{
	unsigned n;

	if (!event__has_fetched(d->c.m.plan, &d->event))
		return 0;
	n = fetched__get(&d->fetched_in, d->fetched);
	d->event.fetched = n ? d->fetched : NULL;
	d->event.nfetched = n;
	return d->fetched_in.bad ? -EBADMSG : 0;
}

static int take_record(struct event_decoder *d)
{
	struct record *x = &d->record;
	struct codec *c = &d->c;

	/* an entry sets all that follows but this; clearing it for each record takes a tenth of the
	 * time of a replay */
	memset(x, 0, offsetof(struct record, caller));
	x->user[0] = x->user[1] = x->frames = x->stack_end = 0;
	x->named = (struct event_named){0};
	codec__record(c, x, d->th);
	if (is_bad(c))
		return -EBADMSG;
	d->event = (struct event){.time = x->time,
				  .pid = d->th->pid,
				  .tid = d->th->tid,
				  .sp = x->sp,
				  .site = x->site,
				  .cpu = x->cpu,
				  .type = types[x->kind],
				  .interrupt = x->state >> RECORD_INTERRUPT_SHIFT & 7,
				  .taken = x->taken,
				  .untimed = x->state & RECORD_UNTIMED};
	if (has_values(x->kind))
		give_values(c, x, &d->event);
	if (d->event.type == EVENT_ENTRY) {
		give_entry(c, x, d->comm, &d->entry);
		d->event.entry = &d->entry;
	}
	if (d->event.type == EVENT_NAMED) {
		give_named(x, d->comm);
		d->event.named = &x->named;
	}
	d->item = (struct item){.type = ITEM_EVENT, .event = &d->event};
	return take_fetched(d);
}

static int take_sideband(struct event_decoder *d)
{
	uint64_t type = 0;

	free(d->text);
	d->text = NULL;
	d->item = (struct item){.type = ITEM_SIDEBAND};
	codec__sideband(&d->c, &type, &d->item.sideband, &d->text);
	if (is_bad(&d->c))
		return -EBADMSG;
	d->item.sideband.type = type;
	if (type == SIDEBAND_ITEM_LOST)
		d->item.type = ITEM_LOST;
	return 0;
}

/* Reads the thread of the next items, and their number. */
static int begin_run(struct event_decoder *d)
{
	struct codec *c = &d->c;
	uint64_t run = get_number(&c->in[COLUMN_RUNS]);

	d->run = get_number(&c->in[COLUMN_RUNS]);
	if (c->in[COLUMN_RUNS].bad || !d->run || d->run > d->items || run > c->m.nthreads + 1 ||
	    run > MODEL_THREADS_MAX)
		return -EBADMSG;
	d->th = NULL;
	if (run)
		d->th = run > c->m.nthreads ? new_thread(c) : c->m.threads.data[run - 1];
	return 0;
}

void block_totals__get(struct reader *r, struct block_totals *t)
{
	t->events = get_number(r);
	t->sideband = get_number(r);
	t->tables = get_number(r);
	t->plans = get_number(r);
}

bool block_totals__read(uint8_t type, const uint8_t *raw, size_t len, struct block_totals *t)
{
	struct reader r = reader_of(raw, len);

	get_number(&r);
	for (int i = 0; type == BLOCK_EVENTS && i < COLUMNS; i++)
		get_part(&r);
	block_totals__get(&r, t);
	return !r.bad;
}

/* After the totals; empty if no event of the block has any. */
static void begin_fetched(struct event_decoder *d, struct reader *r)
{
	d->fetched_in = (struct reader){0};
	if (!d->c.m.plan->values.len)
		return;
	for (int i = 0; i < 4; i++)
		get_number(r);
	if (!r->bad && r->at < r->end)
		d->fetched_in = get_part(r);
}

int event_decoder__begin(struct event_decoder *d, const uint8_t *raw, size_t len)
{
	struct reader r = reader_of(raw, len);
	struct codec *c = &d->c;

	d->items = get_number(&r);
	d->run = 0;
	c->bad = false;
	for (int i = 0; i < COLUMNS; i++) {
		c->in[i] = get_part(&r);
		if (i < BIT_COLUMNS)
			c->bits_in[i] = (struct bit_reader){.bytes = c->in[i]};
	}
	event_model__reset(&c->m);
	if (r.bad)
		return -EBADMSG;
	begin_fetched(d, &r);
	return 0;
}

int event_decoder__next(struct event_decoder *d, const struct item **out)
{
	int err = 0;

	if (!d->items)
		return 0;
	if (!d->run)
		err = begin_run(d);
	if (err)
		return err;
	d->run--;
	d->items--;
	err = d->th ? take_record(d) : take_sideband(d);
	*out = &d->item;
	return err ? err : 1;
}
