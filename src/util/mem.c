// SPDX-License-Identifier: BSD-2-Clause
/* Allocation that cannot fail, growing vectors, and parsing numbers. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "util.h"

#define RESERVED  (256u << 20)
#define HUGE_PAGE (2u << 20)

/* A quarter of the time of planning was page faults. */
void memory__reserve(void)
{
#ifdef M_TRIM_THRESHOLD
	char *p, *start;

	mallopt(M_MMAP_THRESHOLD, 32 << 20); /* glibc's limit */
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, RESERVED);
	p = malloc(HUGE_PAGE);
	if (!p)
		return;
	start = p + HUGE_PAGE - (uintptr_t)p % HUGE_PAGE;
	madvise(start, RESERVED - HUGE_PAGE, MADV_HUGEPAGE);
	free(p);
#endif
}

void memory__return(void)
{
#ifdef M_TRIM_THRESHOLD
	malloc_trim(0);
#endif
}

void util__free(void *p)
{
	free(*(void **)p);
	*(void **)p = NULL;
}

void util__close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static void *checked(void *p)
{
	if (p)
		return p;
	fputs("bbtrace: out of memory\n", stderr);
	exit(1);
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

void *xextend(void *p, size_t old, size_t n, size_t size)
{
	p = xrealloc(p, n, size);
	memset((char *)p + old * size, 0, (n - old) * size);
	return p;
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s);
}

void *vec__grow(void *data, size_t *cap, size_t need, size_t size)
{
	size_t to = max_of(*cap * 2, (size_t)8);

	*cap = max_of(to, need);
	return xrealloc(data, *cap, size);
}

static unsigned unit_shift(char c)
{
	return c == 'K' || c == 'k'   ? 10
	       : c == 'M' || c == 'm' ? 20
	       : c == 'G' || c == 'g' ? 30
				      : 0;
}

static int not_whole(const char *text, bool suffixes)
{
	return err__set(EINVAL, "'%s' is not a whole number%s", text,
			suffixes ? ", such as 100 or 64K" : "");
}

int parse__u64(const char *text, bool suffixes, uint64_t *out)
{
	unsigned shift;
	uint64_t v;
	char *end;

	if (*text < '0' || *text > '9')
		return not_whole(text, suffixes);
	errno = 0;
	v = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	if (errno)
		return err__set(ERANGE, "'%s' is too large", text);
	shift = suffixes ? unit_shift(*end) : 0;
	if (end[shift != 0])
		return not_whole(text, suffixes);
	if (v > UINT64_MAX >> shift)
		return err__set(ERANGE, "'%s' is too large", text);
	*out = v << shift;
	return 0;
}
