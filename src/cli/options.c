// SPDX-License-Identifier: BSD-2-Clause
/* The table of options, used for parsing, --help and usage errors. */
#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>
#include "option_values.h"

/* The type of an option's field, and how its value is parsed. */
enum option_type {
	OPTION_SWITCH,	 /* bool: true */
	OPTION_TEXT,	 /* const char *: not copied */
	OPTION_FILE,	 /* as OPTION_TEXT, but not empty, and no option */
	OPTION_TIME,	 /* uint64_t: nanoseconds */
	OPTION_NUMBER,	 /* uint64_t */
	OPTION_COUNT,	 /* uint64_t, with K, M and G */
	OPTION_POSITIVE, /* the same, at least 1 */
	OPTION_OTHER,	 /* no field: set stores the value */
};

struct option_row {
	const char *name;
	char letter;	 /* 0: none */
	const char *arg; /* NULL: no argument; "": after =, or none */
	unsigned verbs;
	enum option_type type;
	size_t offset; /* in struct args */
	const char *help;
	/* Called after the value is stored, to check it or to store it elsewhere. 0, or -errno with
	 * a message. NULL: not needed. */
	int (*set)(struct args *a, const char *value);
};

/* The offset of a field; doesn't compile if the field has another type. */
#define FIELD(type, field)                                                                         \
	(offsetof(struct args, field) + 0 * sizeof((type *)0 == &((struct args *)0)->field))
#define SWITCH(field)	 OPTION_SWITCH, FIELD(bool, field)
#define TEXT(field)	 OPTION_TEXT, FIELD(const char *, field)
#define FILE_NAME(field) OPTION_FILE, FIELD(const char *, field)
#define TIME(field)	 OPTION_TIME, FIELD(uint64_t, field)
#define NUMBER(field)	 OPTION_NUMBER, FIELD(uint64_t, field)
#define COUNT(field)	 OPTION_COUNT, FIELD(uint64_t, field)
#define POSITIVE(field)	 OPTION_POSITIVE, FIELD(uint64_t, field)
#define OTHER		 OPTION_OTHER, 0

