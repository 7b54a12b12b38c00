// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verb core: a core dump's stacks, and what a trace of the process has of each thread, newest
 * first. The trace is replayed like that of a report with --last.
 */
#include <errno.h>
#include "cli/option.h"
#include "verbs/verbs.h"
#include "core.h"
#include "util/fit.h"

#define LAST 20 /* number of branches, unless --last is given */

struct run {
	struct request request; /* for only this process, and its last branches */
	struct core *core;
	struct core_place *places;
	char *found; /* the trace beside the core dump */
	struct core_trace fit;
	struct input in;
	struct replay replay;
	struct render render;
	struct core_shown shown;
};

/* ---- notes on what doesn't match ---- */

static bool is_in_a_stack(const struct run *r, const struct core_file *f)
{
	for (size_t i = 0; i < r->core->frames.len; i++)
		if (r->places[i].of == f)
			return true;
	return false;
}

static void report_files(const struct run *r)
{
	const struct core_file *f;

	vec__each (f, &r->core->files) {
		if (f->fit == CORE_OTHER)
			note("%s is another build than the one that was running: it is not used",
			     f->path);
		else if (f->fit == CORE_MISSING)
			note("%s: %s: its frames have no names", f->path, f->why);
		else if (f->named && f->fit == CORE_UNKNOWN)
			note("no build-id shows that %s is the %s that was running",
			     r->request.core.program, f->path);
		else if (f->fit == CORE_UNKNOWN && is_in_a_stack(r, f))
			note("%s: the dump has no build-id of it: its frames have no names",
			     f->path);
	}
}

static void report_dump(const struct run *r, const char *path)
{
	if (r->core->packed_cut && !r->core->cut)
		note("%s is cut off after its last page", path);
	if (r->core->cut)
		note("%s is cut off: it has %llu of %llu bytes%s", path,
		     (unsigned long long)r->core->size, (unsigned long long)r->core->whole,
		     r->core->packed_cut ? ", unpacked" : "");
	report_files(r);
}

static void report_trace(const struct run *r)
{
	if (!r->fit.ended)
		note("%s ended before the process did: its newest branches may be older than the "
		     "dump",
		     r->shown.trace);
	else if (!r->core->signal || r->core->stopped)
		note("the process went on after the dump: the newest branches in %s may be later",
		     r->shown.trace);
}

/* ---- the trace ---- */

/* Chooses the trace. Returns 1 if there is none. */
static int choose_trace(struct run *r)
{
	const struct request *req = &r->request;
	const char *path = req->operands.data[0];
	int err;

	if (req->operands.len == 1) {
		r->found = core_trace__beside(path, r->core);
		if (!r->found) {
			note("no trace of process %u (*.bbt) is beside %s: name it after the "
			     "dump; bbtrace user ... --last N --record FILE.bbt records one",
			     r->core->pid, path);
			return 1;
		}
	}
	r->shown.trace = r->found ? r->found : req->operands.data[1];
	err = core_trace__look(r->shown.trace, r->core, &r->fit);
	if (err)
		return err;
	if (r->fit.why)
		return err__set(ENOENT, "%s is of another process: %s", r->shown.trace, r->fit.why);
	r->shown.fit = &r->fit;
	report_trace(r);
	return 0;
}

static int begin(void *ctx, const struct replay *p, const struct plan *plan, struct output **out)
{
	struct run *r = ctx;
	int err = render__start(&r->render, &r->request, plan, &p->meta, 0);

	*out = r->render.output;
	return err;
}

static int replay(struct run *r)
{
	static const struct replay_calls calls = {.begin = begin};
	int err = input__open(&r->in, r->shown.trace);

	if (err)
		return err;
	r->in.progress.shown = false;
	vec__push(&r->request.who.filters.pids, r->fit.pid);
	if (!r->request.record.last)
		r->request.record.last = LAST;
	r->replay =
		(struct replay){.request = &r->request, .in = &r->in, .calls = &calls, .ctx = r};
	err = replay__run(&r->replay);
	if (err < 0 && (!r->replay.begun || !input__is_of_file(err)))
		return err;
	if (err < 0)
		note("%s: %s", r->shown.trace, err__text());
	if (r->replay.show.tally || !r->replay.show.last)
		return err__set(EINVAL, "%s has counts, and no events", r->shown.trace);
	return show__end(&r->replay.show);
}

