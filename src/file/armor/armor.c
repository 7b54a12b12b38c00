// SPDX-License-Identifier: BSD-2-Clause
/* Encodes bytes as lines of 7-bit text, each with a number and a checksum: see armor.h. */
#include <stdlib.h>
#include <zlib.h>
#include "armor.h"
#include "file/pack.h"

static const char armor_digits[64 + 1] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct armor {
	uint64_t number;
	struct armor_bytes held; /* bytes that don't fill a line yet */
	bool redundant;
	struct armor_bytes groups[ARMOR_APART]; /* what the lines since .first add up to */
	uint64_t first;
};

struct armor *armor__new(bool redundant)
{
	struct armor *a = xcalloc(1, sizeof(*a));

	a->redundant = redundant;
	return a;
}

void armor__free(struct armor *a)
{
	free(a);
}

uint32_t armor__checksum(const char *text, size_t len, uint64_t number)
{
	uint8_t high[5];

	for (int i = 0; i < 5; i++)
		high[i] = number >> (24 + 8 * i);
	return crc32(crc32(0, high, sizeof(high)), (const Bytef *)text, len);
}

void armor_bytes__add(struct armor_bytes *sum, const struct armor_bytes *b)
{
	sum->len ^= b->len;
	for (int i = 0; i < ARMOR_BYTES; i++)
		sum->data[i] ^= b->data[i];
}

static void put_base64(struct str *s, const uint8_t *p, size_t len)
{
	for (; len; p += min_of(len, (size_t)3), len -= min_of(len, (size_t)3)) {
		uint32_t v =
			(uint32_t)p[0] << 16 | (len > 1 ? p[1] << 8 : 0) | (len > 2 ? p[2] : 0);

		put_byte(s, armor_digits[v >> 18]);
		put_byte(s, armor_digits[v >> 12 & 63]);
		put_byte(s, len > 1 ? armor_digits[v >> 6 & 63] : '=');
		put_byte(s, len > 2 ? armor_digits[v & 63] : '=');
	}
}

/* text: where the line begins, after the mark. */
static void end_text(struct str *out, size_t text, uint64_t number)
{
	str__printf(out, "%08x\n", armor__checksum(out->data + text, out->len - text, number));
}

/* ---- parity ---- */

/* lines: of all groups. */
static void put_parity(struct armor *a, unsigned group, uint64_t lines, struct str *out)
{
	uint64_t number = a->first + group;
	size_t text = out->len + ARMOR_MARK_LEN;

	str__printf(out, ARMOR_PARITY "%06x%02x%02x", (unsigned)(number & ARMOR_NUMBER_MASK),
		    (unsigned)((lines + ARMOR_APART - 1 - group) / ARMOR_APART),
		    a->groups[group].len);
	put_base64(out, a->groups[group].data, ARMOR_BYTES);
	end_text(out, text, number);
}

/* The groups of the oldest lines first: so the last lines and their parity are far apart. */
void armor__end_groups(struct armor *a, struct str *out)
{
	uint64_t lines = a->number - a->first, n = min_of(lines, (uint64_t)ARMOR_APART);

	for (uint64_t i = 0; a->redundant && i < n; i++)
		put_parity(a, (lines + i) % n, lines, out);
	memset(a->groups, 0, sizeof(a->groups));
	a->first = a->number;
}

static void add_to_group(struct armor *a, struct str *out)
{
	armor_bytes__add(&a->groups[(a->number - a->first) % ARMOR_APART], &a->held);
	a->number++;
	if (a->number - a->first == ARMOR_APART * ARMOR_GROUP)
		armor__end_groups(a, out);
}

/* ---- lines ---- */

void armor__end_line(struct armor *a, struct str *out)
{
	size_t text = out->len + ARMOR_MARK_LEN;

	if (!a->held.len)
		return;
	str__printf(out, ARMOR_MARK "%06x%02x", (unsigned)(a->number & ARMOR_NUMBER_MASK),
		    a->held.len);
	put_base64(out, a->held.data, a->held.len);
	end_text(out, text, a->number);
	add_to_group(a, out);
	a->held = (struct armor_bytes){0};
}

void armor__put(struct armor *a, const void *data, size_t len, struct str *out)
{
	const uint8_t *p = data;

	if (a->redundant && !a->number && !a->held.len) /* to say that it is */
		put_parity(a, 0, 0, out);
	while (len) {
		size_t n = min_of(len, (size_t)(ARMOR_BYTES - a->held.len));

		memcpy(a->held.data + a->held.len, p, n);
		a->held.len += n;
		p += n;
		len -= n;
		if (a->held.len == ARMOR_BYTES)
			armor__end_line(a, out);
	}
}
