// SPDX-License-Identifier: BSD-2-Clause
/* Reads a trace file block by block. Damaged parts are skipped (salvage.c, read_loss.c). Whatever
 * the file contains, memory use is bounded by its size, and each step makes progress. */
#include <errno.h>
#include <stdlib.h>
#include "file/reader.h"

/* The memory that tables may take: a base, plus a multiple of the file's bytes. */
#define BUDGET_START	(1u << 20)
#define BUDGET_PER_BYTE 512

bool trace_reader__is_magic(const void *data, size_t len)
{
	return len >= FILE_MAGIC_SIZE && !memcmp(data, FILE_MAGIC, FILE_MAGIC_SIZE);
}

struct trace_reader *trace_reader__new(trace_read_fn read, void *ctx)
{
	struct trace_reader *r = xcalloc(1, sizeof(*r));

	r->blocks.stream.read = read;
	r->blocks.stream.ctx = ctx;
	r->pool.budget = BUDGET_START;
	return r;
}

void trace_reader__free(struct trace_reader *r)
{
	if (!r)
		return;
	event_decoder__free(r->events);
	logged_reader__free(r->log);
	plan_counts__free(&r->edges);
	plan__free(r->plan);
	file_objects__free(&r->objects);
	for (int i = 0; i < BLOCK_TYPES; i++)
		if (file_tables[i].table.row_size)
			free(*(void **)((char *)&r->rows + file_tables[i].rows));
	pool__free(&r->pool);
	salvage__free(&r->blocks);
	free(r);
}

const struct trace_end *trace_reader__end(const struct trace_reader *r)
{
	return r->ended ? &r->rows.end.data[0] : NULL;
}

/* ---- how it ends ---- */

/* For messages: how much of a damaged or truncated file can be used. */
static const char *before(const struct trace_reader *r)
{
	return r->plan ? "all before that was read" : "this is before its first event";
}

int reader__damaged(const struct trace_reader *r)
{
	const struct block_stream *s = &r->blocks.stream;

	return err__set(EBADMSG, "damaged at byte %llu, block %u; %s",
			(unsigned long long)(s->broken.is ? s->broken.at : r->offset),
			s->broken.is ? s->broken.number : r->number, before(r));
}

static int cut(const struct trace_reader *r)
{
	const struct block_stream *s = &r->blocks.stream;

	if (!s->broken.cut)
		return reader__damaged(r);
	if (s->offset == s->broken.at)
		return err__set(ENODATA,
				"it has no end: the recording goes on, or was killed, or the file "
				"was cut at byte %llu; %s",
				(unsigned long long)s->offset, before(r));
	return err__set(ENODATA, "cut at byte %llu, in block %u, which begins at byte %llu; %s",
			(unsigned long long)s->offset, s->broken.number,
			(unsigned long long)s->broken.at, before(r));
}

/* ---- contents of blocks ---- */

/* An increment costs its readers time in proportion to the plan: charged to the budget, so that a
 * hostile file can't cause too many. */
static bool pay_for_increment(struct trace_reader *r)
{
	const struct plan *p = r->plan;
	size_t rows = p->objects.len + p->functions.len + p->sites.len + p->blocks.len +
		      p->stubs.len + p->extents.len + p->gaps.len + p->lines.len + p->scopes.len +
		      p->scope_ranges.len;

	if (rows > r->pool.budget)
		return false;
	r->pool.budget -= rows;
	return true;
}

/* Conditions are in the file as text. */
int trace_reader__judge(struct trace_reader *r, const value_condition_vec *more)
{
	const char *text = r->rows.meta.data[0].conditions;
	value_condition_vec all = {0};
	int err = text && *text ? conditions__parse(text, &all) : 0;
	size_t own = all.len;
	const struct value_condition *c;

	vec__each (c, more)
		vec__push(&all, *c);
	if (!err)
		err = plan__add_conditions(r->plan, &all);
	all.len = own; /* the others aren't its */
	conditions__free(&all);
	return err;
}

/* The plan, or an increment of it, is complete. */
static int take_plan(struct trace_reader *r)
{
	bool first = !r->plan;
	int err;

	if (r->rows.plan.len != 1 || r->rows.meta.len != 1)
		return reader__damaged(r);
	if (first)
		r->plan = xcalloc(1, sizeof(*r->plan));
	else if (!pay_for_increment(r))
		return reader__damaged(r);
	err = file_plan__extend(r->plan, &r->rows, &r->objects, &r->pool);
	if (err && first) {
		plan__free(r->plan);
		r->plan = NULL;
	}
	if (err)
		return err == -EBADMSG ? reader__damaged(r) : err;
	if (first && trace_reader__judge(r, &(value_condition_vec){0}))
		return reader__damaged(r);
	if (first) {
		r->events = event_decoder__new(r->plan);
		r->log = logged_reader__new(r->plan);
	}
	r->begins = first;
	r->extended = !first;
	return 0;
}

