// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verb why: traces CMD's own functions and, where the kernel has kprobes, those of the
 * requested system calls; with --again, in further runs, those that the earlier ones have shown to
 * matter.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <wordexp.h>
#include "cli/option.h"
#include "cli/command.h"
#include "verbs/verbs.h"
#include "pipeline/render.h"
#include "pipeline/syscall_names.h"
#include "util/fit.h"
#include "why_run.h"

#define RUNS_MOST 8

struct why {
	const struct request *req;
	struct passing *passing; /* shared memory; NULL: there is no run that passes */
	VEC(char *) operands;	 /* owned */
	bool kernel;		 /* the kernel has kprobes */
	bool system_calls;	 /* the exits of system calls can be seen */
	struct failed_call chosen;
	size_t failures; /* number of kinds of failures of which one was chosen */
	bool blamed;	 /* chosen since a branch tested its result */
};

static bool has_operand(const struct why *w, const char *word)
{
	char *const *known;

	vec__each (known, &w->operands)
		if (!strcmp(*known, word))
			return true;
	return false;
}

/* Adds an operand, which it owns. Returns false if it was there already. */
static bool add_operand(struct why *w, char *word)
{
	if (has_operand(w, word)) {
		free(word);
		return false;
	}
	vec__push(&w->operands, word);
	return true;
}

/* ---- what is traced from the start ---- */

static bool has_feature(const char *name)
{
	bool has = false;

	for (const struct feature *f = features; f->name; f++)
		if (!strcmp(f->name, name))
			has = !f->check();
	err__clear();
	return has;
}

static void see(void *ctx, const char *name)
{
	*(bool *)ctx = true;
}

static bool has_tracepoint(const char *name)
{
	bool has = false;

	if (tracepoints__each(name, see, &has))
		has = false;
	err__clear();
	return has;
}

/* Returns the interpreter of a script ("#!/bin/sh -e"); NULL if the file is none. */
static char *interpreter_of(const char *path)
{
	autofree char *text = NULL;
	size_t len;
	char *start;
	with_own_rights;

	if (file__read(path, 1 << 20, &text, &len) || strncmp(text, "#!", 2)) {
		err__clear();
		return NULL;
	}
	start = text + 2 + strspn(text + 2, " \t");
	return xstrndup(start, strcspn(start, " \t\n"));
}

static int add_program(struct why *w)
{
	autofree char *path = command__path(w->req->command[0]);
	autofree char *interpreter = path ? interpreter_of(path) : NULL;

	if (!path)
		return err__set(ENOENT, "cannot run %s: no such command", w->req->command[0]);
	if (interpreter)
		note("%s is a script: what %s did is explained", path, interpreter);
	add_operand(w, xasprintf("user:%s:*", interpreter ? interpreter : path));
	return 0;
}

static int add_syscall(struct why *w, const char *name)
{
	char *function = syscall__function(name);

	if (!function)
		return err__set(ENOTSUP, "how this kernel names its system calls isn't known");
	add_operand(w, xasprintf("kernel:%s", function));
	free(function);
	return 0;
}

static int add_all(struct why *w)
{
	int err = add_program(w);

	for (size_t i = 0; !err && i < w->req->operands.len; i++)
		add_operand(w, xstrdup(w->req->operands.data[i]));
	for (size_t i = 0; !err && w->kernel && i < w->req->what.syscalls.len; i++)
		err = add_syscall(w, w->req->what.syscalls.data[i]);
	return err;
}

/* ---- further runs ---- */

/* Returns the failure to explain if no name was given: the one that the program's end is due to,
 * or the last one. */
static const char *choose(struct why *w, const struct why_run *r)
{
	const struct failed_call *f;

	w->failures = r->failed.len;
	w->blamed = r->blamed.result;
	w->chosen = r->blamed;
	vec__each (f, &r->failed)
		if (!w->blamed && (!w->chosen.result || f->time >= w->chosen.time))
			w->chosen = *f;
	return w->chosen.result ? syscall__name(w->chosen.number) : NULL;
}

/* Adds functions for another run. Returns false if it would show no more. */
static bool widen(struct why *w, const struct why_run *r, bool first)
{
	const char *name;
	char *const *function;
	bool more = false;

	vec__each (function, &r->elsewhere)
		more |= add_operand(w, xstrdup(*function));
	vec__each (function, &r->programs)
		more |= add_operand(w, xasprintf("user:%s:*", *function));
	if (!w->kernel)
		return more;
	if (first && !w->req->what.syscalls.len && (name = choose(w, r)))
		return !add_syscall(w, name) || more;
	vec__each (function, &r->wanted)
		more |= add_operand(w, xasprintf("kernel:%s", *function));
	return more;
}

