// SPDX-License-Identifier: BSD-2-Clause
/* Which part of a message a format has made, and the code that takes its address. */
#include <elf.h>
#include "explain/literal.h"
#include "tap.h"

static size_t letters(const char *format, const char *text)
{
	return literal__letters(format, text, strlen(text));
}

static void test_letters(void)
{
	is(letters("cannot open %s", "prog: cannot open x.conf\n"), 10, "a conversion at the end");
	is(letters("%s: %d lines of %-8.3f", "a: 12 lines of 1.500"), 8, "several conversions");
	is(letters("%s and %s\n", "this and that"), 3, "a new line at the end may be missing");
	is(letters("100%% of %s", "100% of it"), 5, "a percent sign");
	is(letters("that %s this", "this is that"), 0, "the order matters");
	is(letters("%s", "anything"), 0, "nothing but a conversion has no letters");
	is(letters("%", "a%"), 0, "a format that ends in its conversion");
	is(letters("", "text"), 0, "an empty format");
}

static void test_code(void)
{
	/* at 0x1000: lea rdi, [rip + 0xff9] (0x2000); mov esi, 0x2000; lea with another distance */
	static const uint8_t code[] = {0x48, 0x8d, 0x3d, 0xf9, 0x0f, 0,	   0,	 0xbe, 0x00, 0x20,
				       0,    0,	   0x48, 0x8d, 0x05, 0x00, 0x10, 0,    0};
	static const char data[] = "the value %d is too large\0the value";
	struct segment segments[] = {
		{.vaddr = 0x1000, .size = sizeof(code), .bytes = code, .exec = true},
		{.vaddr = 0x2000, .size = sizeof(data), .bytes = (const uint8_t *)data}};
	struct object o = {.machine = EM_X86_64};
	static const char text[] = "prog: the value 12 is too large";
	struct text_place places[TEXT_PLACES_MOST];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(segments); i++)
		vec__push(&o.segments, segments[i]);
	literal__find(&o, text, strlen(text), places, &n);
	is(n, 2, "two instructions take its address");
	is(places[0].code, 0x1000, "by a distance");
	is(places[1].code, 0x1007, "by a constant");
	is(places[0].literal, 0x2000, "of the string with the most letters");
	is(places[0].letters, 18, "so many");
	literal__find(&o, text, strlen(text), places, &n);
	is(n, 2, "another string with as many isn't better");
	n = 0;
	literal__find(&o, "other", 5, places, &n);
	is(n, 0, "a text that is in no string");
	o.machine = EM_386;
	literal__find(&o, text, strlen(text), places, &n);
	is(n, 0, "other machines' instructions aren't known");
	vec__free(&o.segments);
}

struct listed {
	uint64_t code[4], literal[4];
	unsigned n;
};

static void list(void *ctx, uint64_t code, uint64_t literal)
{
	struct listed *l = ctx;

	l->code[l->n] = code;
	l->literal[l->n++ & 3] = literal;
}

static struct listed list_all(struct object *o, const uint8_t *code, size_t len)
{
	static const char data[] = "\0the value %d is too large\0word\0a\001b cdefgh ijk";
	struct listed l = {.n = 0};

	o->segments.len = 0;
	vec__push(&o->segments,
		  (struct segment){.vaddr = 0x10000, .size = len, .bytes = code, .exec = true});
	vec__push(&o->segments, (struct segment){.vaddr = 0x12340,
						 .size = sizeof(data),
						 .bytes = (const uint8_t *)data});
	literal__each(o, 0x10000, 0x10000 + len, list, &l);
	return l;
}

