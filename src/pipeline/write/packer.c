// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include "packer.h"

struct packer {
	/* used by the writing thread */
	struct sink *sink;
	struct armor *armor; /* NULL if not armored */
	struct block_packer *blocks;
	struct str bytes, lines;
	/* shared */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct trace_block waiting[PACKER_WAITING]; /* the first block is being written */
	unsigned nwaiting;
	uint64_t size;
	bool ends, reader_gone;
	int err; /* of the first failed block */
	char *text;
	/* used by the caller of put */
	bool threaded;
	pthread_t thread;
};

/* Writes a block, which begins with a line of armor. */
static int write_bytes(struct packer *p)
{
	if (!p->armor)
		return sink__write(p->sink, p->bytes.data, p->bytes.len);
	str__clear(&p->lines);
	armor__put(p->armor, p->bytes.data, p->bytes.len, &p->lines);
	armor__end_line(p->armor, &p->lines);
	if (!p->bytes.len)
		armor__end_groups(p->armor, &p->lines);
	return sink__write(p->sink, p->lines.data, p->lines.len);
}

static int write_block(struct packer *p, const struct trace_block *b)
{
	int err;

	str__clear(&p->bytes);
	block_packer__put(p->blocks, b, &p->bytes);
	err = write_bytes(p);
	pthread_mutex_lock(&p->lock);
	p->size += p->bytes.len;
	p->reader_gone |= p->sink->reader_gone;
	if (err && !p->err) {
		p->err = err;
		p->text = xstrdup(err__text());
	}
	pthread_mutex_unlock(&p->lock);
	return err;
}

/* ---- the thread ---- */

static void drop_first(struct packer *p)
{
	str__free(&p->waiting[0].raw);
	p->nwaiting--;
	memmove(p->waiting, p->waiting + 1, p->nwaiting * sizeof(*p->waiting));
}

static void *run(void *packer)
{
	struct packer *p = packer;

	pthread_mutex_lock(&p->lock);
	while (!p->ends) {
		struct trace_block b = p->waiting[0];

		if (!p->nwaiting) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		/* after an error nothing could be read */
		if (!p->err)
			write_block(p, &b);
		pthread_mutex_lock(&p->lock);
		drop_first(p);
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Starts the thread, in which signals are blocked. If that fails, blocks are written by the
 * caller. */
static bool start(struct packer *p)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !err;
}

/* ---- the caller of put ---- */

struct packer *packer__new(struct sink *sink, enum armor_kind armor, bool threaded)
{
	struct packer *p = xcalloc(1, sizeof(*p));

	p->sink = sink;
	p->armor = armor ? armor__new(armor == ARMOR_REDUNDANT) : NULL;
	p->blocks = block_packer__new();
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->threaded = threaded && start(p);
	return p;
}

void packer__free(struct packer *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (p->threaded)
		pthread_join(p->thread, NULL);
	while (p->nwaiting)
		drop_first(p);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	armor__free(p->armor);
	block_packer__free(p->blocks);
	str__free(&p->bytes);
	str__free(&p->lines);
	free(p->text);
	free(p);
}

/* Called with the lock held. */
static int err_of(const struct packer *p)
{
	return p->err ? err__set(-p->err, "%s", p->text) : 0;
}

static int enqueue(struct packer *p, struct trace_block *b)
{
	int err;

	pthread_mutex_lock(&p->lock);
	while (p->nwaiting == PACKER_WAITING)
		pthread_cond_wait(&p->changed, &p->lock);
	err = err_of(p);
	if (!err) {
		p->waiting[p->nwaiting++] = *b;
		b->raw = (struct str){0};
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return err;
}

int packer__put(void *packer, struct trace_block *b)
{
	struct packer *p = packer;
	int err = p->threaded ? enqueue(p, b) : write_block(p, b);

	str__free(&b->raw);
	return err;
}

int packer__flush(struct packer *p)
{
	int err;

	pthread_mutex_lock(&p->lock);
	while (p->nwaiting)
		pthread_cond_wait(&p->changed, &p->lock);
	err = err_of(p);
	pthread_mutex_unlock(&p->lock);
	return err;
}

uint64_t packer__size(struct packer *p)
{
	uint64_t size;

	pthread_mutex_lock(&p->lock);
	size = p->size;
	pthread_mutex_unlock(&p->lock);
	return size;
}

bool packer__reader_gone(struct packer *p)
{
	bool gone;

	pthread_mutex_lock(&p->lock);
	gone = p->reader_gone;
	pthread_mutex_unlock(&p->lock);
	return gone;
}
