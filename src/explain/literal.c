// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include "arch/arch.h"
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

/* ---- the code that takes a string's address ---- */

struct finding {
	const struct object *object;
	uint64_t vaddr;
	size_t letters;
	struct text_place *places;
	size_t *n;
};

static void add_place(void *ctx, uint64_t code, uint64_t target, uint8_t reg)
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
	const struct arch *arch = arch__by_machine(o->machine);
	struct finding f = {o, 0, *n ? places[0].letters : 0, places, n};
	const struct segment *s;
	bool found = false;

	vec__each (s, &o->segments)
		if (!s->exec && s->bytes)
			found |= best_in(s, text, len, &f.letters, &f.vaddr);
	if (!found || !arch || !arch->each_address)
		return;
	*n = 0;
	vec__each (s, &o->segments)
		if (s->exec && s->bytes)
			arch->each_address(s->bytes, s->size, s->vaddr, add_place, &f);
}

/* ---- the strings of which code takes the address ---- */

struct listing {
	const struct object *object;
	const struct arch *arch;
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

static void list_one(void *ctx, uint64_t code, uint64_t target, uint8_t reg)
{
	const struct listing *l = ctx;
	const struct segment *s;

	/* what calls preserve is used somewhere else, perhaps in a loop; Go's preserve nothing */
	if (reg != REG_NONE && !(l->arch->clobbered >> reg & 1) && !l->object->go)
		return;
	vec__each (s, &l->object->segments)
		if (!s->exec && s->bytes && target - s->vaddr < s->size) {
			if (is_of_message(l->object, target))
				l->fn(l->ctx, code, target);
			return;
		}
}

void literal__each(const struct object *o, uint64_t start, uint64_t end, literal_fn fn, void *ctx)
{
	const struct arch *arch = arch__by_machine(o->machine);
	struct listing l = {o, arch, fn, ctx};
	size_t avail;
	const uint8_t *bytes = object__bytes(o, start, &avail);

	if (bytes && start < end && arch && arch->each_address)
		arch->each_address(bytes, min_of((size_t)(end - start), avail), start, list_one,
				   &l);
}
