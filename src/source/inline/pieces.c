// SPDX-License-Identifier: BSD-2-Clause
/*
 * Large pieces are blocks of slabs, and are used again and again: fresh memory, and giving it back,
 * cost more than copying does. So memory goes back to the kernel only when nothing has waited for
 * long.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "arch/arch.h"
#include "pieces.h"
#include "util/util.h"

#define LARGE	   (LOG_SEGMENT / 4) /* bytes of records; smaller pieces are allocated as they are */
#define BLOCK	   (LOG_SEGMENT + LOG_PAGE)
#define SLAB	   (2u << 20) /* a huge page */
#define BLOCKS	   (SLAB / BLOCK)
#define ROOM	   (1ull << 30)
#define ROOM_SHARE 4

struct slab {
	char *data;
	unsigned free; /* while they are counted: blocks that are free */
};

struct pieces {
	pthread_mutex_t lock;
	struct piece *free;
	VEC(struct slab) slabs;
};

struct pieces *pieces__new(void)
{
	struct pieces *p = xcalloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void pieces__close(struct pieces *p)
{
	struct slab *slab;

	if (!p)
		return;
	vec__each (slab, &p->slabs)
		free(slab->data);
	vec__free(&p->slabs);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void push(struct pieces *p, struct piece *piece)
{
	piece->next = p->free;
	p->free = piece;
}

static void add_slab(struct pieces *p)
{
	char *slab = aligned_alloc(SLAB, SLAB);

	if (!slab)
		return;
	madvise(slab, SLAB, MADV_HUGEPAGE);
	vec__push(&p->slabs, (struct slab){.data = slab});
	for (size_t i = 0; i < BLOCKS; i++)
		push(p, (struct piece *)(slab + i * BLOCK));
}

static struct piece *get_block(struct pieces *p)
{
	struct piece *piece;

	pthread_mutex_lock(&p->lock);
	if (!p->free)
		add_slab(p);
	piece = p->free;
	p->free = piece ? piece->next : NULL;
	pthread_mutex_unlock(&p->lock);
	return piece;
}

struct piece *pieces__get(struct pieces *p, size_t bytes)
{
	struct piece *piece = bytes < LARGE ? NULL : get_block(p);
	bool large = piece;

	piece = piece ? piece : xmalloc(sizeof(*piece) + bytes);
	*piece = (struct piece){.n = bytes / 8, .large = large};
	return piece;
}

void pieces__put(struct pieces *p, struct piece *piece)
{
	if (!piece->large) {
		free(piece);
		return;
	}
	pthread_mutex_lock(&p->lock);
	push(p, piece);
	pthread_mutex_unlock(&p->lock);
}

/* ---- memory goes back ---- */

static int by_address(const void *a, const void *b)
{
	const struct slab *x = a, *y = b;

	return x->data < y->data ? -1 : x->data > y->data;
}

static struct slab *slab_of(const struct pieces *p, const struct piece *piece)
{
	const struct slab key = {.data = (char *)((uintptr_t)piece & ~(uintptr_t)(SLAB - 1))};

	return bsearch(&key, p->slabs.data, p->slabs.len, sizeof(key), by_address);
}

static void count_free(struct pieces *p)
{
	struct slab *slab;

	vec__each (slab, &p->slabs)
		slab->free = 0;
	if (p->slabs.len)
		qsort(p->slabs.data, p->slabs.len, sizeof(*slab), by_address);
	for (const struct piece *piece = p->free; piece; piece = piece->next)
		slab_of(p, piece)->free++;
}

/* Forgets the free blocks of slabs that are free. */
static void unlink_free(struct pieces *p)
{
	struct piece *kept = NULL, *next;

	for (struct piece *piece = p->free; piece; piece = next) {
		next = piece->next;
		if (slab_of(p, piece)->free == BLOCKS)
			continue;
		piece->next = kept;
		kept = piece;
	}
	p->free = kept;
}

void pieces__trim(struct pieces *p)
{
	size_t kept = 0;

	pthread_mutex_lock(&p->lock);
	count_free(p);
	unlink_free(p);
	for (size_t i = 0; i < p->slabs.len; i++) {
		if (p->slabs.data[i].free == BLOCKS)
			free(p->slabs.data[i].data);
		else
			p->slabs.data[kept++] = p->slabs.data[i];
	}
	p->slabs.len = kept;
	pthread_mutex_unlock(&p->lock);
}

/* ---- how much may wait ---- */

/* What a file has behind name, or as its first word; UINT64_MAX: it doesn't say. */
static uint64_t number_in(const char *path, const char *name)
{
	autofree char *text = NULL;
	const char *at;

	if (file__read(path, 1 << 16, &text, NULL))
		return UINT64_MAX;
	at = strstr(text, name);
	at = at ? at + strlen(name) : "";
	at += strspn(at, " \t");
	return *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : UINT64_MAX;
}

/* Documentation/admin-guide/cgroup-v2.rst: each limit holds for all that is below it. */
static uint64_t left_in_cgroup(char *path)
{
	uint64_t left = UINT64_MAX;

	for (char *end; (end = strrchr(path, '/')); *end = 0) {
		autofree char *max = xasprintf("/sys/fs/cgroup%s/memory.max", path);
		autofree char *now = xasprintf("/sys/fs/cgroup%s/memory.current", path);
		uint64_t limit = number_in(max, ""), used = number_in(now, "");

		if (limit != UINT64_MAX && used != UINT64_MAX)
			left = min_of(left, limit - min_of(limit, used));
	}
	return left;
}

static uint64_t left_in_cgroups(void)
{
	autofree char *text = NULL;
	char *at;

	if (file__read("/proc/self/cgroup", 1 << 16, &text, NULL))
		return UINT64_MAX;
	at = strstr(text, "0::/");
	if (!at)
		return UINT64_MAX;
	at[strcspn(at, "\n")] = 0;
	return left_in_cgroup(at + 3);
}

size_t pieces__room(void)
{
	uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"), left = left_in_cgroups();

	if (kib != UINT64_MAX)
		left = min_of(left, kib * 1024);
	return min_of(ROOM, left / ROOM_SHARE);
}
