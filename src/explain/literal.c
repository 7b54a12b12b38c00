// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
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

/* ---- strings of Go and of Rust: the code has their length ---- */

#define PARTS_LONGEST 256 /* bytes */
#define CODES_MOST    2	  /* bytes between two parts, which say what is filled in */

/* At the start of a part, a byte with its length may be one of any character. */
static bool is_code(uint8_t c, bool first)
{
	return (c < ' ' && (first || (c != '\n' && c != '\t'))) || c >= 0x80;
}

/* Returns how many bytes of the part the text has, at *at, which is moved to the rest. */
static size_t match_part(const uint8_t *part, size_t n, const char **at, const char *end)
{
	for (; n; n--) {
		const char *found = memmem(*at, end - *at, part, n);

		/* another word may begin with the same letters */
		if (!found ||
		    (found + n < end && isalnum((unsigned char)found[n]) && isalnum(part[n - 1])))
			continue;
		*at = found + n;
		return n;
	}
	return 0;
}

/* Parts follow one another, as Rust has them; the last one may be longer than it is there, since
 * others follow. */
static size_t letters_of_parts(const uint8_t *parts, size_t avail, const char *text, size_t len,
			       struct str *shown)
{
	const uint8_t *end = parts + min_of(avail, (size_t)PARTS_LONGEST);
	const char *text_end = text + len;
	size_t letters = 0;

	for (bool first = true; parts < end && *parts; first = false) {
		size_t codes = 0, n = 0, found;

		while (parts < end && *parts && codes <= CODES_MOST &&
		       is_code(*parts, first || codes))
			parts++, codes++;
		while (parts + n < end && parts[n] && !is_code(parts[n], false))
			n++;
		found = codes > CODES_MOST ? 0 : match_part(parts, n, &text, text_end);
		for (size_t i = 0; i < found; i++)
			letters += parts[i] != ' ';
		if (shown) {
			str__puts(shown, codes && !first ? "..." : "");
			str__put(shown, (const char *)parts, found);
		}
		if (found < n || !n)
			break;
		parts += n;
	}
	return letters;
}

size_t literal__letters_at(const struct object *o, uint64_t vaddr, const char *text, size_t len,
			   struct str *shown)
{
	size_t avail, letters;
	const uint8_t *at = object__bytes(o, vaddr, &avail);

