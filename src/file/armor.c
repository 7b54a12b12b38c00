// SPDX-License-Identifier: BSD-2-Clause
/* Encodes bytes as lines of 7-bit text, each with a number and a checksum: see armor.h. */
#include <stdlib.h>
#include <zlib.h>
#include "file/armor.h"
#include "file/pack.h"

const char armor_digits[64 + 1] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct armor {
	uint64_t number;
	uint8_t held[ARMOR_BYTES]; /* bytes that don't fill a line yet */
	size_t len;
};

struct armor *armor__new(void)
{
	return xcalloc(1, sizeof(struct armor));
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

void armor__end_line(struct armor *a, struct str *out)
{
	size_t start = out->len + ARMOR_MARK_LEN;

	if (!a->len)
		return;
	str__printf(out, ARMOR_MARK "%06x%02x", (unsigned)(a->number & ARMOR_NUMBER_MASK),
		    (unsigned)a->len);
	put_base64(out, a->held, a->len);
	str__printf(out, "%08x\n", armor__checksum(out->data + start, out->len - start, a->number));
	a->number++;
	a->len = 0;
}

void armor__put(struct armor *a, const void *data, size_t len, struct str *out)
{
	const uint8_t *p = data;

	while (len) {
		size_t n = min_of(len, ARMOR_BYTES - a->len);

		memcpy(a->held + a->len, p, n);
		a->len += n;
		p += n;
		len -= n;
		if (a->len == ARMOR_BYTES)
			armor__end_line(a, out);
	}
}
