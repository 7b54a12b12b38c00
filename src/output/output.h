/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output: renders steps. Public header of src/output. Pure but for the write callback.
 *
 * A format is a row of functions that render steps: one file in the folder of its family, named
 * once in formats.c. base/ and stats/ are what families share; text and JSON take their fields from
 * one description (base/fields.c).
 */
#ifndef BBTRACE_OUTPUT_OUTPUT_H
#define BBTRACE_OUTPUT_OUTPUT_H

#include "trace/trace.h"
#include "util/json.h"

enum time_style { TIME_REL, TIME_ABS, TIME_DELTA, TIME_NONE };

/* Writes rendered bytes. 0, or -errno, which stops the rendering and is returned. */
typedef int (*write_fn)(void *ctx, const void *data, size_t len);

/* What a trace belongs to, for readers who have only the output. NULL and 0 if not known. */
struct output_about {
	const char *command; /* bbtrace's command line */
	const char *system;  /* the machine's kernel: name, release, version and machine */
	const char *host;    /* the machine's name */
	const char *version; /* bbtrace's */
	unsigned cpus;
	const char *tag; /* --tag */
	unsigned parts;	 /* earlier ones of the trace, which are not in the output */
	unsigned others; /* traces besides the first one, which all this is of */
};

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
	/*
	 * annotate, html: returns a line of a source file without newline, valid until the next
	 * call; NULL if unavailable. object is the one whose debug information names the file. May
	 * be NULL: there is no source text.
	 */
	const char *(*source)(void *ctx, const char *object, const char *file, unsigned line);
	/* coverage: true if there is a file or folder of this name. May be NULL: nothing is known.
	 */
	bool (*exists)(void *ctx, const char *path);
	void *source_ctx;
	const char *folder; /* coverage: the current folder, a real path; NULL: not known */
	const char *const *prefixes; /* coverage: OLD=NEW, for the paths of sources */
	size_t nprefixes;
	unsigned width;	  /* columns of the terminal; 0: not a terminal, nothing is cut */
	unsigned height;  /* its lines */
	bool clears;	  /* top: a screen replaces the one before */
	unsigned rows;	  /* top: functions; 0: as many as fit */
	bool unobserved;  /* annotate, dot: the code of each function without counts: nothing was
			     traced */
	bool fold;	  /* text: repeated lines are shown once with a count */
	bool zeros;	  /* text of counts: branches that weren't executed, too */
	bool no_src;	  /* text, json: no source lines */
	const char *grep; /* text, json: only steps whose text matches; NULL: all (text/grep.h) */
	unsigned order;	  /* summary: enum summary_order */
	bool bare; /* text: lines without time, thread and indentation, for others to arrange */
	/* hide values that could be kernel addresses (address.c): if the kernel is traced */
	bool hide_addresses;
	struct output_about about;     /* html; json: the host */
	struct explaining *explaining; /* src/explain; NULL: nothing is to be explained */
	/* Reads the source lines, scopes and variables of an object into the plan, once. NULL if
	 * they are there already. */
	void (*read_source)(void *ctx, uint32_t object);
	void *read_ctx;
};

/* What output_options.grep has chosen so far. */
struct grep_totals {
	uint64_t matches;   /* the number of events that match */
	uint64_t shown;	    /* of those, and of the entries and returns of their calls */
	uint64_t functions; /* the number of functions with an event that is shown */
};
/* -EINVAL with a message if it is no pattern for output_options.grep. */
int pattern__check(const char *pattern);

/* What the table of summary is sorted by: the largest first, names by the alphabet. */
#define SUMMARY_ORDERS "time calls branches total net self min avg p50 p99 max name"
enum summary_order {
	ORDER_TIME, /* without tracing, or else with it; of counts: branches */
	ORDER_CALLS,
	ORDER_BRANCHES,
	ORDER_TOTAL, /* from here on by times, which counts don't have */
	ORDER_NET,
	ORDER_SELF,
	ORDER_MIN,
	ORDER_AVG,
	ORDER_P50,
	ORDER_P99,
	ORDER_MAX,
	ORDER_NAME,
};

