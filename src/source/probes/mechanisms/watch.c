// SPDX-License-Identifier: BSD-2-Clause
/*
 * Watchpoints: hardware breakpoints as perf events (include/uapi/linux/hw_breakpoint.h), which run
 * the BPF program. A program's are opened by thread, and inherited by what that makes; the kernel's
 * by CPU.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/maps/filters.h"
#include "source/probes/session.h"
#include "bbtrace.skel.h"

#define VALUES 8192 /* values that are remembered: by process and watchpoint */

bool watches__are_planned(const struct probe *p)
{
	return plan__has_named(p->plan, NAMED_WATCHPOINT);
}

void watches__size(struct probe *p)
{
	map__set_most(p->skel->maps.watch_values, watches__are_planned(p) ? VALUES : 0);
	bpf_program__set_autoload(p->skel->progs.on_watch, watches__are_planned(p));
}

/* ---- events ---- */

static struct perf_event_attr attr_of(const struct probe *p, const struct probe_watch *w)
{
	static const uint32_t types[] = {[PROBE_WATCH_WRITE] = HW_BREAKPOINT_W,
					 [PROBE_WATCH_ANY] = HW_BREAKPOINT_RW,
					 [PROBE_WATCH_EXEC] = HW_BREAKPOINT_X};

	return (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(struct perf_event_attr),
		.bp_type = types[w->access],
		.bp_addr = w->addr,
		.bp_len = w->access == PROBE_WATCH_EXEC ? sizeof(long) : w->len,
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = w->user_only,
		.exclude_hv = 1,
		.inherit = !w->kernel,
		/* threads alone, unless children are followed, and no other program's */
		.inherit_thread = !w->kernel && !p->options->filters.follow,
		.remove_on_exec = !w->kernel,
	};
}

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 || errno != EINVAL || (!attr->inherit_thread && !attr->remove_on_exec))
		return fd < 0 ? -errno : fd;
	/* before Linux 5.13 */
	attr->inherit_thread = attr->remove_on_exec = 0;
	fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int refuse(const struct probe_watch *w, int err)
{
	if (err == -ENOSPC)
		return err__set(ENOSPC,
				"cannot watch %s: all debug registers are in use (x86-64 has "
				"four), by this trace, a debugger or perf",
				w->name);
	if (err == -EACCES || err == -EPERM)
		return err__set(EPERM, "cannot watch %s: needs CAP_PERFMON; run with sudo",
				w->name);
	if (err == -EINVAL && w->kernel)
		return err__set(ENOTSUP,
				"cannot watch %s: this kernel has no hardware breakpoints %s",
				w->name,
				w->access == PROBE_WATCH_EXEC ? "on its code (CONFIG_KPROBES), or "
								"not there"
							      : "on its memory");
	if (err == -ENODEV || err == -ENOENT || err == -EOPNOTSUPP)
		return err__set(ENOTSUP,
				"cannot watch %s: this machine has no hardware breakpoints",
				w->name);
	return err__set(-err, "cannot watch %s: %s", w->name, strerror(-err));
}

/* Returns true if only what is traced can have hit it. Not if the BPF program's own reads do. */
static bool is_counted(const struct probe_watch *w)
{
	return w->access != PROBE_WATCH_ANY || w->user_only || w->kernel;
}

static int add_event(struct probe *p, const struct probe_watch *w, pid_t tid, int cpu)
{
	struct perf_event_attr attr = attr_of(p, w);
	int fd = open_event(&attr, tid, cpu), err = 0;

	/* the thread has ended, or the CPU is offline */
	if (fd == -ESRCH || (cpu >= 0 && (fd == -ENODEV || fd == -ENXIO)))
		return 0;
	if (fd < 0)
		return refuse(w, fd);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(p->skel->progs.on_watch)) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		err = -errno;
	if (err) {
		close(fd);
		return refuse(w, err);
	}
	vec__push(&p->watches, ((struct watch_event){fd, is_counted(w)}));
	return 0;
}

/* ---- what doesn't report ---- */

/* A virtual machine may accept breakpoints and never report a hit: this tries one. Returns false if
 * no hit came. */
static bool reports(void)
{
	static volatile uint64_t watched;
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_W,
				       .bp_addr = (uintptr_t)&watched,
				       .bp_len = sizeof(watched),
				       .exclude_kernel = 1};
	autoclose int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t hits = 0;

	watched = watched + 1;
	/* if it can't be opened, that is what is reported */
	return fd < 0 || (read(fd, &hits, sizeof(hits)) == sizeof(hits) && hits);
}

static int refuse_unreported(const char *what)
{
	return err__set(ENOTSUP,
			"cannot watch %s: this machine has no hardware breakpoints: it takes them, "
			"as a virtual machine may, but reports no access",
			what);
}

/* ---- doctor ---- */

static int can_watch(const void *addr, uint32_t type, const char *what)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = type,
				       .bp_addr = (uintptr_t)addr,
				       .bp_len = sizeof(long),
				       .exclude_kernel = type == HW_BREAKPOINT_W,
				       .disabled = 1};
	autoclose int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return err__set(errno, "cannot set a breakpoint on memory of %s: %s", what,
				strerror(errno));
	return reports() ? 0 : refuse_unreported("anything");
}

