/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd: the verbs. Front door of src/cmd. A verb parses its options, calls the rooms in the order in
 * which data flows, and prints. Verbs are rows in verbs.c, options are rows in options.c.
 */
#ifndef BBTRACE_CMD_H
#define BBTRACE_CMD_H

#include "file/file.h"
#include "output/output.h"
#include "probe/probe.h"
#include "resolve/resolve.h"

/* Exit status (CONTRACT.md; the man page, EXIT STATUS). */
enum {
	EXIT_TRACED = 0,
	EXIT_CANNOT = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127
};

/* Bits for who takes an option. */
enum { VERB_USER = 1, VERB_KERNEL = 2, VERB_LIST = 4, VERB_DOCTOR = 8, VERB_REPORT = 16 };
#define VERB_TRACE (VERB_USER | VERB_KERNEL)
#define VERB_SHOW  (VERB_TRACE | VERB_REPORT)
#define VERB_ALL   (VERB_SHOW | VERB_LIST | VERB_DOCTOR)

struct args;

struct verb {
	const char *name;
	const char *args, *help;
	unsigned bit;
	/* What the options and operands lack or contradict: -EINVAL with a message, wrong usage.
	 * Otherwise 0. */
	int (*check)(struct args *a);
	/* The exit status, or -errno with a message, which main prints: EXIT_CANNOT. */
	int (*run)(struct args *a);
};
extern const struct verb verbs[]; /* ends with name NULL */
/* NULL: there is none. */
const struct verb *verb__find(const char *name);

/* How returns are seen. */
enum returns { RETURNS_RET, RETURNS_PROBE, RETURNS_NONE };

/* Everything that options can say. */
struct args {
	const struct verb *verb;
	VEC(char *) operands;
	char **command; /* CMD and its arguments, NULL: none */

	struct probe_filters filters;
	VEC(const char *) exclude;
	unsigned events; /* enum plan_events */
	const char *regs;
	bool stack;
	const struct output_format *format; /* NULL: not given */
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
	const char *branch_weights; /* NULL: none */
	bool count;		    /* -c */
	uint64_t last;		    /* branches a thread; 0: all */
	uint64_t buffer;
	uint64_t depth;
	uint64_t min_duration;
	const char *record; /* a trace file, beside what is shown; NULL: none */
	uint64_t max_size;
	bool armor;
	bool events_given, time_given, placement_given, returns_given;
	uint64_t from, to; /* report: ns since the start; to 0: no end */
	uint64_t head, tail;
	bool info;
	bool no_fold;
	bool addresses;	    /* show the kernel's */
	bool sites, points; /* list */
	bool calibrate;	    /* doctor */
	bool help;
};

/* Parses argv (behind the verb). -EINVAL with a message: wrong usage. */
int args__parse(struct args *a, const struct verb *verb, int argc, char **argv);
void args__free(struct args *a);
/* Only root, or who asks for them, is shown the kernel's addresses. */
bool args__hides_addresses(const struct args *a);
/* The options that this verb takes, for --help. */
void args__help(const struct verb *verb, FILE *out);

/* check and run of each verb. */
int trace__check(struct args *a);
int trace__run(struct args *a);
int list__check(struct args *a);
int list__run(struct args *a);
int report__check(struct args *a);
int report__run(struct args *a);
int doctor__check(struct args *a);
int doctor__run(struct args *a);

/* ---- what was named: operands to functions (named.c) ---- */

struct targets {
	VEC(struct object *) objects; /* owned */
	struct object *kernel;	      /* among objects; NULL in user mode */
	function_vec functions;
	VEC(struct plan_stub) stubs; /* PLT stubs that lead to one of functions (tails.c) */
};
/* pid: the process whose maps and mounts count (0: none). all: no FUNC means all functions. */
int targets__find(struct targets *n, const struct args *a, bool kernel, pid_t pid, bool all);
void targets__free(struct targets *n);
/* Opens what OBJECT names, once for each file; *out belongs to n. */
int targets__open(struct targets *n, const char *name, pid_t pid, struct object **out);
/*
 * Adds, as FUNCTION_HELPER, the functions of other objects that the plan's functions end by jumping
 * to (tails.c). True: there were any, or stubs that lead to functions of the plan, and the plan is
 * to be built again.
 */
bool tail_calls__add(struct targets *n, const struct plan *plan, pid_t pid);

/* doctor --calibrate (calibrate.c); 0, or -errno with a message. */
int calibrate__show(bool json);

/* ---- --returns (returns.c) ---- */

/* Makes --returns and -e one: -EINVAL with a message where they contradict each other. */
int returns__settle(struct args *a);
/* Notes what return probes would break. -ENOTSUP: they may be on none of these functions. */
int returns__check_probes(const struct plan *plan);

/* ---- before anything is tried (preflight.c) ---- */

/* Are the processes there that are named, does /proc show them, may bbtrace trace? */
int preflight__check(const struct args *a);

/* ---- lines of source files, for output_options.source (source.c) ---- */

struct sources;
/* pid: the process in whose root they are looked up; 0: ours. */
struct sources *sources__new(pid_t pid);
void sources__free(struct sources *s);
/* output_options.source; ctx: struct sources *. */
const char *sources__line(void *ctx, const char *object, const char *file, unsigned line);

/* ---- CMD (child.c) ---- */

struct child {
	const char *name; /* as given */
	pid_t pid;
	int go;	    /* write end: a byte starts CMD */
	int failed; /* read end: errno of an exec that failed */
	bool ended;
	int status; /* exit status as CMD's caller is to see it */
};
/* Forks a process that waits to become CMD. -ENOENT, -EACCES (with EXIT_… as *status): no such
 * command. */
int child__prepare(struct child *c, char **command, const char *user, int *status);
/* Lets it go. -errno of its exec, *status as above. */
int child__start(struct child *c, int *status);
/* Has it ended? Then its status is in c. wait: until it has. */
bool child__ended(struct child *c, bool wait);
/* Ends a child that never started. */
void child__cancel(struct child *c);

#endif
