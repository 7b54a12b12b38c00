// SPDX-License-Identifier: BSD-2-Clause
/*
 * The output of a probe set in chronological order: the ring's records, sideband events, gaps of
 * processes that lost their probes for a while, and at the end the losses.
 */
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/maps/conditions.h"
#include "counters.h"
#include "drain.h"
#include "own_rings.h"
#include "sideband.h"
#include "bbtrace.skel.h"

/* After a fork: the process's PID in its own namespace. */
static int give_inner(struct probe *p, const struct sideband_event *fork,
		      const struct source_sink *sink)
{
	struct sideband_event e = {.type = SIDEBAND_INNER, .time = fork->time, .pid = fork->pid};
	uint32_t number;

	e.tid = fork->tid;
	if (fork->type != SIDEBAND_FORK || fork->pid != fork->tid || !p->skel->bss->inner_seen ||
	    bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.inner), &fork->pid, &number))
		return 0;
	e.count = number;
	return sink->sideband(sink->ctx, &e);
}

/* Earlier records may still have been in the ring when the gap was found. */
static int give_gaps(struct probe *p, uint64_t until, const struct source_sink *sink)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < p->gaps.len; i++) {
		struct sideband_event gap = p->gaps.data[i];

		if (err || gap.time > until)
			p->gaps.data[kept++] = gap;
		else
			err = sink->sideband(sink->ctx, &gap);
	}
	p->gaps.len = kept;
	return err;
}

/* In Linux 6.1, the exit of a thread precedes the record of its end, which is found by the mappings
 * of its process: so exits wait for that. */
#define EXIT_WAITS_NS 100000000ull

/* Without that record, because it was skipped (tell_tasks() of misses.c), the process is forgotten
 * now. */
static int give_exit(struct probe *p, const struct sideband_event *e,
		     const struct source_sink *sink)
{
	bool missed = probe__counts(p) && program__misses(p->skel->progs.on_exit);
	int err = missed ? counters__name_targets(p, e->pid, sink) : 0;

	return err ? err : sink->sideband(sink->ctx, e);
}

static int give_exits(struct probe *p, uint64_t until, const struct source_sink *sink)
{
	size_t n = 0;
	int err = 0;

	while (!err && n < p->exits.len && p->exits.data[n].time + EXIT_WAITS_NS <= until)
		err = give_exit(p, &p->exits.data[n++], sink);
	if (n)
		memmove(p->exits.data, p->exits.data + n,
			(p->exits.len - n) * sizeof(*p->exits.data));
	p->exits.len -= n;
	return err;
}

/* A process that has the PID of one that ended is another one. */
static bool is_reuse(const struct probe *p, const struct sideband_event *fork)
{
	const struct sideband_event *e;

	vec__each (e, &p->exits)
		if (fork->type == SIDEBAND_FORK && e->pid == fork->pid && e->tid == fork->tid)
			return true;
	return false;
}

/* The replay has to know where its threads are; and addresses have the meaning of what was mapped
 * then. */
static int give_own(struct probe *p, const struct sideband_event *e, const struct source_sink *sink)
{
	if (e->type == SIDEBAND_EXEC || e->type == SIDEBAND_MAP)
		return own_rings__give_process(p, e->pid, e->time, sink);
	if (e->type == SIDEBAND_FORK && e->pid != e->ppid)
		return own_rings__give_thread(p, e->ptid, e->time, sink);
	return 0;
}

/* Returns true if the record of an end is the BPF program's. */
static bool reports_ends(const struct probe *p)
{
	return probe__counts(p) || p->skel->rodata->config.ends;
}

static int give_sideband_event(struct probe *p, const struct sideband_event *e,
			       const struct source_sink *sink)
{
	int err = give_gaps(p, e->time, sink);

	if (!err)
		err = give_exits(p, is_reuse(p, e) ? UINT64_MAX : e->time, sink);
	if (!err)
		err = give_own(p, e, sink);
	if (err)
		return err;
	if (e->type == SIDEBAND_EXEC || (e->type == SIDEBAND_EXIT && e->pid == e->tid))
		err = sampled__give(p, e->pid, e->time, sink);
	if (err)
		return err;
	if (e->type == SIDEBAND_EXIT && reports_ends(p)) {
		vec__push(&p->exits, *e);
		return 0;
	}
	if (e->type == SIDEBAND_EXEC)
		err = counters__end_program(p, e->pid, e->time, sink);
	if (err)
		return err;
	err = sink->sideband(sink->ctx, e);
	return err ? err : give_inner(p, e, sink);
}

