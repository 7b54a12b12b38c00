// SPDX-License-Identifier: BSD-2-Clause
/* The reader of the threads' own rings: see own_rings.h; struct wire_ring has their format. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/maps/filters.h"
#include "own_rings.h"
#include "bbtrace.skel.h"

/* for all rings, unless --buffer is given */
#define ROOM_DEFAULT (32u << 20)
#define RINGS_MOST   4096
#define RINGS_LEAST  8
#define RING_LEAST   (16u << 10)
#define RING_MOST    (64u << 20)

/* A record in a ring: its position. */
struct recorded {
	uint64_t at, size;
};

/* What was passed on of a ring. */
struct reading {
	uint64_t started; /* its thread's */
	uint64_t read;	  /* up to this position */
};

struct own_rings {
	uint32_t n, bytes;
	size_t stride, len;
	uint8_t *map; /* n times struct wire_ring and its bytes */
	struct reading *of;
	uint8_t *copy;		      /* of a ring's bytes */
	VEC(struct recorded) records; /* in it, newest first */
	struct decoder *decoder;
	uint64_t ends_missed;
};

/* ---- whether, and how large ---- */

/* The most that a branch takes: its record, with the values, and the entry of the call that it
 * makes. */
#define BRANCH_BYTES (sizeof(struct wire_value) + 8 + sizeof(struct wire_entry) + 8)

_Static_assert(sizeof(struct wire_entry_stack) + 8 <= WIRE_RING_SLACK &&
		       sizeof(struct wire_signal) + 8 <= WIRE_RING_SLACK,
	       "the largest records");

/* A little more, since what precedes the first record is not known. */
static uint64_t ring_bytes(uint64_t branches)
{
	uint64_t bytes = RING_LEAST, want;

	if (branches > RING_MOST / BRANCH_BYTES)
		return 0;
	want = (branches + branches / 8 + 64) * BRANCH_BYTES;
	while (bytes < want)
		bytes *= 2;
	return bytes <= RING_MOST ? bytes : 0;
}

static uint64_t rings_room(const struct probe *p)
{
	return p->options->buffer ? p->options->buffer : ROOM_DEFAULT;
}

static bool has_other_events(const struct plan *plan)
{
	const struct plan_named *n;

	vec__each (n, &plan->named)
		if (n->kind != NAMED_KILLED)
			return true;
	return false;
}

/* Returns true if each process, and its mappings, are known before it has events. A ring may be
 * read when it has ended. */
static bool knows_processes(const struct probe_filters *f)
{
	return (f->command || f->pids.len) && !f->comms.len && !f->uids.len && !f->cgroup;
}

/* Returns why there are none, so that events are sent all the time; NULL if there are. */
static const char *unfit(const struct probe *p)
{
	const struct probe_options *o = p->options;
	uint64_t bytes = ring_bytes(o->last);

	if (!p->plan->arch->ordered)
		return "on this architecture";
	if (plan__has_kernel(p->plan))
		return "of functions of the kernel, which interrupts run as well";
	if (action__go(p->plan))
		return "of goroutines, which move between threads";
	if (o->stack)
		return "with call stacks";
	if (!knows_processes(&o->filters))
		return "where the processes aren't known before";
	if (has_other_events(p->plan))
		return "with other events";
	if (plan__most_fetched(p->plan))
		return "with what arguments point to";
	if (o->switches)
		return "where the program switches recording on and off";
	if (o->dumps) /* threads have overwritten them when that is heard of */
		return "where functions ask for them and the program goes on";
	if (o->records)
		return "where a trace file has all events";
	if (o->retires || o->accounts)
		return "where hits have to be counted";
	if (!bytes || rings_room(p) / bytes < RINGS_LEAST)
		return "of so many branches: --buffer says how much memory they may take";
	return NULL;
}

