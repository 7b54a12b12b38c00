// SPDX-License-Identifier: BSD-2-Clause
/* Finds room for code within reach of other code. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include "space.h"

#define GIB  (1ull << 30)
#define PAGE 4096ull

static bool is_free(const map_vec *maps, uint64_t start, uint64_t size, uint64_t *below)
{
	const struct map *m;

	vec__each (m, maps)
		if (m->start < start + size && start < m->end) {
			*below = m->start;
			return false;
		}
	return true;
}

/* Avoids what grows: mmap's memory grows downward, to just below the last library. */
static uint64_t find_room(const map_vec *maps, bool pie, uint64_t start, uint64_t size)
{
	uint64_t at, below;

	if (!pie) {
		for (at = (start + GIB) & -PAGE; at < start + GIB + GIB / 2; at += size)
			if (is_free(maps, at, size, &below))
				return at;
		return 0;
	}
	if (start < GIB + size)
		return 0;
	at = (start - GIB - size) & -PAGE;
	while (at > PAGE * 16 && start - at < GIB + GIB / 2) {
		if (is_free(maps, at, size, &below))
			return at;
		at = below < size ? 0 : (below - size) & -PAGE;
	}
	return 0;
}

uint64_t thread__map_near(struct thread *t, const map_vec *maps, uint64_t start, bool pie,
			  uint64_t size)
{
	uint64_t at = find_room(maps, pie, start, size);

	if (!at || thread__call(t, SYS_mmap, at, size, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1,
				0) != (int64_t)at)
		return 0;
	return at;
}
