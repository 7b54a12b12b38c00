// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "grid.h"

void grid__resize(struct grid *g, unsigned width, unsigned height)
{
	free(g->cells);
	*g = (struct grid){width, height, xcalloc((size_t)width * height + 1, sizeof(*g->cells))};
	for (size_t i = 0; i < (size_t)width * height; i++)
		g->cells[i].ch = L' ';
}

void grid__free(struct grid *g)
{
	free(g->cells);
	*g = (struct grid){0};
}

/* ---- text ---- */

static void set(struct grid *g, unsigned row, unsigned column, wchar_t c, unsigned look)
{
	g->cells[(size_t)row * g->width + column] = (struct cell){c, (uint8_t)look};
}

static unsigned put_character(struct grid *g, const struct span *at, unsigned column, wchar_t c,
			      unsigned columns, unsigned look)
{
	if (column + columns > at->to) { /* half of a wide one */
		set(g, at->row, column, L' ', look);
		return at->to;
	}
	set(g, at->row, column, c, look);
	if (columns > 1)
		set(g, at->row, column + 1, 0, look);
	return column + columns;
}

unsigned grid__put(struct grid *g, const struct span *span, const char *text, unsigned look)
{
	struct span at = *span;
	unsigned column = at.from, skip = at.skip, own = LOOK_PLAIN;

	at.to = min_of(at.to, g->width);
	if (at.row >= g->height)
		return column;
	while (*text && column < at.to) {
		unsigned columns;
		wchar_t c;

		if (colour__take(&text, &own))
			continue;
		c = character__next(&text);
		columns = character__columns(&c);
		if (skip)
			skip -= min_of(skip, columns);
		else if (columns)
			column = put_character(g, &at, column, c, columns, own | look);
	}
	return column;
}

void grid__clear(struct grid *g, const struct span *at, unsigned look)
{
	for (unsigned i = at->from; at->row < g->height && i < min_of(at->to, g->width); i++)
		set(g, at->row, i, L' ', look);
}

void grid__add_look(struct grid *g, unsigned row, unsigned from, unsigned to, unsigned look)
{
	for (unsigned i = from; row < g->height && i < min_of(to, g->width); i++)
		g->cells[(size_t)row * g->width + i].look |= (uint8_t)look;
}

static void put_utf8(struct str *s, uint32_t c)
{
	if (c < 0x80) {
		str__putc(s, (char)c);
	} else if (c < 0x800) {
		str__putc(s, (char)(0xc0 | c >> 6));
		str__putc(s, (char)(0x80 | (c & 0x3f)));
	} else {
		if (c >= 0x10000) {
			str__putc(s, (char)(0xf0 | c >> 18));
			str__putc(s, (char)(0x80 | (c >> 12 & 0x3f)));
		} else {
			str__putc(s, (char)(0xe0 | c >> 12));
		}
		str__putc(s, (char)(0x80 | (c >> 6 & 0x3f)));
		str__putc(s, (char)(0x80 | (c & 0x3f)));
	}
}

void grid__text(const struct grid *g, unsigned row, struct str *out)
{
	const struct cell *cells = g->cells + (size_t)row * g->width;
	unsigned len = row < g->height ? g->width : 0;

	while (len && cells[len - 1].ch == L' ')
		len--;
	for (unsigned i = 0; i < len; i++)
		if (cells[i].ch)
			put_utf8(out, (uint32_t)cells[i].ch);
}
