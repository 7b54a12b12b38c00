/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pack: tables of plain rows as bytes, and back. The bytes are of this build and this machine: rows
 * are as they are in memory, and strings are numbered. Nothing here checks what the numbers in rows
 * mean, so bytes are to be unpacked only if this program made them.
 */
#ifndef BBTRACE_PLAN_PACK_H
#define BBTRACE_PLAN_PACK_H

#include "util/util.h"

/* Takes the bytes in order, in chunks. */
struct pack_sink {
	void (*put)(void *ctx, const void *data, size_t len);
	void *ctx;
};

struct pack {
	const struct pack_sink *sink;
	uint64_t len; /* of the rows so far */
	struct str chunk;
	VEC(const char *) strings; /* borrowed until pack__end() */
	struct map64 known;	   /* hash → number */
};

void pack__put(struct pack *p, const void *data, size_t len);
/* A string as it is in a row: replaces the pointer by a number. */
void pack__number(struct pack *p, const char **s);
/* Passes on what is left, and frees the pack. */
void pack__end(struct pack *p);

#define pack__value(p, v) pack__put(p, v, sizeof(*(v)))
#define pack__rows(p, v)                                                                           \
	({                                                                                         \
		uint64_t rows_ = (v)->len;                                                         \
                                                                                                   \
		pack__value(p, &rows_);                                                            \
		pack__put(p, (v)->data, rows_ * sizeof(*(v)->data));                               \
	})

struct unpack {
	const uint8_t *at, *end;
	VEC(char *) strings; /* owned, by number - 1, until the caller takes them */
	bool bad;	     /* it is too short */
};

/* The bytes stay the caller's, until unpack__end(). */
void unpack__begin(struct unpack *u, const void *data, size_t len);
void unpack__take(struct unpack *u, void *out, size_t len);
/* Returns the bytes of this number of rows; NULL if it is 0, or there are fewer. */
const void *unpack__data(struct unpack *u, uint64_t rows, size_t size);
/* Replaces the number by the string, which lives as long as u->strings. */
void unpack__string(struct unpack *u, const char **s);
/* Returns true if all bytes were taken, and none was missing. */
bool unpack__is_whole(const struct unpack *u);
/* Frees the strings that are still its own. */
void unpack__end(struct unpack *u);

#define unpack__value(u, v) unpack__take(u, v, sizeof(*(v)))
#define unpack__rows(u, v)                                                                         \
	({                                                                                         \
		uint64_t rows_ = 0;                                                                \
		const void *data_;                                                                 \
                                                                                                   \
		unpack__value(u, &rows_);                                                          \
		data_ = unpack__data(u, rows_, sizeof(*(v)->data));                                \
		if (data_) {                                                                       \
			vec__reserve(v, rows_);                                                    \
			memcpy((v)->data, data_, rows_ * sizeof(*(v)->data));                      \
			(v)->len = rows_;                                                          \
		}                                                                                  \
	})

#endif
