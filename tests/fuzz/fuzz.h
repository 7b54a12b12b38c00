/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fuzz targets share: a target is one file fuzz_NAME.c with LLVMFuzzerTestOneInput(), its
 * inputs are corpus/NAME. It runs under libFuzzer (`make fuzz`) or under main.c, which feeds it
 * files (`make check`). A target must keep nothing from one input to the next, and say what was
 * wrong by CHECK().
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <sys/mman.h>
#include <unistd.h>
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for every input. */
#define CHECK(that)                                                                                \
	((that) ? (void)0                                                                          \
		: (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #that), abort()))

/* ---- the input, taken apart from its front; once it is used up, zeros ---- */

struct input {
	const uint8_t *p, *end;
};

static inline size_t input__left(const struct input *in)
{
	return in->end - in->p;
}

static inline void input__bytes(struct input *in, void *to, size_t n)
{
	size_t have = min_of(n, input__left(in));

	memset(to, 0, n);
	memcpy(to, in->p, have);
	in->p += have;
}

static inline uint64_t input__number(struct input *in, unsigned bytes)
{
	uint64_t v = 0;

	input__bytes(in, &v, bytes);
	return v;
}

/* So many bytes of it, as an input of their own. */
static inline struct input input__part(struct input *in, size_t n)
{
	struct input part = {in->p, in->p + min_of(n, input__left(in))};

	in->p = part.end;
	return part;
}

/* The rest as a string of its own, so that the sanitizer sees its end. Caller frees. */
static inline char *input__text(struct input *in)
{
	size_t n = input__left(in);
	char *text = xmalloc(n + 1);

	memcpy(text, in->p, n);
	text[n] = 0;
	in->p = in->end;
	return text;
}

/* ---- the input as a file without a name ---- */

struct memory_file {
	int fd;
	char path[32];
};

static inline void memory_file__open(struct memory_file *f, const struct input *in)
{
	f->fd = memfd_create("input", MFD_CLOEXEC);
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	CHECK(f->fd >= 0 && write(f->fd, in->p, input__left(in)) == (ssize_t)input__left(in));
}

/* ---- what may be sent to a terminal: valid or not, no control characters but line ends ---- */

/* In UTF-8: 61C, 200E, 200F, 202A to 202E, 2066 to 2069. */
static inline bool turns_text_around(const unsigned char *p, size_t len)
{
	if (len >= 2 && p[0] == 0xd8 && p[1] == 0x9c)
		return true;
	if (len < 3 || p[0] != 0xe2)
		return false;
	if (p[1] == 0x80)
		return p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae);
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

static inline bool is_safe(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0; i < len; i++) {
		if ((p[i] < 0x20 && p[i] != '\n') || p[i] == 0x7f ||
		    turns_text_around(p + i, len - i))
			return false;
		/* C1: c2 80 to c2 9f, or such a byte alone */
		if (p[i] == 0xc2 && i + 1 < len && p[i + 1] < 0xa0)
			return false;
		if (p[i] >= 0x80 && p[i] < 0xa0 && (!i || p[i - 1] < 0x80))
			return false;
	}
	return true;
}

#endif