static const struct option_row rows[] = {
	{"pid", 'p', "PID[,PID...]", VERB_SHOW | VERB_LIST, OTHER,
	 "only these processes, all their threads", option__set_pid},
	{"tid", 0, "TID[,TID...]", VERB_SHOW | VERB_DIFF, OTHER, "only these threads",
	 option__set_tid},
	{"comm", 0, "NAME[,NAME...]", VERB_SHOW | VERB_DIFF, OTHER, "only threads of this name",
	 option__set_comm},
	{"uid", 0, "USER[,USER...]", VERB_TRACE, OTHER,
	 "only processes of this user, by name or number", option__set_uid},
	{"cgroup", 0, "PATH", VERB_TRACE, TEXT(filters.cgroup),
	 "only this cgroup (v2) and those below it"},
	{"follow", 'f', NULL, VERB_TRACE | VERB_WHY, SWITCH(filters.follow),
	 "also children of these processes"},
	{"events", 'e', "LIST", VERB_SHOW, OTHER, "any of entry,branch,return (default: all three)",
	 option__set_events},
	{"exclude", 0, "FUNC", VERB_SHOW | VERB_LIST | VERB_DIFF | VERB_WHY, OTHER,
	 "not these functions; may be repeated", option__set_exclude},
	{"with", 0, "NAME", VERB_TRACE, OTHER,
	 "also events of this name, GROUP:NAME with * and ?; may be repeated", option__set_with},
	{"watch", 0, "WHERE", VERB_TRACE, OTHER,
	 "also accesses of SYMBOL[+OFF], OBJECT:SYMBOL or 0xADDR, [:LEN][:w|rw|x]; may be repeated",
	 option__add_watch},
	{"user-only", 0, NULL, VERB_TRACE, SWITCH(user_only),
	 "watchpoints: not what the kernel does for a process"},
	{"exported", 0, NULL, VERB_TRACE | VERB_LIST, SWITCH(exported),
	 "of the functions that are named, only exported ones"},
	{"regs", 'r', "LIST", VERB_SHOW | VERB_CORE, TEXT(regs),
	 "registers on entry: none, args (default), all, or names"},
	{"why", 0, NULL, VERB_FUNCTIONS, SWITCH(why),
	 "also what each conditional tests: the values that it compares"},
	{"explain", 0, NULL, VERB_FUNCTIONS, SWITCH(explain),
	 "instead of events: the branch by which each call that failed did, of the kernel's"},
	{"syscall", 's', "NAME[,NAME...]", VERB_WHY, OTHER,
	 "explain failures of these system calls; may be repeated", option__add_syscalls},
	{"again", 0, NULL, VERB_WHY, SWITCH(again),
	 "run CMD again, to trace what the first run has shown to matter"},
	{"depth", 0, "N", VERB_WHY, NUMBER(callees),
	 "trace what the system calls' functions call, N deep (default: 3)", option__check_callees},
	{"args", 0, "", VERB_FUNCTIONS, OTHER,
	 "arguments and results by type; =EXPR,...: these, as path->dentry", option__set_args},
	{"if", 0, "CONDITION", VERB_FUNCTIONS | VERB_REPORT, OTHER,
	 "only invocations with such arguments or results: 'size > 4096 && ret < 0'; may be repeated",
	 option__set_if},
	{"stack", 'k', NULL, VERB_TRACE, SWITCH(stack), "record the call stack on entry"},
	{"stack-size", 0, "SIZE", VERB_TRACE, COUNT(stack_size),
	 "-k: copy so much of the stack (default: 8K), 0: follow frame pointers"},
	{"freq", 0, "HZ", VERB_TRACE, POSITIVE(freq),
	 "also samples, so many a second on each CPU (profile: 99)"},
	{"timeline", 0, NULL, VERB_PROFILE, SWITCH(timeline),
	 "each sample is an event, also with --stack-size 0"},
	{"format", 'F', "FMT", VERB_TEXT, OTHER, "text (default), json, ...: see below",
	 formats__set},
	{"output", 'o', "FILE", VERB_SHOW | VERB_MERGE | VERB_DIFF, FILE_NAME(output),
	 "write a trace file for bbtrace report; with -F, or named x.html, that format"},
	{"output", 'o', "FILE", VERB_WHY, FILE_NAME(output), "write there, not to stdout"},
	{"record", 0, "FILE", VERB_TRACE, FILE_NAME(record),
	 "also write a trace file while the trace is shown"},
	{"tag", 0, "NAME", VERB_SHOW | VERB_MERGE, TEXT(tag),
	 "trace file: names what runs, such as a test; report: only counts of this name"},
	{"by-symbol", 0, NULL, VERB_REPORT | VERB_MERGE, SWITCH(by_symbol),
	 "several files: find functions of other builds by their symbols"},
	{"max-size", 0, "SIZE", VERB_TRACE, COUNT(max_size),
	 "trace file: start a new file at this size, keep the old one as FILE.1",
	 option__check_max_size},
	{"armor", 0, "", VERB_TRACE | VERB_MERGE, OTHER,
	 "trace file: lines of text that survive a serial console; =redundant: with parity lines",
	 value__armor},
	{"from", 0, "TIME", VERB_REPORT | VERB_DIFF, TIME(from),
	 "start this long after the beginning of the trace"},
	{"to", 0, "TIME", VERB_REPORT | VERB_DIFF, TIME(to),
	 "stop this long after the beginning of the trace", option__check_to},
	{"head", 0, "N", VERB_REPORT, POSITIVE(head), "only the first N events"},
	{"tail", 0, "N", VERB_REPORT, POSITIVE(tail), "only the last N events"},
	{"info", 0, NULL, VERB_REPORT, SWITCH(info),
	 "show the file's metadata instead of the trace"},
	{"timeout", 't', "SEC", VERB_TRACE, TIME(timeout_ns), "stop after this long",
	 option__check_timeout},
	{"limit", 'l', "N", VERB_SHOW, POSITIVE(limit), "stop after N printed events"},
	{"max-overhead", 0, "PERCENT", VERB_TRACE, NUMBER(max_overhead),
	 "stop when tracing takes more of the processes' CPU time", option__check_overhead},
	{"depth", 0, "N", VERB_SHOW | VERB_DIFF, NUMBER(depth),
	 "no deeper than N nested calls of traced functions", option__check_depth},
	{"min-duration", 0, "TIME", VERB_SHOW, TIME(min_duration),
	 "only calls that took at least this long (20us, 1.5ms)"},
	{"time", 'T', "STYLE", VERB_SHOW | VERB_CORE, OTHER, "rel (default), abs, delta or none",
	 option__set_time},
	{"no-fold", 0, NULL, VERB_SHOW | VERB_CORE, SWITCH(no_fold),
	 "text: show every iteration of loops"},
	{"debuginfod", 0, NULL, VERB_TRACE | VERB_LIST | VERB_WHY | VERB_CORE, SWITCH(debuginfod),
	 "fetch debug information that is not here from the servers of DEBUGINFOD_URLS",
	 option__check_debuginfod},
	{"no-src", 0, NULL, VERB_SHOW | VERB_LIST | VERB_WHY | VERB_CORE, SWITCH(no_src),
	 "no source lines: debug information isn't read for them"},
	{"user", 'u', "NAME", VERB_TRACE | VERB_WHY, TEXT(user), "run CMD as that user",
	 option__check_user},
	{"btf", 'b', "FILE", VERB_TRACE, TEXT(btf), "read kernel types from this file"},
	{"buffer", 0, "SIZE", VERB_TRACE | VERB_WHY, COUNT(buffer),
	 "ring buffer size (default: 16M)", option__check_buffer},
	{"attach", 0, "NAME", VERB_TRACE, TEXT(attach),
	 "attach by this mechanism only; bbtrace doctor lists them"},
	{"count", 'c', NULL, VERB_SHOW, SWITCH(count), "count edges instead of listing events"},
	{"interval", 0, "SEC", VERB_TRACE, TIME(interval_ns),
	 "-c: print the counts so far every SEC, as at SIGUSR1", option__check_interval},
	{"reset", 0, NULL, VERB_TRACE, SWITCH(reset),
	 "-c: after the counts are printed, begin with 0 again"},
	{"once", 0, NULL, VERB_TRACE, SWITCH(once),
	 "counts: remove the probe of what was seen; both sides of conditionals are waited for"},
	{"retire", 0, "N", VERB_TRACE, POSITIVE(retire), "counts: remove each probe after N hits"},
	{"differences", 'n', "N", VERB_DIFF, POSITIVE(differences),
	 "show the first N differences (default: 1), or branches (default: 10)"},
	{"context", 0, "N", VERB_DIFF, COUNT(context),
	 "show N steps before and behind each difference (default: 5)", option__check_context},
	{"pass", 0, NULL, VERB_DIFF, OTHER, "the files that follow are of runs that passed",
	 option__set_pass},
	{"fail", 0, NULL, VERB_DIFF, OTHER,
	 "the files that follow are of runs that failed: rank what tells them apart",
	 option__set_fail},
	{"fail-under", 0, "PERCENT[,branch]", VERB_SHOW, OTHER,
	 "exit with 3 if less of the lines, or blocks, or branches, ran", option__set_fail_under},
	{"last", 0, "N", VERB_SHOW | VERB_CORE, COUNT(last),
	 "keep the last N branches of each thread; show them at the end, and when it is killed",
	 option__check_last},
	{"dump-on", 0, "FUNC[=VALUE]", VERB_TRACE, OTHER,
	 "--last: also when this is called, or returns VALUE: N, <N, >N or an errno; may be repeated",
	 option__set_dump_on},
	{"dump-on-failure", 0, NULL, VERB_TRACE, SWITCH(dump_on_failure),
	 "--last: also show them when a process exits with a status other than 0"},
	{"placement", 0, "HOW", VERB_TRACE, OTHER,
	 "full: a probe on every branch; implied, witness: fewer probes, same steps",
	 option__set_placement},
	{"returns", 0, "HOW", VERB_TRACE, OTHER,
	 "ret (default): at ret instructions; probe: by return probes; none: no returns",
	 option__set_returns},
	{"engine", 0, "HOW", VERB_TRACE | VERB_LIST | VERB_WHY, OTHER,
	 "probe: by traps; inline: by copies of the functions; auto (default): by copies if that can be",
	 option__set_engine},
	{"profile", 0, "FILE", VERB_TRACE, FILE_NAME(branch_weights),
	 "branch weights for --placement witness: a trace file or -c -F json output"},
	{"color", 0, "WHEN", VERB_SHOW | VERB_DIFF | VERB_CORE, TEXT(color),
	 "auto (default), always or never", option__check_color},
	{"events", 0, NULL, VERB_LIST, SWITCH(list_events),
	 "list tracepoints of the kernel, or static probes of a program, with their fields"},
	{"sites", 0, NULL, VERB_LIST, SWITCH(sites), "list each branch site"},
	{"points", 0, NULL, VERB_LIST, SWITCH(points),
	 "write a points file, for bbtrace user OBJECT @FILE"},
	{"addresses", 0, NULL, VERB_SHOW | VERB_LIST | VERB_DIFF | VERB_WHY, SWITCH(addresses),
	 "show kernel addresses (root always sees them)"},
	{"control-socket", 0, "PATH", VERB_TRACE, FILE_NAME(control_socket),
	 "where bbtrace ctl reaches this trace; none: nowhere"},
	{"paused", 0, NULL, VERB_TRACE, SWITCH(paused),
	 "record nothing until bbtrace ctl PID start"},
	{"control", 0, "WHO", VERB_TRACE, OTHER,
	 "app, or app:OBJECT: record from BBTRACE_START() to BBTRACE_STOP() (bbtrace.h)",
	 option__set_control},
	{"start-on", 0, "FUNC", VERB_TRACE, OTHER,
	 "record from where this is executed on; may be repeated", option__set_start_on},
	{"stop-on", 0, "FUNC", VERB_TRACE, OTHER,
	 "record no longer where this is executed; may be repeated", option__set_stop_on},
	{"delay", 0, "TIME", VERB_TRACE, TIME(delay_ns),
	 "start to record this long after that was asked for, or after the trace began",
	 option__check_delay},
	{"for", 0, "TIME", VERB_TRACE, TIME(for_ns), "stop this long after each start",
	 option__check_for},
	{"wait", 0, NULL, VERB_CTL, SWITCH(wait),
	 "return when the trace has written all, after quit"},
	{"timeout", 't', "SEC", VERB_CTL, TIME(timeout_ns),
	 "wait this long for an answer (default: 60, 10 for the first sign)",
	 option__check_timeout},
	{"calibrate", 0, NULL, VERB_DOCTOR, SWITCH(calibrate),
	 "measure the cost of probe hits instead"},
	{"verbose", 'v', NULL, VERB_ALL, OTHER, "print decisions and their reasons",
	 option__set_verbose},
	{"quiet", 'q', NULL, VERB_ALL, OTHER, "no notes on stderr", option__set_quiet},
	{"help", 'h', NULL, VERB_ALL, SWITCH(help), "this text"},
};

