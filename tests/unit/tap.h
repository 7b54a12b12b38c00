/* SPDX-License-Identifier: BSD-2-Clause */
/* The Test Anything Protocol for unit tests: ok(cond, "what it shows"); return tap__done(); */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_run, tap_failed;

/* MATRIX=whole: all of what `make check` runs a part of (tests/long/t_units.sh). */
static inline bool runs_whole(void)
{
	const char *matrix = getenv("MATRIX");

	return matrix && !strcmp(matrix, "whole");
}

/* As in_part of tests/tap.sh: true for each row whose number is a multiple, and for all with
 * MATRIX=whole. */
static inline bool in_part(size_t number, size_t of)
{
	return runs_whole() || number % of == 0;
}

/* Of places that are tried in turn: each third, or all. */
static inline size_t stride(void)
{
	return runs_whole() ? 1 : 3;
}

#define ok(cond, ...) tap__ok(!!(cond), __FILE__, __LINE__, #cond, __VA_ARGS__)
/* Integers, shown when they differ. */
#define is(got, want, ...)                                                                         \
	tap__is((long long)(got), (long long)(want), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) tap__is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)

static inline int __attribute__((format(printf, 5, 6)))
tap__ok(int good, const char *file, int line, const char *cond, const char *fmt, ...)
{
	__builtin_va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_run);
	__builtin_va_start(ap, fmt);
	vprintf(fmt, ap);
	__builtin_va_end(ap);
	putchar('\n');
	if (!good) {
		tap_failed++;
		printf("# %s:%d: %s\n", file, line, cond);
	}
	fflush(stdout);
	return good;
}

#define tap__is(got, want, file, line, ...)                                                        \
	({                                                                                         \
		long long g_ = (got), w_ = (want);                                                 \
		tap__ok(g_ == w_, file, line, "see below", __VA_ARGS__) ||                         \
			printf("#   got %lld (0x%llx), want %lld (0x%llx)\n", g_, g_, w_, w_);     \
	})
#define tap__is_str(got, want, file, line, ...)                                                    \
	({                                                                                         \
		const char *g_ = (got), *w_ = (want);                                              \
		tap__ok(g_ &&w_ && !strcmp(g_, w_), file, line, "see below", __VA_ARGS__) ||       \
			printf("#   got '%s', want '%s'\n", g_ ? g_ : "(null)",                    \
			       w_ ? w_ : "(null)");                                                \
	})

static inline int tap__done(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed != 0;
}

#endif
