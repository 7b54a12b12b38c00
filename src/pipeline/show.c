// SPDX-License-Identifier: BSD-2-Clause
/* Turns events and sideband events into steps, and passes these to the output; resolves running
 * addresses. */
#include <errno.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include "jit_names.h"
#include "pipeline/read/merged_plan.h"
#include "fatal_signals.h"
#include "pipeline/write/record.h"
#include "show.h"
#include "pipeline/counts/tally.h"

/* ---- names for running addresses ---- */

void show__read_inlined(const struct show *s, const struct object *o)
{
	if (s->inlines)
		object__read_inlined(o);
}

static void resolve_user(struct show *s, uint32_t pid, uint64_t addr, struct location *out)
{
	const struct symbol *symbol;
	struct mapped_place place;

	spaces__find(s->spaces, pid, addr, &place);
	if (!place.path)
		return;
	out->object = place.path;
	out->vaddr = place.vaddr;
	out->symbol = place.object ? NULL : jit_names__name(place.path);
	if (out->symbol) {
		out->object = "[jit]";
		out->offset = place.vaddr;
		return;
	}
	symbol = place.object ? object__symbol_at(place.object, place.vaddr) : NULL;
	if (!symbol)
		return;
	show__read_inlined(s, place.object);
	out->inlined = object__inlined_at(place.object, place.vaddr);
	out->symbol = symbol->shown;
	out->offset = place.vaddr - symbol->vaddr;
}

static void resolve_kernel(struct show *s, uint64_t addr, struct location *out)
{
	const struct object **o;

	vec__each (o, &s->objects) {
		const struct symbol *symbol;

		if (!object__is_kernel(*o) || !object__segment_at(*o, addr))
			continue;
		out->object = (*o)->path;
		out->vaddr = addr;
		symbol = object__symbol_at(*o, addr);
		if (symbol) {
			out->symbol = symbol->shown;
			out->offset = addr - symbol->vaddr;
		}
		return;
	}
}

static void resolve(void *ctx, uint32_t pid, uint64_t time, uint64_t addr, struct location *out)
{
	struct show *s = ctx;

	if (pid)
		resolve_user(s, pid, addr, out);
	else
		resolve_kernel(s, addr, out);
}

/* ---- input ---- */

static bool is_hit(const struct show *s, const struct event *e)
{
	const struct plan *p = s->plan;

	if ((e->type != EVENT_BRANCH && e->type != EVENT_ENTRY && e->type != EVENT_RETURN) ||
	    e->site >= p->sites.len)
		return false;
	return !(p->functions.data[p->sites.data[e->site].function].flags & FUNCTION_HELPER);
}

int show__event(struct show *s, const struct event *e)
{
	s->hits += is_hit(s, e);
	if (s->tally && e->type == EVENT_END)
		return tally__end_thread(s->tally, e), 0;
	if (s->tally && e->type == EVENT_SIGNAL)
		return tally__signal(s->tally, e), 0;
	if (s->tally && e->type == EVENT_RESUME)
		return tally__resume(s->tally, e), 0;
	if (e->type == EVENT_END)
		return s->last ? last__end(s->last, e->pid, e->tid) : (void)0, 0;
	return trace__feed(s->trace, e);
}

/* ---- input that is added up ---- */

/* -v: notes the PID of a process in its own namespace, once. */
static void report_inner(struct show *s, uint32_t pid, uint32_t ns_pid, const char *comm)
{
	uint64_t *reported = map64__put(&s->reported, pid);

	if (*reported != ns_pid)
		note_verbose("process %u (%s) is %u in its own PID namespace", pid, comm, ns_pid);
	*reported = ns_pid;
}

/* True if nothing needs the steps themselves. */
static bool takes_runs(const struct show *s)
{
	return !s->filter && !s->last && !s->tally && !s->limit &&
	       (!s->output || output__adds_up(s->output));
}

static void on_branches(void *ctx, const struct passed_run *run)
{
	struct show *s = ctx;

	if (s->output)
		output__run(s->output, run);
	if (run->ns_pid && note__level() == NOTE_VERBOSE)
		report_inner(s, run->pid, run->ns_pid, run->comm);
}

static int keep_words(void *ctx, const struct logged_words *words)
{
	return recorder__words(((struct show *)ctx)->recorder, words);
}

static void keep_address(void *ctx, uint32_t pid, uint64_t addr)
{
	recorder__address(((struct show *)ctx)->recorder, pid, addr);
}

