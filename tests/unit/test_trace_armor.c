// SPDX-License-Identifier: BSD-2-Clause
/* Armored files: read through the noise of a serial console, with damage reported line by line. */
#include "file_fixture.h"

static struct str plain, armored, told;

static void on_damage(void *ctx, const char *text)
{
	str__printf(&told, "%s\n", text);
}

/* Reads armor back into out. */
static void back(const struct str *text, struct str *out, uint64_t *bad)
{
	struct from_memory m = {text->data, text->len, 0, 777};
	struct dearmor *d = dearmor__new(read_memory, &m, on_damage, NULL);
	char some[100];
	ssize_t n;

	told.len = out->len = 0;
	while ((n = dearmor__read(d, some, sizeof(some))) > 0)
		str__put(out, some, n);
	*bad = dearmor__finish(d);
	dearmor__free(d);
}

static bool same(const struct str *a, const struct str *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static void make(size_t len)
{
	struct armor *a = armor__new(false);

	plain.len = armored.len = 0;
	for (size_t i = 0; i < len; i++)
		str__putc(&plain, rnd());
	/* in pieces, as blocks are written */
	for (size_t at = 0; at < len;) {
		size_t n = min_of(len - at, rnd() % 500 + 1);

		armor__put(a, plain.data + at, n, &armored);
		armor__end_line(a, &armored);
		at += n;
	}
	armor__free(a);
}

static void test_text(void)
{
	size_t longest = 0, line = 0, strange = 0;

	make(10000);
	for (size_t i = 0; i < armored.len; i++) {
		line = armored.data[i] == '\n' ? 0 : line + 1;
		longest = max_of(longest, line);
		strange +=
			armored.data[i] != '\n' && (armored.data[i] < ' ' || armored.data[i] > '~');
	}
	is(strange, 0, "armor is lines of printable ASCII");
	is(longest, 75, "the longest line of armor has 75 columns");
	is(armored.data[armored.len - 1], '\n', "armor ends with an end of line");
}

/* Inserts one of the texts about once every so many bytes. */
static void disturb(struct str *out, const char *const *texts, size_t n, unsigned every)
{
	out->len = 0;
	for (size_t i = 0; i < armored.len; i++) {
		if (rnd() % every == 0)
			str__puts(out, texts[rnd() % n]);
		str__putc(out, armored.data[i]);
	}
}

static void test_noise(void)
{
	static const char *const controls[] = {"\r",	   "\x07", "\x1b[0m",	"\x1b[1;31m",
					       "\x11\x13", "\x7f", "\x1b[?25l", "\xff"};
	static const char *const kernel[] = {
		"[   12.345678] usb 1-1: new high-speed USB device\r\n",
		"[   99.1] random: crng init done\r\n[   99.2] two lines\r\n",
		"audit: type=1400\n",
		"\r\n",
		"@@@ \n",
		"\n"};
	static const char *const typed[] = {"ls", "login: ", "@"};
	struct str noisy = {0}, out = {0};
	uint64_t bad;

	back(&armored, &out, &bad);
	ok(same(&out, &plain) && !bad, "armor is read back to the bytes that it was made of");
	disturb(&noisy, controls, ARRAY_SIZE(controls), 20);
	back(&noisy, &out, &bad);
	ok(same(&out, &plain) && !bad,
	   "control characters and escape sequences in armor are skipped");
	disturb(&noisy, kernel, ARRAY_SIZE(kernel), 2000);
	back(&noisy, &out, &bad);
	ok(same(&out, &plain) && !bad, "kernel messages within armored lines are skipped");
	disturb(&noisy, typed, ARRAY_SIZE(typed), 3000);
	back(&noisy, &out, &bad);
	ok(same(&out, &plain) && !bad, "text without end of line within armor is skipped");
	noisy.len = 0;
	str__puts(&noisy, "Linux version 6.1\r\n@bb not a line\n$ bbtrace kernel f --armor\r\n");
	for (size_t i = 0; i < armored.len; i++)
		str__puts(&noisy, armored.data[i] == '\n' ? "\r\n" : (char[]){armored.data[i], 0});
	str__puts(&noisy, "$ exit\r\n");
	back(&noisy, &out, &bad);
	ok(same(&out, &plain) && !bad, "armor with \\r\\n is found in the log around it");
	str__free(&noisy);
	str__free(&out);
}

/* The start of line n. */
static char *line_at(struct str *text, unsigned n)
{
	char *p = text->data;

	while (n--)
		p = strchr(p, '\n') + 1;
	return p;
}

static void test_damage(void)
{
	struct str hurt = {0}, out = {0};
	uint64_t bad;
	char *p, *q;

	make(42 * 100);
	armored.len = 0;
	{
		struct armor *a = armor__new(false);

		armor__put(a, plain.data, plain.len, &armored);
		armor__free(a);
	}
	str__put(&hurt, armored.data, armored.len);
	line_at(&hurt, 20)[30] ^= 1;
	line_at(&hurt, 70)[5] ^= 1;
	back(&hurt, &out, &bad);
	is_str(told.data,
	       "armored line 20 is damaged or missing\narmored line 70 is damaged or missing\n",
	       "each damaged line of armor is named");
	is(bad, 2, "each damaged line of armor is counted");
	ok(out.len == 20 * 42 && !memcmp(out.data, plain.data, out.len),
	   "armor before its first damaged line is read");
	hurt.len = 0;
	str__put(&hurt, armored.data, armored.len);
	p = line_at(&hurt, 3);
	q = line_at(&hurt, 9);
	memmove(p, q, hurt.data + hurt.len - q);
	hurt.len -= q - p;
	back(&hurt, &out, &bad);
	is_str(told.data, "armored lines 3 to 8 are damaged or missing\n",
	       "missing lines of armor are named");
	hurt.len = 0;
	str__put(&hurt, armored.data, 4 * 76);
	str__put(&hurt, armored.data + 2 * 76, armored.len - 2 * 76);
	back(&hurt, &out, &bad);
	ok(same(&out, &plain) && !bad, "lines of armor that come twice are taken once");
	str__free(&hurt);
	str__free(&out);
}

static void test_garbage(void)
{
	struct str text = {0}, out = {0};
	uint64_t bad;

	for (int i = 0; i < 200000; i++)
		str__putc(&text, rnd() % 4 ? "@b0f\n"[rnd() % 5] : (char)rnd());
	back(&text, &out, &bad);
	is(out.len, 0, "garbage is read as no bytes");
	str__free(&text);
	str__free(&out);
}

int main(void)
{
	test_text();
	test_noise();
	test_damage();
	test_garbage();
	str__free(&plain);
	str__free(&armored);
	str__free(&told);
	return tap__done();
}
