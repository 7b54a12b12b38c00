// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds armored lines in a console log. Control characters and escape sequences are dropped. A line
 * that something interrupted, such as a kernel message, is reassembled: its first part precedes the
 * message on the same physical line, and the rest follows some lines below. The checksum confirms
 * it. armor_order.c puts the lines in order.
 */
#include <errno.h>
#include <stdlib.h>
#include "armor.h"

#define PHYSICAL_MAX 4096 /* longer physical lines are cut; they hold no armor */
#define WINDOW	     64	  /* physical lines between the parts of one armored line */
/* Anything may be given as a log, even without an end: at most this many bytes of other text, and
 * this many attempts to join a line, may precede the first armored line, or be between two. */
#define FIRST_MOST (16u << 20)
#define GAP_MOST   (256u << 20)

struct physical {
	char *text;
	size_t len;
};

struct dearmor {
	trace_read_fn read;
	void *ctx;
	uint8_t in[16384];
	size_t at, end;
	bool ended;
	int error;
	struct str line; /* the current physical line */
	enum { PLAIN, ESCAPE, SEQUENCE } state;
	struct physical window[WINDOW]; /* ring of the last physical lines without a complete
					   armored line */
	unsigned next, nwindow;		/* nwindow: 0 if it is empty */
	uint64_t other, joined;		/* bytes and attempts since the last armored line */
	bool any;			/* there was one */
	void (*report)(void *ctx, const char *text);
	void *report_ctx;
	struct armor_order *order;
};

struct dearmor *dearmor__new(trace_read_fn read, void *ctx,
			     void (*report)(void *ctx, const char *text), void *report_ctx)
{
	struct dearmor *d = xcalloc(1, sizeof(*d));

	d->read = read;
	d->ctx = ctx;
	d->report = report;
	d->report_ctx = report_ctx;
	d->order = armor_order__new(report, report_ctx);
	return d;
}

void dearmor__free(struct dearmor *d)
{
	if (!d)
		return;
	for (int i = 0; i < WINDOW; i++)
		free(d->window[i].text);
	str__free(&d->line);
	armor_order__free(d->order);
	free(d);
}

/* ---- one line ---- */

static bool parse_hex(const char *text, unsigned digits, uint32_t *out)
{
	*out = 0;
	for (; digits; digits--, text++) {
		if (*text >= '0' && *text <= '9')
			*out = *out << 4 | (*text - '0');
		else if (*text >= 'a' && *text <= 'f')
			*out = *out << 4 | (*text - 'a' + 10);
		else
			return false;
	}
	return true;
}

struct armored {
	uint64_t number;
	bool parity;
	unsigned bytes;	  /* in it; parity: the lines of the group */
	size_t head, len; /* of its text */
};

/* Parses the head of a line. The number holds low bits only: the nearest to the expected number
 * counts. */
static bool parse_head(const struct dearmor *d, const char *text, struct armored *a)
{
	uint64_t expected = armor_order__expected(d->order);
	uint32_t low, bytes;
	int64_t ahead;

	a->parity = !memcmp(text, ARMOR_PARITY, ARMOR_MARK_LEN);
	if ((!a->parity && memcmp(text, ARMOR_MARK, ARMOR_MARK_LEN)) ||
	    !parse_hex(text + ARMOR_MARK_LEN, 6, &low) ||
	    !parse_hex(text + ARMOR_MARK_LEN + 6, 2, &bytes) ||
	    (a->parity ? bytes > ARMOR_GROUP : !bytes || bytes > ARMOR_BYTES))
		return false;
	ahead = (int64_t)(((low - expected) & ARMOR_NUMBER_MASK) ^ 0x800000) - 0x800000;
	if (ahead < 0 && (uint64_t)-ahead > expected)
		return false;
	a->number = expected + ahead;
	a->bytes = bytes;
	a->head = ARMOR_HEAD_LEN + (a->parity ? 2 : 0);
	a->len = a->head + (a->parity ? ARMOR_TEXT : (bytes + 2) / 3 * 4) + 8;
	return true;
}