static void announce(const struct why *w, const struct why_run *r, unsigned run)
{
	struct str names = {0};
	char *const *function;

	vec__each (function, &r->wanted)
		str__printf(&names, "%s%s", names.len ? ", " : "", *function);
	vec__each (function, &r->elsewhere)
		str__printf(&names, "%s%s", names.len ? ", " : "", *function + strlen("user:"));
	vec__each (function, &r->programs)
		str__printf(&names, "%sits child %s", names.len ? ", " : "", *function);
	if (run == 1 && w->chosen.result && !w->req->what.syscalls.len)
		str__printf(&names, "%s", syscall__name(w->chosen.number));
	note("run %u of %s, which traces %s as well", run + 1, w->req->command[0],
	     names.len ? names.data : "more");
	str__free(&names);
}

/* ---- the run that passes ---- */

static const char *wordexp_error(int err)
{
	return err == WRDE_BADCHAR   ? "it has to be one command, without | & ; < > ( ) { }"
	       : err == WRDE_NOSPACE ? "no memory"
				     : "its quotes, or something else of its syntax, are wrong";
}

/* Runs it, and keeps which way its branches went. */
static int run_pass_words(struct why *w, char **words)
{
	struct request req = *w->req;
	struct why_run r;
	int err;

	req.command = words;
	req.what.syscalls.len = 0;
	req.what.again = false;
	err = why_run__do(&r, &req, w->operands.data, 1,
			  (struct why_options){.passing = w->passing, .passes = true});
	w->passing->complete = !err && r.traced && !r.status && w->passing->n;
	if (!err && r.traced && r.status)
		note("the run of --pass failed, too, with %d: it isn't compared", r.status);
	else if (!err && !w->passing->n)
		note("the run of --pass executed nothing of %s: it isn't compared",
		     w->req->command[0]);
	else if (!err && w->passing->full)
		note("the run of --pass executed more branches than can be kept, or lost some: it "
		     "isn't compared");
	why_run__free(&r);
	return err;
}

static int run_pass(struct why *w)
{
	wordexp_t words;
	int err = wordexp(w->req->what.pass, &words, WRDE_NOCMD);

	if (err || !words.we_wordc) {
		if (!err)
			wordfree(&words);
		return err__usage("--pass '%s': %s", w->req->what.pass,
				  err ? wordexp_error(err) : "it names no command");
	}
	w->passing = mmap(NULL, sizeof(*w->passing), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->passing == MAP_FAILED) {
		w->passing = NULL;
		err = err__set(errno, "no memory for the run of --pass: %s", strerror(errno));
	} else {
		err = run_pass_words(w, words.we_wordv);
	}
	wordfree(&words);
	return err;
}

static struct why_options options_of(const struct why *w)
{
	return (struct why_options){.system_calls = w->system_calls, .passing = w->passing};
}

/* If a further run can't trace, what the one before it has found stands. */
static int run_all(struct why *w, struct why_run *r)
{
	struct why_run next = {0};
	int err = why_run__do(r, w->req, w->operands.data, w->operands.len, options_of(w));

	for (unsigned run = 1;
	     !err && r->traced && w->req->what.again && run < RUNS_MOST && widen(w, r, run == 1);
	     run++) {
		announce(w, r, run);
		if (why_run__do(&next, w->req, w->operands.data, w->operands.len, options_of(w)))
			err__print();
		if (!next.traced) {
			note("run %u shows nothing: this is what run %u has shown", run + 1, run);
			why_run__free(&next);
			return 0;
		}
		why_run__free(r);
		*r = next;
		next = (struct why_run){0};
	}
	return err;
}

/* ---- notes ---- */

static void report(const struct why *w, const struct why_run *r)
{
	const struct failed_call *f;
	const char *name = w->chosen.result ? syscall__name(w->chosen.number) : NULL;
	char *const *program;

	vec__each (program, &r->programs)
		if (!w->req->what.again)
			note("%s, which failed as a child, was not traced: --again runs %s again, "
			     "with it",
			     *program, w->req->command[0]);
	if (name && w->failures > 1)
		note("assumed: the failure of %s matters, %s, of %zu kinds of failures; -s NAME "
		     "asks for others",
		     name,
		     w->blamed ? "which the program's message names, or whose result it tested"
			       : "the last one",
		     w->failures);
	if (!w->kernel && (w->req->what.syscalls.len || w->req->what.again))
		note("this kernel has no kprobes, so only the program's part is explained");
	if (w->req->what.syscalls.len || w->req->what.again || note__level() < NOTE_NORMAL)
		return;
	vec__each (f, &r->failed)
		if (syscall__name(f->number))
			note("%s failed with %s, %llu times%s%s", syscall__name(f->number),
			     strerrorname_np((int)-f->result) ?: "?", (unsigned long long)f->times,
			     w->kernel ? ": -s NAME explains it" : "", "");
}

static bool is_asked(const struct request *req, const char *name)
{
	const char **s;

	vec__each (s, &req->what.syscalls)
		if (name && !strcmp(*s, name))
			return true;
	return false;
}