/* Counts cost their readers time in proportion to the plan, however few there are. */
static int take_counts(struct trace_reader *r)
{
	size_t cost = r->plan->sites.len + r->plan->blocks.len + r->plan->table.len;

	if (cost > r->pool.budget)
		return reader__damaged(r);
	r->pool.budget -= cost;
	plan_counts__free(&r->edges);
	plan_counts__init(&r->edges, r->plan);
	if (file_counts__take(&r->rows, r->plan, &r->edges, &r->counts))
		return reader__damaged(r);
	r->has_counts = true;
	return 0;
}

static int take_table(struct trace_reader *r, const struct block *b)
{
	const struct file_table *t = &file_tables[b->type];

	int err;

	if (table__decode(&t->table, b->raw, b->raw_len, &r->pool, (char *)&r->rows + t->rows))
		return reader__damaged(r);
	err = reader__drop_unknown(r, b->type);
	if (err)
		return err;
	if (file_objects__take(&r->objects, &r->rows, &r->pool))
		return reader__damaged(r);
	r->done.tables++;
	r->done.plans += b->type == BLOCK_PLAN;
	if (b->type == BLOCK_PLAN)
		return take_plan(r);
	if (b->type == BLOCK_COUNTED)
		return take_counts(r);
	if (b->type == BLOCK_END) {
		r->ended = r->rows.end.len;
		return r->ended ? 0 : reader__damaged(r);
	}
	return 0;
}

/* Tables of an increment may come after BLOCK_PLAN, too; blocks that refer to
 * the plan must follow it. */
static bool is_in_place(const struct trace_reader *r, uint8_t type)
{
	switch (type) {
	case BLOCK_EVENTS:
	case BLOCK_LOG:
		return r->plan && !r->rows.meta.data[0].counts;
	case BLOCK_END:
	case BLOCK_UNTRACED:
	case BLOCK_PLANNED:
	case BLOCK_AMENDED:
	case BLOCK_SITE_COUNT:
	case BLOCK_BLOCK_COUNT:
	case BLOCK_TABLE_COUNT:
	case BLOCK_TARGET_COUNT:
	case BLOCK_COUNTED:
		return r->plan;
	case BLOCK_META:
	case BLOCK_NAMED:
	case BLOCK_FIELD:
	case BLOCK_VALUE:
	case BLOCK_ENUMERATOR:
		return !r->plan;
	default:
		return true;
	}
}

/* Returns true if rows of an increment are left that doesn't end: the writer failed. */
static bool is_in_increment(const struct trace_reader *r)
{
	const struct file_rows *rows = &r->rows;

	return r->plan &&
	       (rows->amended.len || rows->functions.len || rows->ranges.len || rows->sites.len ||
		rows->blocks.len || rows->jumps.len || rows->stubs.len || rows->extents.len ||
		rows->gaps.len || rows->line_files.len || rows->lines.len || rows->scopes.len ||
		rows->scope_ranges.len);
}

static int begin_events(struct trace_reader *r, const struct block *b)
{
	uint64_t logged = 0;
	int err = b->type == BLOCK_LOG ? logged_reader__begin(r->log, b->raw, b->raw_len, &logged)
				       : event_decoder__begin(r->events, b->raw, b->raw_len);

	if (err)
		return reader__damaged(r);
	r->in_events = true;
	r->in_log = b->type == BLOCK_LOG;
	r->offered = false;
	err = r->misses ? reader__report_loss(r, b) : 0;
	r->done.events += logged;
	return err;
}

static int take_block(struct trace_reader *r, const struct block *b)
{
	int err;

	if (b->type >= BLOCK_TYPES || !b->type)
		return 0; /* a type that a newer version added */
	if (!is_in_place(r, b->type) ||
	    ((block__has_totals(b->type) || b->type == BLOCK_COUNTED || b->type == BLOCK_END) &&
	     is_in_increment(r)))
		return reader__damaged(r);
	if (block__has_totals(b->type))
		return begin_events(r, b);
	if (b->type != BLOCK_END)
		return r->no_tables ? 0 : take_table(r, b);
	err = r->misses ? reader__report_loss(r, b) : 0;
	return err ? err : take_table(r, b);
}