int show__run(struct show *s, const struct event_run *run, struct recorder *recorder, size_t *n)
{
	const struct run_sink sink = {.ctx = s,
				      .branches = on_branches,
				      .words = recorder ? keep_words : NULL,
				      .address = keep_address};
	struct run_taken taken;
	int err;

	*n = 0;
	if (!takes_runs(s) || (recorder && !recorder__takes_words(recorder)))
		return 0;
	s->recorder = recorder;
	err = trace__feed_run(s->trace, run, &sink, &taken);
	s->hits += taken.records;
	s->added_up += taken.records;
	*n = taken.words;
	if (taken.full)
		show__add_up(s);
	return err;
}

static void add_branch(void *ctx, uint32_t site, bool taken, const struct location *to, uint64_t n)
{
	const struct show *s = ctx;

	if (s->output && output__adds_up(s->output))
		output__branch(s->output, site, taken, to, n);
}

void show__add_up(struct show *s)
{
	trace__each_branch(s->trace, &(struct run_counts){s, add_branch});
}

/* ---- sideband events ---- */

static void widen(void *ctx, uint64_t start, uint64_t end)
{
	struct map *m = ctx;

	m->start = m->end ? min_of(m->start, start) : start;
	m->end = max_of(m->end, end);
}

/* Maps an object. If something else was mapped there before, events may be older than the
 * mapping: their addresses get no names. */
static void map(struct show *s, uint32_t pid, const struct map *m)
{
	struct map either = {.exec = true};

	if (s->undated)
		spaces__replaced(s->spaces, pid, m, widen, &either);
	spaces__map(s->spaces, pid, m);
	if (either.end)
		spaces__map(s->spaces, pid, &either);
}

static void add_untraced(struct show *s, const struct sideband_event *e)
{
	const struct untraced row = {e->pid, e->object, e->function,
				     (char *)(e->text ? e->text : "")};
	uint64_t *process = map64__put(&s->not_fully, e->pid);

	s->nuntraced += !*process;
	*process = 1;
	untraced__add(&s->untraced, &row);
	if (s->output)
		output__untraced(s->output, &s->untraced);
}

struct map sideband__map(const struct sideband_event *e)
{
	return (struct map){.start = e->start,
			    .end = e->start + e->len,
			    .offset = e->offset,
			    .dev = makedev(e->major, e->minor),
			    .ino = e->ino,
			    .exec = true,
			    .path = (char *)e->text};
}

/* The kernel maps the program first, then its interpreter (fs/binfmt_elf.c). */
static void on_map(struct show *s, const struct sideband_event *e)
{
	struct map m = sideband__map(e);

	if (map64__del(&s->executing, e->pid) && s->output && e->text)
		output__program(s->output, e->pid, e->text);
	if (s->tally)
		tally__map(s->tally, s->spaces, e->pid, &m);
	map(s, e->pid, &m);
}

static void end_program(struct show *s, uint32_t pid)
{
	if (s->tally)
		tally__end_program(s->tally, pid);
}

/* Ends a thread. Threads may outlive the main thread of their process. */
static int on_exit_of(struct show *s, const struct sideband_event *e)
{
	bool known = trace__knows(s->trace, e->pid);
	int err = trace__exit(s->trace, e->time, e->pid, e->tid);

	if ((known || e->pid == e->tid) && !trace__knows(s->trace, e->pid)) {
		spaces__exit(s->spaces, e->pid);
		end_program(s, e->pid);
	}
	return err;
}

int show__sideband(struct show *s, const struct sideband_event *e)
{
	if (e->type == SIDEBAND_EXEC || e->type == SIDEBAND_EXIT || e->type == SIDEBAND_MAP)
		trace__maps_changed(s->trace);
	switch (e->type) {
	case SIDEBAND_FORK:
		spaces__fork(s->spaces, e->pid, e->ppid);
		return trace__fork(s->trace, e->time, e->pid, e->tid, e->ppid, e->ptid);
	case SIDEBAND_EXEC:
		spaces__exec(s->spaces, e->pid);
		*map64__put(&s->executing, e->pid) = 1;
		end_program(s, e->pid);
		return trace__exec(s->trace, e->time, e->pid, e->tid, e->text);
	case SIDEBAND_COMM:
		return trace__comm(s->trace, e->pid, e->tid, e->text);
	case SIDEBAND_EXIT:
		return on_exit_of(s, e);
	case SIDEBAND_MAP:
		on_map(s, e);
		return 0;
	case SIDEBAND_GAP:
		return trace__gap(s->trace, e->pid, e->tid);
	case SIDEBAND_INNER:
		trace__inner(s->trace, e->pid, e->count);
		return 0;
	case SIDEBAND_LOST:
		s->sideband_lost += e->count;
		return 0;
	case SIDEBAND_STOP:
		return trace__stop(s->trace, e->time, e->text);
	case SIDEBAND_START:
		return trace__start(s->trace, e->time, e->count, e->text);
	case SIDEBAND_MARK:
		return trace__mark(s->trace, e->time, e->pid, e->tid, e->count, e->text);
	case SIDEBAND_UNTRACED:
		add_untraced(s, e);
		return 0;
	case SIDEBAND_TYPES:
		return 0;
	}
	return 0;
}

