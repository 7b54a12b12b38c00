/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pack: numbers as bytes and bits. LEB128 (DWARF 5, section 7.6), zigzag for signed differences,
 * bits from the lowest up. Readers never read past their end: they set bad and return zeros.
 * Private to src/file.
 */
#ifndef BBTRACE_FILE_PACK_H
#define BBTRACE_FILE_PACK_H

#include "util/util.h"

/* Maps small values of either sign to small numbers: 0, -1, 1, -2 … to 0, 1, 2, 3 … */
static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (v >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}

static inline void put_byte(struct str *s, uint8_t v)
{
	if (s->cap - s->len < 2)
		str__reserve(s, 1);
	s->data[s->len++] = (char)v;
}

static inline void put_number(struct str *s, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(s, v | 0x80);
	put_byte(s, v);
}

/* Writes v as its difference from before. */
static inline void put_delta(struct str *s, uint64_t v, uint64_t before)
{
	put_number(s, zigzag(v - before));
}

static inline void put_le(struct str *s, uint64_t v, unsigned bytes)
{
	for (; bytes; bytes--, v >>= 8)
		put_byte(s, v);
}

struct reader {
	const uint8_t *at, *end;
	bool bad; /* a read went past the end */
};

static inline uint8_t get_byte(struct reader *r)
{
	if (r->at < r->end)
		return *r->at++;
	r->bad = true;
	return 0;
}

/* raw may be NULL for nothing */
static inline struct reader reader_of(const uint8_t *raw, size_t len)
{
	return (struct reader){raw, len ? raw + len : raw, false};
}

static inline uint64_t get_number(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = get_byte(r);
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 64);
	if (byte & 0x80)
		r->bad = true;
	return v;
}

static inline uint64_t get_delta(struct reader *r, uint64_t before)
{
	return before + unzigzag(get_number(r));
}

static inline uint64_t get_le(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

/* Returns the next len bytes; NULL if there are fewer. */
static inline const uint8_t *get_bytes(struct reader *r, uint64_t len)
{
	const uint8_t *p = r->at;

	if (len > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		return NULL;
	}
	r->at += len;
	return p;
}

/* A part that is preceded by its length. */
static inline struct reader get_part(struct reader *r)
{
	uint64_t len = get_number(r);
	const uint8_t *p = get_bytes(r, len);

	return p ? (struct reader){p, p + len, false} : (struct reader){r->end, r->end, false};
}

static inline void put_part(struct str *s, const void *data, size_t len)
{
	put_number(s, len);
	str__put(s, data, len);
}

struct bits {
	struct str bytes;
	uint64_t hold; /* bits that don't fill a byte yet */
	unsigned n;
};

static inline void put_bits(struct bits *b, uint64_t v, unsigned n)
{
	b->hold |= v << b->n;
	b->n += n;
	for (; b->n >= 8; b->n -= 8, b->hold >>= 8)
		put_byte(&b->bytes, b->hold);
}

static inline void end_bits(struct bits *b)
{
	if (b->n)
		put_byte(&b->bytes, b->hold);
	b->hold = b->n = 0;
}

struct bit_reader {
	struct reader bytes;
	uint64_t hold;
	unsigned n;
};

/* n is at most 32. */
static inline uint32_t get_bits(struct bit_reader *b, unsigned n)
{
	uint32_t v;

	for (; b->n < n; b->n += 8)
		b->hold |= (uint64_t)get_byte(&b->bytes) << b->n;
	v = b->hold & ((1ull << n) - 1);
	b->hold >>= n;
	b->n -= n;
	return v;
}

#endif
