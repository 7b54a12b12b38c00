/* SPDX-License-Identifier: BSD-2-Clause */
/* request: what a command line asks for. Its options are rows in options_*.c and in verbs. */
#ifndef BBTRACE_CLI_REQUEST_H
#define BBTRACE_CLI_REQUEST_H

#include "cli/verb.h"
#include "output/output.h"
#include "source/source.h"

typedef VEC(const char *) text_vec;

/* --armor: a trace file as lines of text, with parity or not. */
enum armor_kind { ARMOR_NONE, ARMOR_LINES, ARMOR_REDUNDANT };

/* How returns are recorded. */
enum returns { RETURNS_RET, RETURNS_PROBE, RETURNS_NONE };

/* The means that report the events of programs. */
enum engine { ENGINE_PROBE, ENGINE_INLINE, ENGINE_AUTO };
/* Parses an engine's name; -EINVAL if there is no such engine (option_values.c). */
int engine__parse(const char *name, enum engine *out);

/*
 * What a command line asks for, by question. A request is constant once it is parsed and its verb
 * has checked it. Who needs a changed one, as a trace by probes where copies can't be made, changes
 * a copy.
 */

/* What is traced. */
struct what_request {
	text_vec exclude;
	text_vec with;	 /* --with: named events */
	text_vec watch;	 /* --watch */
	bool user_only;	 /* watchpoints: leave out the kernel's accesses */
	bool exported;	 /* only exported functions */
	bool debuginfod; /* fetch debug files from servers */
	/* of cover */
	bool covers;	  /* all functions of objects, which operands and patterns name */
	text_vec objects; /* --objects */
	/* of why */
	text_vec syscalls;  /* owned */
	uint64_t callees;   /* levels of called kernel functions to add */
	bool again;	    /* run CMD again to trace more */
	const char *pass;   /* a command that passes, to compare with; NULL: none */
	bool own_libraries; /* all functions of the program's own libraries, too */
};

/* In which processes and threads. */
struct who_request {
	struct probe_filters filters;
	const char *user; /* the user who runs CMD */
};

/* What is recorded. */
struct record_request {
	unsigned events; /* enum plan_events */
	bool events_given;
	bool sched; /* -e sched */
	const char *regs;
	bool typed;			/* --args */
	expression_vec expressions;	/* of --args; empty: all arguments */
	value_condition_vec conditions; /* --if */
	bool stack;
	uint64_t stack_size; /* with stack: bytes to copy; 0: frame pointers are followed */
#define STACK_SIZE_AUTO UINT64_MAX
	bool why;	      /* values that conditionals test */
	bool explain;	      /* which branches chose that calls failed, instead of events */
	bool timeline;	      /* profile: each sample is an event */
	uint64_t freq;	      /* profile: samples a second on each CPU */
	bool count;	      /* -c */
	uint64_t interval_ns; /* between two sets of counts; 0: only one at the end */
	uint64_t retire; /* --retire, --once: probes are removed after this many hits; 0: never */
	bool once;	 /* --once: of conditionals not before both sides were seen */
	bool reset;	 /* each set of counts starts at 0 */
	uint64_t last;	 /* branches to keep per thread; 0: all */
	bool dump_on_failure;
	text_vec dump_on; /* FUNC[=VALUE] */
};

/* By which means. */
struct how_request {
	enum engine engine;
	bool engine_given; /* by --engine */
	bool engine_auto;  /* auto has chosen it */
	enum plan_placement placement;
	enum returns returns;
	bool placement_given, returns_given;
	const char *branch_weights; /* NULL: none */
	const char *attach;
	const char *btf; /* a file of the kernel's types */
	bool no_cache;	 /* plans and copies are made, not read, and not kept */
	uint64_t buffer;
	uint64_t max_overhead; /* percent; 0: no limit */
};

/* From when until when. */
struct when_request {
	uint64_t timeout_ns;
	uint64_t limit;
	bool paused;
	bool control_app;	    /* --control app */
	text_vec markers_in;	    /* --control app:OBJECT */
	text_vec start_on, stop_on; /* FUNCs */
	uint64_t delay_ns, for_ns;  /* 0: none */
	const char *control_socket; /* where; "none"; NULL: the default one */
};

