// SPDX-License-Identifier: BSD-2-Clause
#include <elf.h>
#include "explain/literal.h"

#define LETTERS_LEAST 6

/* ---- formats ---- */

static const char *skip_conversion(const char *f)
{
	f++;
	f += strspn(f, "-+ #0'123456789.*$hlLqjzt");
	return *f ? f + 1 : f;
}

size_t literal__letters(const char *format, const char *text, size_t len)
{
	const char *end = text + len;
	size_t letters = 0;

	while (*format) {
		size_t n = strcspn(format, "%\n");
		const char *at;

		if (n) {
			at = memmem(text, end - text, format, n);
			if (!at)
				return 0;
			text = at + n;
			for (size_t i = 0; i < n; i++)
				letters += format[i] != ' ';
			format += n;
		} else if (*format == '%' && format[1] != '%') {
			format = skip_conversion(format);
		} else {
			format += *format == '%' ? 2 : 1;
		}
	}
	return letters;
}

/* ---- strings ---- */

/* Sets the address of the string with the most letters of the text, if it has more than *letters.
 */
static bool best_in(const struct segment *s, const char *text, size_t len, size_t *letters,
		    uint64_t *vaddr)
{
	const char *at = (const char *)s->bytes, *end = at + s->size, *zero;
	bool found = false;

	for (; at < end && (zero = memchr(at, 0, end - at)); at = zero + 1) {
		size_t n = zero - at > LETTERS_LEAST - 1 ? literal__letters(at, text, len) : 0;

		if (n < LETTERS_LEAST || n <= *letters)
			continue;
		*letters = n;
		*vaddr = s->vaddr + (at - (const char *)s->bytes);
		found = true;
	}
	return found;
}

/* ---- instructions ---- */

/* lea r64 with a 32-bit distance from the next instruction: REX.W, 8d, ModRM 00 reg 101 */
static bool is_lea(const uint8_t *code, size_t at)
{
	return at >= 3 && (code[at - 3] & 0xf8) == 0x48 && code[at - 2] == 0x8d &&
	       (code[at - 1] & 0xc7) == 5;
}

/* mov reg32, imm32: b8 + reg */
static bool is_mov(const uint8_t *code, size_t at)
{
	return at >= 1 && (code[at - 1] & 0xf8) == 0xb8;
}

static void find_code(const struct object *o, const struct segment *s, uint64_t vaddr,
		      size_t letters, struct text_place *places, size_t *n)
{
	for (size_t at = 1; at + 4 <= s->size; at++) {
		uint64_t next = s->vaddr + at + 4;
		int32_t word;
		bool is_distance;

		memcpy(&word, s->bytes + at, sizeof(word));
		is_distance = next + word == vaddr && is_lea(s->bytes, at);
		if (!is_distance && !((uint32_t)word == vaddr && is_mov(s->bytes, at)))
			continue;
		if (*n < TEXT_PLACES_MOST)
			places[*n] = (struct text_place){o, vaddr, next - (is_distance ? 7 : 5),
							 letters};
		if (++*n > TEXT_PLACES_MOST)
			return;
	}
}

void literal__find(const struct object *o, const char *text, size_t len,
		   struct text_place places[TEXT_PLACES_MOST], size_t *n)
{
	size_t letters = *n ? places[0].letters : 0;
	const struct segment *s;
	uint64_t vaddr = 0;
	bool found = false;

	if (o->machine != EM_X86_64)
		return;
	vec__each (s, &o->segments)
		if (!s->exec && s->bytes)
			found |= best_in(s, text, len, &letters, &vaddr);
	if (!found)
		return;
	*n = 0;
	vec__each (s, &o->segments)
		if (s->exec && s->bytes)
			find_code(o, s, vaddr, letters, places, n);
}