static int give_sideband(struct probe *p, uint64_t until, const struct source_sink *sink)
{
	const struct sideband_event *e;
	int err = 0;

	while (!err && (e = sideband__next(p->sideband, until)))
		err = give_sideband_event(p, e, sink);
	if (!err)
		err = give_exits(p, until, sink);
	return err ? err : give_gaps(p, until, sink);
}

/* A mark whose text was not in memory. */
static int give_mark(const struct probe *p, const struct event *e, const struct source_sink *sink)
{
	struct event mark = *e;
	char room[MARK_TEXT + 1];

	mark.text = mark__text(p, e, room);
	return sink->event(sink->ctx, &mark);
}

static int give_event(const struct probe *p, const struct event *e, const struct source_sink *sink)
{
	return e->type == EVENT_MARK && !e->text ? give_mark(p, e, sink)
						 : sink->event(sink->ctx, e);
}

static int give_records(struct probe *p, const struct batch *b, const struct source_sink *sink)
{
	const char *at = b->records, *end = at + b->len;
	uint64_t size;
	int err;

	for (; at < end; at += size) {
		const struct event *e;

		memcpy(&size, at, sizeof(size));
		at += sizeof(size);
		e = decoder__event(p->decoder, at, size, p->settled);
		if (!e)
			return -EIO;
		err = give_sideband(p, e->time, sink);
		if (err)
			return err;
		err = own_rings__before(p, e, sink);
		if (!err && e->type == EVENT_END && e->last && probe__counts(p))
			err = counters__end_program(p, e->pid, e->time, sink);
		if (!err)
			err = give_event(p, e, sink);
		if (err)
			return err;
	}
	return 0;
}

static int give_batches(struct probe *p, struct batch *list, const struct source_sink *sink)
{
	int err = 0;

	sideband__collect(p->sideband);
	for (const struct batch *b = list; !err && b; b = b->next)
		err = give_records(p, b, sink);
	drain__give_back(p->drain, list);
	return err;
}

/*
 * A record gets its time before it is reserved (fill_event()), and may appear in the ring after
 * that was read: sideband events younger than this wait for the next poll.
 */
#define SIDEBAND_SLACK_NS 100000000ull

static int attach_again(struct probe *p)
{
	struct sideband_event *gap = vec__last(&p->gaps);

	int err = markers__attach_again(p, gap->pid);

	if (err || p->parked)
		return err;
	err = p->programs.mechanism->attach_again(p, gap->pid);
	if (err || p->programs.mechanism->lookup == LOOKUP_COOKIE)
		return err;
	return uprobe_multi__attach_again(p, gap->pid);
}

/* Attaches again to processes that lost their probes by an exec. What they ran in between was not
 * seen. */
static int find_again(struct probe *p)
{
	int map = bpf_map__fd(p->skel->maps.lost_targets), err = 0;
	uint32_t lost = p->skel->bss->targets_lost, pid;
	uint64_t time;

	if (lost == p->found_again)
		return 0;
	p->found_again = lost;
	while (!err && !bpf_map_get_next_key(map, NULL, &pid)) {
		if (bpf_map_lookup_elem(map, &pid, &time) || bpf_map_delete_elem(map, &pid))
			break;
		vec__push(&p->gaps,
			  (struct sideband_event){
				  .type = SIDEBAND_GAP, .time = time, .pid = pid, .tid = pid});
		note_verbose("process %u was lost by an exec: attaching to it again", pid);
		err = shield__run(attach_again, p);
		if (err == -EPIPE) { /* without the keeper, the trace of the others continues */
			note("process %u is not traced any more: %s", pid, err__text());
			err__clear();
			err = 0;
		}
	}
	return err;
}

int probe__take(struct source *s, struct source_wait wait, const struct source_sink *sink)
{
	struct probe *p = (struct probe *)s;
	struct batch *list = NULL;
	uint64_t until = 0;
	int err = drain__start(p->drain);

	if (err)
		return err;
	err = drain__take(p->drain, wait.timeout_ms, wait.fd, &list, &until);
	if (err)
		return err;
	err = give_batches(p, list, sink);
	if (err)
		return err;
	p->settled = max_of(p->settled, until - min_of(until, SIDEBAND_SLACK_NS));
	err = give_sideband(p, p->settled, sink);
	return err ? err : find_again(p);
}

