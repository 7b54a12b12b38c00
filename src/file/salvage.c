// SPDX-License-Identifier: BSD-2-Clause
/* Blocks in the order of their numbers. After a damaged block they wait for its copy, up to the
 * next block of events, or the end: copies precede these. */
#include <errno.h>
#include <stdlib.h>
#include "file/format.h"

/* How many blocks are moved to make room for a copy before them: a limit for hostile files. */
#define MOVED_MAX (1ull << 24)
/* Bytes of blocks that wait for a lost one's copy, which comes soon after it if at all: with more,
 * it is given up. */
#define HELD_MAX  (256ull << 20)
#define HELD_EACH 64 /* of the table, and of its memory */

/* The first one that waits whose number is not below this. */
static size_t place_of(const struct salvage *v, uint32_t number)
{
	size_t low = v->first, high = v->waiting.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v->waiting.data[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A number comes once. */
static void keep(struct salvage *v, uint32_t number, uint8_t type, const uint8_t *raw, size_t len)
{
	struct salvaged s = {number, type, xcalloc(1, len + 1), len};
	size_t at = place_of(v, number), after = v->waiting.len - at;

	if (at < v->waiting.len && v->waiting.data[at].number == number) {
		free(s.raw);
		return;
	}
	if (len)
		memcpy(s.raw, raw, len);
	vec__push(&v->waiting, s);
	memmove(&v->waiting.data[at + 1], &v->waiting.data[at], after * sizeof(s));
	v->waiting.data[at] = s;
	v->moved += after;
	v->held += HELD_EACH + len;
}

/* ---- copies ---- */

static void take_header(struct salvage *v, const struct reader *r)
{
	if (!v->headless || v->has_header || r->end - r->at != FILE_HEADER_SIZE)
		return;
	memcpy(v->header, r->at, FILE_HEADER_SIZE);
	v->has_header = true;
	v->headless = false;
}

/* Returns false if it is damaged, in spite of its checksum. */
static bool take_copy(struct salvage *v, const struct block *b)
{
	struct reader r = reader_of(b->raw, b->raw_len);
	uint64_t number = get_number(&r);
	uint8_t type = get_byte(&r);

	if (r.bad || number > b->number || type == BLOCK_COPY || v->moved > MOVED_MAX)
		return false;
	if (!type)
		take_header(v, &r);
	else if (number >= v->want)
		keep(v, number, type, r.at, r.end - r.at);
	keep(v, b->number, BLOCK_COPY, NULL, 0);
	return true;
}

/* ---- order ---- */

/* Gives the first one that waits, if no earlier one can come. */
static bool give(struct salvage *v, struct block *b, uint32_t *lost)
{
	const struct salvaged *first;

	if (v->headless || v->first == v->waiting.len)
		return false;
	first = &v->waiting.data[v->first];
	if (first->number != v->want && !(v->closes && first->number <= v->closing))
		return false;
	free(v->given.raw);
	v->given = *first;
	v->held -= HELD_EACH + first->raw_len;
	*lost += v->given.number - v->want;
	v->want = v->given.number + 1;
	if (++v->first == v->waiting.len)
		v->first = v->waiting.len = 0;
	v->closes &= v->given.number < v->closing;
	*b = (struct block){.type = v->given.type,
			    .number = v->given.number,
			    .raw_len = v->given.raw_len,
			    .raw = v->given.raw};
	return true;
}

/* Copies are not given. */
static bool give_next(struct salvage *v, struct block *b, uint32_t *lost)
{
	while (give(v, b, lost))
		if (b->type != BLOCK_COPY)
			return true;
	return false;
}

static int take(struct salvage *v, const struct block *b)
{
	if (b->type == BLOCK_COPY && !take_copy(v, b))
		return -EBADMSG;
	if (b->type != BLOCK_COPY)
		keep(v, b->number, b->type, b->raw, b->raw_len);
	if (v->headless && v->held > HELD_MAX)
		return -EBADMSG;
	if (block__has_totals(b->type) || b->type == BLOCK_END || v->held > HELD_MAX) {
		v->closes = true;
		v->closing = b->number;
	}
	return 0;
}

/* Nothing more comes: what waits is given. */
static bool give_rest(struct salvage *v, struct block *b, uint32_t *lost)
{
	v->closes = true;
	v->closing = UINT32_MAX;
	return give_next(v, b, lost);
}

int salvage__next(struct salvage *v, struct block *b, uint32_t *lost)
{
	int n;

	*lost = 0;
	while (!give_next(v, b, lost)) {
		n = block_stream__next(&v->stream, b);
		if (n < 0)
			return n;
		if (!n)
			return give_rest(v, b, lost);
		if (b->number == v->want && b->type != BLOCK_COPY && !v->headless) {
			v->want++;
			return 1;
		}
		n = take(v, b);
		if (n)
			return n;
	}
	return 1;
}

const struct salvaged *salvage__closing(const struct salvage *v, struct block_totals *ahead)
{
	const struct salvaged *s = &v->given;

	*ahead = (struct block_totals){0};
	for (size_t next = v->first; !block__has_totals(s->type); next++) {
		if (s->type == BLOCK_END)
			return NULL;
		ahead->tables += s->type != BLOCK_COPY;
		ahead->plans += s->type == BLOCK_PLAN;
		if (next == v->waiting.len)
			return NULL;
		s = &v->waiting.data[next];
	}
	return s;
}

void salvage__free(struct salvage *v)
{
	for (size_t i = v->first; i < v->waiting.len; i++)
		free(v->waiting.data[i].raw);
	vec__free(&v->waiting);
	free(v->given.raw);
	block_stream__free(&v->stream);
}
