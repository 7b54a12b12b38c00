// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples: a timer on each CPU, or its counter of cycles, whose program records what it interrupts;
 * and what sampling itself costs.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "bbtrace.skel.h"

#define SAMPLED_CYCLES "cycles"

/* perf_event_open(2): the CPU's clock, which runs while it executes threads; or its cycles. */
static int open_clock(bool cycles, int cpu, uint64_t hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = hz,
		.freq = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Returns true if every CPU has them: a virtual machine usually has none. */
static bool has_cycles(void)
{
	int cpus = libbpf_num_possible_cpus();
	bool opened = false;

	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = open_clock(true, cpu, 1);

		if (fd < 0 && errno != ENODEV)
			return false;
		opened |= fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return opened;
}

const char *sample__clock(void)
{
	bool cycles = has_cycles();

	note_verbose("samples are taken %s", cycles ? "every so many cycles of each CPU"
						    : "by the CPUs' clocks: cycles can't be "
						      "counted here");
	return cycles ? SAMPLED_CYCLES : SAMPLED_TIME;
}

static int refuse(int err)
{
	return err__set(err, "cannot take samples: %s%s", strerror(err),
			err == EACCES || err == EPERM ? "; run with sudo" : "");
}

static int attach_cpu(struct probe *p, uint32_t which, int cpu)
{
	LIBBPF_OPTS(bpf_perf_event_opts, o, .bpf_cookie = which);
	bool cycles = !strcmp(p->plan->named.data[which].name, SAMPLED_CYCLES);
	int fd = open_clock(cycles, cpu, p->options->sample_hz);
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
	p->sampling.cpus++;
	return 0;
}

int sample__attach(struct probe *p, uint32_t which)
{
	int cpus = libbpf_num_possible_cpus(), err = cpus < 0 ? refuse(-cpus) : 0;

	/* This needs CAP_SYS_ADMIN; without it the cost isn't known. */
	p->sampling.stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	p->sampling.since = now_ns(CLOCK_MONOTONIC);
	for (int cpu = 0; !err && cpu < cpus; cpu++)
		err = attach_cpu(p, which, cpu);
	return err;
}

void sample__report(const struct probe *p)
{
	const struct sampling *s = &p->sampling;
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);
	uint64_t all = (now_ns(CLOCK_MONOTONIC) - s->since) * s->cpus;

	if (!s->cpus || s->stats < 0 || !all ||
	    bpf_prog_get_info_by_fd(bpf_program__fd(p->skel->progs.on_sample), &info, &len) ||
	    !info.run_cnt)
		return;
	note("sampling took %llu.%03llu ms in %llu interrupts, also of what isn't traced: %.3f%% of "
	     "the time of %u CPU%s",
	     (unsigned long long)info.run_time_ns / 1000000,
	     (unsigned long long)info.run_time_ns / 1000 % 1000, (unsigned long long)info.run_cnt,
	     100.0 * info.run_time_ns / all, s->cpus, s->cpus == 1 ? "" : "s");
}

void sample__end(struct probe *p)
{
	if (p->sampling.cpus && p->sampling.stats >= 0)
		close(p->sampling.stats);
	p->sampling = (struct sampling){0};
}
