// SPDX-License-Identifier: BSD-2-Clause
/* What is compressed comes back as it was, whatever it is, and takes the room that is promised. */
#include <stdlib.h>
#include <string.h>
#include "source/inline/logs/compress.h"
#include "tap.h"
#include "util/util.h"

#define WORDS (LOG_SEGMENT / 8)

static const struct log_options options = {.regs = 0x7f};
static uint64_t words[WORDS], back[WORDS];

static uint64_t number(void)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Bytes that they take; 0: they aren't the same afterwards. What is allocated is what is promised,
 * so that a sanitizer sees more. */
static size_t there_and_back(size_t n)
{
	struct compressor *writer = compressor__new(&options), *reader = compressor__new(&options);
	size_t room = COMPRESS_ROOM(n), used;
	char *out = malloc(room);

	compressor__put(writer, words, min_of(n, (size_t)100), out); /* leaves nothing behind */
	used = compressor__put(writer, words, n, out);
	memset(back, 0xee, sizeof(back));
	compressor__get(reader, out, back, n);
	if (used + 8 > room || memcmp(words, back, n * 8))
		used = 0;
	for (size_t i = n; i < WORDS; i++)
		if (back[i] != 0xeeeeeeeeeeeeeeeeull)
			used = 0;
	free(out);
	compressor__free(writer);
	compressor__free(reader);
	return used;
}

static void test_random(void)
{
	static const size_t lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 1000, WORDS - 1, WORDS};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t used;

		for (size_t k = 0; k < WORDS; k++)
			words[k] = number();
		used = there_and_back(lengths[i]);
		ok(used >= lengths[i] * 8, "%zu random words: %zu bytes", lengths[i], used);
	}
}

/* Words that differ in a few bits, or in one half, or not at all. */
static void test_similar(void)
{
	unsigned wrong = 0;

	for (unsigned round = 0; round < 500; round++) {
		unsigned bits = number() % 64;

		for (size_t k = 0; k < WORDS; k++)
			words[k] = k && number() % 4 ? words[number() % k]
						     : number() & ~(UINT64_MAX << bits);
		wrong += !there_and_back(1 + number() % WORDS);
	}
	is(wrong, 0, "500 times similar words");
}

/* A loop with a call in it, as a thread logs it. */
static size_t put_call(size_t at, uint64_t time, uint64_t value)
{
	const uint64_t sp = 0xc05fe28000000000;
	const unsigned regs = __builtin_popcount(options.regs);
	size_t n = at;

	if (at + 20 + regs > WORDS)
		return 0;
	words[n++] = sp | LOG_ID(LOG_BRANCH, 0, true, 10);
	words[n++] = sp | LOG_ID(LOG_TARGET, 0, false, 11);
	words[n++] = 0x561000001230;
	words[n++] = (sp - (8ull << 32)) | LOG_ID(LOG_ENTRY, 0, false, 20);
	words[n++] = time;
	words[n++] = 0x561000004560;
	words[n++] = 0x561000007890;
	for (unsigned i = 0; i < regs; i++)
		words[n++] = i ? 0x7ffc00000000ull + i : value;
	for (unsigned i = 0; i < 5; i++)
		words[n++] = (sp - (16ull << 32)) | LOG_ID(LOG_BRANCH, 0, value >> i & 1, 21 + i);
	words[n++] = (sp - (8ull << 32)) | LOG_ID(LOG_RETURN, 0, false, 30);
	words[n++] = 0x561000004560;
	words[n++] = value & 1;
	words[n++] = time + 100;
	return n;
}

static void test_log(void)
{
	size_t n = 0, next, used;

	for (uint64_t time = 1ull << 40; (next = put_call(n, time, number() & 7)); n = next)
		time += 200 + number() % 100;
	used = there_and_back(n);
	ok(used && used < n * 8 / 4, "a log takes a quarter: %zu of %zu bytes", used, n * 8);
	for (size_t i = 0; i < WORDS; i++)
		words[i] = 0xc05fe28000000000 | LOG_ID(LOG_BRANCH, 0, true, 7);
	used = there_and_back(WORDS);
	ok(used && used < WORDS * 8 / 30, "a loop of one branch: %zu of %u bytes", used, WORDS * 8);
}

/* Records may be of no kind, and cut anywhere. */
static void test_nonsense(void)
{
	unsigned wrong = 0;

	for (unsigned round = 0; round < 200; round++) {
		size_t n = 0, next;

		while ((next = put_call(n, number(), number())))
			n = next;
		for (unsigned i = 0; i < 50; i++)
			words[number() % n] ^= 1ull << number() % 64;
		wrong += !there_and_back(1 + number() % n);
	}
	is(wrong, 0, "200 logs with wrong bits");
}

int main(void)
{
	test_random();
	test_similar();
	test_log();
	test_nonsense();
	return tap__done();
}