/* Notes why nothing is shown. */
static void report_nothing(const struct why *w, const struct why_run *r)
{
	const struct failed_call *f;
	bool any = false;

	vec__each (f, &r->failed) {
		const char *name = f->result ? syscall__name(f->number) : NULL;

		if (!is_asked(w->req, name))
			continue;
		any = true;
		note("%s failed with %s, %llu times, but none of its branches was seen: what "
		     "chose that isn't known",
		     name, strerrorname_np((int)-f->result) ?: "?", (unsigned long long)f->times);
	}
	if (!any)
		note("nothing failed: neither a traced system call, nor %s", w->req->command[0]);
}

static int show(const struct why *w, const struct why_run *r)
{
	struct sink sink = {.fd = -1};
	autofree struct str text = {0};
	int err = sink__open(&sink, w->req->show.output, NULL);

	str__put(&text, r->text, r->len);
	if (output__form(w->req->show.format) == FORM_TEXT)
		fit__wrap_lines(&text, sink.width);
	if (!err)
		err = sink__begin(&sink);
	if (!err && text.len)
		err = sink__write(&sink, text.data, text.len);
	if (err == -EPIPE && sink.reader_gone)
		err = 0;
	sink__close(&sink);
	return err;
}

static int explain(struct why *w)
{
	struct why_run r = {0};
	int err = add_all(w), status;

	if (!err && w->req->what.pass)
		err = run_pass(w);
	if (!err)
		err = run_all(w, &r);
	if (!err && r.traced) {
		err = show(w, &r);
		report(w, &r);
		if (!r.len)
			report_nothing(w, &r);
	}
	status = r.status;
	why_run__free(&r);
	return err ? err : status;
}

/* ---- options ---- */

static bool is_known(const struct request *req, const char *name)
{
	const char *const *known;

	vec__each (known, &req->what.syscalls)
		if (!strcmp(*known, name))
			return true;
	return false;
}

static int add_syscalls(struct request *req, const char *v)
{
	for (const char *p = v; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		autofree char *name = xstrndup(p, strcspn(p, ","));

		if (!*name)
			return err__set(EINVAL, "a name is missing in '%s'", v);
		if (is_known(req, name))
			continue;
		vec__push(&req->what.syscalls, name);
		name = NULL;
	}
	return req->what.syscalls.len ? 0 : err__set(EINVAL, "a name is missing");
}

#define CALLEES_DEEPEST 20

static int check_callees(struct request *req, const char *v)
{
	return req->what.callees <= CALLEES_DEEPEST
		       ? 0
		       : err__set(EINVAL, "must be at most %d", CALLEES_DEEPEST);
}

static const struct option_row option_rows[] = {
	{"syscall", 's', "NAME[,NAME...]", VERB_WHY, OTHER,
	 "explain failures of these; may be repeated", add_syscalls},
	{"again", 0, NULL, VERB_WHY, SWITCH(what.again),
	 "run CMD again, to trace what has mattered"},
	{"pass", 0, "CMD", VERB_WHY, TEXT(what.pass),
	 "compare with a run of this command, which passes: 'prog good.conf'"},
	{"depth", 0, "N", VERB_WHY, NUMBER(what.callees),
	 "also N levels of what these call (default: 3)", check_callees},
	{"output", 'o', "FILE", VERB_WHY, FILE_NAME(show.output), "write to FILE instead of stdout",
	 .values = ":files"},
};

const struct option_group options_why = {"Of bbtrace why", option_rows, ARRAY_SIZE(option_rows)};

/* "why ls /x" has its command before --, where functions are named. */
static int refuse_no_command(const struct request *req)
{
	struct str words = {0};
	char *const *word;
	int err;

	vec__each (word, &req->operands) {
		str__putc(&words, ' ');
		str__shown(&words, *word);
	}
	err = words.len
		      ? err__set(EINVAL, "no command follows --: write bbtrace why --%s",
				 words.data)
		      : err__set(EINVAL, "nothing to explain: give a command: bbtrace why -- CMD");
	str__free(&words);
	return err;
}

int why__check(struct request *req)
{
	if (!req->command)
		return refuse_no_command(req);
	if (req->what.syscalls.len)
		for (size_t i = 0; i < req->what.syscalls.len; i++)
			if (!syscall__exists(req->what.syscalls.data[i]))
				return err__usage("no such system call: '%s'",
						  req->what.syscalls.data[i]);
	return 0;
}

int why__run(const struct request *req)
{
	struct why w = {.req = req,
			.kernel = has_feature("kprobe_event"),
			.system_calls = has_tracepoint("raw_syscalls:sys_exit")};
	char **word;
	int status = explain(&w);

	if (w.passing)
		munmap(w.passing, sizeof(*w.passing));
	vec__each (word, &w.operands)
		free(*word);
	vec__free(&w.operands);
	return status;
}
