// SPDX-License-Identifier: BSD-2-Clause
#include "path.h"

/* ---- from steps to rows ---- */

/* The end of a call that has none yet is that of its thread. */
static uint64_t end_of(const struct run *r, uint32_t call)
{
	const struct call *c = run__call(r, call);

	return c->end ? c->end : r->threads.data[c->thread].at;
}

/* Sets the row of the next step, a call's folded. own: 1 + the call whose steps these are, which
 * isn't folded; 0: none. Returns false at the end, and if there are enough rows: then the last one
 * stands for the rest. */
static bool next_row(const struct run *r, uint64_t *at, uint64_t to, uint32_t own, row_vec *rows,
		     struct row *out)
{
	uint64_t here = *at;
	size_t len;
	const uint8_t *data = run__next(r, at, to, &len);
	uint32_t depth, call;
	uint8_t type;
	bool folds;

	if (!data)
		return false;
	if (rows->len >= PATH_ROWS) {
		vec__push(rows, (struct row){.at = here, .to = to, .kind = ROW_REST});
		return false;
	}
	call = record__peek(data, len, &type, &depth);
	folds = call && call != own && call <= r->ncalls;
	*out = (struct row){.at = *at - len - sizeof(uint32_t),
			    .call = folds ? call : 0,
			    .depth = depth,
			    .kind = folds ? ROW_FOLDED : ROW_STEP};
	return true;
}

static void make_rows(const struct run *r, uint64_t at, uint64_t to, uint32_t own, row_vec *out)
{
	struct row row;

	while (next_row(r, &at, to, own, out, &row)) {
		vec__push(out, row);
		if (row.kind == ROW_FOLDED)
			at = end_of(r, row.call - 1);
	}
}

void path__of_call(struct path *p, const struct run *r, uint32_t call)
{
	*p = (struct path){.run = r, .to = end_of(r, call)};
	make_rows(r, run__call(r, call)->begin, p->to, call + 1, &p->rows);
}

void path__of_thread(struct path *p, const struct run *r, uint32_t thread)
{
	const struct thread *t = &r->threads.data[thread];

	*p = (struct path){.run = r, .to = t->at};
	if (t->first)
		make_rows(r, t->first, t->at, 0, &p->rows);
}

void path__free(struct path *p)
{
	vec__free(&p->rows);
}

/* ---- folding ---- */

/* The rows that an expanded call around this one has. */
static void count_below(struct path *p, size_t row, int64_t more)
{
	for (size_t i = 0; i < row; i++) {
		struct row *r = &p->rows.data[i];

		if (r->kind == ROW_EXPANDED && i + r->below >= row)
			r->below = (uint32_t)(r->below + more);
	}
}

/* Replaces the n rows from this one on. */
static void splice(struct path *p, size_t at, size_t n, const row_vec *rows)
{
	size_t after = p->rows.len - at - n;

	vec__reserve(&p->rows, p->rows.len + rows->len);
	memmove(p->rows.data + at + rows->len, p->rows.data + at + n,
		after * sizeof(*p->rows.data));
	if (rows->len)
		memcpy(p->rows.data + at, rows->data, rows->len * sizeof(*rows->data));
	p->rows.len = at + rows->len + after;
}

static void show_rest(struct path *p, size_t row)
{
	struct row rest = p->rows.data[row];
	row_vec rows = {0};

	make_rows(p->run, rest.at, rest.to, 0, &rows);
	count_below(p, row, (int64_t)rows.len - 1);
	splice(p, row, 1, &rows);
	vec__free(&rows);
}

static void expand(struct path *p, size_t row)
{
	struct row *r = &p->rows.data[row];
	row_vec rows = {0};
	uint64_t at = r->at, to = end_of(p->run, r->call - 1);
	size_t len;

	r->kind = ROW_EXPANDED;
	r->below = 0;
	run__next(p->run, &at, to, &len); /* the entry itself */
	make_rows(p->run, at, to, r->call, &rows);
	r->below = (uint32_t)rows.len;
	count_below(p, row, (int64_t)rows.len);
	splice(p, row + 1, 0, &rows);
	vec__free(&rows);
}

