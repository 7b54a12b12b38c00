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
	o.machine = EM_AARCH64;
	literal__find(&o, text, strlen(text), places, &n);
	is(n, 0, "other machines' instructions aren't known");
	vec__free(&o.segments);
}

int main(void)
{
	test_letters();
	test_code();
	return tap__done();
}
