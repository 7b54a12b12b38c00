// SPDX-License-Identifier: BSD-2-Clause
/* The table of verbs. main.c parses, prints help and errors, and frees for all of them. */
#include "cli/option.h"
#include "verbs.h"
#include "cli/request.h"

const struct verb verbs[] = {
	{"user", "[OBJECT] FUNC... | OBJECT:FUNC... [options] [-- CMD ARG...]",
	 "Trace entry, branches and return of functions of a program or shared library.", VERB_USER,
	 NULL, trace__check, trace__run},
	{"kernel", "FUNC... [options] [-- CMD ARG...]",
	 "Trace entry, branches and return of functions of the running kernel and its modules.",
	 VERB_KERNEL, NULL, trace__check, trace__run},
	{"trace", "SPEC... [options] [-- CMD ARG...]",
	 "Trace user:OBJECT:FUNC and kernel:FUNC together: a thread's calls in both are one tree.",
	 VERB_BOTH, NULL, trace__check, trace__run},
	{"event", "NAME... [options] [-- CMD ARG...]",
	 "Trace events of the kernel and of programs by name: tracepoints, with their fields.",
	 VERB_EVENT, NULL, trace__check, trace__run},
	{"watch", "WHERE... [options] -p PID | -- CMD ARG...",
	 "Show each access of a variable or an address: the instruction, the old and the new value.",
	 VERB_WATCH, NULL, trace__check, trace__run},
	{"profile", "[options] [-- CMD ARG...]",
	 "Sample where threads are, by a timer on each CPU, with their call stacks.", VERB_PROFILE,
	 NULL, trace__check, trace__run},
	{"why", "[SPEC...] [options] -- CMD ARG...",
	 "Name the branch by which a system call of CMD failed, or CMD ended badly.", VERB_WHY,
	 &options_why, why__check, why__run},
	{"list", "OBJECT|kernel [FUNC...] [options]",
	 "List functions, with address, size and number of branches.", VERB_LIST, &options_list,
	 list__check, list__run},
	{"report", "FILE|- [FILE...] [FUNC...] [options]",
	 "Show a recorded trace, several as one, or a part of it, in any format.", VERB_REPORT,
	 &options_report, report__check, report__run},
	{"merge", "FILE... -o FILE [options]",
	 "Add up what trace files have counted, of one build, by test or all together.", VERB_MERGE,
	 NULL, merge__check, merge__run},
	{"diff", "A B [FUNC...] [options] | --pass FILE... --fail FILE... [FUNC...] [options]",
	 "Show where two traces part, or which branches distinguish failed runs from passed ones.",
	 VERB_DIFF, &options_diff, diff__check, diff__run},
	{"core", "CORE [TRACE] [options]",
	 "Show a core dump's stacks, each beside the last branches that a trace has of its thread.",
	 VERB_CORE, &options_core, core__check, core__run},
	{"stack", "PID|NAME [options]",
	 "Show where all threads of a process are, and what each waits for, without stopping it.",
	 VERB_STACK, NULL, stacks__check, stacks__run},
	{"doctor", "[options]",
	 "Show what this kernel and machine support, and how to enable the rest.", VERB_DOCTOR,
	 &options_doctor, doctor__check, doctor__run},
	{"ctl", "[PID|SOCKET] [COMMAND [TEXT]] [options]",
	 "List running traces, or control one: bbtrace ctl help lists the commands.", VERB_CTL,
	 &options_ctl, ctl__check, ctl__run},
	{0},
};

const struct verb *verb__find(const char *name)
{
	for (const struct verb *v = verbs; v->name; v++)
		if (!strcmp(name, v->name))
			return v;
	return NULL;
}