/* ---- options ---- */

static const struct option_row option_rows[] = {
	{"sysroot", 0, "DIR", VERB_CORE, FILE_NAME(core.sysroot),
	 "the dump's files are in DIR, by their paths", .values = ":folders"},
	{"program", 0, "FILE", VERB_CORE, FILE_NAME(core.program),
	 "the program of the dump is FILE now", .values = ":files"},
};

const struct option_group options_core = {"Of bbtrace core", option_rows, ARRAY_SIZE(option_rows)};

/* ---- the verb ---- */

static int write_out(struct run *r, struct str *text)
{
	int err;

	fit__lines(text, 0, r->shown.json ? 0 : r->render.sink.width);
	err = sink__write(&r->render.sink, text->data, text->len);

	str__clear(text);
	return err;
}

/* Returns a thread's ID in the trace: the same, except for processes in a PID namespace, of
 * which only the main thread's is known. */
static uint32_t tid_in_trace(const struct run *r, const struct core_thread *t)
{
	if (r->fit.pid == r->core->pid)
		return t->tid;
	return t->tid == r->core->pid ? r->fit.pid : 0;
}

static int show_thread(struct run *r, const struct core_thread *t, struct str *text)
{
	CLEANUP(core_meet__free) struct core_meet meet = {0};
	uint32_t tid = r->shown.trace ? tid_in_trace(r, t) : 0;
	int err;

	if (tid)
		core_meet__find(&r->replay.show, r->fit.pid, tid, r->core, t, r->places, &meet);
	core_show__thread(&r->shown, t, tid ? &meet : NULL, text);
	err = write_out(r, text);
	if (err || !tid)
		return err;
	err = show__give_thread(&r->replay.show, r->fit.pid, tid, !r->shown.json, NULL, NULL);
	return err ? err : output__settle(r->render.output);
}

static int show(struct run *r)
{
	autofree struct str text = {0};
	const struct core_thread *t;
	int err;

	core_show__head(&r->shown, &text);
	err = write_out(r, &text);
	vec__each (t, &r->core->threads)
		if (!err)
			err = show_thread(r, t, &text);
	if (!err && r->render.output && r->shown.json)
		err = output__end(r->render.output, show__totals(&r->replay.show));
	return err == -EPIPE && r->render.sink.reader_gone ? 0 : err;
}

static void close_run(struct run *r)
{
	render__close(&r->render);
	replay__close(&r->replay);
	if (r->in.reader)
		input__close(&r->in);
	core_trace__free(&r->fit);
	core_places__free(r->places, r->core);
	core__free(r->core);
	free(r->found);
	vec__free(&r->request.who.filters.pids);
}

int core__check(struct request *req)
{
	if (!req->operands.len)
		return err__set(EINVAL, "no core dump given; see bbtrace core --help");
	if (req->operands.len > 2)
		return err__set(EINVAL, "core takes a core dump and one trace file");
	req->files = req->operands.len; /* no operand names a function */
	return 0;
}

int core__run(const struct request *req)
{
	CLEANUP(close_run) struct run r = {.request = *req, .render.sink.fd = -1, .in.fd = -1};
	autofree char *why = NULL;
	int err, shown;

	err = core__open(req->operands.data[0],
			 &(struct core_from){req->core.sysroot, req->core.program}, &r.core);
	if (err)
		return err;
	r.places = core_places__new(r.core, !req->show.no_src);
	r.shown = (struct core_shown){.core = r.core, .places = r.places};
	r.shown.json = output__form(req->show.format) == FORM_JSON;
	report_dump(&r, req->operands.data[0]);
	err = sink__open(&r.render.sink, NULL, NULL);
	if (err)
		return err;
	sink__ignore_signals();
	err = choose_trace(&r);
	if (!err)
		err = replay(&r);
	if (err) { /* shows only the stacks */
		r.shown.trace = NULL;
		why = err < 0 ? xstrdup(err__text()) : NULL;
	}
	shown = show(&r);
	if (shown)
		return shown;
	return why ? err__set(-err, "%s", why) : 0;
}
