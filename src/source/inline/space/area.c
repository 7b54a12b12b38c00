// SPDX-License-Identifier: BSD-2-Clause
/* The shared memory that threads write their logs to, in slots: one for a thread. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "source/inline/target/ring.h"
#include "space.h"

#define USE_SHIFT 24	       /* the n-th use of a slot begins with segment n << 24 */
#define PATIENCE  (1ull << 31) /* ticks, until the reader says how many */

static void notify_area(struct tracer *s, const struct area *a, pid_t pid, int fd)
{
	struct notice notice = {.type = NOTICE_AREA,
				.pid = (uint32_t)pid,
				.tid = (uint32_t)pid,
				.area = a->number,
				.base = a->base,
				.size = a->size};

	tracer__notify(s, &notice, fd);
}

static uint64_t owners_at(uint32_t slots, uint64_t slot_size)
{
	return slots * slot_size;
}

static uint64_t area_size(uint32_t slots, uint64_t slot_size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (owners_at(slots, slot_size) + LOG_OWNERS_SIZE + page - 1) & -page;
}

bool thread__may_map_area(struct thread *t)
{
	uint64_t slot_size = copies__slot_size(t->tracer->copies);
	struct log_memory m;
	bool charged;
	uint32_t slots = thread__log_slots(t, AREA_SLOTS, slot_size, &charged);

	if (!slots || !thread__make_log(t, area_size(slots, slot_size), &m))
		return false;
	thread__call(t, SYS_munmap, m.at, m.size, 0, 0, 0, 0);
	munmap(m.mem, m.size);
	close(m.fd);
	return true;
}

/* Slots that the process's next area is to have. */
static uint32_t slots_wanted(const struct space *s)
{
	struct area *const *a;
	uint32_t all = 0;

	vec__each (a, &s->areas)
		all += (*a)->nslots;
	return min_of(max_of(all, AREA_SLOTS), AREA_SLOTS_MOST);
}

static struct area *new_area(struct thread *t)
{
	uint64_t slot_size = copies__slot_size(t->tracer->copies);
	struct log_memory m;
	bool charged;
	uint32_t slots = thread__log_slots(t, slots_wanted(t->process->space), slot_size, &charged);
	struct area *a;

	if (!slots || !thread__make_log(t, area_size(slots, slot_size), &m))
		return NULL;
	a = xcalloc(1, sizeof(*a) + slots * sizeof(*a->slots));
	a->number = t->tracer->nareas++;
	a->refs = 1;
	a->base = m.at;
	a->size = m.size;
	a->slot_size = slot_size;
	a->mem = m.mem;
	a->file = m.file;
	a->charged = charged;
	a->nslots = slots;
	vec__push(&t->process->space->areas, a);
	notify_area(t->tracer, a, t->process->pid, m.fd);
	return a;
}

void area__drop(struct tracer *s, struct area *a)
{
	struct notice notice = {.type = NOTICE_AREA_GONE, .area = a->number};

	if (--a->refs)
		return;
	tracer__notify(s, &notice, -1);
	bell__free(a->bell);
	munmap(a->mem, a->size);
	free(a);
}

/* ---- slots ---- */