/* What an output shows. Nothing else is probed for it. */
struct output_wants {
	unsigned events;   /* enum plan_events: the kinds of steps */
	bool branch_times; /* when each branch was taken, which no other event reports */
	bool path_times;   /* when iterations of loops end */
	bool durations;	   /* how long calls took */
	bool regs;	   /* registers on entry */
	bool tests;	   /* what conditionals test, if that is recorded */
	bool variables;	   /* what these are in the source: set if tests is */
	bool lines;	   /* source lines: requires plan__lines() */
	bool scopes;	   /* what was inlined: requires plan__scopes() */
	bool source_text;  /* the files themselves, as they are when it is rendered */
	bool late_source;  /* lines, scopes and variables only of objects that it shows:
			      output_options.read_source */
};
#define OUTPUT_CALLS (PLAN_ENTRY | PLAN_RETURN)
#define OUTPUT_EDGES (PLAN_ENTRY | PLAN_BRANCH)
#define OUTPUT_STEPS (PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN)

/* How much of what was asked for ran. */
struct coverage_ratio {
	uint64_t all, ran; /* without those of which it is not known whether they ran */
	uint64_t unknown;
};
/*
 * sides: of conditionals, and of jumps through a table. If the format wants lines and some are
 * known, all of it is of code that has lines, and blocks is empty; else lines is.
 */
struct output_coverage {
	struct coverage_ratio functions, lines, blocks, sides;
	uint64_t without_lines; /* functions that are left out */
	uint64_t files;		/* source files that have some of it */
};
/* "covered 812 of 1,204 lines (67.4%), 80 of 95 functions, 300 of 700 branches in 12 files" */
void output_coverage__sentence(const struct output_coverage *c, struct str *s);
/* "functions 75.0% (3 of 4), blocks …" */
void output_coverage__text(const struct output_coverage *c, struct str *s);

/* What an output looks like: answers that are no trace have some of these forms, too. */
enum output_form {
	FORM_OTHER, /* what only traces have */
	FORM_TEXT,
	FORM_JSON,
	FORM_PAGE,  /* html */
	FORM_CODE,  /* instructions with their source */
	FORM_GRAPH, /* one picture of the control flow, which must not be too large */
};

struct output;
struct output_format {
	const char *name; /* -F */
	const char *help;
	enum output_form form;
	/* Suffixes of files that are written in this format unless another one is chosen, separated
	 * by spaces; NULL if there are none. */
	const char *suffixes;
	size_t size; /* of its own state, zeroed */
	struct output_wants wants;
	bool binary;  /* the output is not text */
	bool cuts;    /* on a terminal its lines are cut at the right */
	bool wraps;   /* on a terminal they are wrapped between words */
	bool entries; /* its counts may be of entries alone (-e entry) */
	bool marks;   /* it shows marks */
	/* Without returns it shows no times except those of output_options.time. */
	bool time_column;
	bool at_end; /* all of it is rendered at the end, by what was added up */
	/* Whether coverage follows from it (its state begins with struct stats), and whether it is
	 * a report of only that. */
	enum { COVERS_NOTHING, COVERS, COVERS_ONLY } covers;
	int (*begin)(struct output *o);
	/* The plan was extended; NULL if the state doesn't depend on its size. */
	void (*plan_extended)(struct output *o);
	int (*step)(struct output *o, const struct step *step);
	/*
	 * A branch was taken, or not, n times (to: as in struct run_counts); and consecutive
	 * branches of a call. Together they replace the steps of branches, if neither their order
	 * nor their times matter. NULL if it needs steps.
	 */
	void (*branch)(struct output *o, uint32_t site, bool taken, const struct location *to,
		       uint64_t n);
	void (*run)(struct output *o, const struct passed_run *run);
	/* The counts up to now, which replace those of earlier calls: then there are no steps. NULL
	 * if it needs steps. */
	void (*count)(struct output *o, const struct edge_counts *c);
	/* Counts of one of several tests; NULL if it shows their sums. */
	void (*tagged)(struct output *o, const char *tag, const struct edge_counts *c);
	/* The format that shows counts of edges in place of steps (-c); NULL if there is none. */
	const struct output_format *counting;
	/* A process executes this program from now on; NULL if it doesn't matter. */
	void (*program)(struct output *o, uint32_t pid, const char *path);
	/* Renders the counts up to now; NULL if it renders only at the end. */
	int (*interval)(struct output *o, uint64_t time, const struct trace_totals *totals);
	/* Renders what is held back for folding; NULL if nothing is held. */
	int (*settle)(struct output *o);
	int (*end)(struct output *o, const struct trace_totals *totals);
	void (*free)(struct output *o); /* frees what the state holds; NULL: nothing */
};
extern const struct output_format *const output_formats[];     /* NULL-terminated */
const struct output_format *output__by_name(const char *name); /* NULL: none */
/* Returns the form of a chosen format; NULL: none was chosen, which means text. */
static inline enum output_form output__form(const struct output_format *format)
{
	return format ? format->form : FORM_TEXT;
}
/* Returns true if it shows code, and with output_options.unobserved also that of functions which
 * weren't observed. */
