// SPDX-License-Identifier: BSD-2-Clause
/* The plan of a trace file, and its increments, with the code of their functions. */
#include <errno.h>
#include <stdlib.h>
#include "file/writer.h"

/* Adds the bytes of one range as rows that each fit in a block. */
#define CODE_ROW_MAX (64u << 10)

typedef VEC(struct file_code) code_vec;

static void add_code(struct trace_writer *w, const struct plan_function *f, code_vec *rows)
{
	const size_t most = w->armored ? ARMORED_TABLE / 2 : CODE_ROW_MAX;
	const struct object *o;
	uint32_t number;

	if (f->flags & FUNCTION_HELPER)
		return;
	o = w->plan->objects.data[f->object].object;
	number = writer__number_of(w, o, false);
	for (size_t i = 0; o && i < f->nranges; i++) {
		const struct range *r = &f->ranges[i];
		size_t avail = 0;
		const uint8_t *bytes = object__bytes(o, r->vaddr, &avail);

		avail = bytes ? min_of(avail, r->size) : 0;
		for (size_t at = 0; at < avail; at += most)
			vec__push(rows, (struct file_code){number,
							   r->vaddr + at,
							   {bytes + at, min_of(avail - at, most)}});
	}
}

static int put_code(struct trace_writer *w, const struct plan_function *functions, size_t n)
{
	autofree code_vec rows = {0};
	int err = 0;

	for (size_t i = 0; i < n; i++)
		add_code(w, &functions[i], &rows);
	/* a block's rows must fit in it */
	for (size_t i = 0; !err && i < rows.len;) {
		size_t some = 0, bytes = 0;

		while (i + some < rows.len && bytes <= CODE_ROW_MAX && some < ROWS_MAX)
			bytes += rows.data[i + some++].bytes.len;
		err = writer__put_rows(w, BLOCK_CODE, &rows.data[i], some);
		i += some;
	}
	return err;
}

typedef VEC(struct file_range) range_vec;
typedef VEC(struct file_stub) stub_vec;

/* first: the number of the first function. */
static range_vec ranges_of(const struct plan_function *functions, size_t n, size_t first)
{
	range_vec ranges = {0};

	for (size_t f = 0; f < n; f++)
		for (size_t i = 0; i < functions[f].nranges; i++) {
			const struct range *r = &functions[f].ranges[i];

			vec__push(&ranges, (struct file_range){first + f, r->vaddr, r->size,
							       r->name, r->offset});
		}
	return ranges;
}

static stub_vec stubs_of(const struct trace_writer *w, const struct plan *rows)
{
	const struct plan_stub *s;
	stub_vec stubs = {0};

	vec__each (s, &rows->stubs) {
		const uint64_t *number = map64__get(&w->numbers, (uintptr_t)s->object);

		if (number)
			vec__push(&stubs, (struct file_stub){*number - 1, s->vaddr});
	}
	return stubs;
}

/* The rows of a plan, or of an increment whose first functions, amended, are older ones. */
static int put_plan(struct trace_writer *w, const struct plan *rows, size_t amended)
{
	size_t new = rows->functions.len - amended;
	const struct plan_function *functions =
		rows->functions.data ? rows->functions.data + amended : NULL;
	autofree range_vec ranges = ranges_of(functions, new, w->plan->functions.len - new);
	autofree stub_vec stubs = stubs_of(w, rows);
	const struct rows tables[] = {
		ROWS(BLOCK_FUNCTION, rows->functions),
		ROWS(BLOCK_RANGE, ranges),
		ROWS(BLOCK_SITE, rows->sites),
		ROWS(BLOCK_BLOCK, rows->blocks),
		ROWS(BLOCK_JUMP, rows->table),
		ROWS(BLOCK_STUB, stubs),
		ROWS(BLOCK_EXTENT, rows->extents),
		ROWS(BLOCK_GAP, rows->gaps),
		ROWS(BLOCK_LINE_FILE, rows->line_files),
		ROWS(BLOCK_LINE, rows->lines),
		ROWS(BLOCK_SCOPE, rows->scopes),
		ROWS(BLOCK_SCOPE_RANGE, rows->scope_ranges),
		ROWS(BLOCK_NAMED, rows->named),
		ROWS(BLOCK_FIELD, rows->fields),
		ROWS(BLOCK_ENUMERATOR, rows->enumerators),
		ROWS(BLOCK_VALUE, rows->values),
	};
	int err = writer__put_tables(w, tables, ARRAY_SIZE(tables));

	return err ? err : put_code(w, functions, new);
}

static int end_plan(struct trace_writer *w)
{
	const struct plan *p = w->plan;
	struct file_plan row = {.machine = p->arch->machine,
				.unprobed_rets = p->unprobed_rets,
				.return_probes = p->return_probes,
				.placement = p->placement,
				.probes = p->probes,
				.skipped = p->skipped,
				.ifunc_unknown = p->ifunc_unknown,
				.entries_only = p->entries_only,
				.counts_all = p->counts_all};
	int err = writer__put_rows(w, BLOCK_PLAN, &row, 1);

	return err ? err : writer__put_copies(w);
}

int trace_writer__begin(struct trace_writer *w, const struct trace_meta *meta)
{
	const struct plan_object *o;
	int err;

	w->counts = meta->counts;
	vec__each (o, &w->plan->objects)
		writer__number_of(w, o->object, true);
	err = writer__put_header(w);
	if (err)
		return err;
	err = writer__put_rows(w, BLOCK_META, meta, 1);
	if (err)
		return err;
	err = writer__flush_rows(w);
	if (err)
		return err;
	err = put_plan(w, w->plan, 0);
	return err ? err : end_plan(w);
}

static void add_amended(struct trace_writer *w, enum block_type table, const uint32_t *rows,
			size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec__push(&w->rows.amended, (struct file_amended){table, rows[i]});
}

int trace_writer__increment(struct trace_writer *w, const struct plan_increment *i)
{
	const struct plan_object *o;
	int err;

	if (trace_writer__pending(w))
		return err__set(EINVAL, "the plan was extended before events of it were written");
	vec__each (o, &i->rows.objects)
		vec__push(&w->rows.planned,
			  (struct file_planned){writer__number_of(w, o->object, false)});
	add_amended(w, BLOCK_FUNCTION, i->amended_functions.data, i->amended_functions.len);
	add_amended(w, BLOCK_SITE, i->amended_sites.data, i->amended_sites.len);
	add_amended(w, BLOCK_BLOCK, i->amended_blocks.data, i->amended_blocks.len);
	err = writer__flush_rows(w);
	if (err)
		return err;
	err = put_plan(w, &i->rows, i->amended_functions.len);
	return err ? err : end_plan(w);
}