static bool take_from(struct thread *t, struct area *a)
{
	for (uint32_t i = 0; i < a->nslots; i++) {
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

	return first->base + owners_at(first->nslots, first->slot_size);
}

/* Then its page is in the page table of the process, for BPF programs; its content is our file. */
static bool is_in_process(const struct thread *t, const struct log_ring *r)
{
	struct log_ring there;

	return space__read(t->process->space, r->base, &there, sizeof(there)) &&
	       !memcmp(&there, r, sizeof(there));
}

/* Memory is charged to the process that touches it first. */
static bool charge(const struct area *a, uint32_t slot)
{
#ifdef MADV_POPULATE_WRITE /* Linux 5.14 */
	return !a->charged || a->slots[slot].uses ||
	       !madvise(a->mem + slot * a->slot_size, a->slot_size, MADV_POPULATE_WRITE) ||
	       errno == EINVAL;
#else
	(void)a, (void)slot;
	return true;
#endif
}

/* Nobody reads it if the process is quiet: everything is dropped. */
static bool begin_ring(struct thread *t)
{
	struct slot *slot = &t->area->slots[t->slot];
	struct log_ring *ring = area__ring(t->area, t->slot);
	uint64_t base = area__slot_base(t->area, t->slot),
		 first = (uint64_t)slot->uses << USE_SHIFT;
	struct log_ring r = {.cursor = base + LOG_RING_AT,
			     .segments = first,
			     .base = base,
			     .released = first,
			     .beat = t->tracer->arch->ticks(),
			     .patience = PATIENCE,
			     .stack_start = t->stack.start,
			     .stack_end = t->stack.end,
			     .owners = owners_of(t->process->space),
			     .bell = t->process->space->areas.data[0]->base + LOG_BELL_AT,
			     .g = LOG_GOROUTINE_UNKNOWN};

	if (t->process->quiet) {
		r.kept = r.cursor;
		r.released = first - LOG_SEGMENTS;
		r.patience = 0;
	} else {
		r.limit = r.cursor + LOG_SEGMENT - LOG_RECORD_MAX;
	}
	if (!charge(t->area, t->slot)) {
		snprintf(t->tracer->no_log, sizeof(t->tracer->no_log),
			 "bbtrace has no memory for its log: %s", strerror(errno));
		return false;
	}
	slot->uses++;
	t->position = first * LOG_SEGMENT;
	if (first)
		memset((char *)ring + LOG_COUNTERS_AT, 0,
		       t->tracer->copies->counted.len * sizeof(uint64_t));
	*ring = r;
	if (is_in_process(t, &r))
		return true;
	snprintf(t->tracer->no_log, sizeof(t->tracer->no_log),
		 "it has unmapped its log, or mapped something else there");
	return false;
}

static void read_comm(const struct thread *t, char *out, size_t n)
{
	autofree char *comm = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", t->process->pid, t->tid);
	if (!file__read(path, 64, &comm, NULL))
		snprintf(out, n, "%.*s", (int)strcspn(comm, "\n"), comm);
}

static void notify_ring(struct thread *t, pid_t parent, uint64_t forked)
{
	struct notice notice = {.type = NOTICE_RING,
				.pid = (uint32_t)t->process->pid,
				.tid = (uint32_t)t->tid,
				.area = t->area->number,
				.slot = t->slot,
				.ptid = (uint32_t)parent,
				.time = now_ns(CLOCK_MONOTONIC),
				.position = t->position,
				.forked = parent ? forked : 0,
				.sp = thread__get(t, TRACEE_SP)};

	if (t->ran)
		read_comm(t, notice.text, sizeof(notice.text));
	t->notified = true;
	tracer__notify(t->tracer, &notice, -1);
}

/* A forked process must not reach the logs of its parent, which may have other rights: the log's
 * code stores where a ring says. It has logs of its own by now. */
static void leave_inherited(struct thread *t)
{
	struct space *s = t->process->space;
	struct area *const *a;

	vec__each (a, &s->inherited) {
		thread__call(t, SYS_munmap, (*a)->base, (*a)->size, 0, 0, 0, 0);
		/* forked by a thread that ran while another one had made it */
		thread__close_fetched(t, &(*a)->file);
		area__drop(t->tracer, *a);
	}
	s->inherited.len = 0;
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
	thread__set(t, TRACEE_LOG, area__slot_base(t->area, t->slot));
	if (thread__store_regs(t)) {
		thread__drop_slot(t);
		return false;
	}
	if (!t->process->quiet)
		notify_ring(t, parent, forked);
	if (t->process->space->watch.set && !space__has_bell(t->process->space, t->tracer))
		beacon__remove(t->process->space, t->tracer);
	leave_inherited(t);
	return true;
}

void thread__drop_slot(struct thread *t)
{
	struct notice notice = {.type = NOTICE_END,
				.pid = (uint32_t)t->process->pid,
				.tid = (uint32_t)t->tid,
				.slot = t->slot,
				.time = now_ns(CLOCK_MONOTONIC)};

	if (!t->area)
		return;
	notice.area = t->area->number;
	notice.position = thread__position(t);
	if (t->notified)
		tracer__notify(t->tracer, &notice, -1);
	else
		t->area->slots[t->slot].busy = false;
	t->notified = false;
	t->area = NULL;
	t->slot = NO_SLOT;
}

/* ---- waiting for the reader ---- */

/* All spaces that have it share the area itself. */
void tracer__slot_done(struct tracer *s, uint32_t area, uint32_t slot)
{
	struct thread *t;
	size_t i = 0;

	while ((t = tracer__each(s, &i))) {
		struct area *const *a;

		if (!t->process->space)
			continue;
		vec__each (a, &t->process->space->areas)
			if ((*a)->number == area && slot < (*a)->nslots) {
				(*a)->slots[slot].busy = false;
				return;
			}
	}
}
