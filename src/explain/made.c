// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "explain/literal.h"
#include "explain/made.h"

#define LETTERS_LEAST 8	 /* of a text, that are in the message */
#define LETTERS_MANY  16 /* these are enough in any message */
#define SHARE_LEAST   4	 /* the text has one of this many letters of the message */

#define ITEMS_MOST 96	/* branches of a call that are kept */
#define TIMES_MOST 1000 /* what comes more often than that is no text of an error's message */

/* ---- the code ---- */

struct searching {
	struct all_made *made;
	const struct plan *plan;
	uint32_t block;
};

/* Returns the branch that is executed after a block was. */
static uint32_t site_after(const struct plan *p, uint32_t block)
{
	for (size_t n = 0; block != NO_BLOCK && n < p->blocks.len; n++) {
		if (p->blocks.data[block].site != NO_SITE)
			return p->blocks.data[block].site;
		block = p->blocks.data[block].next;
	}
	return NO_SITE;
}

static void add_text(void *ctx, uint64_t code, uint64_t literal)
{
	struct searching *s = ctx;
	uint32_t site = site_after(s->plan, s->block);

	struct made *m;

	if (site == NO_SITE)
		return;
	if (!s->made->of_site[site]) {
		vec__push(&s->made->all, (struct made){.site = site});
		s->made->of_site[site] = s->made->all.len;
	}
	m = &s->made->all.data[s->made->of_site[site] - 1];
	vec__push(&s->made->texts, (struct taken_text){literal, code, m->texts});
	m->texts = s->made->texts.len;
}

static void search_function(struct all_made *a, const struct code *code, uint32_t function)
{
	const struct plan *p = code->plan;
	struct searching s = {a, p, 0};

	a->seen[function] = true;
	for (uint32_t i = code->first[function]; i < code->first[function + 1]; i++) {
		const struct plan_block *b = &p->blocks.data[s.block = code->of_function[i]];
		const struct object *o = p->objects.data[b->object].object;

		if (o && !p->objects.data[b->object].kernel)
			literal__each(o, b->start, b->end, add_text, &s);
	}
}

/* ---- the calls ---- */

static void forget(struct made *m)
{
	for (size_t i = 0; i < MADE_FRAMES && m->frames[i]; i++) {
		call__free(m->frames[i]);
		m->frames[i] = NULL;
	}
}

static void keep(struct made *m, struct call *const *calls, size_t n, const struct step *step)
{
	forget(m);
	if (m->times++ >= TIMES_MOST)
		return;
	m->pid = step->pid;
	m->time = step->time;
	m->call = calls[n - 1]->id;
	for (size_t i = 0; i < min_of(n, (size_t)MADE_FRAMES); i++)
		m->frames[i] = call__copy(calls[n - 1 - i], ITEMS_MOST);
}

static bool is_main(const struct plan *p, uint32_t function)
{
	const char *raw = p->functions.data[function].raw;

	return plan__is_main(p, function) || (raw && !strcmp(raw, "main.main"));
}

static void begin(struct all_made *a, const struct plan *p)
{
	a->seen = xcalloc(p->functions.len, sizeof(*a->seen));
	a->of_site = xcalloc(p->sites.len, sizeof(*a->of_site));
	for (uint32_t i = 0; i < p->functions.len && !a->has_main; i++)
		a->has_main = is_main(p, i);
}

void made__take(struct all_made *a, struct code *code, struct call *const *calls, size_t n,
		const struct step *step)
{
	uint32_t function = calls[n - 1]->function;

	if (!a->seen)
		begin(a, code->plan);
	if (is_main(code->plan, function))
		map64__put(&a->began, step->pid);
	if (!a->seen[function])
		search_function(a, code, function);
	if (a->of_site[step->site] && (!a->has_main || map64__get(&a->began, step->pid)))
		keep(&a->all.data[a->of_site[step->site] - 1], calls, n, step);
}

/* ---- a message ---- */

/* Returns the number of letters of the text that has most of them in the message. */
static size_t best_text(const struct all_made *a, const struct plan *p, const struct made *m,
			const char *text, size_t len, struct taken_text *out)
{
	uint32_t object = p->functions.data[m->frames[0]->function].object;
	size_t most = 0;

	for (uint32_t i = m->texts; i; i = a->texts.data[i - 1].next) {
		const struct taken_text *t = &a->texts.data[i - 1];
		size_t n = literal__letters_at(p->objects.data[object].object, t->literal, text,
					       len, NULL);

		if (n <= most)
			continue;
		most = n;
		*out = *t;
	}
	return most;
}

const struct made *made__best(const struct all_made *a, const struct code *code, uint32_t pid,
			      const char *text, size_t len, struct taken_text *taken)
{
	size_t least = min_of(len / SHARE_LEAST, (size_t)LETTERS_MANY);
	size_t most = max_of((size_t)LETTERS_LEAST, least);
	const struct made *best = NULL, *m;

	vec__each (m, &a->all) {
		struct taken_text one;
		size_t letters;

		if (!m->frames[0] || m->pid != pid)
			continue;
		letters = best_text(a, code->plan, m, text, len, &one);
		if (letters < most || (best && letters == most && m->time < best->time))
			continue;
		best = m;
		most = letters;
		*taken = one;
	}
	return best;
}

void made__free(struct all_made *a)
{
	struct made *m;

	vec__each (m, &a->all)
		forget(m);
	vec__free(&a->all);
	vec__free(&a->texts);
	map64__free(&a->began);
	free(a->of_site);
	free(a->seen);
}
