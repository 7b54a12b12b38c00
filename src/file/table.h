/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table: encodes rows of a struct as bytes, column by column. The columns of each struct are listed
 * once, in tables.c. A column is identified by its number: an older reader skips one that was added
 * later, and it is zero if an older file lacks it. Private to src/file.
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

/* A column's number is its index: append new ones. */
struct column {
	uint8_t kind, size;
	uint16_t offset;
	const char *name, *type; /* in bbtrace-trace(5) */
};

struct table {
	const char *name; /* in bbtrace-trace(5) */
	const struct column *columns;
	unsigned ncolumns;
	size_t row_size;
};

/* Memory that rows read from a file point to; freed together. */
struct pool {
	VEC(void *) parts;
	size_t budget; /* bytes left to allocate */
};
void *pool__take(struct pool *p, size_t size); /* zeroed; NULL: over budget */
void pool__free(struct pool *p);

#define ROWS_MAX 16384 /* in one block */

/* Appends n rows to out. */
void table__encode(const struct table *t, const void *rows, size_t n, struct str *out);
/* Appends the rows of a block to *rows, a VEC of the struct. -EBADMSG: invalid or too large. */
int table__decode(const struct table *t, const uint8_t *raw, size_t len, struct pool *pool,
		  void *rows);

#endif
