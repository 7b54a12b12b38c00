/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_codec: what an event and a sideband event consist of, by columns. One function tells it for
 * writing and for reading, so that the two can't differ. Private to src/file.
 */
#ifndef BBTRACE_FILE_EVENT_CODEC_H
#define BBTRACE_FILE_EVENT_CODEC_H

#include "file/event_model.h"
#include "file/pack.h"

/* The columns of a block, in this order. */
enum column_id {
	COLUMN_HITS,  /* a bit a record: all is as expected but time, flags and values */
	COLUMN_TAKEN, /* bits: is a conditional as it is expected? Formats 1, 2: the flags register
		       */
	BIT_COLUMNS,
	COLUMN_RUNS = BIT_COLUMNS, /* whose the next items are, and how many */
	COLUMN_MISSES,		   /* what is not as expected */
	COLUMN_TIMES,
	COLUMN_VALUES,
	COLUMN_ENTRIES,
	COLUMN_SIDEBAND, /* side events, and losses told at the end */
	COLUMNS
};

/* Where values are written to or read from. */
struct codec {
	bool writing, bad;
	struct event_model m;
	struct bits bits_out[BIT_COLUMNS];
	struct bit_reader bits_in[BIT_COLUMNS];
	struct str out[COLUMNS];
	struct reader in[COLUMNS];
};

/* Writes x, or reads it. Reading: c->bad where it can't be. */
void codec__record(struct codec *c, struct record *x, struct thread_state *th);

#define SIDEBAND_ITEM_LOST 64 /* in place of the type: a loss told at the end */

/* Writes a side event, or reads it; reading: *own is its text, to be freed. */
void codec__sideband(struct codec *c, uint64_t *type, struct sideband_event *e, char **own);

#endif
