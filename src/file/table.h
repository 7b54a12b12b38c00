/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table: rows of a struct as bytes, column by column. What a struct has is told once, in tables.c;
 * a column is known by its number, so one that is added later is passed over by an older reader,
 * and is zero where an older file lacks it. Private to src/file.
 */
#ifndef BBTRACE_FILE_TABLE_H
#define BBTRACE_FILE_TABLE_H

#include "file/pack.h"

enum column_kind {
	COLUMN_NUMBER, /* unsigned or signed, of 1, 2, 4 or 8 bytes: differences from row to row */
	COLUMN_BOOL,
	COLUMN_STRING, /* const char *, may be NULL */
	COLUMN_BYTES,  /* struct bytes */
};

struct bytes {
	const uint8_t *data;
	size_t len;
};

/* The number of a column is its index: new ones go to the end. */
struct column {
	uint8_t kind, size;
	uint16_t offset;
};

struct table {
	const struct column *columns;
	unsigned ncolumns;
	size_t row_size;
};

/* What rows that were read point to: freed at once. */
struct pool {
	VEC(void *) parts;
	size_t budget; /* bytes that may still be taken */
};
void *pool__take(struct pool *p, size_t size); /* zeroed; NULL: the budget is spent */
void pool__free(struct pool *p);

#define ROWS_MAX 16384 /* in one block */

/* Appends n rows to out. */
void table__encode(const struct table *t, const void *rows, size_t n, struct str *out);
/* Appends the rows of a block to *rows, a VEC of the struct. -EBADMSG: it is none, or too large. */
int table__decode(const struct table *t, const uint8_t *raw, size_t len, struct pool *pool,
		  void *rows);

#endif
