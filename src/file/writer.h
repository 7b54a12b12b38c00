/* SPDX-License-Identifier: BSD-2-Clause */
/* writer: the state of the writer of a trace file, shared by write.c and write_plan.c. Private to
 * src/file. */
#ifndef BBTRACE_FILE_WRITER_H
#define BBTRACE_FILE_WRITER_H

#include "file/format.h"

/* Bytes of a block in an armored file, of events and of tables. */
#define ARMORED_EVENTS (2u << 10)
#define ARMORED_TABLE  (4u << 10)

struct copied {
	uint32_t number;
	uint8_t type;
	struct str raw;
};

struct trace_writer {
	const struct plan *plan;
	trace_put_fn put;
	void *ctx;
	uint32_t number; /* of the next block */
	bool armored, counts;
	struct block_totals totals;
	VEC(struct copied) copied; /* to be copied after the blocks that follow */
	struct event_encoder *events;
	struct logged_writer *log;	    /* follows these */
	VEC(const struct object *) objects; /* by number */
	struct map64 numbers;		    /* object -> its number + 1 */
	struct map64 symbols;		    /* symbols that were written */
	struct map64 inlined;		    /* places of which it was written, hashes */
	struct map64 mapped;		    /* paths of mappings that were written */
	struct file_rows rows;		    /* to be written before the next events */
};

/* All of these return 0, or what put returned. */
int writer__put_header(struct trace_writer *w);
/* Puts rows into as many blocks as they need. */
int writer__put_rows(struct trace_writer *w, enum block_type type, const void *rows, size_t n);
struct rows {
	enum block_type type;
	const void *data;
	size_t n;
};
#define ROWS(type, vec) ((struct rows){type, (vec).data, (vec).len})

int writer__put_tables(struct trace_writer *w, const struct rows *tables, size_t n);
/* Puts the copies that are due. */
int writer__put_copies(struct trace_writer *w);
/* Puts the rows that the next events need. */
int writer__flush_rows(struct trace_writer *w);
/* Returns the number of an object, which gets one if it has none. planned: it is the plan's next
 * one. */
uint32_t writer__number_of(struct trace_writer *w, const struct object *o, bool planned);

#endif
