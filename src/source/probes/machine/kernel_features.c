// SPDX-License-Identifier: BSD-2-Clause
/* What this kernel can do for probes, found by trying. features.c has the rows of doctor. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "source/probes/session.h"

int feature__lockdown(void)
{
	return kernel__is_locked_down() ? err__set(EPERM, "the kernel is locked down "
							  "(confidentiality): BPF may not read "
							  "its memory")
					: 0;
}

/* net/core/sysctl_net_core.c. Not there: the kernel can't, or this is a container. */
int feature__jit(void)
{
	autofree char *enabled = NULL;

	if (file__read("/proc/sys/net/core/bpf_jit_enable", 64, &enabled, NULL) || *enabled != '0')
		return 0;
	return err__set(ENOTSUP, "net.core.bpf_jit_enable is 0: BPF programs are interpreted, "
				 "slowly, and newer kernels refuse some of them");
}

int feature__load_program(int type, int attach)
{
	struct bpf_insn insns[] = {
		{.code = 0xb7 /* BPF_ALU64 | BPF_MOV | BPF_K: r0 = 0 */},
		{.code = 0x95 /* BPF_JMP | BPF_EXIT */},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = (enum bpf_attach_type)attach);
	int fd = bpf_prog_load((enum bpf_prog_type)type, NULL, "Dual BSD/GPL", insns,
			       ARRAY_SIZE(insns), &o);

	if (fd >= 0)
		return fd;
	if (errno == EPERM)
		return err__set(
			EPERM,
			"loading BPF programs is not permitted: needs CAP_BPF and CAP_PERFMON");
	return err__set(errno, "cannot load a BPF program: %s", strerror(errno));
}

/* enum bpf_attach_type of include/uapi/linux/bpf.h; older headers lack it */
#define TRACE_KPROBE_MULTI ((enum bpf_attach_type)42)
#define TRACE_UPROBE_MULTI ((enum bpf_attach_type)48)

/* A link to "/", which no kernel accepts: -EBADF shows that the kernel knows such links. */
int feature__multi_answer(int prog, pid_t pid)
{
	const unsigned long offset = 0;
	LIBBPF_OPTS(bpf_link_create_opts, o, .uprobe_multi.path = "/",
		    .uprobe_multi.offsets = &offset, .uprobe_multi.cnt = 1,
		    .uprobe_multi.pid = pid);
	int link = bpf_link_create(prog, -1, TRACE_UPROBE_MULTI, &o);

	return link < 0 ? -errno : (close(link), 0);
}

static int multi_answer(pid_t pid)
{
	int fd = feature__load_program(BPF_PROG_TYPE_KPROBE, TRACE_UPROBE_MULTI), err;

	if (fd < 0)
		return fd;
	err = feature__multi_answer(fd, pid);
	close(fd);
	return err;
}

int feature__uprobe_multi(void)
{
	int err = multi_answer(0);

	if (err == -EBADF)
		return 0;
	if (err == -EPERM)
		return err;
	return err__set(ENOTSUP, "this kernel has no uprobe_multi links");
}

bool feature__uprobe_multi_by_process(void)
{
	static int answer; /* 0: not asked yet */

	/* kernels that filter by process refuse a negative pid before they look at the path */
	if (!answer)
		answer = multi_answer(-1);
	return answer == -EINVAL;
}

bool feature__inherited_events(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID,
		.inherit = 1,
	};
	static int answer; /* 0: not asked yet, 1: yes, -1: no */

	if (!answer) {
		autoclose int fd =
			syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

		answer = fd < 0 ? -1 : 1;
	}
	return answer > 0;
}

/* Present wherever BPF can trace (net/bpf/test_run.c). */
int feature__kprobe_multi(void)
{
	const char *name = "bpf_fentry_test1";
	LIBBPF_OPTS(bpf_link_create_opts, o, .kprobe_multi.syms = &name, .kprobe_multi.cnt = 1);
	autoclose int prog = feature__load_program(BPF_PROG_TYPE_KPROBE, TRACE_KPROBE_MULTI);
	autoclose int link = prog < 0 ? -1 : bpf_link_create(prog, -1, TRACE_KPROBE_MULTI, &o);

	if (prog < 0 || link >= 0)
		return min_of(prog, 0);
	return errno == EPERM ? -EPERM : err__set(ENOTSUP, "this kernel has no kprobe_multi links");
}
