/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace files made of an input, whose checksums are right: else nearly all inputs would be
 * rejected. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <zlib.h>
#include "fuzz.h"

/* ---- a file out of blocks ---- */

static inline void put_number(struct str *s, uint64_t v, unsigned bytes)
{
	for (; bytes; bytes--, v >>= 8)
		str__putc(s, v);
}

static inline void seal(struct str *s, size_t start, const void *more, size_t len)
{
	const Bytef *from = (const Bytef *)s->data + start;

	put_number(s, crc32(crc32(0, from, s->len - start), more, len), 4);
}

static inline void make_file(struct str *file, const uint8_t *data, size_t size)
{
	uint32_t number = 0;

	str__put(file,
		 "\x89"
		 "BBT\r\n\x1a\n",
		 8);
	/* each format that is read; fuzz_trace_file.c checks that they are */
	put_number(file, size % 4 ? 6 : 5, 2);
	put_number(file, size % 4 ? 0 : 3, 2);
	put_number(file, 62 /* EM_X86_64 */, 4);
	seal(file, 0, "", 0);
	while (size >= 3) {
		size_t len = min_of((size_t)(data[1] | data[2] << 8), size - 3), start = file->len;

		number += data[0] >> 7; /* as if one in front of it were lost */
		put_number(file, data[0] & 0x7f, 4);
		put_number(file, len, 4);
		put_number(file, len, 4);
		put_number(file, number++, 4);
		seal(file, start, data + 3, len);
		str__put(file, (const char *)data + 3, len);
		data += 3 + len;
		size -= 3 + len;
	}
}

/* A file as it is, but with the checksums that it must have. */
static inline void mend_file(struct str *file)
{
	uint8_t *p = (uint8_t *)file->data;
	uint32_t crc, len;

	for (size_t at = 0; file->len - at >= 20; at += 20 + len) {
		memcpy(&len, p + at + 8, 4);
		len = at ? len : 0;
		if (len > file->len - at - 20)
			return;
		crc = crc32(crc32(0, p + at, 16), p + at + 20, len);
		memcpy(p + at + 16, &crc, 4);
	}
}

/* ---- bytes ---- */

struct bytes {
	const char *data;
	size_t left;
};

static inline ssize_t read_bytes(void *ctx, void *to, size_t len)
{
	struct bytes *b = ctx;
	size_t n = min_of(len, b->left);

	memcpy(to, b->data, n);
	b->data += n;
	b->left -= n;
	return n;
}

#endif
