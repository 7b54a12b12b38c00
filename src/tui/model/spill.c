// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "spill.h"
#include "util/scratch.h"

#define FIRST	  (1ull << 20)
#define MOST_MORE (256ull << 20)

/* The blocks are allocated first: a store to a hole of a file on a full disk would end us. */
static int grow(struct spill *s, uint64_t cap)
{
	void *base;
	int err = posix_fallocate(s->fd, (off_t)s->cap, (off_t)(cap - s->cap));

	if (err)
		return err__set(err,
				"cannot write a temporary file in %s: %s; TMPDIR names another "
				"place, and --from, --to or FUNC choose a part of the trace",
				s->dir, strerror(err));
	base = s->base ? mremap(s->base, s->cap, cap, MREMAP_MAYMOVE)
		       : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (base == MAP_FAILED)
		return err__set(errno, "cannot map a temporary file: %s", strerror(errno));
	s->base = base;
	s->cap = cap;
	return 0;
}

int spill__extend(struct spill *s, uint64_t more, uint64_t *at)
{
	uint64_t cap = s->cap;
	int err;

	if (s->fd < 0 && (s->fd = scratch__open(&s->dir)) < 0)
		return s->fd;
	while (cap - s->len < more)
		cap = cap ? cap + min_of(cap, (uint64_t)MOST_MORE) : FIRST;
	err = cap > s->cap ? grow(s, cap) : 0;
	if (err)
		return err;
	*at = s->len;
	s->len += more;
	return 0;
}

void spill__free(struct spill *s)
{
	if (s->base)
		munmap(s->base, s->cap);
	if (s->fd >= 0)
		close(s->fd);
	*s = SPILL_NONE;
}
