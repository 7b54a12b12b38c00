// SPDX-License-Identifier: BSD-2-Clause
/* The table of verbs. main.c parses, prints help and errors, and frees for all of them. */
#include "cli/option.h"
#include "verbs.h"
#include "cli/request.h"

const struct verb verbs[] = {
	{"user", "[OBJECT] FUNC... | OBJECT:FUNC... [options] [-- CMD ARG...]",
	 "Trace entry, branches and return of functions of a program or shared library.", VERB_USER,
	 NULL, trace__check, trace__run,
	 "  bbtrace user parse_line -- ./prog bad.conf\n"
	 "  bbtrace user libc.so.6 malloc -p 1234 -t 1\n"
	 "  bbtrace user ./prog '*' --last 100 -- ./prog bad.conf\n"},
	{"kernel", "FUNC... [options] [-- CMD ARG...]",
	 "Trace entry, branches and return of functions of the running kernel and its modules.",
	 VERB_KERNEL, NULL, trace__check, trace__run,
	 "  bbtrace kernel vfs_read -- cat /etc/hostname\n"
	 "  bbtrace kernel do_sys_openat2 --args --if 'ret < 0' -t 10\n"
	 "  bbtrace kernel 'xfs_file_*' -p 1234\n"},
	{"trace", "SPEC... [options] [-- CMD ARG...]",
	 "Trace user:OBJECT:FUNC and kernel:FUNC together: a thread's calls in both are one tree.",
	 VERB_BOTH, NULL, trace__check, trace__run,
	 "  bbtrace trace user:libc.so.6:read kernel:vfs_read -- cat /etc/hostname\n"
	 "  bbtrace trace user:./prog:parse kernel:do_sys_openat2 -p 1234\n"
	 "  bbtrace trace user:./prog:main kernel:vfs_read -o both.bbt -- ./prog\n"},
	{"event", "NAME... [options] [-- CMD ARG...]",
	 "Trace events of the kernel and of programs by name: tracepoints, with their fields.",
	 VERB_EVENT, NULL, trace__check, trace__run,
	 "  bbtrace event 'sched:sched_process_exec' -t 60\n"
	 "  bbtrace event 'raw_syscalls:*' -k -- ./prog\n"
	 "  bbtrace event usdt:python3.11:function__entry -- python3 x.py\n"},
	{"watch", "WHERE... [options] -p PID | -- CMD ARG...",
	 "Show each access of a variable or an address: the instruction, the old and the new value.",
	 VERB_WATCH, NULL, trace__check, trace__run,
	 "  bbtrace watch counter -- ./prog\n"
	 "  bbtrace watch libc.so.6:environ:rw -p 1234\n"
	 "  bbtrace watch kernel:panic_timeout\n"},
	{"profile", "[options] [-- CMD ARG...]",
	 "Sample where threads are, by a timer on each CPU, with their call stacks.", VERB_PROFILE,
	 NULL, trace__check, trace__run,
	 "  bbtrace profile -- ./prog\n"
	 "  bbtrace profile -p nginx -t 5\n"
	 "  bbtrace profile -F svg -o flame.svg -- ./prog\n"},
	{"top", "[options] [-- CMD ARG...]",
	 "Show which functions keep the machine, or processes, busy; a new screen every 2 s.",
	 VERB_TOP, &options_top, top__check, top__run,
	 "  bbtrace top\n"
	 "  bbtrace top -p nginx\n"
	 "  bbtrace top -d 5 -- ./prog\n"},
	{"why", "[SPEC...] [options] -- CMD ARG...",
	 "Name the branch by which a system call of CMD failed, or CMD ended badly.", VERB_WHY,
	 &options_why, why__check, why__run,
	 "  bbtrace why -- ./prog bad.conf\n"
	 "  bbtrace why -s openat,mount -- ./prog\n"
	 "  bbtrace why --again -- ./prog\n"},
	{"cover", "[OBJECT...] [options] -- CMD ARG...",
	 "Show which lines, functions and branches CMD and its children run, of any build.",
	 VERB_COVER, &options_cover, cover__check, cover__run,
	 "  bbtrace cover -- ./prog input.txt\n"
	 "  bbtrace cover --objects 'build/**' -o cover.info -- make check\n"
	 "  bbtrace cover --objects build -o cobertura.xml --fail-under 80 -- ctest\n"},
	{"slow", "[OBJECT] FUNC... | OBJECT:FUNC... [options] [-- CMD ARG...]",
	 "Show what slow calls of a function do that others don't, and where they wait.", VERB_SLOW,
	 NULL, slow__check, slow__run,
	 "  bbtrace slow parse_line -- ./prog input.txt\n"
	 "  bbtrace slow libc.so.6 malloc -- ./prog\n"
	 "  bbtrace slow -p redis-server -t 10 'process*'\n"},
	{"list", "OBJECT|kernel [FUNC...] [options]",
	 "List functions, with address, size and number of branches.", VERB_LIST, &options_list,
	 list__check, list__run,
	 "  bbtrace list libc.so.6 'mem*'\n"
	 "  bbtrace list --sites ./prog parse_line\n"
	 "  bbtrace list --events kernel\n"},
	{"report", "FILE|- [FILE...] [FUNC...] [options]",
	 "Show a recorded trace, several as one, or a part of it, in any format.", VERB_REPORT,
	 &options_report, report__check, report__run,
	 "  bbtrace report trace.bbt parse_line --min-duration 1ms\n"
	 "  bbtrace report trace.bbt -F html -o trace.html\n"
	 "  bbtrace report --info trace.bbt\n"},
	{"merge", "FILE... -o FILE [options]",
	 "Add up what trace files have counted, of one build, by test or all together.", VERB_MERGE,
	 NULL, merge__check, merge__run,
	 "  bbtrace merge a.bbt b.bbt -o all.bbt\n"
	 "  bbtrace merge unit-*.bbt -o unit.bbt --tag unit\n"
	 "  bbtrace merge old.bbt new.bbt -o both.bbt --by-symbol\n"},
	{"diff", "A B [FUNC...] [options] | --pass FILE... --fail FILE... [FUNC...] [options]",
	 "Show where two traces part, or which branches distinguish failed runs from passed ones.",
	 VERB_DIFF, &options_diff, diff__check, diff__run,
	 "  bbtrace diff good.bbt bad.bbt\n"
	 "  bbtrace diff good.bbt bad.bbt -F html -o diff.html\n"
	 "  bbtrace diff --pass pass*.bbt --fail fail*.bbt\n"},
	{"core", "CORE [TRACE] [options]",
	 "Show a core dump's stacks, each beside the last branches that a trace has of its thread.",
	 VERB_CORE, &options_core, core__check, core__run,
	 "  bbtrace core core\n"
	 "  bbtrace core core prog.bbt\n"
	 "  bbtrace core core.zst --sysroot image\n"},
	{"stack", "PID|NAME [options]",
	 "Show where all threads of a process are, and what each waits for, without stopping it.",
	 VERB_STACK, NULL, stacks__check, stacks__run,
	 "  bbtrace stack 1234\n"
	 "  bbtrace stack nginx -k\n"
	 "  bbtrace stack 1234 -F json\n"},
	{"doctor", "[options]",
	 "Show what this kernel and machine support, and how to enable the rest.", VERB_DOCTOR,
	 &options_doctor, doctor__check, doctor__run,
	 "  bbtrace doctor\n"
	 "  bbtrace doctor -F json\n"
	 "  bbtrace doctor --calibrate\n"},
	{"ctl", "[PID|SOCKET] [COMMAND [TEXT]] [options]",
	 "List running traces, or control one: bbtrace ctl help lists the commands.", VERB_CTL,
	 &options_ctl, ctl__check, ctl__run,
	 "  bbtrace ctl\n"
	 "  bbtrace ctl 1234 counts\n"
	 "  bbtrace ctl 1234 stop\n"},
	{0},
};

const struct verb *verb__find(const char *name)
{
	for (const struct verb *v = verbs; v->name; v++)
		if (!strcmp(name, v->name))
			return v;
	return NULL;
}
