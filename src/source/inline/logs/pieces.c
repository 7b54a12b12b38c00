// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compressed pieces lie one behind the other in slabs, which are used again and again: fresh
 * memory, and giving it back, cost more than compressing does. So memory goes back to the kernel
 * only when nothing has waited for long.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "arch/arch.h"
#include "pieces.h"
#include "process/process.h"

#define SLAB	   (2u << 20) /* a huge page, aligned */
#define ROOM	   (1ull << 30)
#define ROOM_SHARE 4

struct slab {
	struct slab *next;
	uint32_t used;	 /* bytes, with this */
	uint32_t pieces; /* in it */
};

struct pieces {
	pthread_mutex_t lock;
	struct slab *current, *free;
};

struct pieces *pieces__new(void)
{
	struct pieces *p = xcalloc(1, sizeof(*p));

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

void pieces__close(struct pieces *p)
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

/* One with room for a piece; NULL: there is no memory. */
static struct slab *slab_with_room(struct pieces *p)
{
	struct slab *slab = p->current;

	if (slab && !slab->pieces)
		slab->used = sizeof(*slab);
	if (slab && SLAB - slab->used >= PIECE_MAX)
		return slab;
	slab = p->free;
	if (slab)
		p->free = slab->next;
	else
		slab = new_slab();
	/* a former one comes back when its last piece is put */
	p->current = slab;
	if (slab)
		*slab = (struct slab){.used = sizeof(*slab)};
	return slab;
}

struct piece *pieces__get(struct pieces *p)
{
	struct piece *piece = NULL;
	struct slab *slab;

	pthread_mutex_lock(&p->lock);
	slab = slab_with_room(p);
	if (slab) {
		piece = (struct piece *)((char *)slab + slab->used);
		slab->pieces++;
	}
	pthread_mutex_unlock(&p->lock);
	if (piece)
		*piece = (struct piece){.compressed = true};
	return piece;
}

static struct slab *slab_of(const struct piece *piece)
{
	return (struct slab *)((uintptr_t)piece & ~(uintptr_t)(SLAB - 1));
}

void pieces__fill(struct pieces *p, struct piece *piece, size_t bytes)
{
	struct slab *slab = slab_of(piece);

	piece->bytes = bytes;
	pthread_mutex_lock(&p->lock);
	slab->used += (sizeof(*piece) + bytes + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
	pthread_mutex_unlock(&p->lock);
}

struct piece *piece__new(size_t n)
{
	size_t bytes = n * sizeof(uint64_t);
	struct piece *piece = xmalloc(sizeof(*piece) + bytes);

	*piece = (struct piece){.n = n, .bytes = bytes};
	return piece;
}

static void put_compressed(struct pieces *p, struct piece *piece)
{
	struct slab *slab = slab_of(piece);

	pthread_mutex_lock(&p->lock);
	if (!--slab->pieces && slab != p->current) {
		slab->next = p->free;
		p->free = slab;
	}
	pthread_mutex_unlock(&p->lock);
}

void pieces__put(struct pieces *p, struct piece *piece)
{
	if (piece->compressed)
		put_compressed(p, piece);
	else
		free(piece);
}

void pieces__trim(struct pieces *p)
{
	pthread_mutex_lock(&p->lock);
	free_slabs(p->free);
	p->free = NULL;
	if (p->current && !p->current->pieces) {
		free(p->current);
		p->current = NULL;
	}
	pthread_mutex_unlock(&p->lock);
}

/* ---- how much may wait ---- */

size_t pieces__room(void)
{
	uint64_t left = min_of(process__memory_room((uint32_t)getpid()), memory__available());

	return min_of(ROOM, left / ROOM_SHARE);
}