static bool is_complete(const char *text, const struct armored *a)
{
	uint32_t crc;

	return parse_hex(text + a->len - 8, 8, &crc) &&
	       crc == armor__checksum(text + ARMOR_MARK_LEN, a->len - ARMOR_MARK_LEN - 8,
				      a->number);
}

static uint32_t digit_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : 0;
}

static void take_bytes(const char *text, unsigned bytes, uint8_t *to)
{
	for (; bytes; text += 4, bytes -= min_of(bytes, 3u)) {
		uint32_t v = 0;

		for (int i = 0; i < 4; i++)
			v = v << 6 | digit_of(text[i]);
		for (unsigned i = 0; i < min_of(bytes, 3u); i++)
			*to++ = v >> (16 - 8 * i);
	}
}

static void forget_window(struct dearmor *d)
{
	for (unsigned i = 0; i < WINDOW && d->nwindow; i++) {
		free(d->window[i].text);
		d->window[i] = (struct physical){0};
	}
	d->nwindow = 0;
}

/* Takes a complete line. */
static void take(struct dearmor *d, const char *text, const struct armored *a)
{
	struct armor_bytes b = {.len = a->bytes};
	uint32_t lens = 0;

	take_bytes(text + a->head, a->parity ? ARMOR_BYTES : a->bytes, b.data);
	if (a->parity) {
		parse_hex(text + ARMOR_HEAD_LEN, 2, &lens);
		b.len = lens;
		armor_order__parity(d->order, a->number, a->bytes, &b);
	} else {
		armor_order__line(d->order, a->number, &b);
	}
	forget_window(d);
	d->other = d->joined = 0;
	d->any = true;
}

/* ---- physical lines ---- */

/* Takes the complete armored lines in a physical line. Returns false if there are none. */
static bool take_complete(struct dearmor *d, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	struct armored a;
	bool found = false;

	while (end - p >= ARMOR_HEAD_LEN + 8 &&
	       (p = memmem(p, end - p, ARMOR_MARK, ARMOR_MARK_LEN - 1))) {
		if (end - p >= ARMOR_HEAD_LEN && parse_head(d, p, &a) &&
		    a.len <= (size_t)(end - p) && is_complete(p, &a)) {
			take(d, p, &a);
			p += a.len;
			found = true;
		} else {
			p++;
		}
	}
	return found;
}

/* Takes the line that the n bytes of first and the end of rest make. Returns false if they make
 * none. */
static bool join(struct dearmor *d, const struct physical *first, size_t n,
		 const struct physical *rest, size_t total)
{
	char text[ARMOR_LINE_MAX];
	struct armored a;

	if (n > first->len || n >= total || total - n > rest->len)
		return false;
	d->joined++;
	memcpy(text, first->text, n);
	memcpy(text + n, rest->text + rest->len - (total - n), total - n);
	if (!parse_head(d, text, &a) || a.len != total || !is_complete(text, &a))
		return false;
	take(d, text, &a);
	return true;
}

/* Joins the start of one physical line and all of another. */
static bool join_lines(struct dearmor *d, const struct physical *first, const struct physical *rest)
{
	for (size_t n = 1; n + rest->len <= ARMOR_LINE_MAX; n++)
		if (n + rest->len >= ARMOR_HEAD_LEN + 8 && join(d, first, n, rest, n + rest->len))
			return true;
	return false;
}

/* Joins the start and the end of one physical line: what interrupted it had no newline. */
static bool join_ends(struct dearmor *d, const struct physical *p)
{
	for (size_t total = ARMOR_LINE_MAX; total > ARMOR_HEAD_LEN + 8;
	     total -= total == ARMOR_LINE_MAX ? 2 : 4)
		for (size_t n = 1; n < total; n++)
			if (join(d, p, n, p, total))
				return true;
	return false;
}

/* Returns where an armored line may begin: text without a newline may precede it on its physical
 * line. */
