// SPDX-License-Identifier: BSD-2-Clause
/* Samples: a timer on each CPU, whose program records what it interrupts. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "session.h"
#include "bbtrace.skel.h"

/* perf_event_open(2): the CPU's clock, which runs while it executes threads. */
static int open_clock(int cpu, uint64_t hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = hz,
		.freq = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int refuse(int err)
{
	return err__set(err, "cannot sample %s: %s%s", "by the CPUs' clocks", strerror(err),
			err == EACCES || err == EPERM ? "; run with sudo" : "");
}

static int attach_cpu(struct probe *p, uint32_t which, int cpu)
{
	LIBBPF_OPTS(bpf_perf_event_opts, o, .bpf_cookie = which);
	int fd = open_clock(cpu, p->options->sample_hz);
	struct bpf_link *link;

	if (fd < 0)
		return errno == ENODEV ? 0 : refuse(errno); /* the CPU is offline */
	link = bpf_program__attach_perf_event_opts(p->skel->progs.on_sample, fd, &o);
	if (!link) {
		int err = errno;

		close(fd);
		return refuse(err);
	}
	vec__push(&p->named, link);
	return 0;
}

int sample__attach(struct probe *p, uint32_t which)
{
	int cpus = libbpf_num_possible_cpus(), err = cpus < 0 ? refuse(-cpus) : 0;

	for (int cpu = 0; !err && cpu < cpus; cpu++)
		err = attach_cpu(p, which, cpu);
	return err;
}
