// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pins the tracepoints that a trace uses. A tracepoint's first and second user patch the function
 * that it is in (static key and static call, kernel/tracepoint.c, tracepoint_add_func()): fork,
 * exec and exit would then differ from the code that was read before.
 */
#include <unistd.h>
#include <bpf/bpf.h>
#include "source/probes/session.h"

static const char *const names[] = {"sched_process_fork", "sched_process_exec",
				    "sched_process_exit"};
#define USERS 2

static int load_empty_program(void)
{
	struct bpf_insn insns[] = {
		{.code = 0xb7 /* BPF_ALU64 | BPF_MOV | BPF_K: r0 = 0 */},
		{.code = 0x95 /* BPF_JMP | BPF_EXIT */},
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "hold", "Dual BSD/GPL", insns,
			     ARRAY_SIZE(insns), NULL);
}

void tracepoints__pin(struct tracepoints *t)
{
	for (int user = 0; user < USERS; user++) {
		autoclose int program = load_empty_program();

		for (size_t i = 0; program >= 0 && i < ARRAY_SIZE(names); i++) {
			int fd = bpf_raw_tracepoint_open(names[i], program);

			if (fd >= 0)
				vec__push(&t->fds, fd);
		}
	}
	if (t->fds.len < USERS * ARRAY_SIZE(names))
		note_verbose("fork, exec and exit may show code that their tracepoints replace");
}

void tracepoints__release(struct tracepoints *t)
{
	int *fd;

	vec__each (fd, &t->fds)
		close(*fd);
	vec__free(&t->fds);
}
