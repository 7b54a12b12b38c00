// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include "grep.h"

/* Deeper calls than this have no entry as context, since each is kept until it returns. */
#define MOST_KEPT 512

struct outer {
	uint64_t call;
	struct kept_step *entry; /* not passed on yet; NULL: it was, or it isn't kept */
	bool shown;
};

struct calls {
	VEC(struct outer) open; /* outermost first */
};

struct grep {
	regex_t re;
	struct output *text;
	struct str line;
	struct map64 threads;	/* step__thread_key() -> struct calls * */
	struct map64 functions; /* 1 + those with a step that was shown */
	int (*fn)(struct output *o, const struct step *s);
};

static int take_line(void *ctx, const void *data, size_t len)
{
	struct grep *g = ctx;

	str__put(&g->line, data, len);
	return 0;
}

int pattern__check(const char *pattern)
{
	char why[120];
	regex_t re;
	int err = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);

	if (!err) {
		regfree(&re);
		return 0;
	}
	regerror(err, &re, why, sizeof(why));
	return err__set(EINVAL, "'%s' is no extended regular expression: %s", pattern, why);
}

int grep__new(struct grep **out, const struct output *o)
{
	struct output_options options = o->options;
	struct grep *g;
	int err = pattern__check(options.grep);

	*out = NULL;
	if (err)
		return err;
	g = xcalloc(1, sizeof(*g));
	regcomp(&g->re, options.grep, REG_EXTENDED | REG_NOSUB);
	options.bare = true;
	options.color = options.fold = options.line_buffered = false;
	options.width = 0;
	options.grep = NULL;
	g->text = output__new(output__by_name("text"), &options, o->plan, take_line, g);
	*out = g;
	return 0;
}

static void drop(struct outer *c)
{
	if (c->entry)
		kept__free(c->entry);
	free(c->entry);
	c->entry = NULL;
}

static void free_calls(struct calls *t)
{
	struct outer *c;

	vec__each (c, &t->open)
		drop(c);
	vec__free(&t->open);
	free(t);
}

void grep__free(struct grep *g)
{
	uint64_t calls;

	if (!g)
		return;
	for (size_t i = 0; i < g->threads.cap; i++)
		if (map64__slot(&g->threads, i, &calls))
			free_calls((struct calls *)(uintptr_t)calls);
	map64__free(&g->threads);
	map64__free(&g->functions);
	output__free(g->text);
	str__free(&g->line);
	regfree(&g->re);
	free(g);
}

void grep__plan_extended(struct grep *g)
{
	output__plan_extended(g->text);
}

static bool matches(struct grep *g, const struct step *s)
{
	str__clear(&g->line);
	output__step(g->text, s);
	output__flush(g->text);
	if (g->line.len && g->line.data[g->line.len - 1] == '\n')
		g->line.data[g->line.len - 1] = 0;
	return g->line.len && !regexec(&g->re, g->line.data, 0, NULL, 0);
}

static struct calls *calls_of(struct grep *g, const struct step *s)
{
	uint64_t *known = map64__put(&g->threads, step__thread_key(s));

	if (!*known)
		*known = (uintptr_t)xcalloc(1, sizeof(struct calls));
	return (struct calls *)(uintptr_t)*known;
}

/* The calls within this one have ended, if it is known. */
static struct outer *settle(struct calls *t, uint64_t call)
{
	size_t n = t->open.len;

	while (n && (!call || t->open.data[n - 1].call != call))
		n--;
	if (!n)
		return NULL;
	while (t->open.len > n)
		drop(&t->open.data[--t->open.len]);
	return vec__last(&t->open);
}

static void push(struct calls *t, const struct step *s)
{
	struct outer *c = vec__add(&t->open);

	c->call = s->call;
	if (t->open.len > MOST_KEPT)
		return;
	c->entry = xcalloc(1, sizeof(*c->entry));
	kept__take(c->entry, s);
}

static bool is_event(const struct step *s)
{
	return s->type == STEP_ENTRY || s->type == STEP_BRANCH || s->type == STEP_RETURN;
}

static int show(struct grep *g, const struct step *s, struct output *o)
{
	if (is_event(s)) {
		uint64_t *known = map64__put(&g->functions, 1ull + s->function);

		o->grepped.shown++;
		o->grepped.functions += !*known;
		*known = 1;
	}
	return g->fn(o, s);
}

/* Shows the entries of the calls that a step is in. */
static int show_calls(struct grep *g, struct calls *t, struct output *o)
{
	struct outer *c;
	int err = 0;

	vec__each (c, &t->open) {
		c->shown = true;
		if (c->entry)
			err = show(g, kept__step(c->entry), o);
		drop(c);
		if (err)
			return err;
	}
	return 0;
}

static bool is_always_shown(const struct step *s)
{
	return s->type == STEP_LOST || s->type == STEP_STOP || s->type == STEP_START ||
	       s->type == STEP_OMITTED;
}

int grep__step(struct grep *g, const struct step *s,
	       int (*fn)(struct output *o, const struct step *s), struct output *o)
{
	bool found = matches(g, s), shown;
	struct calls *t;
	struct outer *c;
	int err;

	g->fn = fn;
	o->grepped.matches += found && is_event(s);
	if (is_always_shown(s) || step__is_global(s))
		return found || is_always_shown(s) ? show(g, s, o) : 0;
	t = calls_of(g, s);
	c = settle(t, s->type == STEP_ENTRY ? s->caller : s->call);
	if (s->type == STEP_ENTRY) {
		push(t, s);
		return found ? show_calls(g, t, o) : 0;
	}
	err = found ? show_calls(g, t, o) : 0;
	shown = found || (s->type == STEP_RETURN && c && c->shown);
	if (s->type == STEP_RETURN && c)
		drop(&t->open.data[--t->open.len]);
	return err || !shown ? err : show(g, s, o);
}
