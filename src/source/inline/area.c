// SPDX-License-Identifier: BSD-2-Clause
/*
 * The shared memory that threads write their logs to. The program is made to map it, so that no
 * descriptor of it shows up there; it is opened by way of /proc/PID/map_files.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "source/inline/tracer.h"

#define USE_SHIFT 24	       /* the n-th use of a slot begins with segment n << 24 */
#define PATIENCE  (1ull << 31) /* ticks, until the reader says how many */

static uint64_t map_area(struct thread *t, uint64_t size)
{
	int64_t got;

	for (uint64_t at = LOG_AREAS; at < LOG_AREAS_END; at += LOG_AREA_STEP) {
		got = thread__call(t, SYS_mmap, at, size, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				   (uint64_t)-1, 0);
		if (got == (int64_t)at) {
			thread__call(t, SYS_madvise, at, size, MADV_DONTDUMP, 0, 0, 0);
			return at;
		}
		if (got != -EEXIST)
			break;
	}
	return 0;
}

static int open_area(pid_t pid, uint64_t at, uint64_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)at,
		 (unsigned long long)(at + size));
	return open(path, O_RDWR | O_CLOEXEC);
}

static void say_area(struct tracer *s, const struct area *a, pid_t pid, int fd)
{
	struct say say = {.type = SAY_AREA,
			  .pid = (uint32_t)pid,
			  .tid = (uint32_t)pid,
			  .area = a->number,
			  .base = a->base,
			  .size = a->size};

	tracer__say(s, &say, fd);
}

static uint64_t owners_at(uint64_t slot_size)
{
	return AREA_SLOTS * slot_size;
}

static uint64_t area_size(uint64_t slot_size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (owners_at(slot_size) + LOG_OWNERS_SIZE + page - 1) & -page;
}

bool thread__may_map_area(struct thread *t)
{
	uint64_t size = area_size(copies__slot_size(t->tracer->copies)), at = map_area(t, size);

	if (at)
		thread__call(t, SYS_munmap, at, size, 0, 0, 0, 0);
	return at;
}

static struct area *new_area(struct thread *t)
{
	uint64_t slot_size = copies__slot_size(t->tracer->copies), size = area_size(slot_size);
	uint64_t at = map_area(t, size);
	int fd = at ? open_area(t->process->pid, at, size) : -1;
	void *mem = fd >= 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
				   fd, 0)
			    : MAP_FAILED;
	struct area *a;

	if (mem == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		if (at)
			thread__call(t, SYS_munmap, at, size, 0, 0, 0, 0);
		return NULL;
	}
	a = xcalloc(1, sizeof(*a));
	a->number = t->tracer->nareas++;
	a->refs = 1;
	a->base = at;
	a->size = size;
	a->slot_size = slot_size;
	a->mem = mem;
	vec__push(&t->process->space->areas, a);
	say_area(t->tracer, a, t->process->pid, fd);
	return a;
}

void area__drop(struct tracer *s, struct area *a)
{
	struct say say = {.type = SAY_AREA_GONE, .area = a->number};

	if (--a->refs)
		return;
	tracer__say(s, &say, -1);
	munmap(a->mem, a->size);
	free(a);
}

/* ---- slots ---- */

static struct log_ring *ring_of(const struct area *a, uint32_t slot)
{
	return (struct log_ring *)(void *)(a->mem + slot * a->slot_size);
}

static bool take_from(struct thread *t, struct area *a)
{
	for (uint32_t i = 0; i < AREA_SLOTS; i++) {
		if (a->slots[i].busy)
			continue;
		a->slots[i].busy = true;
		t->area = a;
		t->slot = i;
		return true;
	}
	return false;
}

static bool take(struct thread *t)
{
	struct area *const *a;
	struct area *more;

	vec__each (a, &t->process->space->areas)
		if (take_from(t, *a))
			return true;
	more = new_area(t);
	return more && take_from(t, more);
}

/* One table for all threads that share memory. */
static uint64_t owners_of(const struct space *s)
{
	const struct area *first = s->areas.data[0];

	return first->base + owners_at(first->slot_size);
}

/* Written by way of the process, so that its page table has the page. Nobody reads it if the
 * process is quiet: all is dropped. */
static bool begin_ring(struct thread *t)
{
	uint64_t base = t->area->base + t->slot * t->area->slot_size;
	uint64_t first = (uint64_t)t->area->slots[t->slot].uses++ << USE_SHIFT;
	struct log_ring r = {.cursor = base + LOG_RING_AT,
			     .segments = first,
			     .base = base,
			     .released = first,
			     .beat = t->tracer->arch->ticks(),
			     .patience = PATIENCE,
			     .stack_start = t->stack.start,
			     .stack_end = t->stack.end,
			     .owners = owners_of(t->process->space),
			     .g = LOG_GOROUTINE_UNTOLD};

	if (t->process->quiet) {
		r.kept = r.cursor;
		r.released = first - LOG_SEGMENTS;
		r.patience = 0;
	} else {
		r.limit = r.cursor + LOG_SEGMENT - LOG_RECORD_MAX;
	}
	if (first)
		memset(t->area->mem + t->slot * t->area->slot_size + LOG_COUNTERS_AT, 0,
		       t->tracer->copies->counted.len * sizeof(uint64_t));
	return space__write(t->process->space, base, &r, sizeof(r));
}

