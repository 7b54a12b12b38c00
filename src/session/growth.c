// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "select/targets.h"
#include "growth.h"
#include "pipeline/counts/tally.h"
#include "select/requirements.h"

/* ---- words ---- */

typedef VEC(char *) word_vec;

static void words__free(word_vec *v)
{
	char **w;

	vec__each (w, v)
		free(*w);
	vec__free(v);
}

/* Splits a text into words, with quotes and backslashes as in a shell. */
static int split(const char *text, word_vec *out)
{
	struct str word = {0};
	bool any = false;
	char quote = 0;

	for (;; text++) {
		bool blank = !quote && (!*text || strchr(" \t", *text));

		if (blank && any) {
			vec__push(out, xstrdup(word.data ? word.data : ""));
			word.len = 0;
			any = false;
		}
		if (!*text)
			break;
		if (blank)
			continue;
		any = true;
		if (*text == quote) {
			quote = 0;
		} else if (!quote && (*text == '\'' || *text == '"')) {
			quote = *text;
		} else {
			if (*text == '\\' && quote != '\'' && text[1])
				text++;
			str__putc(&word, *text);
		}
	}
	str__free(&word);
	if (quote)
		return err__usage("a quote is not closed");
	return out->len ? 0 : err__usage("name a function, as FUNC or OBJECT:FUNC");
}

/* ---- the change ---- */

/* Extends output and trace file, and frees the increment. Its rows are written to the file
 * between the events before and after the change. */
static int extend(struct growth *g, struct plan_increment *i)
{
	struct recorder *recorder = g->live->recorder;
	int err = recorder ? recorder__plan_extends(recorder) : 0;

	if (!err) {
		plan__extend(g->plan, i);
		show__plan_extended(&g->live->show);
	}
	if (!err && recorder)
		err = recorder__plan_extended(recorder, i);
	plan_increment__free(i);
	return err;
}

static int begin(struct growth *g, const struct plan_change *c)
{
	struct plan_increment i;

	plan_change__begin(c, g->plan, &i);
	return extend(g, &i);
}

static int end(struct growth *g, struct plan_change *c)
{
	struct plan_increment i;

	plan_change__end(c, g->plan, &i);
	return extend(g, &i);
}

static void set_all(struct plan *p, const id_vec *sites, enum probe_how how)
{
	const uint32_t *id;

	vec__each (id, sites)
		p->sites.data[*id].probe = how;
}

/* Ends counting by the old plan, by which the counts so far are solved; the new plan solves
 * those from here on. */
static int end_counting(struct growth *g, struct plan_change *c)
{
	int err = source__counts(g->source, &g->live->sink);

	if (err)
		return err;
	tally__plan_changed(g->live->show.tally);
	err = end(g, c);
	counting__note_cut(g->counting);
	if (err || !c->detach.len)
		return err;
	set_all(g->plan, &c->detach, PROBE_CHANGING);
	err = source__detach_sites(g->source, c->detach.data, c->detach.len);
	set_all(g->plan, &c->detach, PROBE_NONE);
	return err;
}

static int end_events(struct growth *g, struct plan_change *c)
{
	int err = source__detach_sites(g->source, c->detach.data, c->detach.len);

	if (err)
		return err;
	/* events from meanwhile, of some of the probes */
	err = source__catch_up(g->source, &g->live->sink);
	return err ? err : end(g, c);
}

/* Adds the objects that were opened since the last time. */
static void take_objects(struct growth *g)
{
	const struct targets *n = &g->planning->targets;

	for (; g->objects < n->objects.len; g->objects++) {
		spaces__use(g->live->show.spaces, n->objects.data[g->objects]);
		show__object(&g->live->show, n->objects.data[g->objects]);
	}
}

/* Fails if a function that runs as a copy would need a probe: in its original the probe would
 * never be hit, or be in a springboard. */
static int check_copies(const struct plan *p, const struct plan_change *c)
{
	autofree bool *copied = xcalloc(p->functions.len + 1, sizeof(*copied));
	const struct plan_site *s;
	const uint32_t *id;

	vec__each (s, &p->sites)
		copied[s->function] |= s->logs;
	vec__each (id, &c->attach) {
		s = &c->to.sites.data[*id];
		if (s->function < p->functions.len && copied[s->function])
			return err__set(
				EBUSY,
				"%s runs as a copy that doesn't log all that would be needed now: "
				"trace these functions by another bbtrace",
				p->functions.data[s->function].name);
	}
	return 0;
}

static int plan_again(struct growth *g, struct plan_change *c)
{
	struct plan *next = NULL;
	int err = planning__again(g->planning, g->plan, &next);

	if (err)
		return err;
	requirements__read_source(&g->wants, next);
	err = plan__change(g->plan, next, c);
	if (!err && (err = check_copies(g->plan, c)))
		plan_change__free(c);
	if (err)
		plan__free(next);
	else
		vec__push(&g->plans, next);
	return err;
}

/* Undoes a change of which nothing was attached: marks the added functions as removed. Keeps the
 * message. */
static void undo(struct growth *g)
{
	autofree char *why = xstrdup(err__text());
	struct plan_change c;
	int err = plan_again(g, &c);

	if (!err) {
		err = g->live->show.tally ? end_counting(g, &c) : end(g, &c);
		plan_change__free(&c);
	}
	if (err)
		g->failed = err;
	else
		err__set(EINVAL, "%s", why);
}

