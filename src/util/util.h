/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * util: errors, notes, vectors, maps, strings. Public header of src/util.
 *
 * Errors: a function that can fail returns 0 (or a count) or a negative errno, and leaves one
 * message, in the user's terms, with err__set(). Callers return the number; only main prints the
 * message and exits. Memory: xmalloc and friends never return NULL; running out of memory ends the
 * program (exit status 1).
 */
#ifndef BBTRACE_UTIL_UTIL_H
#define BBTRACE_UTIL_UTIL_H

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
/* Each argument is evaluated once. */
#define min_of(a, b)	     pick_of(a, <, b, __COUNTER__)
#define max_of(a, b)	     pick_of(a, >, b, __COUNTER__)
#define pick_of(a, op, b, n) pick_named(a, op, b, n)
#define pick_named(a, op, b, n)                                                                    \
	__extension__({                                                                            \
		__typeof__(1 ? (a) : (b)) a_##n = (a), b_##n = (b);                                \
		a_##n op b_##n ? a_##n : b_##n;                                                    \
	})

/*
 * Cleanup attributes: free(*p) and, where *fd >= 0, close(*fd). A vector, a struct str and a struct
 * map64 begin with the pointer to what they own: autofree frees them, too, but not what a vector's
 * elements own.
 */
void util__free(void *p);
void util__close(const int *fd);

/* Reads a clock (clock.c). BPF programs read CLOCK_MONOTONIC: bpf_ktime_get_ns(). */
uint64_t now_ns(clockid_t clock);

/* ---- errors (err.c) ---- */

