// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a trace file block by block, up to its end or its first damage. Whatever the file contains,
 * memory use is bounded by its size, and each step makes progress.
 */
#include <errno.h>
#include <stdlib.h>
#include "file/format.h"

/* The memory that tables may take: a base, plus a multiple of the file's bytes. */
#define BUDGET_START	(1u << 20)
#define BUDGET_PER_BYTE 512

struct trace_reader {
	trace_read_fn read;
	void *ctx;
	const struct trace_calls *calls;
	void *calls_ctx;
	uint64_t offset; /* of the next byte to read */
	uint64_t block_offset;
	uint32_t number; /* of the next block */
	unsigned major;	 /* of the format */
	uint8_t *stored, *raw;
	size_t stored_cap, raw_cap;
	struct file_rows rows;
	struct pool pool;
	struct file_objects objects;
	size_t told; /* objects that were passed to calls->object */
	struct plan *plan;
	struct event_decoder *events;
	bool ended;
};

bool trace_reader__is_magic(const void *data, size_t len)
{
	return len >= FILE_MAGIC_SIZE && !memcmp(data, FILE_MAGIC, FILE_MAGIC_SIZE);
}

struct trace_reader *trace_reader__new(trace_read_fn read, void *ctx)
{
	struct trace_reader *r = xcalloc(1, sizeof(*r));

	r->read = read;
	r->ctx = ctx;
	r->pool.budget = BUDGET_START;
	return r;
}

void trace_reader__free(struct trace_reader *r)
{
	if (!r)
		return;
	event_decoder__free(r->events);
	plan__free(r->plan);
	file_objects__free(&r->objects);
	for (int i = 0; i < BLOCK_TYPES; i++)
		if (file_tables[i].table.row_size)
			free(*(void **)((char *)&r->rows + file_tables[i].rows));
	pool__free(&r->pool);
	free(r->stored);
	free(r->raw);
	free(r);
}

const struct trace_end *trace_reader__end(const struct trace_reader *r)
{
	return r->ended ? &r->rows.end.data[0] : NULL;
}

/* ---- bytes ---- */

/* Reads up to len bytes: how many there were, or -errno. */
static ssize_t take_bytes(struct trace_reader *r, uint8_t *to, size_t len)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = r->read(r->ctx, to + got, len - got);

		if (n < 0)
			return n;
		if (!n)
			break;
		got += n;
		r->offset += n;
	}
	return got;
}

static void make_room(uint8_t **p, size_t *cap, size_t need)
{
	if (need <= *cap)
		return;
	*cap = max_of(need, *cap * 2);
	*p = xrealloc(*p, *cap, 1);
}

/*
 * Reads the stored bytes of a block. The buffer grows with the bytes read, since the header's
 * length is untrusted.
 */
static ssize_t take_stored(struct trace_reader *r, size_t len)
{
	size_t got = 0;

	while (got < len) {
		size_t some = min_of(len - got, (size_t)64 << 10);
		ssize_t n;

		make_room(&r->stored, &r->stored_cap, got + some);
		n = take_bytes(r, r->stored + got, some);
		if (n < 0)
			return n;
		got += n;
		if ((size_t)n < some)
			break;
	}
	return got;
}

/* What can be used of a damaged or truncated file. */
static const char *before(const struct trace_reader *r)
{
	return r->plan ? "all before that was read" : "this is before its first event";
}

static int damaged(const struct trace_reader *r)
{
	return err__set(EBADMSG, "damaged at byte %llu, block %u; %s",
			(unsigned long long)r->block_offset, r->number, before(r));
}

static int cut(const struct trace_reader *r)
{
	if (r->offset == r->block_offset)
		return err__set(ENODATA,
				"it has no end: the recording goes on, or was killed, or the file "
				"was cut at byte %llu; %s",
				(unsigned long long)r->offset, before(r));
	return err__set(ENODATA, "cut at byte %llu, in block %u, which begins at byte %llu; %s",
			(unsigned long long)r->offset, r->number,
			(unsigned long long)r->block_offset, before(r));
}

/* ---- contents of blocks ---- */

static int tell_objects(struct trace_reader *r)
{
	int err = 0;

	for (; !err && r->told < r->objects.all.len; r->told++)
		if (r->calls->object)
			err = r->calls->object(r->calls_ctx, r->objects.all.data[r->told]);
	return err;
}

static int tell_mapped(struct trace_reader *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->rows.mapped.len; i++) {
		const struct file_mapped *m = &r->rows.mapped.data[i];

		if (m->object >= r->objects.all.len || !m->path)
			return damaged(r);
		if (r->calls->mapped)
			err = r->calls->mapped(r->calls_ctx, m->dev, m->ino, m->path,
					       r->objects.all.data[m->object]);
	}
	r->rows.mapped.len = 0;
	return err;
}

