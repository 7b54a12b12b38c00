// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a trace file: the plan first, then blocks of events. Objects and symbols that an event
 * block's addresses need precede it, unless already written.
 *
 * A file that is to be armored has small blocks, and copies of those that others depend on: the
 * copies of blocks that are written together follow all of them, so that they are apart. Other
 * files have no copies: the plan may be most of them, and what damages a file on a disk, a full
 * disk or the end of its writer, is at its end.
 */
#include <errno.h>
#include <stdlib.h>
#include "file/writer.h"

#define LOG_BYTES (512u << 10) /* of a block of logs, before it is compressed */

struct trace_writer *trace_writer__new(const struct plan *plan, trace_put_fn put, void *ctx,
				       bool armored)
{
	struct trace_writer *w = xcalloc(1, sizeof(*w));

	w->plan = plan;
	w->put = put;
	w->ctx = ctx;
	w->armored = armored;
	w->events = event_encoder__new(plan, armored ? ARMORED_EVENTS : 0);
	w->log = logged_writer__new(plan);
	return w;
}

static void free_rows(struct file_rows *rows)
{
	vec__free(&rows->objects);
	vec__free(&rows->segments);
	vec__free(&rows->symbols);
	vec__free(&rows->inlined);
	vec__free(&rows->mapped);
	vec__free(&rows->planned);
	vec__free(&rows->amended);
	vec__free(&rows->site_counts);
	vec__free(&rows->block_counts);
	vec__free(&rows->table_counts);
	vec__free(&rows->target_counts);
}

static void drop_copied(struct trace_writer *w)
{
	struct copied *c;

	vec__each (c, &w->copied)
		str__free(&c->raw);
	w->copied.len = 0;
}

void trace_writer__free(struct trace_writer *w)
{
	if (!w)
		return;
	event_encoder__free(w->events);
	logged_writer__free(w->log);
	drop_copied(w);
	vec__free(&w->copied);
	vec__free(&w->objects);
	map64__free(&w->numbers);
	map64__free(&w->symbols);
	map64__free(&w->inlined);
	map64__free(&w->mapped);
	free_rows(&w->rows);
	free(w);
}

/* ---- blocks ---- */

static void keep_copy(struct trace_writer *w, uint8_t type, const struct str *raw)
{
	struct copied c = {w->number, type, {0}};

	if (!w->armored || raw->len > BLOCK_RAW_MAX / 2)
		return;
	put_number(&c.raw, c.number);
	put_byte(&c.raw, type);
	str__put(&c.raw, raw->data, raw->len);
	vec__push(&w->copied, c);
}

int writer__put_header(struct trace_writer *w)
{
	struct trace_block b = {0};

	header__put(&b.raw, w->plan->arch->machine);
	keep_copy(w, 0, &b.raw);
	return w->put(w->ctx, &b);
}

static int put_numbered(struct trace_writer *w, enum block_type type, struct str raw)
{
	struct trace_block b = {type, w->number++, raw};

	return w->put(w->ctx, &b);
}

/* Puts a block of a table, or one that later blocks depend on in another way. */
static int put_block(struct trace_writer *w, enum block_type type, struct str raw)
{
	keep_copy(w, type, &raw);
	w->totals.tables += !block__has_totals(type);
	w->totals.plans += type == BLOCK_PLAN;
	return put_numbered(w, type, raw);
}

int writer__put_copies(struct trace_writer *w)
{
	struct copied *c;
	int err = 0;

	vec__each (c, &w->copied) {
		if (!err) {
			err = put_numbered(w, BLOCK_COPY, c->raw);
			c->raw = (struct str){0};
		}
	}
	drop_copied(w);
	return err;
}

/* Writes as many rows as fit in a block, halving the number while they are too long. */
static int put_some_rows(struct trace_writer *w, enum block_type type, const char *rows, size_t n)
{
	const struct table *t = &file_tables[type].table;
	const size_t most = w->armored && n > 1 ? ARMORED_TABLE : BLOCK_RAW_MAX;
	struct str raw = {0};
	size_t len;
	int err;

	table__encode(t, rows, n, &raw);
	if (raw.len <= most)
		return put_block(w, type, raw);
	len = raw.len;
	str__free(&raw);
	if (n == 1)
		return err__set(E2BIG, "a name of %zu bytes does not fit in a trace file", len);
	err = put_some_rows(w, type, rows, n / 2);
	return err ? err : put_some_rows(w, type, rows + n / 2 * t->row_size, n - n / 2);
}