void args__help(const struct verb *verb, FILE *out)
{
	fprintf(out, "usage: bbtrace %s %s\n%s\n\n", verb->name, verb->args, verb->help);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct option_row *r = &rows[i];
		char names[64];

		if (!(r->verbs & verb->bit))
			continue;
		snprintf(names, sizeof(names), "%c%c%c --%s%s%s", r->letter ? '-' : ' ',
			 r->letter ? r->letter : ' ', r->letter ? ',' : ' ', r->name,
			 r->arg && *r->arg ? " " : "", r->arg ? r->arg : "");
		fprintf(out, "  %-30s %s\n", names, r->help);
	}
	if (verb->bit & VERB_TEXT)
		formats__help(verb, out);
}

/* getopt_long(3)'s tables for a verb; val is the row's index + 256, which no letter has. */
static void make_tables(const struct verb *verb, struct option *long_options, char *short_options)
{
	if (verb->bit == VERB_DIFF)
		*short_options++ = '-'; /* operands come in their order among the options */
	*short_options++ = ':';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *arg = rows[i].arg;

		if (!(rows[i].verbs & verb->bit))
			continue;
		*long_options++ = (struct option){rows[i].name,
						  !arg	 ? no_argument
						  : *arg ? required_argument
							 : optional_argument,
						  NULL, (int)i + 256};
		if (!rows[i].letter)
			continue;
		*short_options++ = rows[i].letter;
		if (arg)
			*short_options++ = ':';
	}
	*long_options = (struct option){0};
	*short_options = 0;
}

