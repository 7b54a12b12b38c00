// SPDX-License-Identifier: BSD-2-Clause
/* The words of perf, strace, ltrace, bpftrace, uftrace, gdb, lcov and magic-trace. */
#include <fnmatch.h>
#include <string.h>
#include "util/util.h"
#include "suggestion.h"

struct word {
	const char *name, *here;
};

static const struct word commands[] = {
	{"annotate", "user FUNC... -F annotate -- CMD"},
	{"argdist", "user FUNC... --args -- CMD, or --args=EXPR,... for some of them"},
	{"attach",
	 "user FUNC... -p PID for calls of functions, top -p PID for what keeps it busy, stack PID for where its threads are"},
	{"backtrace", "stack PID"},
	{"break", "user FUNC... --args -- CMD"},
	{"biolatency", "event 'block:*' for requests to disks, slow FUNC... -p PID for what waits"},
	{"biosnoop", "event 'block:*' for requests to disks, slow FUNC... -p PID for what waits"},
	{"biotop", "event 'block:*' for requests to disks, slow FUNC... -p PID for what waits"},
	{"bt", "stack PID"},
	{"c2c", "watch VARIABLE -- CMD for who reads and writes it"},
	{"cachegrind", "user '*' -F callgrind -o FILE.callgrind -- CMD"},
	{"callgrind", "user '*' -F callgrind -o FILE.callgrind -- CMD"},
	{"check", "doctor"},
	{"compare", "diff A B"},
	{"cov", "cover -- CMD"},
	{"coverage", "cover -- CMD"},
	{"deadlock", "stack PID"},
	{"continue", "user FUNC... --why -- CMD for each branch, with its values"},
	{"debug", "why -- CMD"},
	{"dhat", "user 'libc.so.6:*alloc' -k -F summary -- CMD"},
	{"display",
	 "watch VARIABLE -- CMD for each value of a variable, user FUNC... --args -- CMD for arguments"},
	{"drd",
	 "stack PID for where threads wait, watch VARIABLE -- CMD for who writes it: bbtrace looks for no races"},
	{"dump", "report FILE -F json, -F chrome or -F dot"},
	{"execsnoop", "event sched:sched_process_exec"},
	{"explain", "why -- CMD"},
	{"failed", "why -- CMD"},
	{"finish", "user FUNC... -e return -- CMD"},
	{"flame", "profile -o FILE.svg -- CMD"},
	{"flamegraph", "profile -o FILE.svg -- CMD"},
	{"ftrace", "kernel FUNC... -- CMD"},
	{"funccount", "user FUNC... -F summary -- CMD, or kernel FUNC... -F summary"},
	{"funcgraph", "kernel FUNC... -- CMD"},
	{"funclatency", "user FUNC... -F summary -- CMD, or kernel FUNC... -F summary"},
	{"function_graph", "kernel FUNC... -- CMD"},
	{"functions", "list OBJECT"},
	{"gcov", "cover -- CMD"},
	{"gcovr", "cover -o FILE.html -- CMD"},
	{"gdb",
	 "why -- CMD for why it fails, user FUNC... --args -- CMD for each call, stack PID for where threads are, core CORE for a dump"},
	{"geninfo", "cover -o FILE.info -- CMD"},
	{"genhtml", "cover -o FILE.html -- CMD"},
	{"graph", "user FUNC... -F dot -o FILE.dot -- CMD"},
	{"gstack", "stack PID"},
	{"helgrind",
	 "stack PID for where threads wait, watch VARIABLE -- CMD for who writes it: bbtrace looks for no races"},
	{"hist", "user FUNC... -F summary -- CMD"},
	{"histogram", "user FUNC... -F summary -- CMD"},
	{"info", "report --info FILE"},
	{"kcov", "cover -o FILE.html -- CMD"},
	{"kprobe", "kernel FUNC... -- CMD"},
	{"latency", "user FUNC... -F summary -- CMD"},
	{"lcov", "cover -o FILE.info -- CMD"},
	{"leak", "user 'libc.so.6:*alloc' libc.so.6:free -k -F summary -p PID"},
	{"live", "user FUNC... -- CMD, or user FUNC... -p PID"},
	{"lock", "slow FUNC... -- CMD for where calls wait, stack PID for where threads are"},
	{"ltrace", "user libc.so.6 '*alloc' -e entry,return -- CMD; of a process: -p PID"},
	{"man", "help, and the manual is in man bbtrace"},
	{"manual", "help, and the manual is in man bbtrace"},
	{"massif", "user 'libc.so.6:*alloc' -k -F summary -- CMD"},
	{"mem", "watch VARIABLE -- CMD for who reads and writes it"},
	{"memcheck",
	 "watch VARIABLE -- CMD for writes to a variable, why -- CMD for a crash: bbtrace does not check memory"},
	{"memleak", "user 'libc.so.6:*alloc' libc.so.6:free -k -F summary -p PID"},
	{"next", "user FUNC... --why -- CMD for each branch, with its values"},
	{"offcputime", "slow FUNC... -p PID, or user FUNC... -e sched -p PID"},
	{"offwaketime", "slow FUNC... -p PID, or user FUNC... -e sched -p PID"},
	{"opensnoop", "event syscalls:sys_enter_openat, or why -s open -- CMD for those that fail"},
	{"perf",
	 "profile -- CMD for samples, top for what is busy, user FUNC... -- CMD for each call"},
	{"print",
	 "watch VARIABLE -- CMD for each value of a variable, user FUNC... --args -- CMD for arguments"},
	{"probe", "user OBJECT FUNC... -- CMD"},
	{"ps", "ctl"},
	{"pstack", "stack PID"},
	{"record",
	 "user FUNC... -o FILE -- CMD (-k: with stacks), or profile -o FILE -- CMD for samples; of a process: -p PID; then report FILE"},
	{"replay", "report FILE"},
	{"retsnoop", "kernel FUNC... --explain -- CMD"},
	{"rr",
	 "user '*' -o FILE -- CMD, then report FILE, or user '*' --last 100 -- CMD for what led to a crash"},
	{"run", "user FUNC... -- CMD for each branch, or why -- CMD to see why it fails"},
	{"runqlat", "slow FUNC... -p PID, or user FUNC... -e sched -p PID"},
	{"sample", "profile -p PID"},
	{"sched", "user FUNC... -e sched -- CMD, or slow FUNC... -- CMD for where calls wait"},
	{"script", "report FILE"},
	{"show", "report FILE"},
	{"stackcount", "user FUNC... -k -F summary -- CMD"},
	{"stacks", "stack PID"},
	{"stat", "user FUNC... -F summary -- CMD"},
	{"step", "user FUNC... --why -- CMD for each branch, with its values"},
	{"strace",
	 "event 'syscalls:*' -- CMD (-F summary counts them, -p PID: of a process), or why -- CMD for those that failed"},
	{"symbols", "list OBJECT"},
	{"syscalls", "event 'syscalls:*' -- CMD, or why -- CMD for those that failed"},
	{"syscount", "event 'raw_syscalls:sys_enter' -F summary -- CMD"},
	{"tcpconnect", "event 'tcp:*' 'sock:*', or kernel 'tcp_*' -F summary"},
	{"tcplife", "event 'tcp:*' 'sock:*', or kernel 'tcp_*' -F summary"},
	{"tcpretrans", "event 'tcp:*' 'sock:*', or kernel 'tcp_*' -F summary"},
	{"tcptop", "event 'tcp:*' 'sock:*', or kernel 'tcp_*' -F summary"},
	{"threads", "stack PID"},
	{"timechart", "report FILE -F perfetto, or -F chrome"},
	{"tracepoint", "event NAME... -- CMD"},
	{"tracepoints", "list --events kernel"},
	{"tui", "report FILE --tui, or report FILE -o FILE.html for a browser"},
	{"uprobe", "user OBJECT FUNC... -- CMD"},
	{"usdt", "event usdt:OBJECT:NAME -- CMD"},
	{"valgrind",
	 "why -- CMD for a crash, user '*' -F callgrind -o FILE.callgrind -- CMD for callgrind"},
	{"version", "--version"},
	{"view", "report FILE"},
	{"watchpoint", "watch VARIABLE -- CMD"},
};

