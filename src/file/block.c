// SPDX-License-Identifier: BSD-2-Clause
/* The outermost layer of a trace file: the header, then blocks with lengths, number and
 * checksum. */
#include <errno.h>
#include <zlib.h>
#include "file/format.h"

/* Recording must keep up with the probes: level 1 takes a third of the default level's time. */
#define LEVEL 1

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
	if (v.major < FILE_MAJOR || v.minor < FILE_MINOR_LEAST)
		return err__set(ENOTSUP,
				"the file is of format %u.%u, which this bbtrace doesn't read: "
				"record again with this version",
				v.major, v.minor);
	*version = v;
	return 0;
}

/* ---- blocks ---- */

/* Returns false if deflate doesn't make it smaller, or by more than BLOCK_RATIO_MAX, which readers
 * refuse. */
static bool deflate_raw(const struct str *raw, struct str *out)
{
	uLongf len = compressBound(raw->len);

	str__reserve(out, len);
	if (compress2((Bytef *)out->data, &len, (const Bytef *)raw->data, raw->len, LEVEL) != Z_OK)
		return false;
	out->len = len;
	return len < raw->len && raw->len / BLOCK_RATIO_MAX < len;
}

static uint32_t checksum(const uint8_t *header, const void *stored, size_t len)
{
	return crc32(crc32(0, header, BLOCK_HEADER_SIZE - 4), stored, len);
}

static void block__put(struct str *out, enum block_type type, uint32_t number,
		       const struct str *raw)
{
	struct str deflated = {0};
	bool smaller = deflate_raw(raw, &deflated);
	const struct str *stored = smaller ? &deflated : raw;
	size_t start = out->len;

	put_byte(out, type);
	put_byte(out, smaller ? BLOCK_DEFLATED : 0);
	put_le(out, 0, 2);
	put_le(out, raw->len, 4);
	put_le(out, stored->len, 4);
	put_le(out, number, 4);
	put_le(out, checksum((const uint8_t *)out->data + start, stored->data, stored->len), 4);
	str__put(out, stored->data, stored->len);
	str__free(&deflated);
}

void trace_block__pack(const struct trace_block *b, struct str *out)
{
	if (b->type)
		block__put(out, b->type, b->number, &b->raw);
	else
		str__put(out, b->raw.data, b->raw.len);
}

bool block__parse(const uint8_t *header, struct block *b)
{
	*b = (struct block){.type = header[0],
			    .number = get_le(header + 12, 4),
			    .raw_len = get_le(header + 4, 4),
			    .stored_len = get_le(header + 8, 4),
			    .deflated = header[1] & BLOCK_DEFLATED};
	if (b->raw_len > BLOCK_RAW_MAX || b->stored_len > b->raw_len)
		return false;
	return b->deflated ? b->raw_len / BLOCK_RATIO_MAX < b->stored_len
			   : b->stored_len == b->raw_len;
}

bool block__seems(const uint8_t *header, struct block *b)
{
	return header[0] && header[1] <= BLOCK_DEFLATED && !header[2] && !header[3] &&
	       block__parse(header, b);
}

bool block__is_whole(const struct block *b, const uint8_t *header, const uint8_t *stored)
{
	return get_le(header + BLOCK_HEADER_SIZE - 4, 4) == checksum(header, stored, b->stored_len);
}

bool block__unpack(const struct block *b, const uint8_t *stored, uint8_t *raw)
{
	uLongf len = b->raw_len;

	if (b->deflated)
		return uncompress(raw, &len, stored, b->stored_len) == Z_OK && len == b->raw_len;
	if (b->raw_len)
		memcpy(raw, stored, b->raw_len);
	return true;
}
