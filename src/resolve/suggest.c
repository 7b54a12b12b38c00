// SPDX-License-Identifier: BSD-2-Clause
/* Suggests names similar to one that doesn't exist: by edit distance, then by substring. */
#include <stdlib.h>
#include "resolve/forms.h"

#define SUGGESTIONS  5
#define DEMANGLE_MAX 50000 /* most names to demangle for an error message */

struct close {
	const char *name;
	unsigned score;
};

/* sys_read is __x64_sys_read */
static bool is_prefixed(const char *name, size_t len, const char *candidate, size_t candidate_len)
{
	const char *end = candidate + candidate_len - len;

	return candidate_len > len && end[-1] == '_' && strchr(name, '_') && !strcmp(end, name);
}

/* Lower is closer; 0 is not close. */
static unsigned similarity(const char *name, size_t len, const char *candidate)
{
	size_t candidate_len = strlen(candidate);
	unsigned limit = len < 4 ? 1 : len < 9 ? 2 : 3, d;

	if (is_prefixed(name, len, candidate, candidate_len))
		return 1;
	/* long names are compared by substring only */
	d = str__distance(name, len, candidate, candidate_len, limit);
	if (d <= limit)
		return 1 + d;
	if (len >= 3 && candidate_len < 4096 && strcasestr(candidate, name))
		return 10 + candidate_len - len;
	return 0;
}

static void keep(struct close *best, const char *name, unsigned score)
{
	unsigned i;

	for (i = 0; i < SUGGESTIONS; i++)
		if (best[i].name && !strcmp(best[i].name, name))
			return;
	for (i = SUGGESTIONS; i && (!best[i - 1].name || best[i - 1].score > score); i--)
		if (i < SUGGESTIONS)
			best[i] = best[i - 1];
	if (i < SUGGESTIONS)
		best[i] = (struct close){name, score};
}

static bool is_close(unsigned score)
{
	return score && score <= 10 + 64;
}

static void put(const struct close *best, struct str *out)
{
	unsigned i;

	for (i = 0; i < SUGGESTIONS && best[i].name; i++)
		str__printf(out, "%s%s", i ? ", " : "; did you mean ", best[i].name);
	if (i)
		str__puts(out, "?");
}

void suggest__among(const char *const *names, size_t n, const char *name, struct str *out)
{
	struct close best[SUGGESTIONS] = {{0}};

	for (size_t i = 0; i < n; i++) {
		unsigned score = similarity(name, strlen(name), names[i]);

		if (is_close(score))
			keep(best, names[i], score);
	}
	put(best, out);
}

void suggest__names(const struct object *o, const char *name, struct str *out)
{
	struct close best[SUGGESTIONS] = {{0}};
	VEC(char *) made = {0};
	/* parameters may be written differently */
	autofree char *plain = xstrndup(name, strcspn(name, "("));
	size_t len = strlen(plain), budget = DEMANGLE_MAX;
	const struct symbol *s;
	char *shown, **p;
	unsigned score;

	vec__each (s, &o->symbols) {
		if (s->type == SYMBOL_PLT && !strchr(name, '@'))
			continue;
		shown = budget && name__is_mangled(s->name) ? name__demangle(s->name, DEMANGLE_NAME)
							    : NULL;
		budget -= shown != NULL;
		score = similarity(plain, len, shown ? shown : s->name);
		if (!is_close(score)) {
			free(shown);
			continue;
		}
		if (shown)
			vec__push(&made, shown);
		keep(best, shown ? shown : s->name, score);
	}
	put(best, out);
	vec__each (p, &made)
		free(*p);
	vec__free(&made);
}