int writer__put_rows(struct trace_writer *w, enum block_type type, const void *rows, size_t n)
{
	size_t row_size = file_tables[type].table.row_size;
	int err = 0;

	for (size_t i = 0; !err && i < n; i += ROWS_MAX)
		err = put_some_rows(w, type, (const char *)rows + i * row_size,
				    min_of(n - i, (size_t)ROWS_MAX));
	return err;
}

int writer__put_tables(struct trace_writer *w, const struct rows *tables, size_t n)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = writer__put_rows(w, tables[i].type, tables[i].data, tables[i].n);
	return err;
}

/* ---- objects and their contents ---- */

uint32_t writer__number_of(struct trace_writer *w, const struct object *o, bool planned)
{
	uint64_t *number = map64__put(&w->numbers, (uintptr_t)o);
	struct file_object row = {.kind = o->kind,
				  .path = o->path,
				  .machine = o->machine,
				  .pie = o->pie,
				  .planned = planned,
				  .dev = o->dev,
				  .ino = o->ino,
				  .build_id = {o->build_id, o->build_id_len}};
	const struct segment *s;

	if (*number)
		return *number - 1;
	vec__push(&w->objects, o);
	*number = w->objects.len;
	vec__push(&w->rows.objects, row);
	vec__each (s, &o->segments)
		vec__push(&w->rows.segments, (struct file_segment){w->objects.len - 1, s->exec,
								   s->vaddr, s->size, s->offset});
	return w->objects.len - 1;
}

void trace_writer__mapped(struct trace_writer *w, uint64_t dev, uint64_t ino, const char *path,
			  const struct object *o)
{
	uint64_t *known = map64__put(&w->mapped, (uintptr_t)path);

	if (*known)
		return;
	*known = 1;
	vec__push(&w->rows.mapped,
		  (struct file_mapped){writer__number_of(w, o, false), dev, ino, path});
}

static void put_inlined(struct trace_writer *w, const struct object *o, uint64_t vaddr)
{
	const char *names = object__inlined_at(o, vaddr);
	const uint64_t place[] = {(uintptr_t)o, vaddr};
	uint64_t *known = names ? map64__put(&w->inlined, map64__hash(place, sizeof(place))) : NULL;

	if (!known || *known)
		return;
	*known = 1;
	vec__push(&w->rows.inlined,
		  (struct file_inlined){writer__number_of(w, o, false), vaddr, names});
}

void trace_writer__symbol(struct trace_writer *w, const struct object *o, uint64_t vaddr)
{
	const struct symbol *s = object__symbol_at(o, vaddr);
	uint64_t *known = s ? map64__put(&w->symbols, (uintptr_t)s) : NULL;
	struct file_symbol row;

	if (s)
		put_inlined(w, o, vaddr);
	if (!s || *known)
		return;
	*known = 1;
	object__number_locals(o);
	row = (struct file_symbol){writer__number_of(w, o, false), *s};
	/* with its extent, a lookup among fewer symbols finds the same one */
	row.symbol.size = object__extent(o, s);
	vec__push(&w->rows.symbols, row);
}

int writer__flush_rows(struct trace_writer *w)
{
	struct file_rows *rows = &w->rows;
	const struct rows tables[] = {
		ROWS(BLOCK_OBJECT, rows->objects),  ROWS(BLOCK_PLANNED, rows->planned),
		ROWS(BLOCK_AMENDED, rows->amended), ROWS(BLOCK_SEGMENT, rows->segments),
		ROWS(BLOCK_SYMBOL, rows->symbols),  ROWS(BLOCK_MAPPED, rows->mapped),
		ROWS(BLOCK_INLINED, rows->inlined),
	};
	int err = writer__put_tables(w, tables, ARRAY_SIZE(tables));

	/* what could not be written isn't tried again */
	rows->objects.len = rows->segments.len = rows->symbols.len = rows->mapped.len = 0;
	rows->planned.len = rows->amended.len = rows->inlined.len = 0;
	return err;
}

/* ---- events ---- */

/* What blocks with events depend on. */
static int put_needed(struct trace_writer *w)
{
	int err = writer__flush_rows(w);

	return err ? err : writer__put_copies(w);
}

static int put_log(struct trace_writer *w)
{
	struct str raw = {0};
	int err = logged_writer__size(w->log) ? put_needed(w) : 0;

	if (err || !logged_writer__end(w->log, &raw, &w->totals))
		return err;
	return put_numbered(w, BLOCK_LOG, raw);
}

/* Sideband events have copies, too: addresses and names depend on them. */
static int put_encoded(struct trace_writer *w)
{
	bool is_sideband = event_encoder__is_sideband(w->events);
	struct str raw = {0};
	int err = put_needed(w);

	if (err || !event_encoder__end(w->events, &raw, &w->totals))
		return err;
	if (!is_sideband)
		return put_numbered(w, BLOCK_EVENTS, raw);
	err = put_block(w, BLOCK_EVENTS, raw);
	return err ? err : writer__put_copies(w);
}

