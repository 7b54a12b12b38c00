// SPDX-License-Identifier: BSD-2-Clause
/*
 * Return probes on kernel functions that may end in a tail call. The ret is then in the other
 * function, where a probe would be hit by all of its callers (_raw_spin_unlock, call_rcu). In the
 * kernel nothing unwinds the stack in a way that return probes would break. All are one event,
 * separate from the kprobes' event.
 */
#include "source/probes/session.h"
#include "tracefs.h"

/* The most simultaneous calls of one function, including sleeping ones. Returns of further calls
 * are not seen, but counted. The kernel's default, 2 per CPU, is for functions that don't sleep. */
#define AT_ONCE 512

static bool are_wanted(const struct probe *p)
{
	return plan__has_kernel(p->plan) && p->options->events & PLAN_RETURN;
}

static int define(int fd, const char *event, uint64_t addr)
{
	char line[160];

	/* as in kprobe_define(): two probes of one event must differ in an argument */
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

int kernel_returns__add(struct probe *p, int fd, uint32_t function)
{
	const struct plan_function *f = &p->plan->functions.data[function];
	char event[64];
	int err;

	tracefs__event_name(TRACEFS_KRETPROBE, shield__pid(), event, sizeof(event));
	err = define(fd, event, p->plan->sites.data[f->entry_site].vaddr);
	if (err)
		note_verbose("%s: the kernel refuses a return probe: %s", f->name, strerror(-err));
	else
		note_verbose(
			"%s: may end in a jump to another function: a return probe reports when "
			"that returns",
			f->name);
	return err;
}

uint32_t kernel_returns__define(struct probe *p, int fd)
{
	autofree bool *elsewhere = are_wanted(p) ? plan__ends_elsewhere(p->plan) : NULL;
	uint32_t defined = 0;

	for (size_t i = 0; elsewhere && i < p->plan->functions.len; i++)
		defined += elsewhere[i] && !kernel_returns__add(p, fd, i);
	return defined;
}
