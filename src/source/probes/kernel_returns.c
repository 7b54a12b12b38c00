// SPDX-License-Identifier: BSD-2-Clause
/*
 * Return probes on functions of the kernel that may end in a jump to another one: their rets are
 * that one's, and a probe there would be everybody's (_raw_spin_unlock, call_rcu). Here nothing
 * unwinds a stack that the probes would mislead. One event with all of them, beside the kprobes'.
 */
#include <stdlib.h>
#include <unistd.h>
#include "session.h"
#include "tracefs.h"

/* Calls at once of one function, those that sleep in it among them; what finds none left is not
 * seen to return, and counted. The kernel's own number, 2 a CPU, is for functions that don't. */
#define AT_ONCE 512

static bool are_wanted(const struct probe *p)
{
	return plan__has_kernel(p->plan) && p->options->events & PLAN_RETURN;
}

static int define(int fd, const char *event, uint64_t addr)
{
	char line[160];

	/* as in kprobe_define(): two of one event must differ in an argument */
	snprintf(line, sizeof(line), "r%d:%s 0x%llx at=\\0x%llx:x64\n", AT_ONCE, event,
		 (unsigned long long)addr, (unsigned long long)addr);
	return tracefs__define(fd, line);
}

bool kernel_returns__needed(const struct probe *p)
{
	autofree bool *elsewhere = are_wanted(p) ? plan__ends_elsewhere(p->plan) : NULL;

	for (size_t i = 0; elsewhere && i < p->plan->functions.len; i++)
		if (elsewhere[i])
			return true;
	return false;
}

uint32_t kernel_returns__define(struct probe *p, int fd)
{
	autofree bool *elsewhere = are_wanted(p) ? plan__ends_elsewhere(p->plan) : NULL;
	uint32_t defined = 0;
	char event[64];

	tracefs__event_name(TRACEFS_KRETPROBE, getpid(), event, sizeof(event));
	for (size_t i = 0; elsewhere && i < p->plan->functions.len; i++) {
		const struct plan_function *f = &p->plan->functions.data[i];
		int err = elsewhere[i] ? define(fd, event, p->plan->sites.data[f->entry_site].vaddr)
				       : 0;

		if (err)
			note_verbose("%s: the kernel refuses a return probe: %s", f->name,
				     strerror(-err));
		else if (elsewhere[i])
			note_verbose("%s: may end in a jump to another function: a return probe "
				     "tells when that returns",
				     f->name);
		defined += elsewhere[i] && !err;
	}
	return defined;
}