static int put_events(struct trace_writer *w)
{
	int err = put_encoded(w);

	return err ? err : put_log(w);
}

int trace_writer__flush(struct trace_writer *w)
{
	struct trace_block pause = {0};
	int err = put_events(w);

	return err || !w->armored ? err : w->put(w->ctx, &pause);
}

static int flush_if_full(struct trace_writer *w)
{
	return event_encoder__is_full(w->events) ? put_events(w) : 0;
}

/* In armored files sideband events have their own blocks. */
static int part_from(struct trace_writer *w, bool sideband)
{
	bool parts = w->armored && event_encoder__is_sideband(w->events) != sideband;
	int err = put_log(w);

	return err || !parts ? err : put_events(w);
}

/* Between words an event stays with them, if it is what they are. */
static int put_record(struct trace_writer *w, const struct event *e)
{
	struct logged_words words = *e->record;

	if (e->entry)
		snprintf(words.thread.comm, sizeof(words.thread.comm), "%s", e->entry->comm);
	return trace_writer__words(w, &words);
}

int trace_writer__event(struct trace_writer *w, const struct event *e)
{
	int err;

	if (e->record && logged_writer__size(w->log))
		return put_record(w, e);
	err = part_from(w, false);
	if (!err)
		err = event_encoder__event(w->events, e);
	return err ? err : flush_if_full(w);
}

int trace_writer__words(struct trace_writer *w, const struct logged_words *words)
{
	int err = put_encoded(w);

	if (!err && !logged_writer__takes(w->log, words->regs))
		err = put_log(w);
	if (err)
		return err;
	err = logged_writer__put(w->log, words);
	if (err || logged_writer__size(w->log) < (w->armored ? ARMORED_EVENTS : LOG_BYTES))
		return err;
	return put_log(w);
}

static int put_untraced(struct trace_writer *w, const struct sideband_event *e)
{
	const struct file_untraced row = {e->pid, e->object, e->function, e->text};
	int err = writer__put_rows(w, BLOCK_UNTRACED, &row, 1);

	return err ? err : writer__put_copies(w);
}

int trace_writer__sideband(struct trace_writer *w, const struct sideband_event *e)
{
	int err;

	if (e->type == SIDEBAND_UNTRACED)
		return put_untraced(w, e);
	err = part_from(w, true);
	if (err)
		return err;
	event_encoder__sideband(w->events, e);
	return flush_if_full(w);
}

int trace_writer__lost(struct trace_writer *w, uint32_t pid, uint32_t tid, uint64_t count)
{
	int err = part_from(w, true);

	if (err)
		return err;
	event_encoder__lost(w->events, pid, tid, count);
	return flush_if_full(w);
}

int trace_writer__counts(struct trace_writer *w, const struct trace_counts *c)
{
	const struct file_counted counted = {c->tag, c->traces, c->counts.edges->residue};
	struct file_rows *rows = &w->rows;
	int err = put_events(w);

	if (err)
		return err;
	file_counts__put(rows, c, w->plan);
	{
		const struct rows tables[] = {
			ROWS(BLOCK_SITE_COUNT, rows->site_counts),
			ROWS(BLOCK_BLOCK_COUNT, rows->block_counts),
			ROWS(BLOCK_TABLE_COUNT, rows->table_counts),
			ROWS(BLOCK_TARGET_COUNT, rows->target_counts),
			{BLOCK_COUNTED, &counted, 1},
		};

		err = writer__put_tables(w, tables, ARRAY_SIZE(tables));
	}
	file_counts__drop(rows);
	return err ? err : writer__put_copies(w);
}

/* For a reader that has lost the last events. */
static int put_totals(struct trace_writer *w)
{
	struct str raw = {0};

	event_encoder__put_empty(&raw, &w->totals);
	return put_block(w, BLOCK_EVENTS, raw);
}

int trace_writer__end(struct trace_writer *w, const struct trace_end *end)
{
	struct trace_block pause = {0};
	int err = put_events(w);

	if (!err && !w->counts)
		err = put_totals(w);
	if (!err)
		err = writer__put_rows(w, BLOCK_END, end, 1);
	if (!err)
		err = writer__put_copies(w);
	return err || !w->armored ? err : w->put(w->ctx, &pause);
}

uint64_t trace_writer__pending(const struct trace_writer *w)
{
	return event_encoder__size(w->events) + logged_writer__size(w->log);
}