static int next_block(struct trace_reader *r)
{
	struct block_stream *s = &r->blocks.stream;
	struct block b;
	uint32_t lost;
	int n;

	if (r->rows.counted.len) /* those were read */
		file_counts__drop(&r->rows);
	r->offset = s->offset;
	n = salvage__next(&r->blocks, &b, &lost);
	r->pool.budget += (size_t)(s->offset - r->paid) * BUDGET_PER_BYTE;
	r->paid = s->offset;
	if (!n)
		return cut(r);
	if (n < 0)
		return n == -EBADMSG ? reader__damaged(r) : n;
	r->number = b.number;
	n = r->version.major ? 0 : header__check(r->blocks.header, &r->version);
	if (!n && lost)
		n = reader__lose(r, &b, lost);
	return n ? n : take_block(r, &b);
}

/* ---- items ---- */

/* In an armored file a copy of it follows: it may be missing. */
static int read_header(struct trace_reader *r)
{
	struct block_stream *s = &r->blocks.stream;
	size_t n = block_stream__peek(s, FILE_HEADER_SIZE);
	const uint8_t *header = s->bytes + s->at;
	int err;

	if (s->error)
		return s->error;
	r->started = true;
	r->blocks.headless = n < FILE_HEADER_SIZE && s->hole;
	if (r->blocks.headless)
		return 0;
	r->started = false;
	if (n < FILE_HEADER_SIZE)
		return trace_reader__is_magic(header, n)
			       ? err__set(ENODATA, "cut at byte %zu, in its header", n)
			       : err__set(ENOEXEC,
					  "not a trace file of bbtrace; -o FILE records one");
	err = header__check(header, &r->version);
	r->started = !err;
	if (!err)
		block_stream__skip(s, FILE_HEADER_SIZE);
	return err;
}

static int give_mapped(struct trace_reader *r, struct trace_item *out)
{
	const struct file_mapped *m = &r->rows.mapped.data[r->mapped_given++];

	if (m->object >= r->objects.all.len || !m->path)
		return reader__damaged(r);
	*out = (struct trace_item){.type = TRACE_MAPPED,
				   .dev = m->dev,
				   .ino = m->ino,
				   .path = m->path,
				   .object = r->objects.all.data[m->object]};
	return 1;
}

static int give_untraced(struct trace_reader *r, struct trace_item *out)
{
	const struct file_untraced *u = &r->rows.untraced.data[r->untraced_given++];
	const struct plan *p = r->plan;

	if ((u->object != UNTRACED_ALL && u->object >= p->objects.len) ||
	    (u->function != UNTRACED_ALL && u->function >= p->functions.len))
		return reader__damaged(r);
	r->untraced = (struct sideband_event){.type = SIDEBAND_UNTRACED,
					      .time = r->time,
					      .pid = u->pid,
					      .tid = u->pid,
					      .object = u->object,
					      .function = u->function,
					      .text = u->reason};
	*out = (struct trace_item){.type = TRACE_SIDEBAND, .sideband = &r->untraced};
	return 1;
}

/* before: of the one before it. */
static uint64_t time_of(const struct item *i, uint64_t before)
{
	uint64_t time = i->type == ITEM_EVENT ? i->event->time : i->sideband.time;

	return time ? time : before;
}

int reader__next_item(struct trace_reader *r, const struct item **out)
{
	const struct event *e;
	int n;

	if (!r->in_log)
		return event_decoder__next(r->events, out);
	n = logged_reader__next(r->log, &e);
	if (n <= 0)
		return n;
	r->logged = (struct item){.type = ITEM_EVENT, .event = e};
	*out = &r->logged;
	return 1;
}

void trace_reader__offer_runs(struct trace_reader *r)
{
	r->offers_runs = true;
}

void trace_reader__took(struct trace_reader *r, size_t words)
{
	logged_reader__skip(r->log, words);
	r->offered = !words;
	r->time = max_of(r->time, r->run.thread->time);
}

/* Returns false if it is not the time for one. */
static bool give_run(struct trace_reader *r, struct trace_item *out)
{
	bool give = r->offers_runs && r->in_log && !r->held && !r->offered &&
		    logged_reader__run(r->log, &r->run);

	r->offered = give;
	if (give)
		*out = (struct trace_item){.type = TRACE_RUN, .run = &r->run};
	return give;
}

