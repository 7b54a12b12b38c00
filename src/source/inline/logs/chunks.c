// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compressed chunks lie one after the other in slabs, which are used again and again: fresh
 * memory, and giving it back, cost more than compressing does. So memory goes back to the kernel
 * only when nothing has waited for long.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "arch/arch.h"
#include "chunks.h"
#include "process/process.h"

#define SLAB	   (2u << 20) /* a huge page, aligned */
#define ROOM	   (1ull << 30)
#define ROOM_SHARE 4

struct slab {
	struct slab *next;
	uint32_t used;	 /* bytes, with this */
	uint32_t chunks; /* in it */
};

struct chunks {
	pthread_mutex_t lock;
	struct slab *current, *free;
};

struct chunks *chunks__new(void)
{
	struct chunks *p = xcalloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static void free_slabs(struct slab *slab)
{
	struct slab *next;

	for (; slab; slab = next) {
		next = slab->next;
		free(slab);
	}
}

void chunks__close(struct chunks *p)
{
	if (!p)
		return;
	free_slabs(p->current);
	free_slabs(p->free);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct slab *new_slab(void)
{
	struct slab *slab = aligned_alloc(SLAB, SLAB);

	if (slab)
		madvise(slab, SLAB, MADV_HUGEPAGE);
	return slab;
}

/* Returns one with room for a chunk; NULL if there is no memory. */
static struct slab *slab_with_room(struct chunks *p)
{
	struct slab *slab = p->current;

	if (slab && !slab->chunks)
		slab->used = sizeof(*slab);
	if (slab && SLAB - slab->used >= PIECE_MAX)
		return slab;
	slab = p->free;
	if (slab)
		p->free = slab->next;
	else
		slab = new_slab();
	/* a former one comes back when its last chunk is put */
	p->current = slab;
	if (slab)
		*slab = (struct slab){.used = sizeof(*slab)};
	return slab;
}

struct chunk *chunks__get(struct chunks *p)
{
	struct chunk *chunk = NULL;
	struct slab *slab;

	pthread_mutex_lock(&p->lock);
	slab = slab_with_room(p);
	if (slab) {
		chunk = (struct chunk *)((char *)slab + slab->used);
		slab->chunks++;
	}
	pthread_mutex_unlock(&p->lock);
	if (chunk)
		*chunk = (struct chunk){.compressed = true};
	return chunk;
}

static struct slab *slab_of(const struct chunk *chunk)
{
	return (struct slab *)((uintptr_t)chunk & ~(uintptr_t)(SLAB - 1));
}

void chunks__fill(struct chunks *p, struct chunk *chunk, size_t bytes)
{
	struct slab *slab = slab_of(chunk);

	chunk->bytes = bytes;
	pthread_mutex_lock(&p->lock);
	slab->used += (sizeof(*chunk) + bytes + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
	pthread_mutex_unlock(&p->lock);
}

struct chunk *chunk__new(size_t n)
{
	size_t bytes = n * sizeof(uint64_t);
	struct chunk *chunk = xmalloc(sizeof(*chunk) + bytes);

	*chunk = (struct chunk){.n = n, .bytes = bytes};
	return chunk;
}

static void put_compressed(struct chunks *p, struct chunk *chunk)
{
	struct slab *slab = slab_of(chunk);

	pthread_mutex_lock(&p->lock);
	if (!--slab->chunks && slab != p->current) {
		slab->next = p->free;
		p->free = slab;
	}
	pthread_mutex_unlock(&p->lock);
}

void chunks__put(struct chunks *p, struct chunk *chunk)
{
	if (chunk->compressed)
		put_compressed(p, chunk);
	else
		free(chunk);
}

void chunks__trim(struct chunks *p)
{
	pthread_mutex_lock(&p->lock);
	free_slabs(p->free);
	p->free = NULL;
	if (p->current && !p->current->chunks) {
		free(p->current);
		p->current = NULL;
	}
	pthread_mutex_unlock(&p->lock);
}

/* ---- how much may wait ---- */

size_t chunks__room(void)
{
	uint64_t left = min_of(process__memory_room((uint32_t)getpid()), memory__available());

	return min_of(ROOM, left / ROOM_SHARE);
}
