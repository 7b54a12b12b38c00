/* SPDX-License-Identifier: BSD-2-Clause */
/* reader: the state of the reader of a trace file, shared by read.c and read_loss.c. Private to
 * src/file. */
#ifndef BBTRACE_FILE_READER_H
#define BBTRACE_FILE_READER_H

#include "file/format.h"

struct trace_reader {
	struct salvage blocks;
	uint64_t paid;	 /* bytes that the pool's budget has grown for */
	uint64_t offset; /* of the current block, unless others are damaged */
	uint32_t number; /* of the current block */
	struct file_version version;
	bool started; /* the header was read, or is lost */
	struct file_rows rows;
	struct pool pool;
	struct file_objects objects;
	size_t objects_given, mapped_given, untraced_given;
	struct sideband_event untraced; /* the current item */
	struct plan *plan;
	struct plan_counts edges;
	struct trace_counts counts; /* of edges */
	bool has_counts;	    /* TRACE_COUNTS is the next item */
	bool begins;		    /* TRACE_BEGIN is the next item */
	bool extended;		    /* TRACE_PLAN is */
	struct event_decoder *events;
	struct logged_reader *log;
	bool in_events;		   /* the current block has more events … */
	bool in_log;		   /* … and is a BLOCK_LOG */
	bool offers_runs, offered; /* TRACE_RUN: items are wanted; the last item is one */
	struct item logged;	   /* of the log: the current item */
	struct event_run run;	   /* of TRACE_RUN */
	const struct item *held;   /* the first one of them, if it was read already */
	bool ended;		   /* BLOCK_END was read */
	int failed;		   /* trace_reader__peek() did */
	/* what is lost (read_loss.c): */
	struct block_totals done; /* what was read, or is known to be lost */
	uint64_t time;		  /* of the last item that had one */
	struct trace_damage damage;
	bool misses; /* blocks are lost, and the next block of events will show what was in them */
	bool is_due; /* TRACE_DAMAGE is the next item */
	bool no_tables; /* what the next tables refer to isn't known */
	bool frozen;	/* the numbers of further objects aren't known */
	struct {
		uint64_t places, events, sideband;
		bool unknown, names, reported;
	} lost; /* in all */
};

/* Sets a message that says where; returns its error. */
int reader__damaged(const struct trace_reader *r);
/* Blocks before this one are lost. */
int reader__lose(struct trace_reader *r, const struct block *b, uint32_t lost);
/* A block of events, or the end: reports what is lost before it. */
int reader__report_loss(struct trace_reader *r, const struct block *b);
/* Drops rows that refer to something unknown, after such a loss. */
int reader__drop_unknown(struct trace_reader *r, uint8_t table);
/* Returns 1 with the next item of the current block with events; 0 if there is none; -EBADMSG. */
int reader__next_item(struct trace_reader *r, const struct item **out);
/* Passes the damage. */
void reader__give_damage(struct trace_reader *r, struct trace_item *out);
/* Everything was read that can be: returns 0, or the error of what is lost. */
int reader__sum_up(struct trace_reader *r);

#endif
