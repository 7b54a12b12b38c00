// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "browser.h"

#define SCROLL	   8 /* columns */
#define LIST_LEAST 6 /* rows of the list that a pane leaves */

static struct screen *current(const struct browser *b)
{
	return *vec__last(&b->screens);
}

void browser__init(struct browser *b, struct model *m, const struct patience *p)
{
	*b = (struct browser){.model = m, .patience = *p};
	vec__push(&b->screens, functions__open(m));
}

void browser__free(struct browser *b)
{
	while (b->screens.len)
		screen__free(b->screens.data[--b->screens.len]);
	vec__free(&b->screens);
	if (b->searches)
		regfree(&b->search);
	str__free(&b->input);
	str__free(&b->previous);
	str__free(&b->message);
}

/* ---- messages ---- */

static void say(struct browser *b, const char *text)
{
	str__clear(&b->message);
	str__puts(&b->message, text);
}

/* ---- screens ---- */

static void open_screen(struct browser *b, struct screen *next)
{
	if (!next) {
		say(b, err__text());
		return;
	}
	next->width = current(b)->width;
	vec__push(&b->screens, next);
}

static void back(struct browser *b, bool ends)
{
	if (b->screens.len > 1)
		screen__free(b->screens.data[--b->screens.len]);
	else if (ends)
		b->ends = true;
	else
		say(b, "this is the first screen; q ends");
}

static void enter(struct browser *b)
{
	struct screen *s = current(b);

	if (!s->ops->enter || s->cursor >= screen__shown(s))
		return;
	err__clear();
	open_screen(b, s->ops->enter(s, screen__row(s, s->cursor)));
}

/* ---- the line that is edited ---- */

static void search_again(struct browser *b, int step, bool here)
{
	int found;

	if (!b->searches) {
		say(b, "nothing to search for: / begins a search");
		return;
	}
	found = screen__search(current(b), &b->search, step, here, &b->patience);
	if (found == 1)
		say(b, step > 0 ? "search went on at the first row"
				: "search went on at the last row");
	else if (found == -EINTR)
		say(b, "search interrupted");
	else if (found < 0)
		say(b, "not found in the rows that are shown; in a path, E unfolds all calls");
}

static void search(struct browser *b)
{
	regex_t re;

	if (!b->input.len) {
		search_again(b, 1, false);
		return;
	}
	if (pattern__compile(&re, b->input.data)) {
		say(b, err__text());
		return;
	}
	if (b->searches)
		regfree(&b->search);
	b->search = re;
	b->searches = true;
	str__clear(&b->previous);
	str__puts(&b->previous, b->input.data);
	search_again(b, 1, true);
}

static void go_to_number(struct browser *b)
{
	uint64_t n;

	if (parse__u64(b->input.len ? b->input.data : "", false, &n) || !n)
		say(b, "write the number of a row after the colon");
	else
		screen__go_to(current(b), n - 1);
}

static void finish_line(struct browser *b)
{
	char prompt = b->prompt;

	b->prompt = 0;
	if (prompt == '/')
		search(b);
	else if (prompt == ':')
		go_to_number(b);
	else if (screen__filter(current(b), b->input.len ? b->input.data : "", &b->patience))
		say(b, err__text());
}

static void rub_out(struct browser *b)
{
	if (!b->input.len) {
		b->prompt = 0;
		return;
	}
	while (b->input.len && (b->input.data[b->input.len - 1] & 0xc0) == 0x80)
		b->input.len--;
	b->input.data[b->input.len ? --b->input.len : 0] = 0;
}

