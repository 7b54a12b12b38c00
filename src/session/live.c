// SPDX-License-Identifier: BSD-2-Clause
/* A live trace: the sink of the probes, and the processes that existed before. */
#include <stdlib.h>
#include <unistd.h>
#include "select/targets.h"
#include "session/watch/watch_hits.h"
#include "pipeline/frames.h"
#include "pipeline/jit_names.h"
#include "pipeline/fatal_signals.h"
#include "live.h"

/* ---- what the probes report ---- */

/* True for an event after recording has stopped, of probes that were still in place. */
static bool is_left_out(const struct live *l, const struct event *e)
{
	return l->closed && (e->type == EVENT_ENTRY || e->type == EVENT_BRANCH ||
			     e->type == EVENT_RETURN || e->type == EVENT_NAMED);
}

static int take_sideband(struct live *l, const struct sideband_event *e)
{
	int err = show__sideband(&l->show, e), failed = 0;

	if (l->recorder)
		failed = recorder__sideband(l->recorder, e);
	return err ? err : failed;
}

static int on_marker(struct live *l, const struct event *e)
{
	const struct sideband_event mark = {.type = SIDEBAND_MARK,
					    .time = e->time,
					    .pid = e->pid,
					    .tid = e->tid,
					    .count = e->value,
					    .text = e->text ? e->text : "?"};

	if (e->type == EVENT_SWITCH)
		return l->switched(l->switched_ctx, e);
	return l->closed ? 0 : take_sideband(l, &mark);
}

static int take_mapping(void *ctx, const struct sideband_event *e)
{
	return take_sideband(ctx, e);
}

static bool has_program_stack(const struct live *l, const struct event *e)
{
	if (e->type == EVENT_NAMED)
		return e->named->stack;
	return e->type == EVENT_ENTRY && e->entry->stack &&
	       !plan__is_kernel_site(l->show.plan, e->site);
}

/* ---- samples in generated code ---- */

static int pass(void *ctx, const struct event *e)
{
	struct live *l = ctx;
	int err = jit_names__map(l->generated, l->show.spaces, e, take_mapping, l);

	if (!err && l->recorder)
		err = recorder__event(l->recorder, e);
	return err ? err : show__event(&l->show, e);
}

/* Returns true unless a frame is in generated code that has no name, or not yet. */
static bool has_names(void *ctx, const struct event *e)
{
	const struct event_named *n = e->named;
	struct live *l = ctx;

	for (unsigned i = 0; i < n->nuser; i++) {
		uint64_t addr = named__frame_code(n, i);
		struct mapped_place place;

		spaces__find(l->show.spaces, e->pid, addr, &place);
		if (place.mapped && !place.path && !perf_maps__find(l->generated, e->pid, addr))
			return false;
	}
	return true;
}

static bool is_sample(const struct live *l, const struct event *e)
{
	const struct plan *p = l->show.plan;

	return l->holds && e->type == EVENT_NAMED && e->named->stack &&
	       e->named->which < p->named.len &&
	       p->named.data[e->named->which].kind == NAMED_SAMPLE;
}

static int hold_or_pass(struct live *l, const struct event *e)
{
	int err = 0;

	if (!held__has(&l->held, e->pid) && has_names(l, e))
		return pass(l, e);
	if (held__is_full(&l->held))
		err = held__pass(&l->held, 0, NULL, pass, l);
	held__put(&l->held, e);
	return err;
}

static void note_replaced(void *ctx, uint64_t start, uint64_t end)
{
	*(bool *)ctx = true;
}

/* Passes on what is held of a process whose addresses will mean something else. */
static int pass_before(struct live *l, const struct sideband_event *e)
{
	struct map m = sideband__map(e);
	bool changes = e->type == SIDEBAND_EXEC || e->type == SIDEBAND_EXIT;

	if (!l->held.n)
		return 0;
	if (e->type == SIDEBAND_MAP)
		spaces__replaced(l->show.spaces, e->pid, &m, note_replaced, &changes);
	return changes ? held__pass(&l->held, e->pid, NULL, pass, l) : 0;
}

