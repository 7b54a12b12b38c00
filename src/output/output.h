/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output: how to show it. Front door of src/output. Pure but for the write callback it is given.
 *
 * A format is a row of functions that render steps. All formats are rows in output.c; text and JSON
 * take their fields from one description (fields.c).
 */
#ifndef BBTRACE_OUTPUT_H
#define BBTRACE_OUTPUT_H

#include "trace/trace.h"

enum time_style { TIME_REL, TIME_ABS, TIME_DELTA, TIME_NONE };

/* Where rendered bytes go. 0, or -errno (then rendering stops and that number travels up). */
typedef int (*write_fn)(void *ctx, const void *data, size_t len);

struct output_options {
	enum time_style time;
	bool color;
	uint64_t start_time;	 /* ns, CLOCK_MONOTONIC: what TIME_REL counts from */
	int64_t realtime_offset; /* CLOCK_REALTIME - CLOCK_MONOTONIC at the start, ns: for TIME_ABS
				  */
	int32_t utc_offset;	 /* the local time zone, seconds east of UTC: for TIME_ABS */
	uint64_t regs;	/* mask of register numbers to show on entry; 0: the argument registers */
	bool show_regs; /* -r none: false */
	bool line_buffered;    /* write after every step */
	unsigned events;       /* enum plan_events that are recorded; 0: all */
	const bool *functions; /* by index: those that are shown; NULL: all */
	/* annotate, html: a line of a source file, without its end, valid until the next call;
	 * NULL: it can't be had. object is whose debug information names the file. NULL: no source
	 * text */
	const char *(*source)(void *ctx, const char *object, const char *file, unsigned line);
	void *source_ctx;
	unsigned width;	 /* summary: characters in a line of the terminal; 0: it is none */
	bool unobserved; /* annotate, dot: the code alone, of each function: nothing was traced */
	bool fold;	 /* text: what repeats is shown once, with its count */
	bool hide_addresses; /* the kernel's: no value that could be one is shown (address.c) */
};

struct output;
struct output_format {
	const char *name; /* -F */
	const char *help;
	size_t size; /* of its own state, zeroed */
	bool binary; /* what it writes is no text */
	bool timed;  /* it shows each branch's own time; text: if it shows any */
	bool code;   /* it can show code that wasn't traced: output_options.unobserved */
	bool lines;  /* it shows source lines: plan__lines() is to be called before */
	int (*begin)(struct output *o);
	int (*step)(struct output *o, const struct step *step);
	/* What is held back to be seen together with what follows is rendered now; NULL: nothing is
	 */
	int (*settle)(struct output *o);
	int (*end)(struct output *o, const struct trace_totals *totals);
	void (*free)(struct output *o); /* what the state holds; NULL: nothing */
};
extern const struct output_format *const output_formats[];     /* NULL-terminated */
const struct output_format *output__by_name(const char *name); /* NULL: none */

/* The format that counts edges in place of listing events (-c); NULL: there is none for this one.
 */
const struct output_format *output__counting(const struct output_format *format);

struct reg_list {
	uint8_t regs[EVENT_REGS];
	unsigned n;
};

struct output {
	const struct output_format *format;
	struct output_options options;
	const struct plan *plan;
	struct str buffer;
	write_fn write;
	void *write_ctx;
	void *state; /* format->size bytes */
	/* the registers that an entry shows, in this order: of most functions, of Go's */
	struct reg_list regs, go_regs, kernel_regs;
	bool several_objects; /* functions of more than one were asked for: entries name theirs */
	uint64_t *bases;      /* hide_addresses: by object, what its positions count from; owned */
	/* Stands behind each count: "+" where events are missing, so that it may be too low; else
	 * "". From the end on. */
	const char *more;
	int error; /* of the first write that failed: nothing is rendered after it */
};

/* Is so much missing that counts may be too low? */
static inline bool totals__are_low(const struct trace_totals *t)
{
	return t->lost || t->at_least || t->missed;
}

/* Strings of plan and of steps' locations must outlive the output. Never NULL. */
struct output *output__new(const struct output_format *format, const struct output_options *options,
			   const struct plan *plan, write_fn write, void *write_ctx);
int output__step(struct output *o,
		 const struct step *step); /* matches step_fn with o as ctx, after a cast */
/* Writes what is rendered. */
int output__flush(struct output *o);
/* Renders what a format holds back to see whether it repeats, and writes: for who watches a run. */
int output__settle(struct output *o);
/* Ends the rendering (JSON: the summary line), flushes. The output is still to be freed. */
int output__end(struct output *o, const struct trace_totals *totals);
void output__free(struct output *o);

/* Puts a word in place of each number that could be an address of the kernel; columns: of the same
 * width. */
void address__hide(struct str *text, bool columns);
/* What stands for an address of this object where a number has to: itself, unless it is hidden. */
uint64_t address__shown(const struct output *o, uint32_t object, uint64_t vaddr);
/* Called by output__new(). */
void address__prepare(struct output *o);

/* "bbtrace: 2 functions, 131 probes (3 skipped), 15204 events, 0 lost, 0 unmatched returns" into s.
 */
void totals__text(const struct trace_totals *t, struct str *s);

#endif
