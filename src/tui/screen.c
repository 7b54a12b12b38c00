// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include "screen.h"

#define ASK_EACH 512 /* rows */

void *screen__new(const struct screen_ops *ops, struct model *m, size_t size)
{
	struct screen *s = xcalloc(1, size);

	s->ops = ops;
	s->model = m;
	s->width = 80;
	return s;
}

static void end_filter(struct screen *s)
{
	if (s->filters)
		regfree(&s->filter);
	s->filters = false;
	free(s->filter_text);
	s->filter_text = NULL;
	vec__free(&s->shown);
}

void screen__free(struct screen *s)
{
	if (!s)
		return;
	end_filter(s);
	if (s->ops->free)
		s->ops->free(s);
	free(s);
}

/* ---- moving ---- */

size_t screen__shown(const struct screen *s)
{
	return s->filters ? s->shown.len : s->ops->count(s);
}

size_t screen__row(const struct screen *s, size_t position)
{
	return !s->filters ? position : position < s->shown.len ? s->shown.data[position] : 0;
}

void screen__go_to(struct screen *s, size_t position)
{
	size_t n = screen__shown(s);

	s->cursor = n ? min_of(position, n - 1) : 0;
}

void screen__move(struct screen *s, int64_t by)
{
	if (by < 0 && s->cursor < (uint64_t)-by)
		screen__go_to(s, 0);
	else
		screen__go_to(s, s->cursor + by);
}

void screen__go_to_row(struct screen *s, size_t row)
{
	size_t at = row;

	if (s->filters)
		at = bisect(s->shown.len, s->shown.data[i_] <= row);
	screen__go_to(s, s->filters && at ? at - 1 : at);
}

/* ---- drawing ---- */

static void scroll(struct screen *s, unsigned lines)
{
	size_t n = screen__shown(s);

	screen__go_to(s, s->cursor);
	if (s->cursor < s->top)
		s->top = s->cursor;
	if (lines && s->cursor >= s->top + lines)
		s->top = s->cursor - lines + 1;
	if (s->top + lines > n)
		s->top = n > lines ? n - lines : 0;
}

static void mark_found(struct grid *g, unsigned row, unsigned left, const char *text,
		       const regex_t *re)
{
	autofree struct str plain = {0};
	regmatch_t m;

	text__plain(text, &plain);
	for (size_t at = 0; plain.data && at < plain.len;) {
		autofree char *before = NULL, *found = NULL;
		unsigned from;

		if (regexec(re, plain.data + at, 1, &m, at ? REG_NOTBOL : 0) || m.rm_eo <= m.rm_so)
			return;
		before = xstrndup(plain.data, at + m.rm_so);
		found = xstrndup(plain.data + at + m.rm_so, m.rm_eo - m.rm_so);
		from = text__width(before);
		grid__add_look(g, row, from - min_of(from, left),
			       from + text__width(found) - min_of(from + text__width(found), left),
			       LOOK_FOUND);
		at += m.rm_eo;
	}
}

static void draw_row(struct screen *s, struct grid *g, unsigned line, size_t position,
		     const regex_t *re)
{
	unsigned look = position == s->cursor ? LOOK_REVERSE : 0;
	const struct span at = {line, 0, g->width, s->left};
	autofree struct str text = {0};

	s->ops->row(s, screen__row(s, position), g->width, &text);
	grid__clear(g, &at, look);
	grid__put(g, &at, text.data ? text.data : "", look);
	if (re && text.data)
		mark_found(g, line, s->left, text.data, re);
}

void screen__draw(struct screen *s, struct grid *g, unsigned from, unsigned lines,
		  const regex_t *re)
{
	size_t n = screen__shown(s);

	s->lines = lines;
	s->width = g->width;
	scroll(s, lines);
	for (unsigned i = 0; i < lines && s->top + i < n; i++)
		draw_row(s, g, from + i, s->top + i, re);
}

/* ---- searching ---- */

static bool has_capitals(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

int pattern__compile(regex_t *re, const char *text)
{
	char why[120];
	int err = regcomp(re, text, REG_EXTENDED | (has_capitals(text) ? 0 : REG_ICASE));

	if (!err)
		return 0;
	regerror(err, re, why, sizeof(why));
	return err__set(EINVAL, "%s: %s", text, why);
}

static bool matches(struct screen *s, size_t row, const regex_t *re)
{
	autofree struct str text = {0}, plain = {0};

	s->ops->row(s, row, s->width, &text);
	text__plain(text.data ? text.data : "", &plain);
	return !regexec(re, plain.data ? plain.data : "", 0, NULL, 0);
}

static bool is_over(const struct patience *p, size_t i)
{
	return i % ASK_EACH == ASK_EACH - 1 && p && p->is_over(p->ctx);
}

int screen__search(struct screen *s, const regex_t *re, int step, bool here,
		   const struct patience *p)
{
	size_t n = screen__shown(s), at = s->cursor;

	for (size_t i = 0; i < n; i++) {
		if (i || !here)
			at = step > 0 ? (at + 1) % n : (at + n - 1) % n;
		if (matches(s, screen__row(s, at), re)) {
			bool wrapped = step > 0 ? at < s->cursor : at > s->cursor;

			wrapped |= at == s->cursor && i; /* it is the only one */
			s->cursor = at;
			return wrapped;
		}
		if (is_over(p, i))
			return -EINTR;
	}
	return -ENOENT;
}

int screen__changed(struct screen *s, const struct patience *p)
{
	size_t n = s->ops->count(s);

	if (!s->filters)
		return 0;
	s->shown.len = 0;
	for (size_t i = 0; i < n; i++) {
		if (matches(s, i, &s->filter))
			vec__push(&s->shown, (uint32_t)i);
		if (is_over(p, i))
			return err__set(EINTR, "interrupted: more rows may match; & and Enter "
					       "filter again");
	}
	return 0;
}

int screen__filter(struct screen *s, const char *text, const struct patience *p)
{
	size_t row = screen__row(s, s->cursor);
	regex_t re;
	int err = *text ? pattern__compile(&re, text) : 0;

	if (err)
		return err;
	end_filter(s);
	if (*text) {
		s->filter = re;
		s->filters = true;
		s->filter_text = xstrdup(text);
		err = screen__changed(s, p);
	}
	screen__go_to_row(s, row);
	return err;
}