bool path__expand(struct path *p, size_t row, unsigned levels)
{
	if (row >= p->rows.len)
		return false;
	if (p->rows.data[row].kind == ROW_REST) {
		show_rest(p, row);
		return true;
	}
	if (p->rows.data[row].kind != ROW_FOLDED)
		return false;
	expand(p, row);
	for (size_t i = row + 1; levels > 1 && i <= row + p->rows.data[row].below; i++)
		if (p->rows.data[i].kind == ROW_FOLDED)
			path__expand(p, i, levels - 1);
	return true;
}

/* Returns the expanded call that the row is in; SIZE_MAX if there is none. */
static size_t around(const struct path *p, size_t row)
{
	for (size_t i = row; i-- > 0;)
		if (p->rows.data[i].kind == ROW_EXPANDED && i + p->rows.data[i].below >= row)
			return i;
	return SIZE_MAX;
}

size_t path__fold(struct path *p, size_t row)
{
	const row_vec none = {0};
	struct row *r;

	if (row >= p->rows.len)
		return SIZE_MAX;
	if (p->rows.data[row].kind != ROW_EXPANDED)
		row = around(p, row);
	if (row == SIZE_MAX)
		return row;
	r = &p->rows.data[row];
	r->kind = ROW_FOLDED;
	count_below(p, row, -(int64_t)r->below);
	splice(p, row + 1, r->below, &none);
	return row;
}

/* ---- all of them: made again, which takes no longer than all rows ---- */

struct level {
	size_t row;
	uint64_t to;
};

/* The rows of a call's steps end where those of its outer call continue. */
static void end_levels(row_vec *rows, struct level *open, size_t *n, uint64_t at)
{
	for (; *n && open[*n - 1].to == at; --*n)
		rows->data[open[*n - 1].row].below = (uint32_t)(rows->len - 1 - open[*n - 1].row);
}

#define MOST_OPEN 1024 /* levels that are expanded */

static void make_all(const struct run *r, uint64_t at, uint64_t to, uint32_t own, row_vec *out)
{
	struct level *open = xcalloc(MOST_OPEN, sizeof(*open));
	struct row row;
	size_t n = 0;

	while (next_row(r, &at, to, own, out, &row)) {
		bool expands = row.kind == ROW_FOLDED && n < MOST_OPEN;

		if (expands)
			row.kind = ROW_EXPANDED;
		vec__push(out, row);
		if (expands)
			open[n++] = (struct level){out->len - 1, end_of(r, row.call - 1)};
		else if (row.kind == ROW_FOLDED)
			at = end_of(r, row.call - 1);
		end_levels(out, open, &n, at);
	}
	while (n--)
		out->data[open[n].row].below = (uint32_t)(out->len - 1 - open[n].row);
	free(open);
}

/* The first row is a call's own entry, unless it is a thread's. */
static bool whole(const struct path *p, uint64_t *at, uint64_t *to, uint32_t *own)
{
	const uint8_t *data;
	uint8_t type;
	uint32_t depth;
	size_t len;
	uint64_t next;

	if (!p->rows.len)
		return false;
	*at = next = p->rows.data[0].at;
	*to = p->to;
	*own = 0;
	data = run__next(p->run, &next, *to, &len);
	if (data && p->rows.data[0].kind == ROW_STEP)
		*own = record__peek(data, len, &type, &depth);
	return true;
}

static void make_again(struct path *p, void (*make)(const struct run *r, uint64_t at, uint64_t to,
						    uint32_t own, row_vec *out))
{
	row_vec rows = {0};
	uint64_t at, to;
	uint32_t own;

	if (!whole(p, &at, &to, &own))
		return;
	make(p->run, at, to, own, &rows);
	vec__free(&p->rows);
	p->rows = rows;
}

void path__expand_all(struct path *p)
{
	make_again(p, make_all);
}

void path__fold_all(struct path *p)
{
	make_again(p, make_rows);
}