/* Passes on all records and sideband events up to this time. */
static int give_until(struct probe *p, uint64_t time, const struct source_sink *sink)
{
	struct batch *list;
	uint64_t until = 0;
	int err;

	drain__look(p->drain);
	do {
		err = drain__take(p->drain, 1, -1, &list, &until);
		if (!err)
			err = give_batches(p, list, sink);
	} while (!err && until < time);
	p->settled = max_of(p->settled, time);
	return err ? err : give_sideband(p, p->settled, sink);
}

/* Hits that began before take that long, so that their records are in the ring. */
#define HIT_NS 1000000

int probe__catch_up(struct source *s, const struct source_sink *sink)
{
	const struct timespec hit = {.tv_nsec = HIT_NS};
	struct probe *p = (struct probe *)s;
	int err;

	nanosleep(&hit, NULL);
	err = give_until(p, now_ns(CLOCK_MONOTONIC), sink);
	return err ? err : own_rings__give_all(p, sink);
}

/* Targets are found by the mappings at that time. */
int probe__count(struct source *s, const struct source_sink *sink)
{
	struct probe *p = (struct probe *)s;
	int err;

	if (!p->counters)
		return 0;
	err = give_until(p, counters__turn(p), sink);
	return err ? err : counters__give(p, sink);
}

uint64_t probe__settled(const struct source *s)
{
	return ((const struct probe *)s)->settled;
}

static int drain_losses(struct probe *p, const struct source_sink *sink)
{
	int fd = bpf_map__fd(p->skel->maps.lost_by_thread), err = 0;
	uint64_t key, *prev = NULL, count;

	while (!err && !bpf_map_get_next_key(fd, prev, &key)) {
		prev = &key;
		if (bpf_map_lookup_elem(fd, &key, &count) || !(count & ~LOST_SIGNAL))
			continue;
		count &= ~(LOST_SIGNAL | LOST_HIT);
		/* of a goroutine (LOST_GOROUTINE): the thread is unknown */
		err = key & LOST_GOROUTINE ? sink->lost(sink->ctx, 0, 0, count)
					   : sink->lost(sink->ctx, key >> 32, key, count);
	}
	return err;
}

static void report_lost_ends(const struct probe *p)
{
	uint64_t n = p->skel->bss->lost_ends;

	if (n)
		note("%llu ends of threads found the buffer full: if those were killed, their last "
		     "branches are shown at the end only",
		     (unsigned long long)n);
}

/* Passes on what is left in the ring, and what was lost. */
static int give_rest(struct probe *p, const struct source_sink *sink)
{
	struct batch *list;
	uint64_t until;
	int err;

	do {
		err = drain__take(p->drain, 0, -1, &list, &until);
		if (err)
			return err;
		err = give_batches(p, list, sink);
		if (err)
			return err;
	} while (list);
	err = own_rings__give_all(p, sink);
	if (!err)
		err = give_sideband(p, UINT64_MAX, sink);
	if (!err)
		err = own_rings__report(p, sink);
	report_lost_ends(p);
	return err ? err : drain_losses(p, sink);
}

int probe__losses(struct source *s, const struct source_sink *sink)
{
	struct probe *p = (struct probe *)s;
	int err;

	drain__stop(p->drain);
	err = give_rest(p, sink);
	if (!err)
		err = counters__give_rest(p, sink);
	if (!err)
		err = sampled__give(p, 0, now_ns(CLOCK_MONOTONIC), sink);
	counters__report(p);
	if (p->programs.mechanism)
		copies__report(p);
	if (!err && p->skel->bss->lost_unattributed)
		err = sink->lost(sink->ctx, 0, 0, p->skel->bss->lost_unattributed);
	if (err)
		return err;
	if (sink->muted)
		sink->muted(sink->ctx, conditions__muted(p, WIRE_MUTED_CALLS),
			    conditions__muted(p, WIRE_MUTED_HITS));
	probe__misses(s, sink);
	probe__report_misses(p);
	sample__report(p);
	return 0;
}
