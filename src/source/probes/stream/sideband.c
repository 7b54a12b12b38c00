// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sideband events: one perf dummy event per CPU with mmap2, comm and task records, in
 * CLOCK_MONOTONIC like the probes. A record is in its ring before the program runs on, so
 * collecting after the probes' records and sorting by time gives the true order.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "source/probes/session.h"
#include "sideband.h"

#define RING_PAGES 128 /* a power of two */

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

struct sideband {
	VEC(struct ring) rings;
	VEC(struct sideband_event) events; /* own their texts */
	size_t next;
	size_t page_size;
	enum scope_kind scope;
	bool descendants;    /* events of all descendants are given, whatever the scope */
	struct map64 inside; /* unless SCOPE_ALL: the processes in the scope */
	uint64_t left_children;
};

static int open_cpu(struct sideband *s, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.watermark = 1,
	};
	struct ring r = {
		.fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)};

	if (r.fd < 0)
		return -errno;
	r.page = mmap(NULL, (RING_PAGES + 1) * s->page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      r.fd, 0);
	if (r.page == MAP_FAILED) {
		close(r.fd);
		return errno == EPERM ? -ENOMEM
				      : -errno; /* perf_mmap() returns that for too much memory */
	}
	vec__push(&s->rings, r);
	return 0;
}

static int explain(int err)
{
	if (err == ENOMEM)
		return err__set(err,
				"cannot map the rings of perf events: %s; raise ulimit -l, or "
				"run with CAP_IPC_LOCK",
				strerror(err));
	if (err == EACCES && privileges__perf_needs_admin())
		return err__set(err,
				"cannot follow processes with perf_event_open: this kernel wants "
				"CAP_SYS_ADMIN for it; run with sudo, or sudo sysctl "
				"kernel.perf_event_paranoid=2");
	return err__set(err,
			"cannot follow processes with perf_event_open: %s; run with sudo "
			"(CAP_PERFMON)",
			strerror(err));
}

int sideband__open(struct sideband **out)
{
	struct sideband *s = xcalloc(1, sizeof(*s));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	s->page_size = sysconf(_SC_PAGESIZE);
	for (long cpu = 0; cpu < cpus; cpu++) {
		int err = open_cpu(s, cpu);

		if (err == -ENODEV) /* an offline CPU */
			continue;
		if (err) {
			sideband__close(s);
			return explain(-err);
		}
	}
	*out = s;
	return 0;
}

/* Drops the first n events. */
static void drop(struct sideband *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free((char *)s->events.data[i].text);
	s->events.len -= n;
	if (n && s->events.len)
		memmove(s->events.data, s->events.data + n,
			s->events.len * sizeof(*s->events.data));
	s->next = 0;
}

void sideband__close(struct sideband *s)
{
	struct ring *r;

	if (!s)
		return;
	vec__each (r, &s->rings) {
		munmap(r->page, (RING_PAGES + 1) * s->page_size);
		close(r->fd);
	}
	drop(s, s->events.len);
	vec__free(&s->rings);
	vec__free(&s->events);
	map64__free(&s->inside);
	free(s);
}

/* kernel/events/core.c, perf_event_pid_type(): PIDs not visible in bbtrace's PID namespace are 0,
 * dead ones -1. */
static bool is_visible(uint32_t pid)
{
	return pid && pid != UINT32_MAX;
}

/* ---- the scope ---- */

void sideband__limit(struct sideband *s, const struct scope *scope, bool descendants)
{
	const uint32_t *pid;

	s->scope = scope->kind;
	s->descendants = descendants;
	vec__each (pid, &scope->pids)
		map64__put(&s->inside, *pid);
}

uint64_t sideband__left_children(const struct sideband *s)
{
	return s->left_children;
}

/* Called in chronological order: a process is known by its fork, and its PID may be reused outside
 * of the scope. */
