// SPDX-License-Identifier: BSD-2-Clause
/*
 * Repetitions in text: a single line with its count, or several lines with a bar below a line with
 * the count. Times are those of the first iteration, with the duration of all.
 */
#include "text.h"

/* The bars left of a line, outermost last. */
struct bar {
	unsigned indent;
	const struct bar *outer;
};

/* Returns how much of the line's indentation they replace. */
static unsigned put_bars(struct output *o, const struct bar *bar)
{
	unsigned before;

	if (!bar)
		return 0;
	before = put_bars(o, bar->outer);
	put_spaces(&o->buffer, bar->indent - before);
	paint(o, DIM);
	put(&o->buffer, "| ");
	paint(o, PLAIN);
	return bar->indent;
}

static const struct fold_item *first_line(const struct fold_item *item)
{
	while (item->count)
		item = item->body[0];
	return item;
}

static void put_left(struct output *o, const struct fold_item *line, unsigned indent,
		     const struct bar *bars)
{
	str__put(&o->buffer, line->text.data, line->columns);
	put_spaces(&o->buffer, indent - put_bars(o, bars));
}

/* The line without newline. */
static void put_line(struct output *o, const struct fold_item *item, const struct bar *bars)
{
	const struct fold_line *line = item->line;
	const struct str *text = &line->text;

	put_left(o, item, item->indent, bars);
	str__put(&o->buffer, text->data + item->indent, line->times - item->indent);
	str__put(&o->buffer, item->text.data + item->columns, item->text.len - item->columns);
	str__put(&o->buffer, text->data + line->times, text->len - line->times);
}

static void put_count(struct output *o, const struct fold_item *g)
{
	paint(o, YELLOW);
	str__dec(&o->buffer, g->count);
	put(&o->buffer, " times");
	if (g->timed && o->options.time != TIME_NONE) {
		put(&o->buffer, " in ");
		put_duration(&o->buffer, g->last - g->first);
	}
}

static bool is_one_line(const struct fold_item *g)
{
	const struct fold_item *line = g->body[0];

	return g->nbody == 1 && !line->count &&
	       !memchr(line->line->text.data, '\n', line->line->text.len);
}

static void put_item(struct output *o, const struct fold_item *item, const struct bar *bars)
{
	struct bar bar = {item->indent, bars};

	if (!item->count) {
		put_line(o, item, bars);
		str__putc(&o->buffer, '\n');
		return;
	}
	if (is_one_line(item)) {
		put_line(o, item->body[0], bars);
		put(&o->buffer, "  ");
	} else {
		put_left(o, first_line(item), item->indent, bars);
	}
	put_count(o, item);
	str__puts(&o->buffer, is_one_line(item) ? "" : ":");
	paint(o, PLAIN);
	str__putc(&o->buffer, '\n');
	for (size_t i = 0; i < item->nbody && !is_one_line(item); i++)
		put_item(o, item->body[i], &bar);
}

void repeats__put(void *ctx, const struct fold_item *item)
{
	put_item(ctx, item, NULL);
}