/* In place of a verb. */
static const struct word first_options[] = {
	{"--",
	 "user FUNC... -- CMD for each branch of functions, why -- CMD for why it fails, cover -- CMD for which lines run"},
	{"--list", "list OBJECT for functions, list --events kernel for tracepoints"},
	{"--pid",
	 "stack PID for where its threads are, top -p PID for what keeps it busy, user FUNC... -p PID for calls of functions"},
	{"--tool", "user '*' -F VALUE -o FILE -- CMD"},
	{"--verbose", "user -v FUNC... -- CMD; --version shows the version"},
	{"-T", "user FUNC... -- CMD, which shows how long each call takes"},
	{"-V", "--version"},
	{"-c",
	 "event 'syscalls:*' -F summary -- CMD to count system calls, user FUNC... -c -- CMD to count branches"},
	{"-e",
	 "why -s VALUE -- CMD for system calls that fail, event syscalls:sys_enter_VALUE -- CMD for all, user OBJECT:FUNC -- CMD for functions"},
	{"-f", "user FUNC... -f -- CMD"},
	{"-k", "user FUNC... -k -- CMD"},
	{"-l", "list OBJECT for functions, list --events kernel for tracepoints"},
	{"-o", "user FUNC... -o VALUE -- CMD"},
	{"-p",
	 "stack PID for where its threads are, top -p PID for what keeps it busy, user FUNC... -p PID for calls of functions"},
	{"-t", "user FUNC... -T abs -- CMD for the time of day"},
	{"-tt", "user FUNC... -T abs -- CMD for the time of day"},
	{"-ttt", "user FUNC... -T abs -- CMD for the time of day"},
	{"-v", "--version, or user -v FUNC... -- CMD to see decisions"},
};