static bool is_inside(struct sideband *s, const struct sideband_event *e)
{
	if (s->scope == SCOPE_ALL || e->type == SIDEBAND_LOST)
		return true;
	if (e->type == SIDEBAND_FORK && e->pid != e->ppid) {
		bool child = map64__get(&s->inside, e->ppid);

		if (child && (s->scope == SCOPE_DESCENDANTS || s->descendants))
			map64__put(&s->inside, e->pid);
		else
			map64__del(&s->inside, e->pid);
		s->left_children += child && s->scope == SCOPE_PROCESSES;
	}
	return map64__get(&s->inside, e->pid);
}

/* ---- records ---- */

/* include/uapi/linux/perf_event.h, enum perf_event_type; sample_id {pid, tid, time} ends each
 * record. */
static void take(struct sideband *s, const struct perf_event_header *h)
{
	const char *p = (const char *)(h + 1), *end = (const char *)h + h->size;
	struct sideband_event e = {0};
	autofree char *path = NULL;
	struct {
		uint32_t pid, ppid, tid, ptid;
	} task;
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, offset;
		uint32_t major, minor;
		uint64_t ino, generation;
		uint32_t prot, flags;
	} map;

	if (h->size < sizeof(*h) + 16)
		return;
	memcpy(&e.time, end - 8, 8);
	switch (h->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		memcpy(&task, p, sizeof(task));
		e.type = h->type == PERF_RECORD_FORK ? SIDEBAND_FORK : SIDEBAND_EXIT;
		e.pid = task.pid, e.tid = task.tid, e.ppid = task.ppid, e.ptid = task.ptid;
		break;
	case PERF_RECORD_COMM:
		e.type = h->misc & PERF_RECORD_MISC_COMM_EXEC ? SIDEBAND_EXEC : SIDEBAND_COMM;
		memcpy(&e.pid, p, 4);
		memcpy(&e.tid, p + 4, 4);
		e.text = xstrndup(p + 8, end - 16 - (p + 8));
		break;
	case PERF_RECORD_MMAP2:
		memcpy(&map, p, sizeof(map));
		if (!(map.prot & PROT_EXEC))
			return;
		e = (struct sideband_event){.type = SIDEBAND_MAP,
					    .time = e.time,
					    .pid = map.pid,
					    .tid = map.tid,
					    .start = map.addr,
					    .len = map.len,
					    .offset = map.offset,
					    .major = map.major,
					    .minor = map.minor,
					    .ino = map.ino};
		path = xstrndup(p + sizeof(map), end - 16 - (p + sizeof(map)));
		e.text = path__undeleted(path);
		break;
	case PERF_RECORD_LOST:
		e.type = SIDEBAND_LOST;
		memcpy(&e.count, p + 8, 8);
		break;
	default:
		return;
	}
	if (e.type == SIDEBAND_LOST || is_visible(e.pid))
		vec__push(&s->events, e);
	else
		free((char *)e.text);
}

static void collect_ring(struct sideband *s, struct ring *r)
{
	const char *data = (const char *)r->page + s->page_size;
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE),
		 tail = r->page->data_tail;
	uint64_t size = RING_PAGES * s->page_size;
	union {
		struct perf_event_header h;
		char bytes[65536];
	} record;

	while (tail < head) {
		uint64_t at = tail % size, first;

		memcpy(&record.h, data + at,
		       sizeof(record.h)); /* headers are 8 bytes and aligned: never split */
		first = min_of((uint64_t)record.h.size, size - at);
		memcpy(record.bytes, data + at, first);
		memcpy(record.bytes + first, data, record.h.size - first);
		take(s, &record.h);
		tail += record.h.size;
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
	const struct sideband_event *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

void sideband__collect(struct sideband *s)
{
	struct ring *r;

	drop(s, s->next);
	vec__each (r, &s->rings)
		collect_ring(s, r);
	vec__sort(&s->events, by_time);
}

void sideband__forget(struct sideband *s)
{
	sideband__collect(s);
	drop(s, s->events.len);
}

const struct sideband_event *sideband__next(struct sideband *s, uint64_t until)
{
	while (s->next < s->events.len && s->events.data[s->next].time <= until) {
		const struct sideband_event *e = &s->events.data[s->next++];

		if (is_inside(s, e))
			return e;
	}
	return NULL;
}