static const char *begin_of(const char *text, size_t len)
{
	const char *p = memmem(text, len, ARMOR_MARK, ARMOR_MARK_LEN - 1);

	return p ? p : text;
}

static void take_physical(struct dearmor *d)
{
	struct physical line = {d->line.data, d->line.len}, begin;

	if (!line.len || take_complete(d, line.text, line.len))
		return;
	for (unsigned i = 1; i <= min_of(d->nwindow, (unsigned)WINDOW); i++) {
		const struct physical *first = &d->window[(d->next + WINDOW - i) % WINDOW];

		if (first->text && join_lines(d, first, &line))
			return;
	}
	begin.text = (char *)begin_of(line.text, line.len);
	begin.len = line.len - (begin.text - line.text);
	/* the first part has at least "@" */
	if (*begin.text != ARMOR_MARK[0] || join_ends(d, &begin))
		return;
	free(d->window[d->next].text);
	d->window[d->next] = (struct physical){xstrndup(begin.text, begin.len), begin.len};
	d->next = (d->next + 1) % WINDOW;
	d->nwindow++;
}

/* ECMA-48: ESC [ … a final byte from @ to ~; other escape sequences are two bytes here. */
static void take_char(struct dearmor *d, uint8_t c)
{
	if (c == '\n') {
		take_physical(d);
		d->line.len = 0;
		d->state = PLAIN;
	} else if (d->state == ESCAPE) {
		d->state = c == '[' ? SEQUENCE : PLAIN;
	} else if (d->state == SEQUENCE) {
		d->state = c >= '@' && c <= '~' ? PLAIN : SEQUENCE;
	} else if (c == 0x1b) {
		d->state = ESCAPE;
	} else if (c >= ' ' && c < 0x7f && d->line.len < PHYSICAL_MAX) {
		str__putc(&d->line, c);
	}
}

/* ---- bytes ---- */

static bool is_other_text(const struct dearmor *d)
{
	uint64_t most = d->any ? GAP_MOST : FIRST_MOST;

	return d->other > most || d->joined > most;
}

static ssize_t read_some(struct dearmor *d)
{
	ssize_t n;

	if (!is_other_text(d)) {
		n = d->read(d->ctx, d->in, sizeof(d->in));
		d->other += n > 0 ? n : 0;
		return n;
	}
	if (d->any)
		d->report(d->report_ctx, "no armored line for 256 MiB: what follows is not read");
	return 0;
}

static bool read_more(struct dearmor *d)
{
	ssize_t n = d->ended ? 0 : read_some(d);

	if (n > 0) {
		d->at = 0;
		d->end = n;
		return true;
	}
	if (d->ended)
		return false;
	take_char(d, '\n');
	armor_order__end(d->order);
	d->ended = true;
	d->error = n;
	return true;
}

/* Takes the lines up to the end of a physical line. */
static void take_some(struct dearmor *d)
{
	size_t end = d->at;

	while (end < d->end && d->in[end] >= ' ' && d->in[end] < 0x7f)
		end++;
	if (d->state == PLAIN && end > d->at && end - d->at < PHYSICAL_MAX - d->line.len) {
		str__put(&d->line, (const char *)d->in + d->at, end - d->at);
		d->at = end;
	}
	for (uint8_t c = 0; d->at < d->end && c != '\n'; take_char(d, c))
		c = d->in[d->at++];
}

ssize_t dearmor__read(void *dearmor, void *data, size_t len)
{
	struct dearmor *d = dearmor;
	ssize_t n;

	while (!(n = armor_order__read(d->order, data, len)) && (d->at < d->end || read_more(d)))
		take_some(d);
	return n ? n : d->error;
}

uint64_t dearmor__finish(struct dearmor *d)
{
	uint8_t some[256];
	ssize_t n;

	do
		n = dearmor__read(d, some, sizeof(some));
	while (n > 0 || n == -EILSEQ);
	return armor_order__bad(d->order);
}
