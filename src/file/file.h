/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file: the trace file: the input of a replay and all that the replay needs. Public header of
 * src/file. Pure: no system call, no BPF, no /proc, no exit. The format is described in
 * bbtrace-trace(5).
 */
#ifndef BBTRACE_FILE_FILE_H
#define BBTRACE_FILE_FILE_H

#include "plan/change/change.h"
#include "trace/trace.h"

/* What steps and their rendering depend on besides the plan, and the origin of the trace. */
struct trace_meta {
	uint64_t start_time; /* as in struct output_options, the next ones too */
	int64_t realtime_offset;
	int32_t utc_offset;
	uint64_t regs;
	bool show_regs, no_fold;
	uint32_t time_style;
	uint32_t events; /* as in struct trace_options, the next ones too */
	uint32_t max_depth;
	uint64_t min_duration;
	uint64_t limit; /* of printed events; 0: none */
	uint32_t cpus;	/* of the machine */
	uint32_t part; /* number of earlier parts of this trace, which are in other files or gone */
	const char *version;	/* bbtrace's */
	const char *command;	/* bbtrace's command line */
	const char *system;	/* kernel name, release, version and machine */
	bool counts;		/* the file has counts of edges, and no events */
	const char *tag;	/* --tag; NULL: none */
	const char *host;	/* the name of the machine; NULL: not known */
	const char *conditions; /* --if, as conditions__parse() takes them; NULL: none */
	uint64_t logged_regs;	/* a bit each: those that entries of copies have; 0: all */
};

/* How the trace ended. */
enum trace_end_reason { TRACE_ENDED, TRACE_CONTINUED /* in the next part */ };
struct trace_end {
	uint32_t reason;
	uint64_t sideband_lost; /* sideband events */
	struct trace_totals totals;
};

/* Counts of edges instead of events. */
struct trace_counts {
	const char *tag; /* what ran; NULL: it has no name */
	uint64_t traces; /* the number of traces that they are the sum of */
	struct edge_counts counts;
};

/* The blocks of a file, one after the other. */
struct trace_block {
	uint32_t type; /* format.h; 0: the header, or if raw is empty, nothing: a pause follows */
	uint32_t number;
	struct str raw;
};
/* Packs blocks: that takes a good part of the time of writing a file, and needs nothing but the
 * block, so another thread may do it. */
struct block_packer;
struct block_packer *block_packer__new(void);
void block_packer__free(struct block_packer *p);
/* Appends the bytes that the file has of a block. */
void block_packer__put(struct block_packer *p, const struct trace_block *b, struct str *out);

/* Writes a block, and takes over b->raw. 0 or -errno, which the writer's functions return. */
typedef int (*trace_put_fn)(void *ctx, struct trace_block *b);
struct trace_writer;
/* Plan and objects must outlive it. armored: with small blocks, copies of those that others depend
 * on, and pauses. */
struct trace_writer *trace_writer__new(const struct plan *plan, trace_put_fn put, void *ctx,
				       bool armored);
void trace_writer__free(struct trace_writer *w);
/* Writes the header and the plan. All of these return 0 or what put returned. */
int trace_writer__begin(struct trace_writer *w, const struct trace_meta *meta);
/*
 * Writes an increment of the plan. Call trace_writer__flush() before plan__extend(), and this after
 * it, before the next event.
 */
int trace_writer__increment(struct trace_writer *w, const struct plan_increment *i);
/* Write what was passed to trace__feed(), to the functions for sideband events and to
 * trace__lost(). */
int trace_writer__event(struct trace_writer *w, const struct event *e);
/* The same as the event of each record. */
int trace_writer__words(struct trace_writer *w, const struct logged_words *words);
int trace_writer__sideband(struct trace_writer *w, const struct sideband_event *e);
int trace_writer__lost(struct trace_writer *w, uint32_t pid, uint32_t tid, uint64_t count);
/* Counts, which are added to those that were written before. */
int trace_writer__counts(struct trace_writer *w, const struct trace_counts *c);
/* Writes that mappings of the file with this device, inode and path are of this object. */
void trace_writer__mapped(struct trace_writer *w, uint64_t dev, uint64_t ino, const char *path,
			  const struct object *o);
/* Writes the symbol that covers vaddr, if any and not written yet; and what the code there was
 * inlined from. */
void trace_writer__symbol(struct trace_writer *w, const struct object *o, uint64_t vaddr);
/* Writes all that is buffered. */
int trace_writer__flush(struct trace_writer *w);
int trace_writer__end(struct trace_writer *w, const struct trace_end *end);
/* Bytes of the events that are buffered. */
uint64_t trace_writer__pending(const struct trace_writer *w);

/* What of a file can't be read. */
struct trace_damage {
	uint32_t block;		   /* the number of the first one */
	uint64_t events, sideband; /* how many are lost */
	bool unknown;		   /* or their number isn't known */
	bool names;		   /* objects, symbols or mapped files are lost */
	uint64_t from, to;	   /* the times before and after it; 0 if not known */
};
/* Sets what is lost, for messages: "2 events are". */
void trace_damage__text(const struct trace_damage *d, char *text, size_t len);
/* Reads the next bytes of a file. Returns their number (0: end of file), or -errno. -EILSEQ: some
 * are missing here; the next read continues after them. */