/* What is shown, and how. */
struct show_request {
	const struct output_format *format; /* NULL: not given */
	bool format_by_name;		    /* chosen by the suffix of output */
	const char *output;
	enum time_style time;
	bool time_given;
	const char *color;
	uint64_t depth;
	uint64_t min_duration;
	uint64_t from, to; /* report: ns since the start; to 0: no end */
	uint64_t head, tail;
	bool no_fold;
	bool all;	   /* counts: branches that didn't run, too */
	bool no_src;	   /* neither read nor show source lines */
	bool full_names;   /* lines are not cut to the terminal's width */
	bool addresses;	   /* show kernel addresses */
	text_vec prefixes; /* --prefix-map */
	bool info;
	bool tui;
	const char *grep; /* a pattern; NULL: all steps */
	unsigned order;	  /* enum summary_order; order_given: by --sort */
	bool order_given;
	bool functions;	   /* --functions, which sets info, too; */
	bool arguments;	   /* and so does --arguments */
	bool screens;	   /* top: a new screen every every_ns */
	uint64_t every_ns; /* top */
	uint64_t rows;	   /* top: functions; 0: what fits */
	bool fail_under_given, fail_under_branch;
	unsigned fail_under; /* in parts of ALL_OF_IT: hundredths of a percent */
#define ALL_OF_IT 10000
};

/* Trace files that are written or read. */
struct file_request {
	const char *record; /* a trace file to write while the trace is shown; NULL: none */
	uint64_t max_size;
	enum armor_kind armor;
	const char *tag; /* of what is recorded, or is to be shown; NULL: none */
	bool by_symbol;
};

struct diff_request {
	/* the set of the next operand, and of each one so far */
	enum run_set { SET_NONE, SET_PASS, SET_FAIL, SETS } set;
	VEC(enum run_set) sets;
	uint64_t differences; /* to show */
	uint64_t context;     /* steps around each */
	text_vec noise;	      /* files of runs that are as A is; among the files, after A and B */
#define CONTEXT_STEPS 5
};

struct core_request {
	const char *sysroot, *program; /* as in struct core_from; NULL: not given */
};

struct list_request {
	bool sites, points, events, arguments;
};

struct request {
	const struct verb *verb;
	char **given; /* all arguments after the verb, in their order, NULL-terminated; owned */
	VEC(char *) operands;
	/* report, merge, diff: the first of the operands, this many, are trace files */
	size_t files;
	char **command; /* CMD and its arguments, NULL: none */
	bool help, help_all;
	struct what_request what;
	struct who_request who;
	struct record_request record;
	struct how_request how;
	struct when_request when;
	struct show_request show;
	struct file_request file;
	struct diff_request diff;
	struct list_request list;
	struct core_request core;
	bool calibrate; /* doctor */
	bool wait;	/* ctl */
};

/* Parses argv after the verb. Returns 0, or -EINVAL with a message for wrong usage. */
int request__parse(struct request *req, const struct verb *verb, int argc, char **argv);
void request__free(struct request *req);
/* ---- formats (formats.c) ---- */

/* Stores the value of -F. */
int formats__set(struct request *req, const char *v);
/* Called after all options: chooses a format by the suffix of -o's file. -EINVAL with a message
 * if -c can't count in the format. */
int formats__settle(struct request *req);
/* --fail-under: -EINVAL with a message if the format shows no coverage. */
int formats__check_coverage(const struct request *req);
/* Prints the names of the verb's formats, separated by blanks. */
void formats__list(const struct verb *verb, FILE *out);
/* Prints the verb's formats for --help; all: each with its help, also if they are many. */
void formats__help(const struct verb *verb, bool all, FILE *out);
/* Returns the trace file to write; NULL if none. */
const char *request__record_name(const struct request *req);
/* True if -o would write a trace file were no format chosen. */
bool request__records(const struct request *req);
/* Returns the format that the options choose. */
const struct output_format *request__format(const struct request *req);
/* True if the trace needs only counts of edges. Then probes count in the kernel. */
bool request__counts(const struct request *req);
/* profile: true if samples with the same stack are one event. */
bool request__adds_samples_up(const struct request *req);

/* ---- what options mean together (request.c) ---- */

/* True if kernel addresses are hidden: they are shown only to root, or with --addresses. */
bool request__hides_addresses(const struct request *req);
/* True if recording is stopped at the begin of the trace. */
bool request__begin_stopped(const struct request *req);
/* True if programs can switch recording while the trace runs. */
bool request__switches(const struct request *req);

/* Returns bbtrace's command line (command_line.c), "" if unknown; the caller frees it. */
char *command_line__quoted(void);
/*
 * Prints the verb's options for completion, one a line: letter, name, argument (with = before it if
 * optional), values as in struct option_row, help, the question of its group, separated by tabs. A
 * letter, an argument or values that are missing are -.
 */
void request__list_options(const struct verb *verb, FILE *out);
/* Returns the columns of a terminal; 0: it is none, so that nothing is wrapped. */
unsigned help__columns(FILE *out);
/* Prints a row, and a paragraph, of a help text: wrapped on a terminal. */
void help__row(const char *name, const char *text, FILE *out);
void help__text(const char *text, unsigned indent, FILE *out);
/* Prints the options of this verb for --help. */
void request__help(const struct verb *verb, bool all, FILE *out);

#endif