static void put_character(struct str *s, uint32_t c)
{
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};

	str__putc(s, (char)(first[more] | c >> 6 * more));
	while (more--)
		str__putc(s, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

static void edit(struct browser *b, int key)
{
	if (key == '\n' || key == '\r')
		finish_line(b);
	else if (key == KEY_ESCAPE)
		b->prompt = 0;
	else if (key == KEY_RUBOUT || key == 8 || key == 127)
		rub_out(b);
	else if (key == CONTROL('U'))
		str__clear(&b->input);
	else if (key == KEY_UP_ROW && b->prompt == '/' && b->previous.len)
		str__clear(&b->input), str__puts(&b->input, b->previous.data);
	else if (key >= 0x20 && key < KEY_UP_ROW && key != 127)
		put_character(&b->input, (uint32_t)key);
}

static void begin_line(struct browser *b, char prompt)
{
	b->prompt = prompt;
	str__clear(&b->input);
	if (prompt == '&' && current(b)->filters)
		str__puts(&b->input, current(b)->filter_text);
}

/* ---- keys ---- */

/* Keys that move: by rows, or by parts of a page. */
static const struct {
	int key, rows, pages; /* pages: in halves */
} moves[] = {
	{'j', 1, 0},	      {KEY_DOWN_ROW, 1, 0},  {CONTROL('N'), 1, 0},  {CONTROL('E'), 1, 0},
	{'k', -1, 0},	      {KEY_UP_ROW, -1, 0},   {CONTROL('P'), -1, 0}, {CONTROL('Y'), -1, 0},
	{' ', 0, 2},	      {KEY_PAGE_DOWN, 0, 2}, {CONTROL('F'), 0, 2},  {CONTROL('V'), 0, 2},
	{'b', 0, -2},	      {KEY_PAGE_UP, 0, -2},  {CONTROL('B'), 0, -2}, {'d', 0, 1},
	{CONTROL('D'), 0, 1}, {'u', 0, -1},	     {CONTROL('U'), 0, -1},
};

static bool move(struct browser *b, int key)
{
	struct screen *s = current(b);

	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		if (moves[i].key == key) {
			screen__move(s, moves[i].rows +
						(int64_t)max_of(s->lines, 2u) * moves[i].pages / 2);
			return true;
		}
	if (key == 'g' || key == KEY_FIRST)
		screen__go_to(s, 0);
	else if (key == 'G' || key == KEY_LAST)
		screen__go_to(s, SIZE_MAX);
	else if (key == '<')
		s->left -= min_of(s->left, (unsigned)SCROLL);
	else if (key == '>')
		s->left += s->left < 100000 ? SCROLL : 0;
	else
		return false;
	return true;
}

static void sort(struct browser *b, int column)
{
	struct screen *s = current(b);

	if (!s->ops->sort) {
		say(b, "these rows have one order only");
		return;
	}
	s->ops->sort(s, column);
	if (screen__changed(s, &b->patience))
		say(b, err__text());
	screen__go_to(s, 0);
}

static bool own_key(struct browser *b, int key)
{
	struct screen *s = current(b), *next = NULL;

	err__clear();
	if (!s->ops->key || !s->ops->key(s, screen__row(s, s->cursor), key, &next))
		return false;
	if (next)
		open_screen(b, next);
	else if (*err__text())
		say(b, err__text());
	return true;
}

static bool common_key(struct browser *b, int key)
{
	switch (key) {
	case '/':
	case ':':
		begin_line(b, (char)key);
		break;
	case '&':
	case 'f':
		begin_line(b, '&');
		break;
	case 'n':
	case 'N':
		search_again(b, key == 'n' ? 1 : -1, false);
		break;
	case 's':
	case 'S':
	case 'r':
	case 'R':
		sort(b, key == 's' ? 1 : key == 'S' ? -1 : 0);
		break;
	case '\n':
	case '\r':
	case KEY_INTO:
	case 'l':
		enter(b);
		break;
	case 'q':
	case KEY_BACK:
	case KEY_ESCAPE:
		back(b, key == 'q');
		break;
	case 'Q':
	case CONTROL('C'):
		b->ends = true;
		break;
	case 'h':
	case '?':
	case KEY_HELP_SCREEN:
		open_screen(b, help__open(b->model, current(b)->ops));
		break;
	default:
		return false;
	}
	return true;
}

void browser__key(struct browser *b, int key)
{
	if (key == KEY_NONE || key == KEY_REDRAW || key == CONTROL('L'))
		return;
	str__clear(&b->message);
	if (b->prompt)
		edit(b, key);
	else if (!own_key(b, key) && !move(b, key) && !common_key(b, key))
		say(b, "h shows the keys");
}

/* ---- drawing ---- */

/* What is missing is said on each screen: counts and paths depend on it. */
static void put_missing(const struct browser *b, struct str *out)
{
	for (size_t i = 0; i < b->model->nruns; i++) {
		autofree struct str missing = {0};

		if (!output__missing(b->model->counts[i], &b->model->totals[i], &missing))
			continue;
		str__printf(out, "%sMissing%s: %s", i && out->len ? "; " : "",
			    b->model->nruns == 1 ? ""
			    : i			 ? " in B"
						 : " in A",
			    missing.data);
	}
}

static void put_position(const struct screen *s, struct str *out)
{
	size_t n = screen__shown(s);

	str__printf(out, "%zu/%zu", n ? s->cursor + 1 : 0, n);
	if (s->filters) {
		str__puts(out, " &");
		str__shown(out, s->filter_text);
	}
}

static void draw_status(const struct browser *b, struct grid *g)
{
	const struct span at = {g->height - 1, 0, g->width, 0};
	autofree struct str left = {0}, right = {0};
	unsigned width;

	put_position(current(b), &right);
	if (b->prompt) {
		str__putc(&left, b->prompt);
		str__shown(&left, b->input.len ? b->input.data : "");
		str__clear(&right);
		str__putc(&right, ' ');
	} else if (b->message.len) {
		str__shown(&left, b->message.data);
	} else {
		put_missing(b, &left);
		if (!left.len)
			str__puts(&left,
				  "Enter opens, / searches, & filters, s sorts, h helps, q ends");
	}
	width = min_of(text__width(right.data), g->width);
	grid__clear(g, &at, 0);
	grid__put(g, &(struct span){at.row, g->width - width, g->width, 0}, right.data, LOOK_DIM);
	grid__put(g, &(struct span){at.row, 0, g->width - min_of(width + 1, g->width), 0},
		  left.data, b->message.len ? LOOK_BOLD : 0);
}

static unsigned draw_head(const struct browser *b, struct grid *g)
{
	const struct screen *s = current(b);
	autofree struct str title = {0}, heads = {0};
	const struct span at = {0, 0, g->width, 0}, second = {1, 0, g->width, s->left};

	if (g->height < 4)
		return 0;
	s->ops->title(s, &title);
	grid__clear(g, &at, LOOK_REVERSE);
	grid__put(g, &at, title.data, LOOK_REVERSE);
	if (!s->ops->heads || g->height < 5)
		return 1;
	s->ops->heads(s, g->width, &heads);
	grid__put(g, &second, heads.data, LOOK_BOLD);
	return 2;
}

void browser__draw(struct browser *b, struct grid *g)
{
	struct screen *s = current(b);
	size_t row = screen__row(s, s->cursor);
	unsigned from, lines, pane = 0, most;

	if (!g->width || !g->height)
		return;
	s->width = g->width;
	for (unsigned i = 0; i < g->height; i++)
		grid__clear(g, &(struct span){i, 0, g->width, 0}, 0);
	from = draw_head(b, g);
	lines = g->height - min_of(g->height, from + 1);
	most = lines > LIST_LEAST ? min_of((lines - LIST_LEAST), lines / 3) : 0;
	if (s->ops->pane)
		pane = s->ops->pane(s, row, NULL, NULL, most);
	if (s->filters && !screen__shown(s))
		grid__put(g, &(struct span){from, 0, g->width, 0},
			  "(no row matches; & and Enter show all again)", LOOK_DIM);
	screen__draw(s, g, from, lines - pane, b->searches ? &b->search : NULL);
	if (pane)
		s->ops->pane(s, screen__row(s, s->cursor), g,
			     &(struct span){from + lines - pane, 0, g->width, 0}, most);
	draw_status(b, g);
}

int browser__cursor(const struct browser *b)
{
	autofree struct str shown = {0};

	if (!b->prompt)
		return -1;
	str__shown(&shown, b->input.len ? b->input.data : "");
	return 1 + (int)text__width(shown.data ? shown.data : "");
}
