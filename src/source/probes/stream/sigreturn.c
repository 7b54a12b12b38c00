// SPDX-License-Identifier: BSD-2-Clause
/*
 * When handlers of signals return, for counts: a kprobe on the system call by which they do. A
 * tracepoint of all system calls would cost every process of the machine something at each of them;
 * this one costs those whose handlers return. Without it, a handler that interrupted counted code
 * leaves a count open, whether it returns or not.
 */
#include <errno.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "bbtrace.skel.h"

#define KPROBES "/sys/bus/event_source/devices/kprobe/type"

bool sigreturn__needed(const struct probe *p)
{
	const struct arch_kernel *kernel = p->plan->arch->kernel;

	return probe__counts(p) && p->programs.mechanism && kernel && kernel->syscalls &&
	       !access(KPROBES, F_OK);
}

/* The first of the wrappers is that of the programs that are traced. */
void sigreturn__attach(struct probe *p)
{
	const struct arch_kernel *kernel = p->plan->arch->kernel;
	LIBBPF_OPTS(bpf_kprobe_opts, o, .attach_mode = PROBE_ATTACH_MODE_LINK,
		    .offset = kernel->ftrace_keeps ? kernel->ftrace_size : 0);
	autofree char *name = xasprintf("%srt_sigreturn", kernel->syscalls[0].prefix);

	p->sigreturn = bpf_program__attach_kprobe_opts(p->skel->progs.on_sigreturn, name, &o);
	if (!p->sigreturn)
		note_verbose("that handlers of signals return is not seen: a kprobe on %s: %s",
			     name, strerror(errno));
}
