/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd: the verbs. Public header of src/cmd. A verb calls the other folders in the order of the data
 * flow and prints the result. Verbs are rows in verbs.c, options are rows in options.c.
 */
#ifndef BBTRACE_CMD_H
#define BBTRACE_CMD_H

#include "file/file.h"
#include "explain/explain.h"
#include "output/output.h"
#include "source/source.h"
#include "resolve/resolve.h"

/* Exit status (CONTRACT.md; the man page, EXIT STATUS). */
enum {
	EXIT_TRACED = 0,
	EXIT_CANNOT = 1,
	EXIT_USAGE = 2,
	EXIT_DIFFERENT = 1, /* diff */
	EXIT_TROUBLE = 2,   /* diff: in place of CANNOT */
	EXIT_UNDER = 3,	    /* --fail-under */
	EXIT_LEFT = 124,    /* -t: CMD runs on, as timeout(1) has it */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127
};

/* Bits for the verbs that take an option. */
enum {
	VERB_USER = 1,
	VERB_KERNEL = 2,
	VERB_LIST = 4,
	VERB_DOCTOR = 8,
	VERB_REPORT = 16,
	VERB_BOTH = 32, /* trace */
	VERB_CTL = 64,
	VERB_MERGE = 128,
	VERB_DIFF = 256,
	VERB_EVENT = 512,
	VERB_WATCH = 1024,
	VERB_PROFILE = 2048,
	VERB_WHY = 4096,
	VERB_CORE = 8192,
};
#define VERB_NAMED     (VERB_EVENT | VERB_WATCH | VERB_PROFILE) /* they name no functions */
#define VERB_FUNCTIONS (VERB_USER | VERB_KERNEL | VERB_BOTH)	/* they do */
#define VERB_TRACE     (VERB_FUNCTIONS | VERB_NAMED)
#define VERB_SHOW      (VERB_TRACE | VERB_REPORT)
/* they print */
#define VERB_TEXT                                                                                  \
	(VERB_SHOW | VERB_LIST | VERB_DOCTOR | VERB_CTL | VERB_DIFF | VERB_WHY | VERB_CORE)
#define VERB_ALL (VERB_TEXT | VERB_MERGE)

struct args;

struct verb {
	const char *name;
	const char *args, *help;
	unsigned bit;
	/* Checks that options and operands are complete and consistent: 0, or -EINVAL with a
	 * message for wrong usage. */
	int (*check)(struct args *a);
	/* The exit status, or -errno with a message, which main prints: EXIT_CANNOT, or EXIT_USAGE
	 * if it is err__usage()'s. */
	int (*run)(struct args *a);
};
extern const struct verb verbs[]; /* ends with name NULL */
/* NULL: unknown. */
const struct verb *verb__find(const char *name);

/* --armor: a trace file as lines of text, with parity or not. */
enum armor_kind { ARMOR_NONE, ARMOR_LINES, ARMOR_REDUNDANT };

/* How returns are seen. */
enum returns { RETURNS_RET, RETURNS_PROBE, RETURNS_NONE };

/* What makes the events of programs. */
enum engine { ENGINE_PROBE, ENGINE_INLINE, ENGINE_AUTO };
/* One that is given by its name; -EINVAL: no such engine (option_values.c). */
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
	unsigned fail_under; /* hundredths of a percent */
	uint64_t last;	     /* branches per thread; 0: all */
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
/* Prints those of the verb for --help. */
void formats__help(const struct verb *verb, FILE *out);
/* The trace file that is written; NULL: none. */
const char *args__record_name(const struct args *a);
/* Would -o write a trace file, if no format were chosen? */
bool args__records(const struct args *a);
/* The format that the options choose. */
const struct output_format *args__format(const struct args *a);
/* Are the counts of edges all that a trace has to find? Then probes count in the kernel. */
/* profile: are samples of one stack one event? */
bool args__adds_samples_up(const struct args *a);
bool args__counts(const struct args *a);
/* Kernel addresses are shown to root only, or with --addresses. */
bool args__hides_addresses(const struct args *a);

/* bbtrace's command line (command_line.c), "" if unknown; the caller frees. */
char *command_line__quoted(void);
/* Prints the options of this verb for --help. */
void args__help(const struct verb *verb, FILE *out);

/* check and run of each verb. */
int trace__check(struct args *a);
int trace__run(struct args *a);
int list__check(struct args *a);
int list__run(struct args *a);
int report__check(struct args *a);
int report__run(struct args *a);
int merge__check(struct args *a);
int merge__run(struct args *a);
int diff__check(struct args *a);
int diff__run(struct args *a);
/* Is none of the files that are read the one to write? -EINVAL with a message. */
int files__check(const struct args *a);
int core__check(struct args *a);
int core__run(struct args *a);
int doctor__check(struct args *a);
int doctor__run(struct args *a);
int ctl__check(struct args *a);
int why__check(struct args *a);
int why__run(struct args *a);
int ctl__run(struct args *a);