static void read_comm(const struct thread *t, char *out, size_t n)
{
	autofree char *comm = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", t->process->pid, t->tid);
	if (!file__read(path, 64, &comm, NULL))
		snprintf(out, n, "%.*s", (int)strcspn(comm, "\n"), comm);
}

static void say_ring(struct thread *t, pid_t parent, uint64_t forked)
{
	struct say say = {.type = SAY_RING,
			  .pid = (uint32_t)t->process->pid,
			  .tid = (uint32_t)t->tid,
			  .area = t->area->number,
			  .slot = t->slot,
			  .ptid = (uint32_t)parent,
			  .time = now_ns(CLOCK_MONOTONIC),
			  .position = thread__position(t),
			  .forked = parent ? forked : 0,
			  .sp = thread__get(t, TRACEE_SP)};

	if (t->ran)
		read_comm(t, say.text, sizeof(say.text));
	t->said = true;
	tracer__say(t->tracer, &say, -1);
}

bool thread__get_slot(struct thread *t, pid_t parent, uint64_t forked)
{
	if (t->area)
		return true;
	thread__find_stack(t);
	if (!take(t) || !begin_ring(t)) {
		thread__drop_slot(t);
		return false;
	}
	thread__set(t, TRACEE_LOG, t->area->base + t->slot * t->area->slot_size);
	if (thread__store_regs(t)) {
		thread__drop_slot(t);
		return false;
	}
	if (!t->process->quiet)
		say_ring(t, parent, forked);
	return true;
}

bool thread__lost_slot(struct thread *t)
{
	uint64_t base = t->area ? t->area->base + t->slot * t->area->slot_size : 0;

	return t->area && !thread__load_regs(t) && thread__get(t, TRACEE_LOG) != base;
}

void thread__drop_slot(struct thread *t)
{
	struct say say = {.type = SAY_END,
			  .pid = (uint32_t)t->process->pid,
			  .tid = (uint32_t)t->tid,
			  .slot = t->slot,
			  .time = now_ns(CLOCK_MONOTONIC)};

	if (!t->area)
		return;
	say.area = t->area->number;
	say.position = thread__position(t);
	if (t->said)
		tracer__say(t->tracer, &say, -1);
	else
		t->area->slots[t->slot].busy = false;
	t->said = false;
	t->area = NULL;
	t->slot = NO_SLOT;
}

uint64_t thread__position(const struct thread *t)
{
	const struct log_ring *r = t->area ? ring_of(t->area, t->slot) : NULL;
	uint64_t cursor, segment;

	if (!r)
		return 0;
	cursor = r->limit ? r->cursor : r->kept;
	segment = (cursor - r->base - LOG_RING_AT) / LOG_SEGMENT;
	/* it was stopped on its way to the next segment: that is where it goes on */
	if (segment % LOG_SEGMENTS == (r->segments + 1) % LOG_SEGMENTS)
		return (r->segments + 1) * LOG_SEGMENT;
	if (segment % LOG_SEGMENTS != r->segments % LOG_SEGMENTS)
		return r->segments * LOG_SEGMENT;
	return log_ring__position(r);
}

void thread__hurry(struct thread *t)
{
	if (t->area)
		ring_of(t->area, t->slot)->patience = 0;
}

/* Does its log wait for the reader, who has looked as lately as the log demands? */
static bool awaits_reader(const struct thread *t, const struct log_ring *r)
{
	uint64_t released = __atomic_load_n(&r->released, __ATOMIC_ACQUIRE);
	int64_t since =
		(int64_t)(t->tracer->arch->ticks() - __atomic_load_n(&r->beat, __ATOMIC_RELAXED));

	return r->limit && r->cursor >= r->limit && r->segments + 1 - released >= LOG_SEGMENTS &&
	       since < (int64_t)r->patience;
}

void thread__await_reader(struct thread *t)
{
	const struct timespec pause = {.tv_nsec = 200000};

	while (t->area && awaits_reader(t, ring_of(t->area, t->slot)))
		nanosleep(&pause, NULL);
}

/* All spaces that have it share the area itself. */
void tracer__slot_done(struct tracer *s, uint32_t area, uint32_t slot)
{
	struct thread *t;
	size_t i = 0;

	while (slot < AREA_SLOTS && (t = tracer__each(s, &i))) {
		struct area *const *a;

		if (!t->process->space)
			continue;
		vec__each (a, &t->process->space->areas)
			if ((*a)->number == area) {
				(*a)->slots[slot].busy = false;
				return;
			}
	}
}
