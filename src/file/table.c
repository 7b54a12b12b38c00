// SPDX-License-Identifier: BSD-2-Clause
/* Encodes rows of a struct as bytes and back: see table.h. The bytes are untrusted: all lengths are
 * checked. */
#include <errno.h>
#include <stdlib.h>
#include "file/table.h"

typedef VEC(char) any_vec; /* every VEC has this shape; len and cap count rows */

/* ---- what rows point to ---- */

void *pool__take(struct pool *p, size_t size)
{
	if (size >= p->budget)
		return NULL;
	p->budget -= size;
	vec__push(&p->parts, xcalloc(1, size + 1));
	return *vec__last(&p->parts);
}

void pool__free(struct pool *p)
{
	void **part;

	vec__each (part, &p->parts)
		free(*part);
	vec__free(&p->parts);
}

/* ---- numbers ---- */

static uint64_t load_number(const void *at, unsigned size)
{
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (size) {
	case 1:
		return memcpy(&v8, at, 1), v8;
	case 2:
		return memcpy(&v16, at, 2), v16;
	case 4:
		return memcpy(&v32, at, 4), v32;
	default:
		return memcpy(&v64, at, 8), v64;
	}
}

static void store_number(void *at, unsigned size, uint64_t v)
{
	uint8_t v8 = v;
	uint16_t v16 = v;
	uint32_t v32 = v;

	switch (size) {
	case 1:
		memcpy(at, &v8, 1);
		break;
	case 2:
		memcpy(at, &v16, 2);
		break;
	case 4:
		memcpy(at, &v32, 4);
		break;
	default:
		memcpy(at, &v, 8);
	}
}

/* The difference of two numbers of size bytes, sign-extended to 64 bits. */
static uint64_t difference(uint64_t v, uint64_t before, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return (uint64_t)((int64_t)((v - before) << unused) >> unused);
}

/* ---- writing ---- */

static void encode_string(const char *text, struct map64 *known, const char **before,
			  struct str *out)
{
	uint64_t hash;
	size_t number = known->len;
	uint64_t *index;

	if (!text) {
		put_number(out, 0);
		return;
	}
	hash = map64__hash(text, strlen(text));
	index = map64__get(known, hash);
	if (index && !strcmp(before[*index], text)) {
		put_number(out, *index + 1);
		return;
	}
	put_number(out, number + 1);
	before[number] = text;
	put_part(out, text, strlen(text));
	/* two strings may have one hash, but need two numbers */
	while (map64__get(known, hash))
		hash++;
	*map64__put(known, hash) = number;
}

static void encode_column(const struct column *c, const char *rows, size_t n, size_t row_size,
			  struct str *out)
{
	autofree const char **strings =
		c->kind == COLUMN_STRING ? xcalloc(n, sizeof(char *)) : NULL;
	struct map64 known = {0};
	uint64_t before = 0;

	for (size_t i = 0; i < n; i++) {
		const char *at = rows + i * row_size + c->offset;
		const struct bytes *b = (const struct bytes *)at;
		uint64_t v;

		if (c->kind == COLUMN_STRING) {
			encode_string(*(char *const *)at, &known, strings, out);
		} else if (c->kind == COLUMN_BYTES) {
			put_part(out, b->data, b->len);
		} else {
			v = load_number(at, c->size);
			put_number(out, zigzag(difference(v, before, c->size)));
			before = v;
		}
	}
	map64__free(&known);
}

void table__encode(const struct table *t, const void *rows, size_t n, struct str *out)
{
	struct str column = {0};

	put_number(out, n);
	for (unsigned i = 0; i < t->ncolumns; i++) {
		str__clear(&column);
		encode_column(&t->columns[i], rows, n, t->row_size, &column);
		put_number(out, i);
		put_byte(out, t->columns[i].kind);
		put_part(out, column.data, column.len);
	}
	str__free(&column);
}

/* ---- reading ---- */

static const char *new_string(struct reader *r, struct pool *pool)
{
	struct reader text = get_part(r);
	size_t len = text.end - text.at;
	char *s = r->bad || (len && memchr(text.at, 0, len)) ? NULL : pool__take(pool, len);

	if (s && len)
		memcpy(s, text.at, len);
	return s;
}

typedef VEC(const char *) string_vec;

/* Returns false if it is damaged. */
static bool decode_string(struct reader *r, string_vec *known, struct pool *pool, const char **out)
{
	uint64_t index = get_number(r);

	*out = NULL;
	if (!index)
		return !r->bad;
	if (index <= known->len) {
		*out = known->data[index - 1];
		return true;
	}
	if (index != known->len + 1)
		return false;
	*out = new_string(r, pool);
	vec__push(known, *out);
	return *out;
}

static bool decode_bytes(struct reader *r, struct pool *pool, struct bytes *out)
{
	struct reader part = get_part(r);
	size_t len = part.end - part.at;
	uint8_t *p = r->bad ? NULL : pool__take(pool, len);

	if (!p)
		return false;
	memcpy(p, part.at, len);
	*out = (struct bytes){p, len};
	return true;
}

static bool decode_cell(const struct column *c, struct reader *r, struct pool *pool,
			string_vec *strings, uint64_t *before, char *at)
{
	if (c->kind == COLUMN_STRING)
		return decode_string(r, strings, pool, (const char **)at);
	if (c->kind == COLUMN_BYTES)
		return decode_bytes(r, pool, (struct bytes *)at);
	*before += unzigzag(get_number(r));
	store_number(at, c->size, c->kind == COLUMN_BOOL ? *before & 1 : *before);
	return !r->bad;
}

static bool decode_column(const struct column *c, struct reader *r, struct pool *pool, char *rows,
			  size_t n, size_t row_size)
{
	autofree string_vec strings = {0};
	uint64_t before = 0;

	for (size_t i = 0; i < n; i++)
		if (!decode_cell(c, r, pool, &strings, &before, rows + i * row_size + c->offset))
			return false;
	return r->at == r->end;
}

static char *add_rows(const struct table *t, size_t n, struct pool *pool, any_vec *v)
{
	char *first;

	if (n > ROWS_MAX || n * t->row_size > pool->budget)
		return NULL;
	pool->budget -= n * t->row_size;
	if (v->cap < v->len + n)
		v->data = vec__grow(v->data, &v->cap, v->len + n, t->row_size);
	first = v->data + v->len * t->row_size;
	memset(first, 0, n * t->row_size);
	v->len += n;
	return first;
}

int table__decode(const struct table *t, const uint8_t *raw, size_t len, struct pool *pool,
		  void *rows)
{
	struct reader r = reader_of(raw, len);
	uint64_t n = get_number(&r), number;
	char *first = r.bad || !n ? NULL : add_rows(t, n, pool, rows);

	if (!first)
		return n || r.bad ? -EBADMSG : 0;
	while (r.at < r.end) {
		struct reader column;
		uint8_t kind;

		number = get_number(&r);
		kind = get_byte(&r);
		column = get_part(&r);
		if (r.bad)
			return -EBADMSG;
		if (number >= t->ncolumns)
			continue; /* written by a newer version */
		if (kind != t->columns[number].kind ||
		    !decode_column(&t->columns[number], &column, pool, first, n, t->row_size))
			return -EBADMSG;
	}
	return 0;
}