/* Each program takes the address of the first text at 0x10000 + 4, and of the other ones. */
static void test_machines(void)
{
	/* nop; lea rdi, [0x12341]; lea rsi, [0x1235b] (a word); lea rdx, [0x12360] (not of text);
	 * lea r12, [0x12341]; mov r12d, 0x12341 (kept for later) */
	static const uint8_t x86[] = {0x0f, 0x1f, 0x40, 0x00, 0x48, 0x8d, 0x3d, 0x36, 0x23, 0x00,
				      0x00, 0x48, 0x8d, 0x35, 0x49, 0x23, 0x00, 0x00, 0x48, 0x8d,
				      0x15, 0x47, 0x23, 0x00, 0x00, 0x4c, 0x8d, 0x25, 0x21, 0x23,
				      0x00, 0x00, 0x41, 0xbc, 0x41, 0x23, 0x01, 0x00};
	/* adrp x0, 0x12000; add x0, x0, #0x341; adrp x1, 0x12000; nop; add x2, x1, #0x35b;
	 * adrp x3, 0x12000; add x3, x4, #0x341 */
	static const uint8_t arm64[] = {0x00, 0x00, 0x00, 0xd0, 0x00, 0x04, 0x0d, 0x91, 0x01, 0x00,
					0x00, 0xd0, 0x1f, 0x20, 0x03, 0xd5, 0x22, 0x6c, 0x0d, 0x91,
					0x03, 0x00, 0x00, 0xd0, 0x83, 0x04, 0x0d, 0x91};
	/* auipc a0, 0x2; addi a0, a0, 0x341; auipc a1, 0x2; c.nop; addi a1, a1, 0x351 */
	static const uint8_t riscv[] = {0x17, 0x25, 0x00, 0x00, 0x13, 0x05, 0x15, 0x34, 0x97,
					0x25, 0x00, 0x00, 0x01, 0x00, 0x93, 0x85, 0x15, 0x35};
	struct object o = {.machine = EM_X86_64};
	struct listed l = list_all(&o, x86, sizeof(x86));

	is(l.n, 1, "x86-64: one text of a message");
	is(l.code[0], 0x10004, "x86-64: the instruction");
	is(l.literal[0], 0x12341, "x86-64: the text");
	o.go = true;
	l = list_all(&o, x86, sizeof(x86));
	is(l.n, 3, "x86-64: three of Go, whose calls preserve no register");
	o.go = false;
	o.machine = EM_AARCH64;
	l = list_all(&o, arm64, sizeof(arm64));
	is(l.n, 1, "arm64: one text of a message");
	is(l.code[0], 0x10004, "arm64: the second of the pair");
	is(l.literal[0], 0x12341, "arm64: the text");
	o.machine = EM_RISCV;
	l = list_all(&o, riscv, sizeof(riscv));
	is(l.n, 1, "riscv64: one text of a message");
	is(l.code[0], 0x10004, "riscv64: the second of the pair");
	is(l.literal[0], 0x12341, "riscv64: the text");
	vec__free(&o.segments);
}

/* Parts of Rust's and Go's strings, which have no end. */
static void test_parts(void)
{
	static const char data[] =
		"xxx\011the name \300\017 is rather long\0too many of thesetoo many more";
	struct segment s = {.vaddr = 0x1000, .size = sizeof(data), .bytes = (const uint8_t *)data};
	static const char filled[] = "error: the name abc is rather long\n";
	static const char plain[] = "error: too many of these\n",
			  longer[] = "too many of thesexx\n";
	struct object o = {.machine = EM_X86_64};
	autofree struct str shown = {0}, second = {0};

	vec__push(&o.segments, s);
	is(literal__letters_at(&o, 0x1003, filled, strlen(filled), &shown), 19,
	   "two parts, of 9 and of 15 bytes");
	is_str(shown.data, "the name ... is rather long", "and how they are shown");
	is(literal__letters_at(&o, 0x1003 + 28, plain, strlen(plain), &second), 14,
	   "a string that another one follows");
	is_str(second.data, "too many of these", "without that one");
	is(literal__letters_at(&o, 0x1003 + 28, longer, strlen(longer), NULL), 9,
	   "only whole words");
	is(literal__letters_at(&o, 0x1003, plain, strlen(plain), NULL), 0, "another message");
	vec__free(&o.segments);
}

int main(void)
{
	test_letters();
	test_code();
	test_machines();
	test_parts();
	return tap__done();
}