int show__lost(struct show *s, uint32_t pid, uint32_t tid, uint64_t count)
{
	return trace__lost(s->trace, pid, tid, count);
}

int show__damage(struct show *s, const struct trace_damage *d)
{
	bool forgets = d->sideband || d->unknown;

	s->sideband_lost += d->sideband;
	if (forgets)
		spaces__forget(s->spaces);
	trace__maps_changed(s->trace);
	return trace__hole(s->trace, d->events, forgets);
}

static struct missed *missed_by(struct show *s, const struct missed *m)
{
	struct missed *known;

	vec__each (known, &s->missed)
		if (known->site == m->site && known->what == m->what)
			return known;
	vec__push(&s->missed, (struct missed){.site = m->site, .what = m->what});
	return vec__last(&s->missed);
}

void show__missed(struct show *s, const struct missed *m)
{
	trace__missed(s->trace, m->hits);
	if (m->site == NO_SITE && !m->what)
		return;
	missed_by(s, m)->hits += m->hits;
	if (s->output)
		output__missed(s->output, &s->missed);
}

/* ---- output ---- */

static int render(void *ctx, const struct step *step)
{
	struct show *s = ctx;
	struct step placed;

	if (!s->output)
		return 0;
	return output__step(s->output,
			    s->joined ? merged_plan__step(s->joined, step, &placed) : step);
}

static bool is_watched(const struct show *s, const struct step *step)
{
	return step->type == STEP_NAMED &&
	       s->plan->named.data[step->named->which].kind == NAMED_WATCHPOINT;
}

/* --last: keeps a step; a hit of a watchpoint is shown with what led to it. */
static int keep(struct show *s, const struct step *step)
{
	int err;

	if (fatal_signal__is_by_fault(s->plan, step))
		last__take_back(s->last, step);
	if (!is_watched(s, step))
		return last__step(s->last, step);
	err = last__give_to(s->last, step, render, s);
	return err ? err : render(s, step);
}

static int on_filtered(void *ctx, const struct step *step)
{
	struct show *s = ctx;
	int err = s->last ? keep(s, step) : render(s, step);

	if (step->ns_pid && note__level() == NOTE_VERBOSE)
		report_inner(s, step->pid, step->ns_pid, step->comm);
	if (err || !s->limit || (step->type > STEP_RETURN && step->type != STEP_NAMED))
		return err;
	return --s->limit ? 0 : 1;
}

static int on_step(void *ctx, const struct step *step)
{
	struct show *s = ctx;
	int err = s->filter ? report_filter__step(s->filter, step) : on_filtered(s, step);

	s->cut |= err == 1;
	return err;
}

/* True if anything reads the steps. A trace that is only recorded just counts them. */
static bool reads_steps(const struct show *s)
{
	return s->output || s->limit || note__level() == NOTE_VERBOSE;
}

void show__open(struct show *s, const struct plan *plan, const struct trace_options *options,
		struct spaces *spaces, struct output *output, uint64_t limit)
{
	*s = (struct show){.plan = plan, .output = output, .spaces = spaces, .limit = limit};
	s->resolver = (struct resolver){s, resolve};
	s->trace = trace__new(plan, options, &s->resolver, reads_steps(s) ? on_step : NULL, s);
}

void show__plan_extended(struct show *s)
{
	show__add_up(s);
	trace__plan_extended(s->trace);
	if (s->output && !s->joined)
		output__plan_extended(s->output);
}

void show__filter(struct show *s, const struct report_filter_options *options)
{
	s->filter = report_filter__new(s->plan, options, on_filtered, s);
}

void show__count(struct show *s)
{
	s->tally = tally__new(s->plan, s->trace);
}

int show__counted(struct show *s, const struct count *n)
{
	return tally__add(s->tally, n);
}

void show__reset_counts(struct show *s)
{
	tally__reset(s->tally);
}