/* ---- events ---- */

static int on_end(struct live *l, const struct event *e)
{
	int err = show__event(&l->show, e);

	return err ? err : dumps__end(&l->dumps, &l->show, e);
}

static const struct event *in_words(struct live *l, const struct event *e,
				    struct killed_event *room)
{
	return fatal_signal__event(l->show.plan, watch_hits__event(l->watches, &l->show, e),
				   l->dumps.copies, room);
}

static int on_event(void *ctx, const struct event *reported)
{
	struct live *l = ctx;
	struct checked_event room;
	struct killed_event killed;
	const struct event *e = NULL;
	int err = 0;

	if (reported->type == EVENT_END && !l->show.tally)
		return on_end(l, reported);
	if (!is_left_out(l, reported))
		e = frames__check(&l->show, in_words(l, reported, &killed), &room);
	e = e ? absent__complete(&l->show, e, &room) : NULL;
	if (reported->type == EVENT_SWITCH || reported->type == EVENT_MARK)
		return on_marker(l, reported);
	if (e && is_sample(l, e))
		return hold_or_pass(l, e);
	if (e && has_program_stack(l, e))
		err = jit_names__map(l->generated, l->show.spaces, e, take_mapping, l);
	if (!err && l->recorder && e)
		err = recorder__event(l->recorder, e);
	return err || !e ? err : show__event(&l->show, e);
}

static int on_run(void *ctx, const struct event_run *run, size_t *n)
{
	struct live *l = ctx;

	*n = 0;
	return l->closed ? 0 : show__run(&l->show, run, l->recorder, n);
}

/* ---- processes that existed before ---- */

static void look_at_thread(struct live *l, uint32_t pid, uint32_t tid)
{
	autofree char *name = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	if (file__read(path, 4096, &name, NULL))
		return;
	name[strcspn(name, "\n")] = 0;
	trace__comm(l->show.trace, pid, tid, name);
}

/* The PIDs of a process from /proc's PID namespace down to its own: "NSpid:\t25524\t1". */
static unsigned ns_pids(const char *proc, uint32_t *last)
{
	autofree char *path = xasprintf("/proc/%s/status", proc), *text = NULL;
	unsigned n = 0;
	char *p;

	if (file__read(path, 1 << 20, &text, NULL) || !(p = strstr(text, "\nNSpid:")))
		return 0;
	for (p += strlen("\nNSpid:"); *p == '\t'; n++)
		*last = strtoul(p, &p, 10);
	return n;
}

static void look_for_inner(struct live *l, uint32_t pid)
{
	uint32_t number;
	char name[16];

	snprintf(name, sizeof(name), "%u", pid);
	if (!l->own_numbers)
		l->own_numbers = ns_pids("self", &number);
	if (ns_pids(name, &number) > l->own_numbers)
		trace__inner(l->show.trace, pid, number);
}

static void look_at_process(struct live *l, uint32_t pid)
{
	pid_vec tids = {0};
	const uint32_t *tid;

	spaces__read(l->show.spaces, pid);
	look_for_inner(l, pid);
	process__threads(pid, &tids);
	vec__each (tid, &tids)
		look_at_thread(l, pid, *tid);
	vec__free(&tids);
}

void live__rescan(struct live *l, const pid_vec *pids)
{
	pid_vec all = {0};
	const uint32_t *pid;

	if (!pids->len)
		processes__all(&all);
	vec__each (pid, pids->len ? pids : &all)
		look_at_process(l, *pid);
	vec__free(&all);
}

/* ---- after lost sideband events: rescans the current state ---- */