	if (!at)
		return 0;
	letters = memchr(at, 0, avail) ? literal__letters((const char *)at, text, len) : 0;
	if (!letters)
		return letters_of_parts(at, avail, text, len, shown);
	if (shown)
		str__put(shown, (const char *)at, strcspn((const char *)at, "\n"));
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

/* ---- instructions that take an address ---- */

typedef void (*address_fn)(void *ctx, uint64_t code, uint64_t target);

struct code_bytes {
	const uint8_t *bytes;
	uint64_t vaddr;
	size_t len;
};

static uint32_t word_at(const struct code_bytes *c, size_t at)
{
	uint32_t word;

	memcpy(&word, c->bytes + at, sizeof(word));
	return word;
}

/* lea r64 with a 32-bit distance from the next instruction: REX.W, 8d, ModRM 00 reg 101 */
static bool is_lea(const uint8_t *code, size_t at)
{
	return at >= 3 && (code[at - 3] & 0xf8) == 0x48 && code[at - 2] == 0x8d &&
	       (code[at - 1] & 0xc7) == 5;
}

/* mov reg32, imm32: b8 + reg */
static bool is_mov(const uint8_t *code, size_t at)
{
	return (code[at - 1] & 0xf8) == 0xb8;
}

/* movups, movaps, movdqa, movdqu xmm, with such a distance: copies of short strings */
static bool is_movups(const uint8_t *code, size_t at)
{
	uint8_t op = at >= 3 ? code[at - 2] : 0;

	return at >= 3 && code[at - 3] == 0x0f && (op == 0x10 || op == 0x28 || op == 0x6f) &&
	       (code[at - 1] & 0xc7) == 5;
}

static void each_x86(const struct code_bytes *c, address_fn fn, void *ctx)
{
	for (size_t at = 1; at + 4 <= c->len; at++) {
		uint64_t next = c->vaddr + at + 4;
		uint32_t word = word_at(c, at);

		if (is_lea(c->bytes, at) || is_movups(c->bytes, at))
			fn(ctx, next - 7, next + (int32_t)word);
		else if (is_mov(c->bytes, at))
			fn(ctx, next - 5, word);
	}
}

#define PAIR_MOST 5 /* instructions from the upper to the lower part of an address */

/* adrp and add of the same register (Arm ARM, C6.2) */
static void each_arm64(const struct code_bytes *c, address_fn fn, void *ctx)
{
	for (size_t at = 0; at + 4 <= c->len; at += 4) {
		uint32_t adrp = word_at(c, at);
		uint64_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
		uint64_t page = ((c->vaddr + at) & ~0xfffull) + (pages << 12);

		if ((adrp & 0x9f000000) != 0x90000000)
			continue;
		page -= pages >> 20 ? 1ull << 33 : 0;
		for (size_t n = 1; n < PAIR_MOST && at + 4 * n + 4 <= c->len; n++) {
			uint32_t add = word_at(c, at + 4 * n);

			if ((add & 0xffc00000) == 0x91000000 && (add >> 5 & 31) == (adrp & 31))
				fn(ctx, c->vaddr + at + 4 * n, page + (add >> 10 & 0xfff));
		}
	}
}

/* auipc and addi of the same register (RISC-V ISA manual, RV32I) */
static void each_riscv(const struct code_bytes *c, address_fn fn, void *ctx)
{
	for (size_t at = 0; at + 4 <= c->len; at += 2) {
		uint32_t auipc = word_at(c, at);

		if ((auipc & 0x7f) != 0x17 || !(auipc >> 7 & 31))
			continue;
		for (size_t to = at + 4; to < at + 4 * PAIR_MOST && to + 4 <= c->len; to += 2) {
			uint32_t addi = word_at(c, to);

			if ((addi & 0x707f) == 0x13 && (addi >> 15 & 31) == (auipc >> 7 & 31))
				fn(ctx, c->vaddr + to,
				   c->vaddr + at + (int32_t)(auipc & 0xfffff000) +
					   ((int32_t)addi >> 20));
		}
	}
}

static void each_address(const struct object *o, const struct code_bytes *c, address_fn fn,
			 void *ctx)
{
	if (o->machine == EM_X86_64)
		each_x86(c, fn, ctx);
	else if (o->machine == EM_AARCH64)
		each_arm64(c, fn, ctx);
	else if (o->machine == EM_RISCV)
		each_riscv(c, fn, ctx);
}

/* ---- the code that takes a string's address ---- */

struct finding {
	const struct object *object;
	uint64_t vaddr;
	size_t letters;
	struct text_place *places;
	size_t *n;
};

static void add_place(void *ctx, uint64_t code, uint64_t target)
{
	struct finding *f = ctx;

	if (target != f->vaddr || *f->n > TEXT_PLACES_MOST)
		return;
	if (*f->n < TEXT_PLACES_MOST)
		f->places[*f->n] = (struct text_place){f->object, target, code, f->letters};
	++*f->n;
}

void literal__find(const struct object *o, const char *text, size_t len,
		   struct text_place places[TEXT_PLACES_MOST], size_t *n)
{
	struct finding f = {o, 0, *n ? places[0].letters : 0, places, n};
	const struct segment *s;
	bool found = false;

	vec__each (s, &o->segments)
		if (!s->exec && s->bytes)
			found |= best_in(s, text, len, &f.letters, &f.vaddr);
	if (!found)
		return;
	*n = 0;
	vec__each (s, &o->segments)
		if (s->exec && s->bytes)
			each_address(o, &(struct code_bytes){s->bytes, s->vaddr, s->size},
				     add_place, &f);
}

/* ---- the strings of which code takes the address ---- */

struct listing {
	const struct object *object;
	literal_fn fn;
	void *ctx;
};

/* A message is of several words, or has something filled in. */
static bool is_of_message(const struct object *o, uint64_t vaddr)
{
	size_t avail, letters = 0;
	const char *text = (const char *)object__bytes(o, vaddr, &avail);
	bool words = false;

	for (size_t i = 0; text && i < min_of(avail, (size_t)PARTS_LONGEST) && text[i]; i++) {
		unsigned char c = text[i];

		if (i && c < ' ' && !strchr("\n\t\r\033", c))
			break;
		letters += isalpha(c) || c >= 0x80;
		words |= c == ' ' || c == '%';
	}
	return words && letters >= LETTERS_LEAST;
}

static void list_one(void *ctx, uint64_t code, uint64_t target)
{
	const struct listing *l = ctx;
	const struct segment *s;

	vec__each (s, &l->object->segments)
		if (!s->exec && s->bytes && target - s->vaddr < s->size) {
			if (is_of_message(l->object, target))
				l->fn(l->ctx, code, target);
			return;
		}
}

void literal__each(const struct object *o, uint64_t start, uint64_t end, literal_fn fn, void *ctx)
{
	struct listing l = {o, fn, ctx};
	size_t avail;
	const uint8_t *bytes = object__bytes(o, start, &avail);

	if (bytes && start < end)
		each_address(
			o, &(struct code_bytes){bytes, start, min_of((size_t)(end - start), avail)},
			list_one, &l);
}