void show__give_counts(struct show *s)
{
	s->hits = tally__hits(s->tally);
	tally__give(s->tally, s->output);
}

void show__pass_counts(struct show *s, struct output *o)
{
	tally__pass(s->tally, o);
	output__missed(o, &s->missed);
	output__untraced(o, &s->untraced);
}

void show__object(struct show *s, const struct object *o)
{
	vec__push(&s->objects, o);
}

void show__keep_last(struct show *s, const struct request *req)
{
	last__free(s->last);
	/* what a destructor did may have led to a hit, and what follows the last one isn't shown */
	s->last = last__new(req->record.last,
			    req->show.all || plan__has_named(s->plan, NAMED_WATCHPOINT));
}

int show__dump(struct show *s, uint32_t pid, bool newest_first, bool ends)
{
	int err = s->last ? last__give_process(s->last, pid, newest_first, render, s) : 0;

	if (s->last && ends)
		last__forget_process(s->last, pid);
	return err;
}

int show__end(struct show *s)
{
	int err = trace__finish(s->trace);

	if (s->tally)
		show__give_counts(s);
	return err || !s->filter ? err : report_filter__finish(s->filter);
}

int show__give_thread(struct show *s, uint32_t pid, uint32_t tid, bool newest_first, step_fn fn,
		      void *ctx)
{
	return last__give_thread(s->last, pid, tid, newest_first, fn ? fn : render, fn ? ctx : s);
}

int show__finish(struct show *s, bool newest_first)
{
	int err = show__end(s);

	/* what followed the last hit of a watchpoint led to no other */
	if (err || !s->last || plan__has_named(s->plan, NAMED_WATCHPOINT))
		return err;
	return last__give(s->last, newest_first, render, s);
}

const struct trace_totals *show__totals(struct show *s)
{
	show__add_up(s);
	s->totals = *trace__totals(s->trace);
	if (s->filter)
		report_filter__count(s->filter, &s->totals);
	s->totals.untraced = s->nuntraced;
	if (s->tally)
		tally__totals(s->tally, &s->totals);
	return &s->totals;
}

/* -v: notes the hits that probes missed. */
static void report_missed(const struct show *s)
{
	const struct missed *m;

	if (note__level() < NOTE_VERBOSE)
		return;
	vec__each (m, &s->missed) {
		struct str name = {0};

		missed__name(m, s->plan, &name);
		note_verbose("%s: %llu hits missed, of all processes", name.data,
			     (unsigned long long)m->hits);
		str__free(&name);
	}
}

/* Notes how much of the times shown is that of tracing. */
static void report_tracing(struct show *s)
{
	const struct trace_totals *t = show__totals(s);
	const char *where =
		s->cut ? "in the part of the trace that was read, " : "in the whole trace, ";
	struct str text = {0};

	if (s->output && t->events && output__shows_times(s->output) && totals__tracing(t, &text))
		note("%stimes include %s", s->filter ? where : "", text.data);
	str__free(&text);
}

void show__summary(struct show *s)
{
	struct str summary = {0};

	if (s->sideband_lost)
		note("%llu events about processes were lost: some addresses may lack their names",
		     (unsigned long long)s->sideband_lost);
	if (s->added_up)
		note_verbose("%llu of %llu hits were added up, without events",
			     (unsigned long long)s->added_up, (unsigned long long)s->hits);
	if (s->last && last__dropped(s->last))
		note("the last branches of %llu threads that ended before are not shown: those of "
		     "the 256 that ended last are",
		     (unsigned long long)last__dropped(s->last));
	if (s->last && last__left_out(s->last))
		note("%llu branches that ran after main or exit() are not shown (--all)",
		     (unsigned long long)last__left_out(s->last));
	report_missed(s);
	report_tracing(s);
	if (s->output)
		output__note_grep(s->output, show__totals(s));
	totals__text(show__totals(s), &summary);
	if (note__level() >= NOTE_NORMAL &&
	    (!s->brief || totals__are_low(show__totals(s)) || note__level() >= NOTE_VERBOSE))
		note__line(summary.data);
	str__free(&summary);
}

void show__close(struct show *s)
{
	tally__free(s->tally);
	trace__free(s->trace);
	report_filter__free(s->filter);
	last__free(s->last);
	spaces__free(s->spaces);
	vec__free(&s->objects);
	vec__free(&s->missed);
	untraced__free(&s->untraced);
	map64__free(&s->executing);
	map64__free(&s->not_fully);
	map64__free(&s->reported);
}
