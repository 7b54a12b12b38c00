/* SPDX-License-Identifier: BSD-2-Clause */
/* args: the values of all options. Options are rows in options.c. */
#ifndef BBTRACE_CLI_ARGS_H
#define BBTRACE_CLI_ARGS_H

#include "cli/verb.h"
#include "output/output.h"
#include "source/source.h"

/* --armor: a trace file as lines of text, with parity or not. */
enum armor_kind { ARMOR_NONE, ARMOR_LINES, ARMOR_REDUNDANT };

/* How returns are seen. */
enum returns { RETURNS_RET, RETURNS_PROBE, RETURNS_NONE };

/* What makes the events of programs. */
enum engine { ENGINE_PROBE, ENGINE_INLINE, ENGINE_AUTO };
/* One that is given by its name; -EINVAL: no such engine (option_setters.c). */
int engine__parse(const char *name, enum engine *out);

/* The values of all options. */
struct args {
	const struct verb *verb;
	char **given; /* all arguments after the verb, in their order, NULL-terminated; owned */
	VEC(char *) operands;
	size_t files; /* report, merge, diff: so many of them are trace files, the first ones */
	/* diff: which set each operand is of; the one of those that come next */
	enum run_set { SET_NONE, SET_PASS, SET_FAIL, SETS } set;
	VEC(enum run_set) sets;
	char **command; /* CMD and its arguments, NULL: none */

	struct probe_filters filters;
	VEC(const char *) exclude;
	VEC(const char *) with;	 /* --with: named events */
	VEC(const char *) watch; /* --watch */
	bool user_only;		 /* watchpoints: not what the kernel does */
	bool sched;		 /* -e sched */
	unsigned events;	 /* enum plan_events */
	const char *regs;
	bool typed;			/* --args */
	expression_vec expressions;	/* of it; empty: all arguments */
	value_condition_vec conditions; /* --if */
	bool stack;
	uint64_t stack_size; /* with stack: bytes to copy; 0: frame pointers are followed */
#define STACK_SIZE_AUTO UINT64_MAX
	bool why;     /* values that conditionals test */
	bool explain; /* which branches chose that calls failed, instead of events */
	struct explaining *explaining;	    /* with explain; borrowed */
	uint64_t callees;		    /* why: how deep kernel functions are added */
	bool again;			    /* why: run CMD again to trace more */
	VEC(const char *) syscalls;	    /* why */
	bool timeline;			    /* profile: each sample is an event */
	uint64_t freq;			    /* profile: samples a second on each CPU */
	const struct output_format *format; /* NULL: not given */
	bool format_by_name;		    /* it is that of output's suffix */
	const char *output;
	uint64_t timeout_ns;
	uint64_t limit;
	enum time_style time;
	const char *user;
	const char *btf;
	const char *attach;
	const char *color;
	enum plan_placement placement;
	enum returns returns;
	enum engine engine;
	bool engine_given;	    /* by --engine */
	bool engine_auto;	    /* it was chosen */
	const char *branch_weights; /* NULL: none */
	bool count;		    /* -c */
	uint64_t interval_ns;	    /* between two sets of counts; 0: none but the last one */
	uint64_t retire;	    /* --retire, --once: probes go after so many hits; 0: never */
	bool once;		    /* --once: but not before both sides were seen */
	bool reset;		    /* each counts from the one before */
	bool fail_under_given, fail_under_branch;
	unsigned fail_under; /* in parts of ALL_OF_IT: hundredths of a percent */
#define ALL_OF_IT 10000
	uint64_t last; /* branches per thread; 0: all */
	bool dump_on_failure;
	VEC(const char *) dump_on; /* FUNC[=VALUE] */
	uint64_t buffer;
	uint64_t depth;
	uint64_t max_overhead; /* percent; 0: no limit */
	uint64_t min_duration;
	const char *record; /* a trace file to write while the trace is shown; NULL: none */
	uint64_t max_size;
	enum armor_kind armor;
	bool events_given, time_given, placement_given, returns_given;
	uint64_t from, to; /* report: ns since the start; to 0: no end */
	uint64_t head, tail;
	bool info;
	bool no_fold;
	bool debuginfod; /* fetch debug files from servers */
	bool no_src;	 /* neither read nor show source lines */
	const char *tag; /* of what is recorded, or is to be shown; NULL: none */
	bool by_symbol;
	uint64_t differences; /* diff: to show */
	uint64_t context;     /* diff: steps around each */
#define CONTEXT_STEPS 5
	bool addresses;			 /* show kernel addresses */
	bool exported;			 /* only exported functions */
	bool sites, points, list_events; /* list */
	bool calibrate;			 /* doctor */
	const char *control_socket;	 /* where; "none"; NULL: the default one */
	bool paused;
	bool control_app;		     /* --control app */
	VEC(const char *) markers_in;	     /* --control app:OBJECT */
	VEC(const char *) start_on, stop_on; /* FUNCs */
	uint64_t delay_ns, for_ns;	     /* 0: none */
	bool wait;			     /* ctl */
	bool help;
};

/* Parses argv after the verb. -EINVAL with a message: wrong usage. */
int args__parse(struct args *a, const struct verb *verb, int argc, char **argv);
void args__free(struct args *a);

/* ---- formats (formats.c) ---- */

/* Stores the value of -F. */
int formats__set(struct args *a, const char *v);
/* After all options: chooses a format by the name of -o's file. -EINVAL with a message: -c can't
 * count in the format. */
int formats__settle(struct args *a);
/* --fail-under: -EINVAL with a message: the format shows no coverage. */
int formats__check_coverage(const struct args *a);
/* Prints those of the verb for --help. */
void formats__help(const struct verb *verb, FILE *out);
/* The trace file that is written; NULL: none. */
const char *args__record_name(const struct args *a);
/* Would -o write a trace file, if no format were chosen? */
bool args__records(const struct args *a);
/* The format that the options choose. */
const struct output_format *args__format(const struct args *a);
/* Are the counts of edges all that a trace has to find? Then probes count in the kernel. */
bool args__counts(const struct args *a);
/* profile: are samples of one stack one event? */
bool args__adds_samples_up(const struct args *a);

/* ---- what options mean together (args.c) ---- */

/* Kernel addresses are shown to root only, or with --addresses. */
bool args__hides_addresses(const struct args *a);
/* Does recording begin stopped? */
bool args__begin_stopped(const struct args *a);
/* Can programs switch recording on or off while the trace runs? */
bool args__switches(const struct args *a);

/* bbtrace's command line (command_line.c), "" if unknown; the caller frees. */
char *command_line__quoted(void);
/* Prints the options of this verb for --help. */
void args__help(const struct verb *verb, FILE *out);

#endif