static const struct word options[] = {
	{"A", "--args"},
	{"C", "--tid TID for a thread, --cgroup PATH for a container"},
	{"D", "--depth N"},
	{"L", "--depth N"},
	{"N", "--exclude FUNC"},
	{"P", "--pid PID (-p)"},
	{"R", "-e return"},
	{"T", "-T abs shows the time of day; how long calls take is always shown"},
	{"a",
	 "without -p, --tid and -- CMD every process is traced; --args shows strings and structures"},
	{"args", "--arguments"},
	{"arguments", "--args"},
	{"auto-args", "--args"},
	{"backtrace", "--stack (-k)"},
	{"call-graph", "--stack (-k)"},
	{"callgraph", "--stack (-k)"},
	{"child", "--follow (-f)"},
	{"children", "--follow (-f)"},
	{"condition", "--if CONDITION"},
	{"coverage", "-c -F lcov"},
	{"csv", "-F json"},
	{"d", "--timeout SEC (-t)"},
	{"debug", "--verbose (-v)"},
	{"duration", "--timeout SEC (-t); calls that take long: --min-duration"},
	{"e", "--syscall NAME (-s)"},
	{"env", "env NAME=VALUE before CMD"},
	{"filter", "--if CONDITION for arguments, -p, --comm, --uid for processes"},
	{"flamegraph", "-F svg"},
	{"fork", "--follow (-f)"},
	{"forks", "--follow (-f)"},
	{"frequency", "--freq HZ"},
	{"g", "--stack (-k), which profile always does"},
	{"graph", "--stack (-k), or -F dot"},
	{"hist", "-F summary"},
	{"histogram", "-F summary"},
	{"i", "a file is an operand: bbtrace report FILE"},
	{"input", "a file is an operand: bbtrace report FILE"},
	{"kernel", "bbtrace kernel FUNC, or bbtrace trace user:OBJECT:FUNC kernel:FUNC"},
	{"l", "functions are listed by bbtrace list OBJECT"},
	{"latency", "-F summary, or --min-duration TIME"},
	{"lines", "source lines are shown unless --no-src is given"},
	{"max", "--limit N (-l)"},
	{"max-depth", "--depth N"},
	{"n", "--limit N (-l)"},
	{"name", "--comm NAME"},
	{"no-children", "it is so, unless --follow (-f) is given"},
	{"no-color", "--color never"},
	{"no-colour", "--color never"},
	{"no-pager", "| cat"},
	{"no-trace", "--exclude FUNC"},
	{"nocolor", "--color never"},
	{"notrace", "--exclude FUNC"},
	{"process", "--pid PID (-p)"},
	{"ret", "-e return"},
	{"return", "-e return"},
	{"s", "--args shows strings"},
	{"s", "--sort KEY"},
	{"silent", "--quiet (-q)"},
	{"slow", "--min-duration TIME"},
	{"snapshot", "--last N, with --dump-on FUNC"},
	{"stack-trace", "--stack (-k)"},
	{"stack-traces", "--stack (-k)"},
	{"stat", "-F summary"},
	{"stdio", "text is what it prints, without an option; | cat avoids the pager"},
	{"sum", "-F summary"},
	{"t", "--to TIME, and --from TIME"},
	{"thread", "--tid TID"},
	{"threshold", "--min-duration TIME"},
	{"timeout", "--to TIME, and --from TIME"},
	{"top", "--sort KEY"},
	{"trace-children", "--follow (-f)"},
	{"trigger", "--dump-on FUNC, with --last N"},
	{"where", "--if CONDITION"},
	{"x", "an object comes before its functions: bbtrace user OBJECT FUNC"},
};