/* The plan is complete. */
static int begin(struct trace_reader *r)
{
	int err;

	if (r->rows.plan.len != 1 || r->rows.meta.len != 1)
		return damaged(r);
	err = file_plan__make(&r->rows, &r->objects, &r->pool, &r->plan);
	if (err)
		return err == -EBADMSG ? damaged(r) : err;
	r->events = event_decoder__new(r->plan, r->major);
	err = r->calls->begin ? r->calls->begin(r->calls_ctx, r->plan, &r->rows.meta.data[0]) : 0;
	return err ? err : tell_objects(r);
}

static int take_table(struct trace_reader *r, const struct block *b)
{
	const struct file_table *t = &file_tables[b->type];
	int err =
		table__decode(&t->table, r->raw, b->raw_len, &r->pool, (char *)&r->rows + t->rows);

	err = err ? err : file_objects__take(&r->objects, &r->rows, &r->pool);
	if (err)
		return damaged(r);
	if (b->type == BLOCK_PLAN)
		return begin(r);
	if (b->type == BLOCK_END) {
		r->ended = r->rows.end.len;
		return r->ended ? 0 : damaged(r);
	}
	err = r->plan ? tell_objects(r) : 0;
	return err ? err : tell_mapped(r);
}

static int give_item(void *ctx, const struct item *item)
{
	struct trace_reader *r = ctx;
	const struct trace_calls *calls = r->calls;
	const struct sideband_event *e = &item->sideband;

	switch (item->type) {
	case ITEM_EVENT:
		return calls->event ? calls->event(r->calls_ctx, item->event) : 0;
	case ITEM_SIDEBAND:
		return calls->sideband ? calls->sideband(r->calls_ctx, e) : 0;
	case ITEM_LOST:
		return calls->lost ? calls->lost(r->calls_ctx, e->pid, e->tid, e->count) : 0;
	}
	return 0;
}

/* Tables of the plan must precede BLOCK_PLAN, all that refers to the plan must follow it. */
static bool is_in_place(const struct trace_reader *r, uint8_t type)
{
	switch (type) {
	case BLOCK_OBJECT:
	case BLOCK_SEGMENT:
	case BLOCK_SYMBOL:
	case BLOCK_MAPPED:
		return true;
	case BLOCK_EVENTS:
	case BLOCK_END:
		return r->plan;
	default:
		return !r->plan;
	}
}

static int take_block(struct trace_reader *r, const struct block *b)
{
	int err;

	if (b->type >= BLOCK_TYPES || !b->type)
		return 0; /* written by a newer version */
	if (!is_in_place(r, b->type))
		return damaged(r);
	if (b->type != BLOCK_EVENTS)
		return take_table(r, b);
	err = event_decoder__run(r->events, r->raw, b->raw_len, give_item, r);
	return err == -EBADMSG ? damaged(r) : err;
}

static int next_block(struct trace_reader *r)
{
	uint8_t header[BLOCK_HEADER_SIZE];
	struct block b;
	ssize_t n;
	int err;

	r->block_offset = r->offset;
	n = take_bytes(r, header, sizeof(header));
	if (n < 0)
		return n;
	if ((size_t)n < sizeof(header))
		return cut(r);
	if (!block__parse(header, r->number, &b))
		return damaged(r);
	n = take_stored(r, b.stored_len);
	if (n < 0)
		return n;
	if ((size_t)n < b.stored_len)
		return cut(r);
	make_room(&r->raw, &r->raw_cap, b.raw_len);
	if (!block__unpack(&b, header, r->stored, r->raw))
		return damaged(r);
	r->pool.budget += (size_t)(b.stored_len + sizeof(header)) * BUDGET_PER_BYTE;
	err = take_block(r, &b);
	r->number++;
	return err;
}

int trace_reader__run(struct trace_reader *r, const struct trace_calls *calls, void *ctx)
{
	uint8_t header[FILE_HEADER_SIZE];
	uint16_t machine;
	ssize_t n = take_bytes(r, header, sizeof(header));
	int err;

	r->calls = calls;
	r->calls_ctx = ctx;
	if (n < 0)
		return n;
	if ((size_t)n < sizeof(header))
		return n >= FILE_MAGIC_SIZE && !memcmp(header, FILE_MAGIC, FILE_MAGIC_SIZE)
			       ? err__set(ENODATA, "cut at byte %zd, in its header", n)
			       : err__set(ENOEXEC, "not a trace file of bbtrace");
	err = header__check(header, &machine, &r->major);
	while (!err && !r->ended)
		err = next_block(r);
	return err;
}