int feature__accesses(void)
{
	const struct arch *arch = arch__native();

	if (arch && arch->accesses && !arch->unwatched)
		return 0;
	return err__set(ENOSYS, "%s",
			arch && arch->unwatched
				? arch->unwatched
				: "what this machine's instructions access can't be decoded");
}

int feature__watchpoints(void)
{
	static const uint64_t watched;
	int err = feature__accesses();

	return err ? err : can_watch(&watched, HW_BREAKPOINT_W, "a program");
}

/* The kernel's half begins here: nothing is at this address, so nothing hits it. */
int feature__kernel_watchpoints(void)
{
	int err = feature__accesses();

	return err ? err
		   : can_watch((const void *)(uintptr_t)0xffff800000000000, HW_BREAKPOINT_RW,
			       "the kernel");
}

/* ---- what is watched ---- */

void probe__note_value(struct source *s, const struct probe_watch *w)
{
	struct probe *p = (struct probe *)s;
	struct wire_watch_key key = {.addr = w->addr, .pid = w->pid};
	uint64_t word;
	struct iovec to = {&word, sizeof(word)},
		     from = {(void *)(uintptr_t)(w->addr & ~7ull), sizeof(word)};

	if (w->pid && process_vm_readv(w->pid, &to, 1, &from, 1, 0) == sizeof(word))
		bpf_map__update_elem(p->skel->maps.watch_values, &key, sizeof(key), &word,
				     sizeof(word), BPF_NOEXIST);
}

static int know_address(struct probe *p, const struct probe_watch *w)
{
	struct wire_watch value = {.which = w->which, .counted = is_counted(w)}, known;
	struct bpf_map *map = p->skel->maps.watches;

	if (!bpf_map__lookup_elem(map, &w->addr, 8, &known, sizeof(known), 0))
		return known.which == w->which
			       ? 0
			       : err__set(EEXIST,
					  "%s is at the same address as another watchpoint: "
					  "watch them in two traces",
					  w->name);
	if (bpf_map__update_elem(map, &w->addr, 8, &value, sizeof(value), BPF_ANY))
		return err__set(ENOSPC, "too many watchpoints: at most %d addresses", WIRE_WATCHES);
	if (!w->kernel)
		p->skel->bss->watch_addrs[p->nwatched++ % WIRE_WATCHES] = w->addr;
	return 0;
}

static int watch_cpus(struct probe *p, const struct probe_watch *w)
{
	int cpus = libbpf_num_possible_cpus(), err = 0, opened = p->watches.len;

	for (int cpu = 0; !err && cpu < cpus; cpu++)
		err = add_event(p, w, -1, cpu);
	return !err && (int)p->watches.len == opened ? refuse(w, -ENODEV) : err;
}

static bool has(const pid_vec *v, uint32_t tid)
{
	const uint32_t *t;

	vec__each (t, v)
		if (*t == tid)
			return true;
	return false;
}

/* Threads that began in between may have inherited it, or not. */
static void report_new(const struct probe_watch *w, const pid_vec *before)
{
	pid_vec now = {0};
	const uint32_t *tid;
	unsigned more = 0;

	process__threads(w->pid, &now);
	vec__each (tid, &now)
		more += !has(before, *tid);
	vec__free(&now);
	if (more)
		note("%u threads of %u began while %s was being watched: what they do may be "
		     "missing",
		     more, w->pid, w->name);
}

static int watch_process(struct probe *p, const struct probe_watch *w)
{
	pid_vec tids = {0};
	const uint32_t *tid;
	int err = 0;

	process__threads(w->pid, &tids);
	vec__each (tid, &tids)
		if (!err)
			err = add_event(p, w, *tid, -1);
	if (!err)
		report_new(w, &tids);
	vec__free(&tids);
	return err;
}

int probe__watch(struct source *s, const struct probe_watch *w)
{
	struct probe *p = (struct probe *)s;
	int err = know_address(p, w);

	if (err)
		return err;
	if (!p->watches.len && !reports())
		return refuse_unreported(w->name);
	return w->kernel ? watch_cpus(p, w) : watch_process(p, w);
}

/* ---- the end ---- */

/* Returns the hits that the events have counted, those of children included. */
static uint64_t count_hits(const struct probe *p)
{
	uint64_t all = 0, n;
	const struct watch_event *e;

	vec__each (e, &p->watches)
		if (e->counted && read(e->fd, &n, sizeof(n)) == sizeof(n))
			all += n;
	return all;
}

uint64_t watches__missed(const struct probe *p)
{
	uint64_t hits = p->watches.len ? count_hits(p) : 0;
	uint64_t ran = p->skel ? p->skel->bss->watch_hits : 0;

	return hits > ran ? hits - ran : 0;
}

void watches__detach(struct probe *p)
{
	const struct watch_event *e;

	vec__each (e, &p->watches)
		close(e->fd);
	vec__free(&p->watches);
}