static size_t refused_of(const struct plan *p, const id_vec *sites)
{
	const uint32_t *id;
	size_t n = 0;

	vec__each (id, sites)
		n += p->sites.data[*id].probe == PROBE_NONE;
	return n;
}

/* Notes the error that ends the trace. */
static int fail(struct growth *g, int err)
{
	g->failed = err;
	return err == 1 ? err__set(ECANCELED, "the trace has just reached its --limit") : err;
}

static void report_logged(const struct plan *p, const struct plan_change *c)
{
	size_t hidden = 0;
	const uint32_t *id;

	vec__each (id, &c->logged)
		hidden += c->to.sites.data[*id].probe == PROBE_NONE;
	if (hidden)
		note("%zu of the removed places are in copies, which go on logging until the trace "
		     "ends: that is ignored",
		     hidden);
	if (c->attach.len && plan__has_programs(p))
		note_verbose("functions that are added are traced by probes, not by copies");
}

/* Applies a change. *undoes: no probe was attached, so the trace continues as before. */
static int apply(struct growth *g, struct plan_change *c, struct growth_change *out, bool *undoes)
{
	bool counts = g->plan->placement == PLACEMENT_COUNT;
	/* the old plan decodes the events so far */
	int err = source__catch_up(g->source, &g->live->sink);

	if (err)
		return fail(g, err);
	if (counts)
		tally__plan_changes(g->live->show.tally);
	err = begin(g, c);
	if (err)
		return fail(g, err);
	out->attached = c->attach.len;
	out->detached = c->detach.len;
	report_logged(g->plan, c);
	err = source__attach_sites(g->source, c->attach.data, c->attach.len);
	*undoes = err;
	if (err)
		return err;
	out->refused = refused_of(g->plan, &c->attach);
	err = counts ? end_counting(g, c) : end_events(g, c);
	return err ? fail(g, err) : 0;
}

/* Changes the functions to trace. functions: the new ones; on an error, those that were traced
 * before. */
static int change(struct growth *g, function_vec *functions, struct growth_change *out)
{
	struct targets *n = &g->planning->targets;
	function_vec before = n->functions;
	struct plan_change c;
	bool undoes = false;
	int err;

	memcpy(&n->functions, functions, sizeof(*functions));
	functions__join(&n->functions);
	if (n->kernel)
		kernel_syscalls__count(&n->functions);
	err = plan_again(g, &c);
	if (!err) {
		take_objects(g);
		err = apply(g, &c, out, &undoes);
		plan_change__free(&c);
	}
	if (!err) {
		functions__free(&before);
		return 0;
	}
	functions__free(&n->functions);
	memcpy(&n->functions, &before, sizeof(before));
	if (undoes)
		undo(g);
	return err;
}

static bool copies_count(const struct plan *p)
{
	const struct plan_site *s;

	vec__each (s, &p->sites)
		if (s->probe == PROBE_INLINE_COUNT)
			return true;
	return false;
}

static int check(const struct growth *g)
{
	if (copies_count(g->plan))
		return err__set(ENOTSUP, "copies of functions count (-c with --engine inline): use "
					 "--engine probe, or trace them by another bbtrace");
	if (g->plan->retires)
		return err__set(ENOTSUP,
				"probes of this trace retire (--once, --retire): its functions "
				"stay as they are");
	return 0;
}

static int find(struct growth *g, const char *text, function_vec *out)
{
	CLEANUP(words__free) word_vec words = {0};
	int err = check(g);

	if (err)
		return err;
	err = split(text, &words);
	return err ? err
		   : targets__find_more(&g->planning->targets, g->planning->request, words.data,
					words.len, g->planning->pid, out);
}

int growth__add(struct growth *g, const char *text, struct growth_change *out)
{
	struct targets *n = &g->planning->targets;
	size_t before;
	function_vec more = {0}, all;
	struct function *f;
	int err = find(g, text, &more);

	*out = (struct growth_change){0};
	if (err) {
		functions__free(&more);
		return err;
	}
	all = targets__copy(n, NULL);
	before = all.len;
	vec__each (f, &more)
		vec__push(&all, *f);
	vec__free(&more);
	functions__join(&all);
	out->functions = all.len - before;
	if (all.len > before)
		return change(g, &all, out);
	functions__free(&all);
	return err__set(EEXIST, "%s: traced already", text);
}

int growth__remove(struct growth *g, const char *text, struct growth_change *out)
{
	struct targets *n = &g->planning->targets;
	function_vec less = {0}, all, rest;
	int err = find(g, text, &less);

	*out = (struct growth_change){0};
	if (err) {
		functions__free(&less);
		return err;
	}
	all = targets__copy(n, NULL);
	rest = targets__copy(n, &less);
	out->functions = all.len - rest.len;
	functions__free(&less);
	functions__free(&all);
	if (out->functions && rest.len)
		return change(g, &rest, out);
	err = rest.len
		      ? err__set(ENOENT, "%s: not traced", text)
		      : err__set(
				EINVAL,
				"nothing would be left to trace: stop pauses the trace, quit ends it");
	functions__free(&rest);
	return err;
}

void growth__free(struct growth *g)
{
	struct plan **p;

	vec__each (p, &g->plans)
		plan__free(*p);
	vec__free(&g->plans);
}
