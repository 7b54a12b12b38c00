// SPDX-License-Identifier: BSD-2-Clause
/* The outermost layer of a trace file: the header, then blocks with lengths, number and
 * checksum. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include "file/format.h"

#define LEVEL 1 /* recording must keep up with the probes */

/* ---- header ---- */

void header__put(struct str *out, uint16_t machine)
{
	size_t start = out->len;

	str__put(out, FILE_MAGIC, FILE_MAGIC_SIZE);
	put_le(out, FILE_MAJOR, 2);
	put_le(out, FILE_MINOR, 2);
	put_le(out, machine, 2);
	put_le(out, 0, 2);
	put_le(out, crc32(0, (const Bytef *)out->data + start, FILE_HEADER_SIZE - 4), 4);
}

int header__check(const uint8_t *header, struct file_version *version)
{
	const struct file_version v = {get_le(header + 8, 2), get_le(header + 10, 2),
				       get_le(header + 12, 2)};

	if (memcmp(header, FILE_MAGIC, FILE_MAGIC_SIZE))
		return err__set(ENOEXEC, "not a trace file of bbtrace; -o FILE records one");
	if (get_le(header + 16, 4) != crc32(0, header, FILE_HEADER_SIZE - 4))
		return err__set(ENOEXEC, "the header is damaged");
	if (v.major > FILE_MAJOR)
		return err__set(ENOTSUP,
				"the file is of format %u, this bbtrace reads %u: use a newer one",
				v.major, FILE_MAJOR);
	if (v.major < FILE_MAJOR_LEAST ||
	    (v.major == FILE_MAJOR_LEAST && v.minor < FILE_MINOR_LEAST))
		return err__set(ENOTSUP,
				"the file is of format %u.%u, which this bbtrace doesn't read: "
				"record again with this version",
				v.major, v.minor);
	*version = v;
	return 0;
}

/* ---- blocks ---- */

struct block_packer {
	ZSTD_CCtx *zstd;
	struct str compressed;
};

struct block_packer *block_packer__new(void)
{
	struct block_packer *p = xcalloc(1, sizeof(*p));

	p->zstd = ZSTD_createCCtx();
	return p;
}

void block_packer__free(struct block_packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	str__free(&p->compressed);
	free(p);
}

#define SKIPPABLE	8 /* bytes of a skippable frame without contents (RFC 8878, 3.1.2) */
#define SKIPPABLE_MAGIC 0x184d2a50u

/* Readers refuse what expands by more than BLOCK_RATIO_MAX: a frame that is skipped fills it up. */
static void fill_up(struct str *out, size_t least)
{
	size_t missing = out->len < least ? max_of(least - out->len, (size_t)SKIPPABLE) : 0;

	if (!missing)
		return;
	put_le(out, SKIPPABLE_MAGIC, 4);
	put_le(out, missing - SKIPPABLE, 4);
	for (size_t i = SKIPPABLE; i < missing; i++)
		put_byte(out, 0);
}

/* Returns the compressed contents; NULL if they aren't smaller. */
static const struct str *compress_raw(struct block_packer *p, const struct str *raw)
{
	struct str *out = &p->compressed;
	size_t n;

	str__clear(out);
	str__reserve(out, ZSTD_compressBound(raw->len));
	n = p->zstd ? ZSTD_compressCCtx(p->zstd, out->data, ZSTD_compressBound(raw->len), raw->data,
					raw->len, LEVEL)
		    : 0;
	if (!n || ZSTD_isError(n))
		return NULL;
	out->len = n;
	fill_up(out, raw->len / BLOCK_RATIO_MAX + 1);
	return out->len < raw->len ? out : NULL;
}

static uint32_t checksum(const uint8_t *header, const void *stored, size_t len)
{
	return crc32(crc32(0, header, BLOCK_HEADER_SIZE - 4), stored, len);
}

void block_packer__put(struct block_packer *p, const struct trace_block *b, struct str *out)
{
	const struct str *smaller, *stored;
	size_t start = out->len;

	if (!b->type) {
		str__put(out, b->raw.data, b->raw.len);
		return;
	}
	smaller = compress_raw(p, &b->raw);
	stored = smaller ? smaller : &b->raw;
	put_byte(out, b->type);
	put_byte(out, smaller ? BLOCK_ZSTD : 0);
	put_le(out, 0, 2);
	put_le(out, b->raw.len, 4);
	put_le(out, stored->len, 4);
	put_le(out, b->number, 4);
	put_le(out, checksum((const uint8_t *)out->data + start, stored->data, stored->len), 4);
	str__put(out, stored->data, stored->len);
}

bool block__parse(const uint8_t *header, struct block *b)
{
	*b = (struct block){.type = header[0],
			    .number = get_le(header + 12, 4),
			    .raw_len = get_le(header + 4, 4),
			    .stored_len = get_le(header + 8, 4),
			    .packed = header[1] & (BLOCK_DEFLATED | BLOCK_ZSTD)};
	if (b->raw_len > BLOCK_RAW_MAX || b->stored_len > b->raw_len)
		return false;
	return b->packed ? b->raw_len / BLOCK_RATIO_MAX < b->stored_len
			 : b->stored_len == b->raw_len;
}

bool block__seems(const uint8_t *header, struct block *b)
{
	return header[0] && header[1] <= BLOCK_ZSTD && !header[2] && !header[3] &&
	       block__parse(header, b);
}

bool block__is_whole(const struct block *b, const uint8_t *header, const uint8_t *stored)
{
	return get_le(header + BLOCK_HEADER_SIZE - 4, 4) == checksum(header, stored, b->stored_len);
}

bool block__unpack(const struct block *b, const uint8_t *stored, uint8_t *raw)
{
	uLongf len = b->raw_len;

	if (b->packed == BLOCK_ZSTD)
		return ZSTD_decompress(raw, len, stored, b->stored_len) == len;
	if (b->packed)
		return b->packed == BLOCK_DEFLATED &&
		       uncompress(raw, &len, stored, b->stored_len) == Z_OK && len == b->raw_len;
	if (b->raw_len)
		memcpy(raw, stored, b->raw_len);
	return true;
}
