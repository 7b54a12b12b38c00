// SPDX-License-Identifier: BSD-2-Clause
/* The text format's left side: time in the chosen style, then the thread; and times and durations
 * as text. */
#include "output/stats/stats.h"
#include "text.h"

#define SECOND	      1000000000ull
#define DAY	      86400
#define TIME_MAX      32 /* sign, 20 digits, point, 9 digits */
#define THREAD_COLUMN 12 /* at least */

/* Writes v with at least this many digits, ending before end; returns its start. */
static char *number_before(char *end, uint64_t v, int digits)
{
	do {
		*--end = '0' + v % 10;
		v /= 10;
	} while (--digits > 0 || v);
	return end;
}

/* seconds.nanoseconds with a sign: '-' if negative, else plus, if not 0. */
static char *seconds_before(char *end, int64_t ns, char plus)
{
	uint64_t abs = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	end = number_before(end, abs % SECOND, 9);
	*--end = '.';
	end = number_before(end, abs / SECOND, 1);
	if (ns < 0)
		*--end = '-';
	else if (plus)
		*--end = plus;
	return end;
}

static char *rel_before(char *end, struct output *o, const struct step *s)
{
	return seconds_before(end, s->time - o->options.start_time, 0);
}

/* The time of day. */
static char *abs_before(char *end, struct output *o, const struct step *s)
{
	int64_t ns = s->time + o->options.realtime_offset + o->options.utc_offset * (int64_t)SECOND;
	int64_t of_day = (ns % (int64_t)(DAY * SECOND) + DAY * SECOND) % (DAY * SECOND);
	unsigned sec = of_day / SECOND;

	end = number_before(end, of_day % SECOND, 9);
	*--end = '.';
	end = number_before(end, sec % 60, 2);
	*--end = ':';
	end = number_before(end, sec / 60 % 60, 2);
	*--end = ':';
	return number_before(end, sec / 3600, 2);
}

uint64_t thread_key(const struct step *s)
{
	return step__thread_key(s);
}

static char *delta_before(char *end, struct output *o, const struct step *s)
{
	struct text *t = o->state;
	uint64_t *last = map64__get(&t->last, thread_key(s));

	if (last)
		end = seconds_before(end, s->time - *last, '+');
	else
		*--end = '-';
	if (s->type == STEP_EXIT)
		map64__del(&t->last, thread_key(s));
	else
		*(last ? last : map64__put(&t->last, thread_key(s))) = s->time;
	return end;
}

static const struct time_row {
	unsigned width;
	char *(*before)(char *end, struct output *o, const struct step *s);
} time_rows[] = {
	[TIME_REL] = {sizeof("9999.123456789") - 1, rel_before},
	[TIME_ABS] = {sizeof("23:59:59.123456789") - 1, abs_before},
	[TIME_DELTA] = {sizeof("+9999.123456789") - 1, delta_before},
	[TIME_NONE] = {0, NULL},
};

/* On a narrow terminal there is no room for seconds of four digits, which few traces have. */
#define NARROW 100
#define SPARED 3

bool text__is_narrow(const struct output *o)
{
	return o->options.width && o->options.width < NARROW;
}

static unsigned least_thread(const struct output *o)
{
	return text__is_narrow(o) ? 0 : THREAD_COLUMN;
}

static unsigned time_width(const struct output *o)
{
	enum time_style style = o->options.time;
	bool spared = text__is_narrow(o) && (style == TIME_REL || style == TIME_DELTA);

	return time_rows[style].width - (spared ? SPARED : 0);
}

static void put_time(struct output *o, const struct step *step)
{
	const struct time_row *row = &time_rows[o->options.time];
	char text[TIME_MAX], *end = text + sizeof(text), *start = end;
	unsigned width = time_width(o);

	if (!row->before)
		return;
	if (step->timed)
		start = row->before(end, o, step);
	if (end - start < width)
		put_spaces(&o->buffer, width - (end - start));
	str__put(&o->buffer, start, end - start);
	str__putc(&o->buffer, ' ');
}

/* Characters, not bytes: the text is valid UTF-8. */
static unsigned width_of(const char *text, size_t len)
{
	unsigned width = 0;

	for (size_t i = 0; i < len; i++)
		width += (text[i] & 0xc0) != 0x80;
	return width;
}

/* Puts its goid or, if unknown, the address of its g. */
static void put_goroutine(struct str *s, uint64_t goroutine)
{
	if (!goroutine)
		return;
	put(s, " g");
	if (goroutine & GOROUTINE_AT)
		str__hex(s, goroutine & ~GOROUTINE_AT);
	else
		str__dec(s, goroutine);
}

static void put_thread(struct output *o, const struct step *step)
{
	struct text *t = o->state;
	struct str *s = &o->buffer;
	size_t start = s->len;
	unsigned width;

	if (step->comm && step->comm[0]) {
		str__shown(s, step->comm);
		str__putc(s, '-');
	}
	str__dec(s, step->tid);
	put_goroutine(s, step->goroutine);
	width = width_of(s->data + start, s->len - start);
	t->thread_column = max_of(t->thread_column, max_of(width, least_thread(o)));
	put_spaces(s, t->thread_column - width + 2);
}

void columns__put(struct output *o, const struct step *step)
{
	paint(o, DIM);
	put_time(o, step);
	put_thread(o, step);
	paint(o, PLAIN);
}

/* It has no step before it in its thread. */
void columns__put_global(struct output *o, const struct step *step)
{
	const struct text *t = o->state;
	struct step untimed = *step;

	untimed.timed = false;
	paint(o, DIM);
	put_time(o, o->options.time == TIME_DELTA ? &untimed : step);
	paint(o, PLAIN);
	put_spaces(&o->buffer, max_of(t->thread_column, least_thread(o)) + 2);
}

unsigned columns__width(const struct output *o)
{
	const struct text *t = o->state;
	unsigned time = time_width(o);

	return time + (time != 0) + t->thread_column + 2;
}

void columns__blank(struct output *o)
{
	put_spaces(&o->buffer, columns__width(o));
}