typedef ssize_t (*trace_read_fn)(void *ctx, void *data, size_t len);
/* Callbacks for the contents of a file, in the order of the file. NULL ones are skipped. Non-zero
 * stops. */
struct trace_calls {
	int (*begin)(void *ctx, const struct plan *plan, const struct trace_meta *meta);
	/* An increment has extended the plan. */
	int (*plan)(void *ctx, const struct plan *plan);
	int (*object)(void *ctx, const struct object *o); /* symbols may be added to it later */
	int (*mapped)(void *ctx, uint64_t dev, uint64_t ino, const char *path,
		      const struct object *o);
	int (*event)(void *ctx, const struct event *e);
	int (*sideband)(void *ctx, const struct sideband_event *e);
	int (*lost)(void *ctx, uint32_t pid, uint32_t tid, uint64_t count);
	int (*counts)(void *ctx, const struct trace_counts *c);
	int (*damage)(void *ctx, const struct trace_damage *d);
};
struct trace_reader;
/* Returns true if a trace file begins with these bytes. */
bool trace_reader__is_magic(const void *data, size_t len);
struct trace_reader *trace_reader__new(trace_read_fn read, void *ctx);
/* Frees the plan, the objects and all that they hold, too. */
void trace_reader__free(struct trace_reader *r);
/* The items of a file, in the order in which they were written. */
enum trace_item_type {
	TRACE_BEGIN,  /* the first one: its plan and meta are known from here on */
	TRACE_PLAN,   /* the plan was extended */
	TRACE_OBJECT, /* .object; later blocks may add symbols to it */
	TRACE_MAPPED, /* .object is the file that mappings show as .dev, .ino and .path */
	TRACE_EVENT,
	TRACE_RUN, /* .run, after trace_reader__offer_runs(): the next events, not decoded yet */
	TRACE_SIDEBAND,
	TRACE_LOST, /* .count events of thread .pid, .tid */
	TRACE_COUNTS,
	TRACE_DAMAGE, /* .damage: this is missing here; what follows is good */
};
struct trace_item {
	enum trace_item_type type;
	const struct object *object;
	uint64_t dev, ino;
	const char *path;
	const struct event *event;
	const struct event_run *run;
	const struct sideband_event *sideband;
	const struct trace_counts *counts;
	const struct trace_damage *damage;
	uint32_t pid, tid;
	uint64_t count;
};
/* Returns 1 if *out is the next item; its pointers are valid until the next call. 0: the end.
 * Errors are those of trace_reader__run(). */
int trace_reader__next(struct trace_reader *r, struct trace_item *out);
/* From now on what threads have logged comes as TRACE_RUN first. What is not taken of that comes as
 * events; after each, the rest is offered again. */
void trace_reader__offer_runs(struct trace_reader *r);
/* The first words of the run that was the last item were read. */
void trace_reader__took(struct trace_reader *r, size_t words);
/* Reads only as much as is needed for it. Returns NULL if it can't be read, which the next item
 * reports. */
const struct trace_meta *trace_reader__peek(struct trace_reader *r);
/* The plan has the conditions of the file; from TRACE_BEGIN on these, too. -EINVAL with a message:
 * not with this file. */
int trace_reader__judge(struct trace_reader *r, const value_condition_vec *more);
/* Passes an item to its callback; 0 without one. */
int trace_reader__pass(const struct trace_reader *r, const struct trace_item *item,
		       const struct trace_calls *calls, void *ctx);
/*
 * Passes each item to its callback. Returns 0 if it read to the end. -ENOEXEC, -ENOTSUP: not a
 * trace file, or of a newer version. -EBADMSG: damaged; -ENODATA: truncated. All before that point
 * was passed on, and all after it that can be read, with TRACE_DAMAGE in its place; the message
 * says where it is. Otherwise, what a callback or read returned.
 */
int trace_reader__run(struct trace_reader *r, const struct trace_calls *calls, void *ctx);
/* Returns how the trace ended; NULL if that was not read (yet). */
const struct trace_end *trace_reader__end(const struct trace_reader *r);

/* ---- armor: a file as lines of text that survive a serial console (armor.c, dearmor.c) ---- */

struct armor;
/* redundant: with parity lines, which restore lines that are lost: one in each ARMOR_GROUP of
 * armor.h, and so as many in a row as there are groups. */
struct armor *armor__new(bool redundant);
void armor__free(struct armor *a);
/* Appends complete lines; armor__end_line() ends one that is not full. */
void armor__put(struct armor *a, const void *data, size_t len, struct str *out);
void armor__end_line(struct armor *a, struct str *out);
/* Appends the parity of the lines since the last time, if it is redundant. */
void armor__end_groups(struct armor *a, struct str *out);

/*
 * The reverse: finds the lines in a log that may have other text around and within them.
 * dearmor__read() is a trace_read_fn; report is called for lines that are damaged or missing, or
 * were repaired.
 */
struct dearmor;
struct dearmor *dearmor__new(trace_read_fn read, void *ctx,
			     void (*report)(void *ctx, const char *text), void *report_ctx);
void dearmor__free(struct dearmor *d);
ssize_t dearmor__read(void *dearmor, void *data, size_t len);
/* Reads to the end, so that all damage is reported. Returns how many lines are damaged or
 * missing. */
uint64_t dearmor__finish(struct dearmor *d);

#endif