/* In place of OBJECT. */
static const struct word operands[] = {
	{"events", "list --events kernel"},
	{"functions", "list OBJECT"},
	{"help", "help"},
	{"syscalls", "list --events kernel 'syscalls:*'"},
	{"tracepoints", "list --events kernel"},
};

#define SYSCALLS                                                                                   \
	"system calls are events: bbtrace why -s VALUE -- CMD for those that fail, bbtrace event " \
	"syscalls:sys_enter_VALUE -- CMD for all"

/* Wrong values of options; the first row whose pattern matches counts. */
static const struct {
	const char *option, *pattern, *here;
} values[] = {
	{"events", "trace=*", SYSCALLS},
	{"events", "call*", "calls are entry"},
	{"events", "ret*", "returns are return"},
	{"events", "cycles*", "samples are taken by bbtrace profile"},
	{"events", "instructions*", "samples are taken by bbtrace profile"},
	{"events", "cpu-*", "samples are taken by bbtrace profile"},
	{"events", "*:*", "an event by its name: --with VALUE, or bbtrace event VALUE"},
	{"events", "*", SYSCALLS},
	{"timeout", "t*", "-T abs shows the time of day"},
	{"timeout", "r", "-T delta shows the time since the line before"},
	{"format", "[0-9]*", "samples a second are --freq VALUE"},
	{"format", "*flame*", "a flame graph is -F svg"},
	{"format", "csv", "for programs there is -F json"},
	{"format", "fxt", "for Perfetto's UI there is -F perfetto"},
	{"format", "xml", "coverage as XML is -F cobertura"},
	{"format", "*", "a function is an operand: bbtrace user OBJECT FUNC"},
};

/* Kinds of probes in bpftrace: how what follows them is traced. */
static const struct {
	const char *prefix, *before, *after;
} probes[] = {
	{"uprobe:", "user ", ""},
	{"u:", "user ", ""},
	{"uretprobe:", "user ", " -e return"},
	{"ur:", "user ", " -e return"},
	{"kprobe:", "kernel ", ""},
	{"k:", "kernel ", ""},
	{"kretprobe:", "kernel ", " -e return"},
	{"kr:", "kernel ", " -e return"},
	{"kfunc:", "kernel ", " --args"},
	{"fentry:", "kernel ", " --args"},
	{"fexit:", "kernel ", " -e return"},
	{"tracepoint:", "event ", ""},
	{"t:", "event ", ""},
	{"rawtracepoint:", "event ", ""},
	{"usdt:", "event usdt:", ""},
	{"U:", "event usdt:", ""},
	{"profile:hz:", "profile --freq ", ""},
	{"watchpoint:", "watch ", ""},
	{"w:", "watch ", ""},
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

const char *other_words__first_option(const char *option)
{
	autofree char *name = xstrndup(option, strcspn(option, "="));
	const char *here = find(first_options, ARRAY_SIZE(first_options), name);

	if (here || option[1] == '-' || strlen(name) < 3)
		return here;
	if (!strcmp(name, "-pid"))
		return find(first_options, ARRAY_SIZE(first_options), "-p");
	name[2] = 0; /* -p12 */
	return find(first_options, ARRAY_SIZE(first_options), name);
}

const char *other_words__option(const char *name, size_t nth)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].name, name) && !nth--)
			return options[i].here;
	return NULL;
}

const char *other_words__operand(const char *word)
{
	return find(operands, ARRAY_SIZE(operands), word);
}

const char *other_words__value(const char *option, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (!strcmp(values[i].option, option) && !fnmatch(values[i].pattern, value, 0))
			return values[i].here;
	return NULL;
}

char *other_words__probe(const char *spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		size_t len = strlen(probes[i].prefix);

		if (!strncmp(spec, probes[i].prefix, len))
			return xasprintf("%s%s%s", probes[i].before, spec + len, probes[i].after);
	}
	return NULL;
}
