/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that write to rings as copied functions do, read and merged with another source's events;
 * what is passed on as text. */
#ifndef INLINE_FIXTURE_H
#define INLINE_FIXTURE_H

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "source/inline/merge/merge.h"
#include "tap.h"

#define BASE	0x2a0000000000ull
#define SLOTS	4
#define SP	0x7ffd00001000ull
#define TORN_NS 20000000ull

static struct plan_site sites[] = {
	{.role = ROLE_BRANCH, .kind = BRANCH_JCC, .probe = PROBE_INLINE},
	{.role = ROLE_BRANCH, .kind = BRANCH_RET, .probe = PROBE_INLINE},
	{.role = ROLE_BRANCH, .kind = BRANCH_JCC, .probe = PROBE_TRAP},
};
enum { JCC, RET, TRAP };
static struct plan_object object;
static struct plan plan = {.sites = {sites, 3, 3}, .objects = {&object, 1, 1}};
static const struct log_options options;

/* A tick is a nanosecond. */
static uint64_t to_ns(void *ctx, uint64_t ticks)
{
	return ticks;
}

static uint64_t ticks(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

/* ---- a thread that writes ---- */

static char *area;
static int area_fd;

static struct log_ring *ring_of(unsigned slot)
{
	return (struct log_ring *)(area + (size_t)slot * LOG_SLOT);
}

static void begin_ring(unsigned slot)
{
	struct log_ring *r = ring_of(slot);

	memset(r, 0, sizeof(*r));
	r->base = BASE + (uint64_t)slot * LOG_SLOT;
	r->cursor = r->base + LOG_RING_AT;
	r->limit = r->cursor + LOG_SEGMENT - LOG_RECORD_MAX;
}

static uint64_t *word_at(struct log_ring *r, uint64_t cursor)
{
	return (uint64_t *)((char *)r + (cursor - r->base));
}

static volatile struct log_ring *volatile_of(struct log_ring *r)
{
	return r;
}

/* The next segment, which the reader has to release first; false: it doesn't. */
static bool turn_over(struct log_ring *r)
{
	uint64_t start = ticks(), next = r->segments + 1;

	while ((int64_t)(next - volatile_of(r)->released) >= LOG_SEGMENTS)
		if (ticks() - start > 50000000000ull)
			return false;
	*word_at(r, r->cursor) = LOG_ID(LOG_END, 0, 0, 0);
	/* in the order of src/arch/x86/copy/ring.c: at no moment is the position unknown */
	volatile_of(r)->cursor = r->base + LOG_RING_AT + next % LOG_SEGMENTS * LOG_SEGMENT;
	volatile_of(r)->segments = next;
	r->limit = r->cursor + LOG_SEGMENT - LOG_RECORD_MAX;
	return true;
}

static bool put(unsigned slot, const uint64_t *words, unsigned n)
{
	struct log_ring *r = ring_of(slot);

	if (r->cursor >= r->limit && !turn_over(r))
		return false;
	memcpy(word_at(r, r->cursor), words, n * 8);
	__atomic_store_n(&r->cursor, r->cursor + n * 8, __ATOMIC_RELEASE);
	return true;
}

static bool put_branch(unsigned slot, bool taken, uint64_t sp)
{
	uint64_t w = (sp & UINT32_MAX) << 32 | LOG_ID(LOG_BRANCH, 0, taken, JCC);

	return put(slot, &w, 1);
}

/* ---- what is passed on, as text ---- */

static struct str text;

static int on_event(void *ctx, const struct event *e)
{
	if (e->type == EVENT_LOST)
		str__printf(&text, " %u:lost%llu", e->tid, (unsigned long long)e->count);
	else if (e->site == RET)
		str__printf(&text, " %u:r%llu", e->tid, (unsigned long long)e->value);
	else
		str__printf(&text, " %u:%s%d", e->tid, e->site == TRAP ? "t" : "b", e->taken);
	return 0;
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	static const char *const names[] = {[SIDEBAND_FORK] = "fork",
					    [SIDEBAND_EXEC] = "exec",
					    [SIDEBAND_EXIT] = "exit",
					    [SIDEBAND_GAP] = "gap",
					    [SIDEBAND_UNTRACED] = "untraced"};

	str__printf(&text, " %u:%s", e->tid, names[e->type] ? names[e->type] : "?");
	return 0;
}

static const struct source_sink sink = {.event = on_event, .sideband = on_sideband};

/* ---- the reader ---- */

static struct rings *rings;
static struct merge *merge;
static uint64_t reached;
static struct thread_filters filters; /* needed 0: none */
static uint32_t counters;	      /* of each thread; only slot 0 is usable with some */

static struct notice notify_of(enum notice_type type, unsigned slot, uint32_t tid)
{
	struct notice s = {.type = type,
			   .pid = 10,
			   .tid = tid,
			   .area = 1,
			   .slot = slot,
			   .sp = SP,
			   .time = ticks()};

	s.position = log_ring__position(ring_of(slot));
	return s;
}

static void notify(enum notice_type type, unsigned slot, uint32_t tid)
{
	struct notice s = notify_of(type, slot, tid);

	rings__receive(rings, &s, -1);
}

static void open_tail(uint64_t tail)
{
	struct rings_options r = {.socket = -1,
				  .second = 1000000000,
				  .ticks = ticks,
				  .max = 4 << 20,
				  .torn = TORN_NS,
				  .counters = counters,
				  .tail = tail};
	struct merge_options m = {.plan = &plan, .log = &options, .clock = {to_ns, NULL}};
	struct notice s = {.type = NOTICE_AREA, .pid = 10, .area = 1, .base = BASE};

	area_fd = memfd_create("area", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	s.size = (uint64_t)SLOTS * LOG_SLOT;
	if (ftruncate(area_fd, s.size) || fcntl(area_fd, F_ADD_SEALS, F_SEAL_SHRINK))
		exit(1);
	area = mmap(NULL, s.size, PROT_READ | PROT_WRITE, MAP_SHARED, area_fd, 0);
	rings__open(&r, &rings);
	m.rings = rings;
	m.follow = true;
	m.filters = filters;
	merge = merge__new(&m);
	rings__receive(rings, &s, dup(area_fd));
	reached = 0;
}

static void close_all(void)
{
	merge__free(merge);
	rings__close(rings);
	munmap(area, (size_t)SLOTS * LOG_SLOT);
	close(area_fd);
}

static const char *passed(void)
{
	static char copy[1024];

	snprintf(copy, sizeof(copy), "%s", text.len ? text.data + 1 : "");
	text.len = 0;
	return copy;
}

#endif