static void look_at_again(void *ctx, uint32_t pid)
{
	look_at_process(ctx, pid);
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	struct live *l = ctx;
	int err = pass_before(l, e);

	if (!err)
		err = take_sideband(l, e);
	if (e->type == SIDEBAND_MAP && e->text && !strcmp(e->text, "//anon"))
		perf_maps__begin(l->generated, e->pid, e->time);
	if (e->type == SIDEBAND_MAP && l->mapped)
		l->mapped(l->switched_ctx, e);
	if (e->type == SIDEBAND_EXEC || (e->type == SIDEBAND_EXIT && e->pid == e->tid))
		perf_maps__forget(l->generated, e->pid);
	if (err || e->type != SIDEBAND_LOST)
		return err;
	l->count_the_dead = true;
	spaces__each_process(l->show.spaces, look_at_again, l);
	if (l->recorder)
		recorder__reintroduce(l->recorder);
	return 0;
}

static bool is_dead(uint32_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", pid, tid);
	return access(path, F_OK);
}

static void add_if_dead(void *ctx, uint32_t pid, uint32_t tid)
{
	struct live *l = ctx;

	if (is_dead(pid, tid))
		vec__push(&l->dead,
			  (struct sideband_event){.type = SIDEBAND_EXIT, .pid = pid, .tid = tid});
}

/* Ends the threads that were found dead, not before their last events have left the ring. */
int live__tick(struct live *l, uint64_t now, uint64_t settled)
{
	struct sideband_event *e;
	int err = 0;

	if (l->dead.len && settled < l->found_dead)
		return 0;
	vec__each (e, &l->dead) {
		e->time = now;
		if (!err && is_dead(e->pid, e->tid))
			err = take_sideband(l, e);
	}
	l->dead.len = 0;
	l->found_dead = now;
	if (l->count_the_dead)
		trace__each_thread(l->show.trace, add_if_dead, l);
	l->count_the_dead = false;
	return err || !l->held.n ? err : held__pass(&l->held, 0, has_names, pass, l);
}

int live__give_held(struct live *l)
{
	return held__pass(&l->held, 0, NULL, pass, l);
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	struct live *l = ctx;
	int err = l->recorder ? recorder__lost(l->recorder, pid, tid, count) : 0;

	return err ? err : show__lost(&l->show, pid, tid, count);
}

static void on_missed(void *ctx, const struct missed *m)
{
	show__missed(&((struct live *)ctx)->show, m);
}

static int on_counted(void *ctx, const struct count *n)
{
	return show__counted(&((struct live *)ctx)->show, n);
}

static void on_muted(void *ctx, uint64_t invocations, uint64_t hits)
{
	trace__muted(((struct live *)ctx)->show.trace, invocations, hits);
}

static void on_rest(void *ctx, uint64_t bytes)
{
	const struct live *l = ctx;

	if (l->rest)
		l->rest(l->rest_ctx, bytes);
}

void live__open(struct live *l, const struct plan *plan, const struct targets *targets,
		const struct trace_options *options, struct output *output,
		struct recorder *recorder, uint64_t limit)
{
	struct spaces *spaces = spaces__new();

	l->sink = (struct source_sink){l,	   on_event, on_sideband, on_lost, on_missed,
				       on_counted, on_run,   on_muted,	  on_rest};
	l->recorder = recorder;
	l->generated = perf_maps__new();
	l->holds = !plan->functions.len;
	show__open(&l->show, plan, options, spaces, output, limit);
	l->show.inlines = plan__has_named(plan, NAMED_SAMPLE);
	if (plan->placement == PLACEMENT_COUNT)
		show__count(&l->show);
	for (size_t i = 0; i < targets->objects.len; i++) {
		spaces__use(spaces, targets->objects.data[i]);
		show__object(&l->show, targets->objects.data[i]);
	}
}

void live__close(struct live *l)
{
	watch_hits__free(l->watches);
	show__close(&l->show);
	held__free(&l->held);
	perf_maps__free(l->generated);
	vec__free(&l->dead);
}
