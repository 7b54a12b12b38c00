// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "compress.h"
#include "util/util.h"

#define TABLE_BITS 12 /* it stays in the processor's first caches */
#define GROUP	   32 /* words whose codes are in one word */
#define CODE_BITS  2
#define MIX	   0x9e3779b97f4a7c15ull /* 2^64 / the golden ratio: Knuth, TAOCP 6.4 */

/* Which bits of a word are stored, by its code; the others are as predicted. */
static const uint64_t stored_bits[1 << CODE_BITS] = {0, UINT16_MAX, UINT32_MAX, UINT64_MAX};

/* A word is stored whole where its lower bits may be, so that one store is enough. */
_Static_assert(COMPRESS_ROOM(GROUP + 1) == sizeof(uint64_t) * (2 * (1 + GROUP) + 1),
	       "two groups, and a word after them");

struct compressor {
	uint8_t rest[LOG_KINDS]; /* words of a record after its first one */
	uint64_t table[1 << TABLE_BITS];
};

/* The position of a thread in its log. */
struct place {
	uint64_t context; /* of the first word of the next record */
	uint64_t last;	  /* a part of the next context */
	uint64_t record;  /* the context of the next word within the record */
	unsigned left;	  /* words of it */
};

struct compressor *compressor__new(const struct log_options *options)
{
	struct compressor *c = xcalloc(1, sizeof(*c));

	c->rest[LOG_BRANCH] = options->timed;
	c->rest[LOG_TARGET] = 1 + options->timed;
	c->rest[LOG_RETURN] = 3;
	c->rest[LOG_ENTRY] = 3 + __builtin_popcount(options->regs);
	c->rest[LOG_LOST] = 1;
	c->rest[LOG_GOROUTINE] = 4;
	return c;
}

void compressor__free(struct compressor *c)
{
	free(c);
}

static inline uint64_t *predicted(struct compressor *c, const struct place *at)
{
	uint64_t context = at->left ? at->record : at->context;

	return &c->table[context >> (64 - TABLE_BITS)];
}

static inline void advance(const struct compressor *c, struct place *at, uint64_t word)
{
	uint64_t mixed = word * MIX;

	if (at->left) {
		at->left--;
		at->record += MIX;
		return;
	}
	at->left = c->rest[(uint32_t)word >> LOG_KIND_SHIFT];
	at->record = mixed;
	at->context = mixed + at->last;
	at->last = mixed << 13 | mixed >> 51;
}

static inline unsigned code_of(uint64_t difference)
{
	return (difference != 0) + (difference >> 16 != 0) + (difference >> 32 != 0);
}

/* 0, 2, 4 or 8 bytes. */
static inline size_t length_of(unsigned code)
{
	return (size_t)(1u << code & ~1u);
}

size_t compressor__put(struct compressor *c, const uint64_t *words, size_t n, void *out)
{
	struct place at = {0};
	char *to = out;

	memset(c->table, 0, sizeof(c->table));
	for (size_t done = 0; done < n;) {
		size_t group = min_of(n - done, (size_t)GROUP);
		uint64_t codes = 0;
		char *head = to;

		to += sizeof(codes);
		for (size_t i = 0; i < group; i++) {
			/* once: the words may be a ring's, which changes */
			uint64_t word = __atomic_load_n(&words[done + i], __ATOMIC_RELAXED);
			uint64_t *guess = predicted(c, &at);
			unsigned code = code_of(*guess ^ word);

			*guess = word;
			memcpy(to, &word, sizeof(word));
			to += length_of(code);
			codes |= (uint64_t)code << (i * CODE_BITS);
			advance(c, &at, word);
		}
		memcpy(head, &codes, sizeof(codes));
		done += group;
	}
	return (size_t)(to - (char *)out);
}

static inline uint64_t word_of(unsigned code, uint64_t guess, uint64_t stored)
{
	return (guess & ~stored_bits[code]) | (stored & stored_bits[code]);
}

void compressor__get(struct compressor *c, const void *in, uint64_t *words, size_t n)
{
	const char *from = in;
	struct place at = {0};

	memset(c->table, 0, sizeof(c->table));
	for (size_t done = 0; done < n;) {
		size_t group = min_of(n - done, (size_t)GROUP);
		uint64_t codes;

		memcpy(&codes, from, sizeof(codes));
		from += sizeof(codes);
		for (size_t i = 0; i < group; i++, codes >>= CODE_BITS) {
			uint64_t *guess = predicted(c, &at), stored;
			unsigned code = codes & ((1u << CODE_BITS) - 1);

			memcpy(&stored, from, sizeof(stored));
			from += length_of(code);
			*guess = word_of(code, *guess, stored);
			words[done + i] = *guess;
			advance(c, &at, words[done + i]);
		}
		done += group;
	}
}