static int give_event(struct trace_reader *r, struct trace_item *out)
{
	const struct item *item = r->held;
	int n;

	if (give_run(r, out))
		return 1;
	n = item ? 1 : reader__next_item(r, &item);
	r->held = NULL;
	if (n < 0)
		return reader__damaged(r);
	r->in_events = n;
	if (!n)
		return 0;
	/* those of a log are counted by its block */
	r->done.events += item->type == ITEM_EVENT && !r->in_log;
	r->done.sideband += item->type != ITEM_EVENT;
	r->time = time_of(item, r->time);
	*out = (struct trace_item){.type = TRACE_EVENT, .event = item->event};
	if (item->type == ITEM_EVENT)
		return 1;
	*out = (struct trace_item){.type = item->type == ITEM_LOST ? TRACE_LOST : TRACE_SIDEBAND,
				   .sideband = &item->sideband,
				   .pid = item->sideband.pid,
				   .tid = item->sideband.tid,
				   .count = item->sideband.count};
	return 1;
}

/* Gives the next item of the blocks read up to now. Returns 1, or 0 if another block must be
 * read. */
static int give(struct trace_reader *r, struct trace_item *out)
{
	if (!r->plan)
		return 0;
	if (r->begins) {
		r->begins = false;
		*out = (struct trace_item){.type = TRACE_BEGIN};
		return 1;
	}
	if (r->extended) {
		r->extended = false;
		*out = (struct trace_item){.type = TRACE_PLAN};
		return 1;
	}
	if (r->objects_given < r->objects.all.len) {
		*out = (struct trace_item){.type = TRACE_OBJECT,
					   .object = r->objects.all.data[r->objects_given++]};
		return 1;
	}
	if (r->mapped_given < r->rows.mapped.len)
		return give_mapped(r, out);
	if (r->untraced_given < r->rows.untraced.len)
		return give_untraced(r, out);
	r->untraced_given = r->rows.untraced.len = 0;
	if (r->has_counts) {
		*out = (struct trace_item){.type = TRACE_COUNTS, .counts = &r->counts};
		r->has_counts = false;
		return 1;
	}
	r->mapped_given = r->rows.mapped.len = 0;
	if (r->is_due) {
		reader__give_damage(r, out);
		return 1;
	}
	return r->in_events ? give_event(r, out) : 0;
}

int trace_reader__next(struct trace_reader *r, struct trace_item *out)
{
	int n = r->failed;

	r->failed = 0;
	if (!n && !r->started)
		n = read_header(r);
	if (n)
		return n;
	while (!(n = give(r, out)) && !r->ended) {
		n = next_block(r);
		if (n)
			return n;
	}
	return n ? n : reader__sum_up(r);
}

static const struct trace_meta *meta_of(const struct trace_reader *r)
{
	return &r->rows.meta.data[0];
}

/* What it read is not read again: an error comes again, at the same byte. */
const struct trace_meta *trace_reader__peek(struct trace_reader *r)
{
	int err = r->started ? 0 : read_header(r);

	while (!err && !r->plan && !r->rows.meta.len)
		err = next_block(r);
	r->failed = err;
	return err || !r->rows.meta.len ? NULL : meta_of(r);
}

int trace_reader__pass(const struct trace_reader *r, const struct trace_item *i,
		       const struct trace_calls *calls, void *ctx)
{
	switch (i->type) {
	case TRACE_BEGIN:
		return calls->begin ? calls->begin(ctx, r->plan, meta_of(r)) : 0;
	case TRACE_PLAN:
		return calls->plan ? calls->plan(ctx, r->plan) : 0;
	case TRACE_OBJECT:
		return calls->object ? calls->object(ctx, i->object) : 0;
	case TRACE_MAPPED:
		return calls->mapped ? calls->mapped(ctx, i->dev, i->ino, i->path, i->object) : 0;
	case TRACE_EVENT:
		return calls->event ? calls->event(ctx, i->event) : 0;
	case TRACE_RUN: /* its events follow */
		return 0;
	case TRACE_SIDEBAND:
		return calls->sideband ? calls->sideband(ctx, i->sideband) : 0;
	case TRACE_LOST:
		return calls->lost ? calls->lost(ctx, i->pid, i->tid, i->count) : 0;
	case TRACE_COUNTS:
		return calls->counts ? calls->counts(ctx, i->counts) : 0;
	case TRACE_DAMAGE:
		return calls->damage ? calls->damage(ctx, i->damage) : 0;
	}
	return 0;
}

int trace_reader__run(struct trace_reader *r, const struct trace_calls *calls, void *ctx)
{
	struct trace_item item;
	int n, err = 0;

	while (!err && (n = trace_reader__next(r, &item)) > 0)
		err = trace_reader__pass(r, &item, calls, ctx);
	return err ? err : n;
}