/* Stores the message (replacing an earlier one) and returns -code; code is a positive errno. */
int err__set(int code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* As err__set(EINVAL, ...), for what the user has to write differently: exit status 2. */
int err__usage(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Returns true if the stored message was set by err__usage(). */
bool err__is_usage(void);
/* Puts "text: " before the stored message; returns code unchanged. */
int err__prefix(int code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The stored message; never NULL, "" when none was set. Owned by err.c. */
const char *err__text(void);
void err__clear(void);
/* Prints the stored message on stderr as "bbtrace: ...", escaped for a terminal, even with -q. */
void err__print(void);

/* ---- notes on stderr (note.c): "bbtrace: ..." ---- */

enum note_level { NOTE_QUIET, NOTE_NORMAL, NOTE_VERBOSE };
void note__set_level(enum note_level level);
enum note_level note__level(void);
/* Prints a line to stderr, wrapped on a terminal; whatever the level. */
void note__line(const char *line);
/* Printed unless -q. */
void note(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Printed with -v only. */
void note_verbose(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* ---- memory (mem.c) ---- */

/* To be called first: memory that was freed stays with the process, in huge pages. */
void memory__reserve(void);
/* Gives the system what is free: when what takes much memory is over. */
void memory__return(void);

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
/* From old to n elements, the new ones zeroed. */
void *xextend(void *p, size_t old, size_t n, size_t size);
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
/* The value may refer to elements of the same vector. */
#define vec__push(v, ...)                                                                          \
	(vec__reserve((v), (v)->len + 1), (void)((v)->data[(v)->len] = (__VA_ARGS__)),             \
	 (void)(v)->len++)
/* Appends a zeroed element. The value is a pointer to it, valid until the next push. */
#define vec__add(v)                                                                                \
	(vec__reserve((v), (v)->len + 1), memset(&(v)->data[(v)->len], 0, sizeof(*(v)->data)),     \
	 &(v)->data[(v)->len++])
/* Appends the elements of another vector. */
#define vec__append(v, from)                                                                       \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (from)->len; i_++)                                        \
			vec__push(v, (from)->data[i_]);                                            \
	} while (0)
#define vec__last(v) (&(v)->data[(v)->len - 1])
/* An empty vector has no data, and NULL + 0 is undefined: vec__end() doesn't add there. */
#define vec__end(v)	((v)->len ? (v)->data + (v)->len : (v)->data)
#define vec__each(p, v) for ((p) = (v)->data; (p) < vec__end(v); (p)++)
#define vec__sort(v, cmp)                                                                          \
	((v)->len ? qsort((v)->data, (v)->len, sizeof(*(v)->data), (cmp)) : (void)0)
/* cmp has the last argument as its third one. */
#define vec__sort_by(v, cmp, ctx)                                                                  \
	((v)->len ? qsort_r((v)->data, (v)->len, sizeof(*(v)->data), (cmp), (ctx)) : (void)0)
#define vec__free(v) (util__free(&(v)->data), (v)->len = (v)->cap = 0)

/* The number of elements that satisfy the condition on i_; these have to be the first ones. */
#define bisect(n, condition)                                                                       \
	({                                                                                         \
		size_t lo_ = 0, hi_ = (n), i_;                                                     \
		while (lo_ < hi_) {                                                                \
			i_ = (lo_ + hi_) / 2;                                                      \
			if (condition)                                                             \
				lo_ = i_ + 1;                                                      \
			else                                                                       \
				hi_ = i_;                                                          \
		}                                                                                  \
		lo_;                                                                               \
	})
void *vec__grow(void *data, size_t *cap, size_t need, size_t size);

/* ---- map from uint64_t to uint64_t (map.c): open addressing, any key and value ---- */

struct map64 {
	struct map64_slot *slots;
	size_t len, cap;
	unsigned shift; /* 64 - log2(cap) */
};
/* Returns a pointer to the value, or NULL if the key is absent. Valid until the next put or del. */
uint64_t *map64__get(const struct map64 *m, uint64_t key);
/* As map64__get(), but inserts the key with value 0 if it is absent. */
uint64_t *map64__put(struct map64 *m, uint64_t key);
bool map64__del(struct map64 *m, uint64_t key);
void map64__free(struct map64 *m);
/* FNV-1a: a key for data longer than 8 bytes. */
uint64_t map64__hash(const void *data, size_t len);
/* For iteration over slots 0 ... m->cap - 1. Returns false if the slot is empty. */
bool map64__slot(const struct map64 *m, size_t i, uint64_t *value);

/* ---- growable strings (str.c) ---- */

struct str {
	char *data; /* NUL-terminated after the first append */
	size_t len, cap;
};
/* Makes room for this many more bytes and the NUL. */
void str__reserve(struct str *s, size_t more);

/* Appends this many bytes, which the caller has to write, and returns their place. Inline, as the
 * next functions, because a line of output takes dozens of calls. */
static inline char *str__extend(struct str *s, size_t more)
{
	char *to;

	if (s->cap - s->len <= more)
		str__reserve(s, more);
	to = s->data + s->len;
	s->len += more;
	to[more] = 0; /* last, since it may alias s */
	return to;
}

static inline void str__put(struct str *s, const char *text, size_t len)
{
	char *to = str__extend(s, len);

	if (len)
		memcpy(to, text, len);
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
/* A floating-point number of 4 or 8 bytes, with as many digits as distinguish it from all others.
 */
void str__float(struct str *s, uint64_t bits, unsigned size);
/* "2026-11-20 14:42:26 +0000": CLOCK_REALTIME in ns; the time zone is seconds east of UTC. */
void str__date(struct str *s, uint64_t realtime, int32_t utc_offset);
/* Appends a quoted JSON string. Invalid UTF-8 becomes U+FFFD; control characters (also C1, DEL and
 * bidirectional ones) are escaped, so the result is safe on a terminal. */
void str__json(struct str *s, const char *text);
/* Appends text with control characters (C0, DEL, C1, bidirectional ones) as \xNN: safe on a
 * terminal. */
void str__shown(struct str *s, const char *text);
/* Appends a line of source text with tabs expanded to multiples of 8 columns (a UTF-8 sequence is
 * one) and without a CR at its end. */
void str__expand_tabs(struct str *s, const char *line);
/* Invalid UTF-8 becomes U+FFFD. */
void str__utf8(struct str *s, const char *text);
/* Appends text or an attribute's value for XML and HTML: & < > " ' are escaped. Characters that XML
 * 1.0 forbids, bidirectional controls and invalid UTF-8 become U+FFFD. */
void str__xml(struct str *s, const char *text);
/* Appends text as one word for a shell, quoted if need be. */
void str__shell(struct str *s, const char *text);
/* Levenshtein distance; more than limit, or a text longer than DISTANCE_MAX_LEN: limit + 1. */
#define DISTANCE_MAX_LEN 64
unsigned str__distance(const char *a, size_t a_len, const char *b, size_t b_len, unsigned limit);
void str__clear(struct str *s);
void str__free(struct str *s);

/* ---- the user's own rights (rights.c) ---- */

/*
 * A bbtrace with file capabilities (setcap(8)) may open files that its user may not. Files that the
 * user names are opened without those capabilities. Holds for this thread until the end of the
 * block; root and ambient capabilities are unaffected:
 *
 *	with_own_rights;
 */
struct rights {
	bool lowered;
	uint64_t effective;
};
/* The effective user that started bbtrace: what belongs to it, and may be shown to it. It stays the
 * same after privileges were given up; main() calls this first. */
uid_t rights__user(void);
struct rights rights__own(void);
void rights__restore(const struct rights *r);
/*
 * Gives up all capabilities except kept, for good, and so that no exec regains them. Root becomes a
 * user that no other process has, unless user is set: then the user stays. For a process with one
 * thread. Returns 0 or -errno: then the process may not continue.
 */
int rights__keep(uint64_t kept, bool user);
/*
 * System calls that fail from now on, in all threads and children, besides those that no process of
 * bbtrace needs (calls.c). Returns -errno, with a message, if they would not fail: then the process
 * may not continue.
 */
enum { FORBID_EXEC = 1, FORBID_TRACING = 2, FORBID_NETWORK = 4 };
int rights__forbid(unsigned what);
#define with_own_rights                                                                            \
	CLEANUP(rights__restore) const struct rights own_rights = rights__own();                   \
	(void)own_rights

/* Loads a library that few runs need, for the rest of the run, and looks up its functions. Returns
 * false if the library, or one of them, is missing (library.c). */
bool library__load(const char *file, const char *const *functions, void **found, size_t n);

/* Parses a whole number, with an optional suffix K, M or G (powers of 1024) if suffixes is set. */
int parse__u64(const char *text, bool suffixes, uint64_t *out);
/* Reads a whole file and appends a NUL, which *len does not count. The caller frees *out. Returns
 * -EFBIG if there are more than limit bytes. Works on /proc files. */
int file__read(const char *path, size_t limit, char **out, size_t *len);
/* Reads the rest of an open file; name is for messages. */
int fd__read(int fd, const char *name, size_t limit, char **out, size_t *len);
/* Writes all of it. Returns false with errno. */
bool fd__write(int fd, const void *data, size_t len);
/* Makes a folder and those that it is in, unless they are there. Returns 0, or -errno. */
int folder__make(const char *path, mode_t mode);
/* Makes a file in memory, whose name is only shown; nobody can execute it, as vm.memfd_noexec=2
 * requires. Returns -1 with errno. */
int fd__in_memory(const char *name);
/* Closes all descriptors but these n, which it sorts. */
void fd__close_others(int *keep, size_t n);
/* Sends a message with a descriptor, or without one: -1. flags are those of sendmsg(2), besides
 * MSG_NOSIGNAL. Returns its length, or -errno. */
ssize_t fd__send(int socket, const void *data, size_t len, int fd, int flags);
/*
 * Receives a message. *fd is its descriptor, which is the caller's then, and closed by an exec; -1
 * if it had none; -EMFILE if no other file may be opened. flags are those of recvmsg(2). Returns
 * its length, 0 at the end, or -errno.
 */
ssize_t fd__receive(int socket, void *data, size_t len, int *fd, int flags);

/* Copies a path that the kernel printed, without the " (deleted)" that it appends to unlinked
 * files. */
char *path__undeleted(const char *path);
/* a/./b/../c -> a/c, in place: debug information has paths as the build used them. */
void path__normalise(char *path);
/* Returns what follows its last slash. */
const char *path__base_name(const char *path);
/* Returns the length of that path without " (deleted)". */
size_t path__undeleted_len(const char *path, size_t len);

#endif