static const struct option_row *row_of(int c)
{
	if (c >= 256)
		return &rows[c - 256];
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].letter == c)
			return &rows[i];
	return NULL;
}

/* Part of the option, or nearly it, or with more behind: --follow-forks. */
static bool is_near(const char *option, const char *name)
{
	size_t n = strlen(option), len = strlen(name);

	return strstr(option, name) || (!strncmp(option, name, n) && name[n] == '-') ||
	       (len >= 4 && str__distance(name, len, option, n, 2) <= 2);
}

/* What an unknown long option may have meant: "; did you mean --min-duration?", or "". */
static char *meant(const struct verb *verb, const char *option)
{
	autofree char *name = xstrdup(strncmp(option, "--", 2) ? "" : option + 2);

	name[strcspn(name, "=")] = 0;
	if (output__by_name(name))
		return xasprintf("; did you mean -F %s?", name);
	for (size_t i = 0; strlen(name) >= 3 && i < ARRAY_SIZE(rows); i++)
		if (rows[i].verbs & verb->bit && is_near(rows[i].name, name))
			return xasprintf("; did you mean --%s?", rows[i].name);
	return xstrdup("");
}

static int usage_error(const struct verb *verb, int c, char **argv)
{
	const char letter[3] = {'-', (char)optopt, 0};
	const char *option = optopt > 0 && optopt < 256 ? letter : argv[optind - 1];
	autofree char *hint = meant(verb, option);

	if (c == ':')
		return err__set(EINVAL, "%s needs a value; see bbtrace %s --help", option,
				verb->name);
	return err__set(EINVAL, "unknown option %s for 'bbtrace %s'%s%s bbtrace %s --help", option,
			verb->name, hint, *hint ? " See" : "; see", verb->name);
}