void own_rings__size(struct probe *p, struct wire_config *config)
{
	const struct probe_options *o = p->options;
	const char *why = o->last && !o->inlines && !probe__counts(p) ? unfit(p) : "";
	struct own_rings *r;

	if (why && *why)
		note_verbose("the kernel can't keep the last branches %s: events are sent all the "
			     "time",
			     why);
	if (why || !o->last)
		return;
	r = p->own = xcalloc(1, sizeof(*r));
	r->bytes = config->ring_bytes = ring_bytes(o->last);
	r->n = min_of(rings_room(p) / r->bytes, (uint64_t)RINGS_MOST);
	r->stride = sizeof(struct wire_ring) + r->bytes + WIRE_RING_SLACK;
	r->len = (r->n * r->stride + getpagesize() - 1) & ~(getpagesize() - 1ull);
	config->rings = true;
	config->compact = false;
	bpf_map__set_value_size(p->skel->maps.rings, r->stride);
	bpf_map__set_map_flags(p->skel->maps.rings, BPF_F_MMAPABLE);
	map__set_most(p->skel->maps.rings, r->n);
	map__set_most(p->skel->maps.ring_slots, r->n);
	map__set_most(p->skel->maps.free_rings, r->n);
}

static int free_slot(struct probe *p, uint32_t slot)
{
	int fd = bpf_map__fd(p->skel->maps.free_rings);

	return bpf_map_update_elem(fd, NULL, &slot, BPF_ANY) ? -errno : 0;
}

int own_rings__open(struct probe *p)
{
	struct own_rings *r = p->own;
	int err = 0;

	if (!r)
		return 0;
	r->map = mmap(NULL, r->len, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(p->skel->maps.rings), 0);
	if (r->map == MAP_FAILED) {
		r->map = NULL;
		return err__set(errno, "cannot map the threads' rings: %s", strerror(errno));
	}
	r->of = xcalloc(r->n, sizeof(*r->of));
	r->copy = xmalloc(r->bytes);
	r->decoder = decoder__new(p->plan);
	for (uint32_t i = 0; !err && i < r->n; i++)
		err = free_slot(p, i);
	if (err)
		return err__set(-err, "cannot prepare the threads' rings: %s", strerror(-err));
	note_verbose("the kernel keeps the last branches: %u rings of %u KiB, %.1f MB in all", r->n,
		     r->bytes >> 10, r->len / 1e6);
	return 0;
}

void own_rings__close(struct own_rings *r)
{
	if (!r)
		return;
	if (r->map)
		munmap(r->map, r->len);
	vec__free(&r->records);
	decoder__free(r->decoder);
	free(r->copy);
	free(r->of);
	free(r);
}

/* ---- reading ---- */

static struct wire_ring *ring_at(const struct own_rings *r, uint32_t slot)
{
	return (struct wire_ring *)(r->map + slot * r->stride);
}

