// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blocks out of the bytes of a trace file. Where one does not follow another, for bytes are damaged
 * or missing, the next one is searched: a place whose header is sane and whose checksum is right.
 */
#include <errno.h>
#include <stdlib.h>
#include "file/format.h"

#define AT_ONCE ((size_t)64 << 10)
/* Checksums of places that turn out to be no block are paid from a budget, so that a hostile file
 * can't make the search expensive. */
#define BUDGET_START	(64ull << 20)
#define BUDGET_PER_BYTE 16
/* After this many bytes of no block in a row, the rest isn't searched: a file may have no end. */
#define SEARCH_MOST (64ull << 20)

/* Makes room for more bytes. What is read is not trusted, so the buffer grows only with what
 * arrives. */
static void make_room(struct block_stream *s)
{
	if (s->at && s->at >= s->len - s->at) {
		memmove(s->bytes, s->bytes + s->at, s->len - s->at);
		s->len -= s->at;
		s->at = 0;
	}
	if (s->cap - s->len >= AT_ONCE)
		return;
	s->cap = max_of(s->len + AT_ONCE, s->cap * 2);
	s->bytes = xrealloc(s->bytes, s->cap, 1);
}

size_t block_stream__peek(struct block_stream *s, size_t len)
{
	while (s->len - s->at < len && !s->hole && !s->ended) {
		ssize_t n;

		make_room(s);
		n = s->read(s->ctx, s->bytes + s->len, AT_ONCE);
		s->hole = n == -EILSEQ;
		s->ended = n <= 0 && !s->hole;
		s->error = s->ended ? n : 0;
		s->len += n > 0 ? n : 0;
	}
	return min_of(len, s->len - s->at);
}

void block_stream__skip(struct block_stream *s, size_t len)
{
	s->at += len;
	s->offset += len;
	s->budget += len * BUDGET_PER_BYTE;
}

/* ---- one block ---- */

enum attempt { FOUND, NOT_FOUND, CUT };

static bool is_ahead(const struct block_stream *s, const struct block *b)
{
	return b->number - s->next < UINT32_MAX / 2;
}

static bool unpack(struct block_stream *s, struct block *b, const uint8_t *stored)
{
	if (s->raw_cap < b->raw_len) {
		s->raw_cap = max_of((size_t)b->raw_len, s->raw_cap * 2);
		s->raw = xrealloc(s->raw, s->raw_cap, 1);
	}
	b->raw = s->raw;
	return block__unpack(b, stored, s->raw);
}

/* Whether a block is here. */
static enum attempt find_here(struct block_stream *s, struct block *b)
{
	const uint8_t *header;

	if (block_stream__peek(s, BLOCK_HEADER_SIZE) < BLOCK_HEADER_SIZE)
		return CUT;
	header = s->bytes + s->at;
	if (!(s->broken.is ? block__seems(header, b) : block__parse(header, b)) || !is_ahead(s, b))
		return NOT_FOUND;
	if (block_stream__peek(s, BLOCK_HEADER_SIZE + b->stored_len) <
	    BLOCK_HEADER_SIZE + b->stored_len)
		return CUT;
	header = s->bytes + s->at; /* the buffer may have moved */
	s->tried += s->broken.is ? BLOCK_HEADER_SIZE + b->stored_len : 0;
	if (!block__is_whole(b, header, header + BLOCK_HEADER_SIZE) ||
	    !unpack(s, b, header + BLOCK_HEADER_SIZE))
		return NOT_FOUND;
	block_stream__skip(s, BLOCK_HEADER_SIZE + b->stored_len);
	return FOUND;
}

/* ---- the next one ---- */

static void note_broken(struct block_stream *s, bool cut)
{
	if (s->broken.is)
		return;
	s->broken.is = true;
	s->broken.cut = cut && !s->hole;
	s->broken.at = s->offset;
	s->broken.number = s->next;
}

/* Skips to where another block may begin. Returns false at the end. */
static bool go_on(struct block_stream *s)
{
	if (s->tried > BUDGET_START + s->budget || s->searched > SEARCH_MOST)
		return false;
	if (s->at < s->len) {
		block_stream__skip(s, 1);
		s->searched++;
		return true;
	}
	if (!s->hole)
		return !s->ended;
	s->hole = false;
	return true;
}

int block_stream__next(struct block_stream *s, struct block *b)
{
	for (;;) {
		enum attempt found = find_here(s, b);

		if (s->error)
			return s->error;
		if (found == FOUND) {
			s->next = b->number + 1;
			s->broken.cut = false;
			s->searched = 0;
			return 1;
		}
		note_broken(s, found == CUT);
		if (!go_on(s))
			return 0;
	}
}

void block_stream__free(struct block_stream *s)
{
	free(s->bytes);
	free(s->raw);
}