/* Parses the value by the row's type and stores it in the row's field. */
static int store(struct args *a, const struct option_row *r, const char *value)
{
	void *field = (char *)a + r->offset;
	int err;

	switch (r->type) {
	case OPTION_SWITCH:
		*(bool *)field = true;
		return 0;
	case OPTION_FILE:
		*(const char **)field = value;
		return value__file_name(value);
	case OPTION_TEXT:
		*(const char **)field = value;
		return 0;
	case OPTION_TIME:
		return value__time(value, field);
	case OPTION_NUMBER:
	case OPTION_COUNT:
		return parse__u64(value, r->type == OPTION_COUNT, field);
	case OPTION_POSITIVE:
		err = parse__u64(value, true, field);
		return err || *(uint64_t *)field ? err : err__set(EINVAL, "must be at least 1");
	case OPTION_OTHER:
		return 0;
	}
	return 0;
}

static int set(struct args *a, const struct option_row *r, const char *value)
{
	int err = store(a, r, value);

	if (!err && r->set)
		err = r->set(a, value);
	return err ? err__prefix(-EINVAL, "--%s", r->name) : 0;
}

static void add_operand(struct args *a, char *word)
{
	vec__push(&a->operands, word);
	vec__push(&a->sets, a->set);
}

int args__parse(struct args *a, const struct verb *verb, int argc, char **argv)
{
	struct option long_options[ARRAY_SIZE(rows) + 1];
	char short_options[2 * ARRAY_SIZE(rows) + 3];
	int c, end = 1, err;

	*a = (struct args){.verb = verb,
			   .stack_size = STACK_SIZE_AUTO,
			   .freq = verb->bit == VERB_PROFILE ? 99 : 0,
			   .stack = verb->bit == VERB_PROFILE,
			   .color = "auto",
			   .context = CONTEXT_STEPS,
			   .callees = 3,
			   .events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN};
	a->given = xcalloc(argc, sizeof(*a->given));
	memcpy(a->given, argv + 1, (argc - 1) * sizeof(*a->given));
	while (end < argc && strcmp(argv[end], "--"))
		end++;
	make_tables(verb, long_options, short_options);
	optind = 0; /* glibc: reset getopt */
	while ((c = getopt_long(end, argv, short_options, long_options, NULL)) != -1) {
		const struct option_row *r = c == ':' || c == '?' || c == 1 ? NULL : row_of(c);

		if (c == 1) {
			add_operand(a, optarg);
			continue;
		}
		if (!r)
			return usage_error(verb, c, argv);
		err = set(a, r, optarg);
		if (err)
			return err;
	}
	for (int i = optind; i < end; i++)
		add_operand(a, argv[i]);
	for (int i = end + 1; verb->bit == VERB_CTL && i < argc; i++)
		add_operand(a, argv[i]);
	err = formats__settle(a);
	if (!err)
		err = formats__check_coverage(a);
	if (err || end == argc || verb->bit == VERB_CTL)
		return err;
	if (!(verb->bit & (VERB_TRACE | VERB_WHY)) || end + 1 == argc)
		return err__set(EINVAL,
				verb->bit & (VERB_TRACE | VERB_WHY) ? "no command after --"
								    : "%s does not take a command",
				verb->name);
	a->command = argv + end + 1;
	return 0;
}

void args__free(struct args *a)
{
	for (size_t i = 0; i < a->filters.comms.len; i++)
		free((char *)a->filters.comms.data[i]);
	free(a->given);
	vec__free(&a->operands);
	vec__free(&a->sets);
	vec__free(&a->filters.pids);
	vec__free(&a->filters.tids);
	vec__free(&a->filters.uids);
	vec__free(&a->filters.comms);
	vec__free(&a->filters.excluded);
	vec__free(&a->exclude);
	vec__free(&a->dump_on);
	vec__free(&a->start_on);
	vec__free(&a->stop_on);
	vec__free(&a->with);
	for (size_t i = 0; i < a->syscalls.len; i++)
		free((char *)a->syscalls.data[i]);
	vec__free(&a->syscalls);
	vec__free(&a->markers_in);
	vec__free(&a->watch);
	expressions__free(&a->expressions);
	conditions__free(&a->conditions);
}