static inline bool output__shows_code(const struct output_format *format)
{
	return format->form == FORM_CODE || format->form == FORM_GRAPH;
}
/* Returns true if each step is a line of its own, so that one trace may follow another one. */
static inline bool output__has_lines(const struct output_format *format)
{
	return format->form == FORM_TEXT || format->form == FORM_JSON;
}
/* Returns the format for the suffix of the file's name; NULL if there is none. */
const struct output_format *output__by_file_name(const char *path);

/* The screens of bbtrace top, which no -F has. */
extern const struct output_format output_top;

/* Turns steps into counts, for traces that are added up; it writes nothing and has no row. After
 * output__end(); valid as long as the output. */
extern const struct output_format output_counted;
struct edge_counts output__counted(const struct output *o);

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
	/* the registers that an entry shows, in order: of most functions; of Go functions */
	struct reg_list regs, go_regs, kernel_regs;
	bool several_objects; /* functions of several objects are traced: entries show their object
			       */
	bool hides_addresses; /* options.hide_addresses, and the kernel is traced */
	uint64_t *bases;      /* hides_addresses: by object, the base of shown positions; owned */
	size_t nbases;
	/* Appended to each count at the end: "+" if events are missing, so that counts may be too
	 * low; else "". */
	const char *more;
	struct grep *grep; /* text/grep.h; NULL: all steps are shown */
	struct grep_totals grepped;
	struct src_cache *src;	  /* src.h */
	const missed_vec *missed; /* those that output__missed() passed; NULL if there are none */
	const untraced_vec *untraced; /* likewise, output__untraced() */
	int error;		      /* of the first failed write: nothing is rendered after it */
};

/* Returns true if counts may be too low. */
static inline bool totals__are_low(const struct trace_totals *t)
{
	return t->lost || t->at_least || t->missed || t->untraced;
}

/* Strings of plan and of steps' locations must outlive the output. Never NULL. */
struct output *output__new(const struct output_format *format, const struct output_options *options,
			   const struct plan *plan, write_fn write, void *write_ctx);
/* The plan was extended. */
void output__plan_extended(struct output *o);
int output__step(struct output *o,
		 const struct step *step); /* matches step_fn with o as ctx, after a cast */
/* Returns true if it takes branches that were added up, and runs, instead of their steps. */
bool output__adds_up(const struct output *o);
void output__branch(struct output *o, uint32_t site, bool taken, const struct location *to,
		    uint64_t n);
void output__run(struct output *o, const struct passed_run *run);
void output__count(struct output *o, const struct edge_counts *c);
/* Which probes missed hits. missed must outlive the output. */
void output__missed(struct output *o, const missed_vec *missed);
/* What could not be traced, which must outlive the output: of its functions a count of 0 is
 * unknown.
 */
void output__untraced(struct output *o, const untraced_vec *untraced);
void output__program(struct output *o, uint32_t pid, const char *path);
/* Renders the counts up to now, at this time (CLOCK_MONOTONIC). */
int output__interval(struct output *o, uint64_t time, const struct trace_totals *totals);
/* Writes the rendered text. */
int output__flush(struct output *o);
/* Renders and writes what is held back for folding, for a live viewer. */
int output__settle(struct output *o);
/* Ends the rendering (JSON: the summary line) and flushes; doesn't free the output. */
int output__end(struct output *o, const struct trace_totals *totals);
/* After output__end(). False: the format has none. */
bool output__coverage(const struct output *o, struct output_coverage *out);
/* What is known of a function after output__end() of a format that counts by function. */
struct output_function {
	uint64_t calls;		   /* COUNT_UNKNOWN if not known */
	uint64_t branches;	   /* executed in its code */
	uint64_t timed, open;	   /* calls that were seen to return; that have not returned */
	uint64_t total, self, max; /* ns, of the timed ones; self: without traced callees */
};
/* Returns false if the function did not run, or the format doesn't count by function. */
bool output__function(const struct output *o, uint32_t function, struct output_function *out);
/* Appends what is missing in its counts: "12 events lost, …". Returns false if nothing is. */
bool output__missing(const struct output *o, const struct trace_totals *t, struct str *s);
/* Begins again, as if there had been no steps and no counts. False: the format writes some of them
 * at once. */