/* ---- targets: from operands to functions (targets.c) ---- */

struct targets {
	VEC(struct object *) objects; /* owned */
	struct object *kernel;	      /* among objects; NULL: none of its functions is named */
	function_vec functions;
	bool exported;		     /* of those that are named, only exported ones */
	VEC(struct plan_stub) stubs; /* PLT stubs that lead to one of functions (tail_calls.c) */
};
/* pid: the process whose maps and mount namespace are used (0: none). all: no FUNC means all
 * functions. */
int targets__find(struct targets *n, const struct args *a, pid_t pid, bool all);
/* Does an operand name functions of the kernel? */
bool targets__name_kernel(const struct args *a);
/* --exclude (exclude.c). -ENOENT: it leaves no function. */
int exclude__apply(struct targets *n, const struct args *a);
void targets__free(struct targets *n);
/*
 * Functions for a trace that runs, as FUNC in the object that the command line named first, OBJECT
 * FUNC..., OBJECT:FUNC, user:OBJECT:FUNC or kernel:FUNC; appended to out, which the caller frees.
 * The kernel's only if the trace has some of them: its code can't be read later. Objects that are
 * new belong to n.
 */
int targets__find_more(struct targets *n, const struct args *a, char *const *words, size_t nwords,
		       pid_t pid, function_vec *out);
/* Copies of the functions that were requested, but without those in out, if there are any; the
 * caller frees them. */
function_vec targets__copy(const struct targets *n, const function_vec *out);
/* Opens the file that OBJECT names, each file once; *out belongs to n. */
int targets__open(struct targets *n, const char *name, pid_t pid, struct object **out);
/*
 * Adds the functions of other objects that the plan's functions tail-call, as FUNCTION_HELPER
 * (tail_calls.c). True: there were some, or stubs that lead to functions of the plan, so the plan
 * must be rebuilt.
 */
bool tail_calls__add(struct targets *n, const struct plan *plan, pid_t pid);

/* doctor --calibrate (calibrate.c); 0, or -errno with a message. */
int calibrate__show(bool json);

/* ---- --returns (returns.c) ---- */

/* Combines --returns and -e: -EINVAL with a message if they contradict each other. */
int returns__settle(struct args *a);
/* Prints notes on what return probes would break. -ENOTSUP: none of these functions can carry
 * one. */
int returns__check_probes(const struct plan *plan);

/* ---- a -- that was forgotten before CMD, or quotes (forgotten.c) ---- */

/* Operand i is no function, err says why: if it is a command, the message says how to run it; if it
 * is a file, that the shell may have put it there.
 * Returns the error to return. */
int forgotten__operand(const struct args *a, size_t i, int err);
/* The same for the message about a wrong option. */
void forgotten__option(const struct args *a);

/* ---- checks before tracing (preflight.c) ---- */

/* Do the given processes exist, does /proc show them, and may bbtrace trace? */
int preflight__check(const struct args *a);

/* ---- lines of source files, for output_options.source (source_lines.c) ---- */

struct source_lines;
/* pid: the process in whose root sources are looked up; 0: our own. */
struct source_lines *source_lines__new(pid_t pid);
void source_lines__free(struct source_lines *s);
/* output_options.source; ctx: struct source_lines *. */
const char *source_lines__line(void *ctx, const char *object, const char *file, unsigned line);

/* ---- CMD (child.c) ---- */

struct child {
	const char *name; /* as given */
	pid_t pid;
	int go;	    /* write end: a byte starts CMD */
	int failed; /* read end: errno of an exec that failed */
	bool ended;
	int status; /* exit status for CMD's caller */
	int signal; /* that ended it; 0: none did */
};
/* Can it be run as CMD? */
bool child__is_command(const char *name);
/* The file that a command of this name executes, malloc()ed; NULL: none. */
char *child__path_of(const char *name);
/* Forks a process that waits to become CMD. -ENOENT, -EACCES (with EXIT_… as *status): no such
 * command. */
int child__prepare(struct child *c, char **command, const char *user, int *status);
/* Starts CMD. -errno of its exec, *status as above. */
int child__start(struct child *c, int *status);
/* Has it ended? Sets c->status and c->signal. wait: waits for its end. */
bool child__ended(struct child *c, bool wait);
/* A note, if a signal ended it: as a shell does, which can't here, since CMD is not its child. */
void child__tell_signal(struct child *c);
/* The time is over: is a CMD that still runs so many seconds later left to itself? Not if it would
 * lose the terminal by that. A note says what is done. */
#define CHILD_LEFT_S 5
bool child__leave(struct child *c);
/* Kills a child that was not started. */
void child__cancel(struct child *c);

#endif
