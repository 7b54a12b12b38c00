// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verb stack: the stacks of all threads of a running process, what each waits for, and which
 * wait for each other. The process is neither stopped nor changed.
 */
#include <errno.h>
#include <stdlib.h>
#include "cli/request.h"
#include "pipeline/render.h"
#include "verbs/core/core.h"
#include "verbs/verbs.h"
#include "stack.h"
#include "stack_show.h"
#include "util/fit.h"

#define NAMES 8 /* innermost functions among which the C library's locks are */

/* ---- which process ---- */

/* A name is one of process, as in ps(1). */
static int find_process(const char *word, uint32_t *pid)
{
	autofree pid_vec named = {0};
	autofree struct str found = {0};
	const uint32_t *p;
	char *end;

	*pid = strtoul(word, &end, 10);
	if (*word >= '0' && *word <= '9' && !*end) {
		uint32_t of = process__of_thread(*pid);

		if (!of)
			return err__set(ESRCH, "there is no process %s", word);
		if (of != *pid)
			note("%u is a thread of process %u: all its threads are shown", *pid, of);
		*pid = of;
		return 0;
	}
	processes__named(word, &named);
	vec__each (p, &named) {
		str__printf(&found, "%s%u", p > named.data ? ", " : "", *p);
		*pid = *p;
	}
	if (!named.len)
		return err__set(ESRCH,
				"there is no process %s: give its PID, or its name as ps has it",
				word);
	if (named.len > 1)
		return err__set(EINVAL, "%zu processes are called %s: give the PID of one: %s",
				named.len, word, found.data);
	return 0;
}

/* ---- what is shown ---- */

static const struct core_thread *stack_of(const struct core *c, uint32_t tid)
{
	const struct core_thread *t;

	vec__each (t, &c->threads)
		if (t->tid == tid)
			return t;
	return NULL;
}

static void find_wait(const struct stacks *s, size_t i)
{
	const struct snap *t = &s->snapshot->threads.data[i];
	const struct core_thread *stack = s->core ? stack_of(s->core, t->at.tid) : NULL;
	const char *names[NAMES];
	size_t n = stack ? min_of(stack->n, (size_t)NAMES) : 0;

	for (size_t k = 0; k < n; k++)
		names[k] = s->places[stack->first + k].at.symbol;
	wait__find(s->snapshot, t, s->core, names, n, &s->waits[i]);
}

/* A cycle is reported if none of its threads has run since, so that it was there at one moment. */
static void find_cycle(struct stacks *s, struct snapshot *live)
{
	size_t first, n = cycle__find(live, s->waits, &first);

	for (size_t k = 0, i = first; k < n; k++, i = cycle__next(live, s->waits, i))
		if (!snapshot__is_still(live, &live->threads.data[i]))
			return;
	s->cycle = n;
	s->first = first;
}

static void report_files(const struct stacks *s)
{
	const struct core_file *f;

	vec__each (f, &s->core->files) {
		bool needed = false;

		for (size_t i = 0; i < s->core->frames.len; i++)
			needed |= s->places[i].of == f;
		if (needed && f->fit != CORE_SAME)
			note("%s: %s: its frames have no names", f->path,
			     f->why ? f->why : "another file is there now");
	}
}

static int write_out(struct sink *sink, struct str *text)
{
	int err;

	fit__lines(text, 0, sink->width);
	err = sink__write(sink, text->data, text->len);

	str__clear(text);
	return err;
}

static int show(const struct stacks *s)
{
	struct sink sink = {.fd = -1};
	autofree struct str text = {0};
	int err = sink__open(&sink, NULL, NULL);

	sink.width = s->json ? 0 : sink.width;

	if (err)
		return err;
	sink__ignore_signals();
	stack_show__head(s, &text);
	err = write_out(&sink, &text);
	for (size_t i = 0; !err && i < s->snapshot->threads.len; i++) {
		uint32_t tid = s->snapshot->threads.data[i].at.tid;

		stack_show__thread(s, i, s->core ? stack_of(s->core, tid) : NULL, &text);
		err = write_out(&sink, &text);
	}
	sink__close(&sink);
	return err == -EPIPE && sink.reader_gone ? 0 : err;
}

static void report_unsettled(const struct snapshot *s)
{
	const struct snap *t;
	size_t n = 0;

	vec__each (t, &s->threads)
		n += !t->settled;
	if (n && s->unsampled)
		note("threads that run can't be sampled: %s", strerror(-s->unsampled));
	else if (n)
		note("%zu thread%s ran and waited in turns, too fast to be seen: try again", n,
		     n == 1 ? "" : "s");
	if (s->ended)
		note("%zu thread%s ended meanwhile", s->ended, s->ended == 1 ? "" : "s");
}

/* Returns 0, or -errno with a message. */
static int read_stacks(struct stacks *s, const struct snapshot *live)
{
	autoclose int fd = image__write(live);
	autofree char *name = xasprintf("process %u", live->pid);
	int err =
		fd < 0 ? fd : core__read(fd, name, &(struct core_from){.pid = live->pid}, &s->core);

	if (!err)
		s->places = core_places__new(s->core, s->lines);
	return err;
}

static int run(struct stacks *s, struct snapshot *live)
{
	int err = read_stacks(s, live);

	if (err)
		return err;
	s->waits = xcalloc(live->threads.len, sizeof(*s->waits));
	for (size_t i = 0; i < live->threads.len; i++)
		find_wait(s, i);
	find_cycle(s, live);
	report_files(s);
	report_unsettled(live);
	return show(s);
}

/* ---- the verb ---- */

int stacks__check(struct request *req)
{
	size_t n = req->operands.len + req->who.filters.pids.len;

	if (!n)
		return err__set(EINVAL, "no process given: bbtrace stack PID, or its name");
	if (n > 1)
		return err__set(EINVAL, "stack takes one process");
	return 0;
}

static int check_rights(void)
{
	int err = privileges__check(PRIVILEGE_BPF | PRIVILEGE_PERFMON | PRIVILEGE_SYS_PTRACE,
				    "reading where the threads of a process are");

	return err ? err__set(-err, "%s; run with sudo", err__text()) : 0;
}

int stacks__run(const struct request *req)
{
	struct snapshot live = {0};
	struct stacks s = {.snapshot = &live,
			   .json = output__form(req->show.format) == FORM_JSON,
			   .lines = !req->show.no_src,
			   .kernel = req->record.stack};
	uint32_t pid = req->who.filters.pids.len ? req->who.filters.pids.data[0] : 0;
	int err = pid ? 0 : find_process(req->operands.data[0], &pid);

	if (!err)
		err = check_rights();
	if (!err)
		err = snapshot__take(pid, &live);
	if (!err)
		err = run(&s, &live);
	for (size_t i = 0; s.waits && i < live.threads.len; i++)
		wait__free(&s.waits[i]);
	free(s.waits);
	if (s.core)
		core_places__free(s.places, s.core);
	core__free(s.core);
	snapshot__free(&live);
	return err;
}