bool output__restart(struct output *o);
void output__free(struct output *o);
/* Returns true if it shows how long calls took, or when they were. */
bool output__shows_times(const struct output *o);

/* What a conditional tested, which step->tested has: the value of a member of a JSON object, and as
 * text: "cmp A, B: 0x10 vs 0x40". */
void why__put_json(const struct output *o, struct json *j, const struct step *step);
void why__put_text(const struct output *o, struct str *s, const struct step *step);
/* Appends the member src of a JSON object: the frames of the source at vaddr, innermost first.
 * Returns false if nothing is known. */
bool src__put_json(struct json *j, const struct plan *p, uint32_t object, uint64_t vaddr);
/* Appends the same as text: "util.h:31 clamp, main.c:44". */
bool src__put_line(struct str *s, const struct plan *p, uint32_t object, uint64_t vaddr);

/* Replaces each number that could be a kernel address by a word; columns: of the same width. */
void address__hide(struct str *text, bool columns);
/* The number to show for an address of this object: itself, unless addresses are hidden. */
uint64_t address__shown(const struct output *o, uint32_t object, uint64_t vaddr);
/* Called by output__new() and when the plan was extended. */
void address__prepare(struct output *o);

/* A return register whose type isn't known: hex, but -2 as a signed number, since from -4095 on
 * that is what the kernel and C libraries return for an error, and no address. */
void put_untyped(struct str *s, const struct arch *arch, uint64_t value);
/* 850ns, 1.2us, 15.9ms, 2.0s, 3m20s, 2h05m: truncated */
void put_duration(struct str *s, uint64_t ns);
/* "bbtrace: 2 functions, 131 probes (3 skipped), 15204 events, 0 lost, 0 unmatched returns" into s.
 */
void totals__text(const struct trace_totals *t, struct str *s);
/* Notes what --grep has shown of these events; nothing if all are shown. */
void output__note_grep(const struct output *o, const struct trace_totals *t);
/* The line that ends JSON output. */
void json__put_summary(struct str *s, const struct trace_totals *t, const struct output *o);
/* Appends the members object, symbol, offset and vaddr; or an object of these. */
void json__put_place(struct json *j, const struct location *at);
void json__put_place_value(struct json *j, const struct location *at);
/* Returns the next one of location.inlined, innermost first, malloc()ed; NULL if there are no
 * more. */
char *inlined__next(const char **names);
/* Appends what missed them: "vfs_read+0x1f", or the mechanism or tracepoint. */
void missed__name(const struct missed *m, const struct plan *plan, struct str *out);
/* Puts the member "missed" of an object: an array; nothing if there is none. */
void missed__json(const missed_vec *missed, const struct plan *plan, struct json *j);
/* Puts the member "untraced", likewise: an array of pid, object, symbol (absent: all) and
 * reason. */
void untraced__json(const untraced_vec *untraced, const struct plan *plan, struct json *j);
/* Puts what "times include ": "about 465210 hits x 9.0us = 4.2s of tracing" into s. Returns false
 * if no hit is known. */
bool totals__tracing(const struct trace_totals *t, struct str *s);

/* A page as it is embedded: text with {{holes}}. */
struct page_hole {
	const char *name; /* of len bytes */
	size_t len;
};
/* Appends a page up to its next hole, and returns what follows that; NULL if there was none. */
const char *page__copy(struct str *s, const char *page, struct page_hole *hole);
bool page_hole__is(const struct page_hole *hole, const char *name);
extern const char page_css[]; /* what all pages look like */
/* The page of diff; its holes are rows in src/diff/html.c. */
extern const char diff_html[], diff_css[], diff_js[];

/* ---- arguments by their types (values.c) ---- */

/* Of an output, these use only the plan and hides_addresses. Returns true if an entry has
 * arguments, or a return something besides its result, whose types are known. */
bool values__has_args(const struct output *o, const struct step *step);
/* Passes each of them, as it is shown, and all as a JSON object. */
void values__each_arg(const struct output *o, const struct step *step,
		      void (*fn)(void *ctx, const char *name, const char *text), void *ctx);
void values__put_json(const struct output *o, struct json *j, const struct step *step);

#endif
