/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * util: what C lacks. Front door of src/util.
 *
 * Errors: a function that can fail returns 0 (or a count) or a negative errno, and leaves one
 * message, in the user's terms, with err__set(). Callers pass the number up; only main prints the
 * message and exits. Memory: xmalloc and friends never return NULL; running out of memory ends the
 * program (exit status 1).
 */
#ifndef BBTRACE_UTIL_H
#define BBTRACE_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#define ARRAY_SIZE(a)	  (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define CLEANUP(fn)	  __attribute__((cleanup(fn)))
#define autofree	  CLEANUP(util__free)
#define autoclose	  CLEANUP(util__close)
#define min_of(a, b)	  ((a) < (b) ? (a) : (b))
#define max_of(a, b)	  ((a) > (b) ? (a) : (b))

/* cleanup attributes: free(*p) and, where *fd >= 0, close(*fd) */
void util__free(void *p);
void util__close(const int *fd);

/* The clock's time (clock.c); CLOCK_MONOTONIC is what BPF programs read: bpf_ktime_get_ns(). */
uint64_t now_ns(clockid_t clock);

/* ---- errors (err.c) ---- */

/* Stores the message (replacing an earlier one) and returns -code; code is a positive errno. */
int err__set(int code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Puts "text: " before the stored message; returns code unchanged. */
int err__prefix(int code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The stored message; never NULL, "" when none was set. Owned by err.c. */
const char *err__text(void);
void err__clear(void);
/* To stderr, as "bbtrace: ...", safe for a terminal. Also with -q. */
void err__print(void);

/* ---- notes on stderr (note.c): "bbtrace: ..." ---- */

enum note_level { NOTE_QUIET, NOTE_NORMAL, NOTE_VERBOSE };
void note__set_level(enum note_level level);
enum note_level note__level(void);
/* Printed unless -q. */
void note(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Printed with -v only. */
void note_verbose(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* ---- memory (mem.c) ---- */

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* ---- vectors: VEC(int) v = {0}; vec__push(&v, 3); vec__free(&v); ---- */

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *data;                                                                        \
		size_t len, cap;                                                                   \
	}
#define vec__reserve(v, n)                                                                         \
	((v)->cap >= (size_t)(n)                                                                   \
		 ? (void)0                                                                         \
		 : (void)((v)->data = vec__grow((v)->data, &(v)->cap, (n), sizeof(*(v)->data))))
/* The value may be made of elements of the vector itself. */
#define vec__push(v, ...)                                                                          \
	(vec__reserve((v), (v)->len + 1), (void)((v)->data[(v)->len] = (__VA_ARGS__)),             \
	 (void)(v)->len++)
/* Appends a zeroed element; the value is a pointer to it, valid until the next push. */
#define vec__add(v)                                                                                \
	(vec__reserve((v), (v)->len + 1), memset(&(v)->data[(v)->len], 0, sizeof(*(v)->data)),     \
	 &(v)->data[(v)->len++])
#define vec__last(v) (&(v)->data[(v)->len - 1])
/* An empty vector has no data, and NULL + 0 is undefined: vec__end() doesn't add there. */
#define vec__end(v)	((v)->len ? (v)->data + (v)->len : (v)->data)
#define vec__each(p, v) for ((p) = (v)->data; (p) < vec__end(v); (p)++)
#define vec__sort(v, cmp)                                                                          \
	((v)->len ? qsort((v)->data, (v)->len, sizeof(*(v)->data), (cmp)) : (void)0)
#define vec__free(v) (util__free(&(v)->data), (v)->len = (v)->cap = 0)
void *vec__grow(void *data, size_t *cap, size_t need, size_t size);

/* ---- map from uint64_t to uint64_t (map.c): open addressing, any key and value ---- */

struct map64 {
	struct map64_slot *slots;
	size_t len, cap;
	unsigned shift; /* 64 - log2(cap) */
};
/* The value's place, NULL when the key is absent; valid until the next put or del. */
uint64_t *map64__get(const struct map64 *m, uint64_t key);
/* The value's place, made with value 0 when the key was absent. */
uint64_t *map64__put(struct map64 *m, uint64_t key);
bool map64__del(struct map64 *m, uint64_t key);
void map64__free(struct map64 *m);
/* FNV-1a, a key for what is longer. */
uint64_t map64__hash(const void *data, size_t len);
/* For walking over all: slots 0 … m->cap - 1; false: this one is empty. */
bool map64__slot(const struct map64 *m, size_t i, uint64_t *value);

/* ---- growing text (str.c) ---- */

struct str {
	char *data; /* NUL-terminated once anything was added */
	size_t len, cap;
};
/* Room for so many bytes more, and the NUL. */
void str__reserve(struct str *s, size_t more);

/* Inline, as a line of output is dozens of these. */
static inline void str__put(struct str *s, const char *text, size_t len)
{
	if (s->cap - s->len <= len)
		str__reserve(s, len);
	if (len)
		memcpy(s->data + s->len, text, len);
	s->len += len;
	s->data[s->len] = 0;
}

static inline void str__putc(struct str *s, char c)
{
	str__put(s, &c, 1);
}

static inline void str__puts(struct str *s, const char *text)
{
	str__put(s, text, strlen(text));
}

void str__printf(struct str *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
void str__hex(struct str *s, uint64_t v); /* 0x1f */
void str__dec(struct str *s, uint64_t v);
/* As a JSON string with quotes; bytes that are not valid UTF-8 become U+FFFD, control characters
 * (C1, DEL and bidirectional ones too) are escaped: safe to send to a terminal. */
void str__json(struct str *s, const char *text);
/* With control characters (C0, DEL, C1, bidirectional ones) shown as \xNN: safe to send to a
 * terminal. */
void str__shown(struct str *s, const char *text);
/* What is not UTF-8 becomes U+FFFD. */
void str__utf8(struct str *s, const char *text);
/* As text or an attribute's value in XML and HTML: & < > " ' escaped; what XML 1.0 doesn't allow
 * (control characters), bidirectional controls and what is not UTF-8 become U+FFFD. */
void str__xml(struct str *s, const char *text);
void str__clear(struct str *s);
void str__free(struct str *s);

/* ---- the user's own rights (rights.c) ---- */

/*
 * A bbtrace whose file has capabilities (setcap(8)) may open more than who runs it: what the user
 * names is opened without them, as any other program of theirs would. Until the end of the block,
 * for this thread; nothing changes for root, nor for ambient capabilities:
 *   with_own_rights;
 */
struct rights {
	bool lowered;
	uint64_t effective;
};
struct rights rights__own(void);
void rights__restore(const struct rights *r);
#define with_own_rights                                                                            \
	CLEANUP(rights__restore) const struct rights own_rights = rights__own();                   \
	(void)own_rights

/* Whole number with an optional suffix K, M or G (powers of 1024) when suffixes is set. */
int parse__u64(const char *text, bool suffixes, uint64_t *out);
/* The whole file, NUL-terminated behind its last byte; *len excludes the NUL. Caller frees. Stops
 * with -EFBIG past limit bytes. Works on /proc files. */
int file__read(const char *path, size_t limit, char **out, size_t *len);
/* The rest of an open file; name: what messages call it. */
int fd__read(int fd, const char *name, size_t limit, char **out, size_t *len);

/* A path as the kernel shows it, without the " (deleted)" behind the name of a file that has none
 * any more. */
char *path__undeleted(const char *path);
/* How much of the len bytes at path is left then. */
size_t path__undeleted_len(const char *path, size_t len);

#endif
