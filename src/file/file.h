/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file: the trace file: what goes into a replay, and all that it needs. Front door of src/file.
 * Pure: no system call, no BPF, no /proc, no exit. The format is in format.h and HACKING.md.
 */
#ifndef BBTRACE_FILE_H
#define BBTRACE_FILE_H

#include "trace/trace.h"

/* What steps and their rendering depend on beside the plan, and where the trace comes from. */
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
	uint32_t part;	/* parts of this trace that were written before, and are in other files or
			   gone */
	const char *version; /* bbtrace's */
	const char *command; /* bbtrace's command line */
	const char *system;  /* kernel name, release, version and machine */
};

/* How it ended. */
enum trace_end_reason { TRACE_ENDED, TRACE_CONTINUED /* in the next part */ };
struct trace_end {
	uint32_t reason;
	uint64_t sideband_lost; /* side events */
	struct trace_totals totals;
};

/* Where the bytes of a file go: 0 or -errno, which travels up. */
typedef int (*trace_write_fn)(void *ctx, const void *data, size_t len);
struct trace_writer;
/* Plan and objects must outlive it. */
struct trace_writer *trace_writer__new(const struct plan *plan, trace_write_fn write, void *ctx);
void trace_writer__free(struct trace_writer *w);
/* Header and plan. 0 or what write returned, as all that follow. */
int trace_writer__begin(struct trace_writer *w, const struct trace_meta *meta);
/* What is given to trace__feed(), to the functions for side events, to trace__lost(). */
int trace_writer__event(struct trace_writer *w, const struct event *e);
int trace_writer__sideband(struct trace_writer *w, const struct sideband_event *e);
int trace_writer__lost(struct trace_writer *w, uint32_t pid, uint32_t tid, uint64_t count);
/* That the file which mappings show so is this object. */
void trace_writer__mapped(struct trace_writer *w, uint64_t dev, uint64_t ino, const char *path,
			  const struct object *o);
/* The symbol that covers vaddr, if there is one that wasn't written yet. */
void trace_writer__symbol(struct trace_writer *w, const struct object *o, uint64_t vaddr);
/* All that was given is in the file. */
int trace_writer__flush(struct trace_writer *w);
int trace_writer__end(struct trace_writer *w, const struct trace_end *end);
/* Bytes that were given to write; of events that wait for the next flush, before they are deflated.
 */
uint64_t trace_writer__size(const struct trace_writer *w);
uint64_t trace_writer__pending(const struct trace_writer *w);

/* Bytes of a file, in order: how many came (0: it ends here), or -errno. */
typedef ssize_t (*trace_read_fn)(void *ctx, void *data, size_t len);
/* What a file tells, in the order in which it was written; all but NULL ones are called. Non-zero
 * stops. */
struct trace_calls {
	int (*begin)(void *ctx, const struct plan *plan, const struct trace_meta *meta);
	int (*object)(void *ctx, const struct object *o); /* its symbols may become more */
	int (*mapped)(void *ctx, uint64_t dev, uint64_t ino, const char *path,
		      const struct object *o);
	int (*event)(void *ctx, const struct event *e);
	int (*sideband)(void *ctx, const struct sideband_event *e);
	int (*lost)(void *ctx, uint32_t pid, uint32_t tid, uint64_t count);
};
struct trace_reader;
/* Do these bytes begin a trace file? */
bool trace_reader__is_magic(const void *data, size_t len);
struct trace_reader *trace_reader__new(trace_read_fn read, void *ctx);
/* With the plan, the objects and all that they hold. */
void trace_reader__free(struct trace_reader *r);
/*
 * 0: read to the end. -ENOEXEC, -ENOTSUP: not a trace file, or of a newer version. -EBADMSG: it is
 * damaged, -ENODATA: it stops before its end; all before that was given out, the message says
 * where. Else what a call or read returned.
 */
int trace_reader__run(struct trace_reader *r, const struct trace_calls *calls, void *ctx);
/* How the trace ended; NULL: the file doesn't tell (yet). */
const struct trace_end *trace_reader__end(const struct trace_reader *r);

/* ---- armor: a file as lines of text that survive a serial console (armor.c, dearmor.c) ---- */

struct armor;
struct armor *armor__new(void);
void armor__free(struct armor *a);
/* Appends whole lines; ends one that is not full. */
void armor__put(struct armor *a, const void *data, size_t len, struct str *out);
void armor__end_line(struct armor *a, struct str *out);

/*
 * Back: finds the lines in whatever stands around and within them. What they hold up to the first
 * gap comes out of dearmor__read(), a trace_read_fn; each line that is damaged or missing is told
 * to note.
 */
struct dearmor;
struct dearmor *dearmor__new(trace_read_fn read, void *ctx,
			     void (*tell)(void *ctx, const char *text), void *tell_ctx);
void dearmor__free(struct dearmor *d);
ssize_t dearmor__read(void *dearmor, void *data, size_t len);
/* Reads on to the end, so that all damage is told. How many lines are damaged or missing. */
uint64_t dearmor__finish(struct dearmor *d);

#endif