static uint64_t load(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static uint64_t word_at(const struct own_rings *r, uint64_t position)
{
	return *(const uint64_t *)(r->copy + (position & (r->bytes - 1)));
}

/* Copies what lies between two positions. */
static void copy(struct own_rings *r, const uint8_t *data, uint64_t from, uint64_t to)
{
	uint64_t at = from & (r->bytes - 1), n = min_of(to - from, r->bytes - at);

	memcpy(r->copy + at, data + at, n);
	memcpy(r->copy, data, to - from - n);
}

/* Finds the records up to head and not before from, which the thread may continue to overwrite.
 * Returns where the oldest one begins. */
static uint64_t find_records(struct own_rings *r, uint64_t from, uint64_t head)
{
	uint64_t at = head, size, start;

	r->records.len = 0;
	while (at > from) {
		size = word_at(r, at - 8);
		start = at - 8 - (size & ~WIRE_RING_REST);
		if ((size & ~WIRE_RING_REST) > r->bytes || start < from || start > at)
			break;
		if (!(size & WIRE_RING_REST))
			vec__push(&r->records, (struct recorded){start, size});
		at = start;
	}
	return at;
}

/* Takes a copy of what was not passed on yet. Returns false if there is nothing. *gap: not all of
 * it is there. */
static bool take(struct own_rings *r, uint32_t slot, bool *gap)
{
	struct wire_ring *ring = ring_at(r, slot);
	struct reading *s = &r->of[slot];
	uint64_t head = load(&ring->head), from, writing;

	if (s->started != ring->started)
		*s = (struct reading){.started = ring->started};
	if (ring->state == RING_FREE || head == s->read)
		return false;
	from = max_of(s->read, head - min_of(head, (uint64_t)r->bytes));
	copy(r, (const uint8_t *)(ring + 1), from, head);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	writing = load(&ring->writing);
	from = max_of(from, writing - min_of(writing, (uint64_t)r->bytes));
	*gap = find_records(r, from, head) > s->read;
	return true;
}

static int give_gap(const struct event *e, const struct source_sink *sink)
{
	const struct sideband_event gap = {
		.type = SIDEBAND_GAP, .time = e->time, .pid = e->pid, .tid = e->tid};

	return sink->sideband(sink->ctx, &gap);
}

/* Returns 1 if it is of a later time than until. */
static int give_record(struct probe *p, const struct recorded *r, uint64_t until, bool gap,
		       const struct source_sink *sink)
{
	const uint8_t *data = p->own->copy + (r->at & (p->own->bytes - 1));
	const struct event *e = decoder__event(p->own->decoder, data, r->size, UINT64_MAX);
	int err;

	if (!e)
		return -EIO;
	if (e->time > until)
		return 1;
	err = gap ? give_gap(e, sink) : 0;
	return err ? err : sink->event(sink->ctx, e);
}

static int give(struct probe *p, uint32_t slot, uint64_t until, const struct source_sink *sink)
{
	struct own_rings *r = p->own;
	bool gap = false;
	int err = 0;

	if (!take(r, slot, &gap))
		return 0;
	for (size_t i = r->records.len; !err && i-- > 0; gap = false) {
		const struct recorded *one = &r->records.data[i];

		err = give_record(p, one, until, gap, sink);
		if (!err)
			r->of[slot].read = one->at + one->size + 8;
	}
	return err == 1 ? 0 : err;
}

/* ---- whose ---- */

/* The thread that had it has ended: passes on all that is left, and frees it. */
static int end(struct probe *p, uint32_t slot, const struct source_sink *sink)
{
	struct own_rings *r = p->own;
	int err;

	if (slot >= r->n || ring_at(r, slot)->state != RING_ENDED)
		return 0;
	err = give(p, slot, UINT64_MAX, sink);
	ring_at(r, slot)->state = RING_FREE;
	return err ? err : free_slot(p, slot);
}

/* Those of ends that could not be reported. */
static int end_others(struct probe *p, const struct source_sink *sink)
{
	struct own_rings *r = p->own;
	uint64_t missed = p->skel->bss->lost_ends;
	int err = 0;

	if (missed == r->ends_missed)
		return 0;
	r->ends_missed = missed;
	for (uint32_t i = 0; !err && i < r->n; i++)
		err = end(p, i, sink);
	return err;
}

int own_rings__give_thread(struct probe *p, uint32_t tid, uint64_t until,
			   const struct source_sink *sink)
{
	uint32_t slot;

	if (!p->own || bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.ring_slots), &tid, &slot) ||
	    slot >= p->own->n)
		return 0;
	return give(p, slot, until, sink);
}

int own_rings__give_process(struct probe *p, uint32_t pid, uint64_t until,
			    const struct source_sink *sink)
{
	int err = 0;

	for (uint32_t i = 0; p->own && !err && i < p->own->n; i++)
		if (ring_at(p->own, i)->pid == pid)
			err = give(p, i, until, sink);
	return err;
}

int own_rings__give_all(struct probe *p, const struct source_sink *sink)
{
	int err = p->own ? end_others(p, sink) : 0;

	for (uint32_t i = 0; p->own && !err && i < p->own->n; i++)
		err = give(p, i, UINT64_MAX, sink);
	return err;
}

int own_rings__before(struct probe *p, const struct event *e, const struct source_sink *sink)
{
	int err = p->own ? end_others(p, sink) : 0;

	if (err || !p->own)
		return err;
	if (e->type == EVENT_END)
		return e->logged ? end(p, e->logged - 1, sink) : 0;
	if (e->type == EVENT_SWITCH)
		return own_rings__give_process(p, e->pid, e->time, sink);
	if (e->logged && e->logged <= p->own->n)
		return give(p, e->logged - 1, e->time, sink);
	return own_rings__give_thread(p, e->tid, e->time, sink);
}

int own_rings__report(struct probe *p, const struct source_sink *sink)
{
	uint64_t hits = p->own ? p->skel->bss->ringless_hits : 0;

	if (!hits)
		return 0;
	note("%llu hits were of threads that found none of the %u rings free: --buffer gives more "
	     "memory for them",
	     (unsigned long long)hits, p->own->n);
	return sink->lost(sink->ctx, 0, 0, hits);
}
