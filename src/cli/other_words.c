// SPDX-License-Identifier: BSD-2-Clause
/* The words of perf, strace, ltrace, bpftrace, uftrace, gdb, lcov and magic-trace. */
#include <string.h>
#include "util/util.h"
#include "other_words.h"

struct word {
	const char *name, *here;
};

static const struct word commands[] = {
	{"annotate", "user OBJECT FUNC... -F annotate -- CMD"},
	{"attach", "user -p PID OBJECT FUNC..., or stack PID to see where its threads are"},
	{"backtrace", "stack PID"},
	{"bt", "stack PID"},
	{"cov", "cover -- CMD"},
	{"coverage", "cover -- CMD"},
	{"gcov", "cover -- CMD"},
	{"kcov", "cover -o FILE.html -- CMD"},
	{"lcov", "cover -o FILE.info -- CMD"},
	{"deadlock", "stack PID"},
	{"explain", "why -- CMD"},
	{"flame", "profile -o FILE.svg -- CMD"},
	{"flamegraph", "profile -o FILE.svg -- CMD"},
	{"functions", "list OBJECT"},
	{"graph", "user OBJECT FUNC... -F dot -o FILE.dot -- CMD"},
	{"gstack", "stack PID"},
	{"live", "user -p PID OBJECT FUNC..."},
	{"ltrace", "user libc.so.6 FUNC... -e entry,return -- CMD"},
	{"probe", "user OBJECT FUNC... -- CMD"},
	{"ps", "ctl"},
	{"pstack", "stack PID"},
	{"record", "user OBJECT FUNC... -o FILE -- CMD"},
	{"replay", "report FILE"},
	{"run", "user OBJECT FUNC... -- CMD, or why -- CMD to see why it fails"},
	{"sample", "profile -p PID"},
	{"script", "report FILE"},
	{"show", "report FILE"},
	{"stacks", "stack PID"},
	{"stat", "user OBJECT FUNC... -F summary -- CMD"},
	{"strace", "event raw_syscalls:sys_exit -- CMD, or why -- CMD for those that failed"},
	{"symbols", "list OBJECT"},
	{"threads", "stack PID"},
	{"top", "profile -p PID"},
	{"tui", "report FILE, or report FILE -o FILE.html for a browser"},
	{"version", "--version"},
	{"view", "report FILE"},
};

static const struct word options[] = {
	{"arguments", "--args"},
	{"backtrace", "--stack (-k)"},
	{"call-graph", "--stack (-k)"},
	{"callgraph", "--stack (-k)"},
	{"child", "--follow (-f)"},
	{"children", "--follow (-f)"},
	{"condition", "--if CONDITION"},
	{"coverage", "-c -F lcov"},
	{"duration", "--timeout SEC (-t); calls that take long: --min-duration"},
	{"env", "env NAME=VALUE before CMD"},
	{"filter", "--if CONDITION for arguments, -p, --comm, --uid for processes"},
	{"flamegraph", "-F svg"},
	{"fork", "--follow (-f)"},
	{"forks", "--follow (-f)"},
	{"frequency", "--freq HZ"},
	{"hist", "-F summary"},
	{"histogram", "-F summary"},
	{"kernel", "bbtrace kernel FUNC, or bbtrace trace user:OBJECT:FUNC kernel:FUNC"},
	{"l", "functions are listed by bbtrace list OBJECT"},
	{"latency", "-F summary, or --min-duration TIME"},
	{"lines", "source lines are shown unless --no-src is given"},
	{"max-depth", "--depth N"},
	{"name", "--comm NAME"},
	{"no-children", "it is so, unless --follow (-f) is given"},
	{"no-color", "--color never"},
	{"no-colour", "--color never"},
	{"no-pager", "| cat"},
	{"out", "--output FILE (-o)"},
	{"process", "--pid PID (-p)"},
	{"silent", "--quiet (-q)"},
	{"slow", "--min-duration TIME"},
	{"stack-trace", "--stack (-k)"},
	{"stat", "-F summary"},
	{"thread", "--tid TID"},
	{"threshold", "--min-duration TIME"},
	{"trace-children", "--follow (-f)"},
};

static const char *find(const struct word *words, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(words[i].name, name))
			return words[i].here;
	return NULL;
}

const char *other_words__command(const char *name)
{
	return find(commands, ARRAY_SIZE(commands), name);
}

const char *other_words__option(const char *name)
{
	return find(options, ARRAY_SIZE(options), name);
}
