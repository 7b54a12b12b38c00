/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_codec: the columns of events and sideband events. The same function writes and reads, so
 * that the two can't differ. Private to src/file.
 */
#ifndef BBTRACE_FILE_EVENT_CODEC_H
#define BBTRACE_FILE_EVENT_CODEC_H

#include "file/event_model.h"
#include "file/pack.h"

/* The columns of a block, in this order. */
enum column_id {
	COLUMN_HITS,  /* one bit per record: all but time and values is as predicted */
	COLUMN_TAKEN, /* bits: taken is as predicted */
	BIT_COLUMNS,
	COLUMN_RUNS = BIT_COLUMNS, /* the thread of the next items, and their number */
	COLUMN_MISSES,		   /* the fields that are not as predicted */
	COLUMN_TIMES,
	COLUMN_VALUES,
	COLUMN_ENTRIES,
	COLUMN_SIDEBAND, /* sideband events, and losses reported at the end */
	COLUMNS
};

/* The columns that values are written to or read from. */
struct codec {
	bool writing, bad;
	struct event_model m;
	struct bits bits_out[BIT_COLUMNS];
	struct bit_reader bits_in[BIT_COLUMNS];
	struct str out[COLUMNS];
	struct reader in[COLUMNS];
};

/* Writes or reads x. After reading, c->bad says that the data is invalid. */
void codec__record(struct codec *c, struct record *x, struct thread_state *th);

#define SIDEBAND_ITEM_LOST 64 /* in place of the type: a loss reported at the end */

/* Writes or reads a sideband event. When reading, *own is its text; the caller frees it. */
void codec__sideband(struct codec *c, uint64_t *type, struct sideband_event *e, char **own);

#endif
