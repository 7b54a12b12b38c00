// SPDX-License-Identifier: BSD-2-Clause
/* What is written over the original code, and what it was before. */
#include <errno.h>
#include "source/inline/tracer.h"

static const uint8_t *original_of(const struct loaded *l, const struct copy_patch *p)
{
	size_t avail = 0;
	const uint8_t *bytes = object__bytes(l->object, p->vaddr, &avail);

	return bytes && avail >= p->len ? bytes : NULL;
}

/* ---- the code in memory, a copy of it for each segment ---- */

struct text {
	const struct segment *segment;
	uint8_t *bytes;
};
typedef VEC(struct text) text_vec;

static void texts__free(text_vec *v)
{
	struct text *t;

	vec__each (t, v)
		free(t->bytes);
	vec__free(v);
}

static bool texts__read(text_vec *v, const struct space *s, const struct loaded *l)
{
	const struct segment *g;

	vec__each (g, &l->object->segments) {
		struct text t = {g, g->exec ? xmalloc(g->size + 1) : NULL};

		if (!t.bytes)
			continue;
		vec__push(v, t);
		if (!space__read(s, g->vaddr + l->bias, t.bytes, g->size))
			return false;
	}
	return true;
}

static uint8_t *texts__at(const text_vec *v, uint64_t vaddr, size_t len)
{
	const struct text *t;

	vec__each (t, v)
		if (vaddr - t->segment->vaddr < t->segment->size &&
		    vaddr + len <= t->segment->vaddr + t->segment->size)
			return t->bytes + (vaddr - t->segment->vaddr);
	return NULL;
}

static int texts__compare(const text_vec *v, const struct loaded *l)
{
	const struct copy_patch *p;

	vec__each (p, &l->image->patches) {
		const uint8_t *was = original_of(l, p), *now = texts__at(v, p->vaddr, p->len);

		if (!was || !now || memcmp(was, now, p->len) != 0)
			return -ESTALE;
	}
	return 0;
}

/* Puts all patches into these copies. -ESTALE: the code isn't that of the file. */
static int texts__patch(const text_vec *v, const struct tracer *tracer, const struct loaded *l)
{
	const struct copy_patch *p;
	uint8_t bytes[PATCH_MAX];

	vec__each (p, &l->image->patches) {
		const uint8_t *was = original_of(l, p);
		uint8_t *now = texts__at(v, p->vaddr, p->len);

		if (!was || !now || memcmp(was, now, p->len) != 0)
			return -ESTALE;
		if (!copy_image__patch(l->image, tracer->arch, p, l->bias, l->base, bytes))
			return -ERANGE;
		memcpy(now, bytes, p->len);
	}
	return 0;
}

/* ---- writing ---- */

static int by_vaddr(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Ranges of functions of the object that have no copy, ascending: breakpoints of bbtrace's may come
 * and go there at any time. */
typedef VEC(struct range) range_vec;
static range_vec kept_out(const struct tracer *tracer, const struct copy_image *image)
{
	const struct plan *plan = tracer->plan;
	const struct copy_function *f;
	struct map64 copied = {0};
	range_vec v = {0};

	vec__each (f, &image->functions)
		map64__put(&copied, f->function);
	for (size_t i = 0; i < plan->functions.len; i++) {
		const struct plan_function *pf = &plan->functions.data[i];

		if (pf->object != image->object || map64__get(&copied, i))
			continue;
		for (size_t k = 0; k < pf->nranges; k++)
			vec__push(&v, pf->ranges[k]);
	}
	map64__free(&copied);
	vec__sort(&v, by_vaddr);
	return v;
}

/* Is none of them between a and b? */
static bool is_ours(const range_vec *v, uint64_t a, uint64_t b)
{
	size_t low = 0, high = v->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v->data[middle].vaddr < b)
			low = middle + 1;
		else
			high = middle;
	}
	return !low || v->data[low - 1].vaddr + v->data[low - 1].size <= a;
}

#define PAGE_OF(addr) ((addr) / 4096)

/* The patches from first on that may be written at once: those of one page. */
static size_t run_of(const struct copy_image *image, const range_vec *ranges, size_t first,
		     uint64_t *start, uint64_t *end)
{
	const struct copy_patch *p = &image->patches.data[first];
	size_t i;

	*start = p->vaddr;
	*end = p->vaddr + p->len;
	for (i = first + 1; i < image->patches.len; i++) {
		const struct copy_patch *q = &image->patches.data[i];

		if (PAGE_OF(q->vaddr) != PAGE_OF(p->vaddr) ||
		    !is_ours(ranges, min_of(q->vaddr, *start), max_of(q->vaddr + q->len, *end)))
			break;
		*start = min_of(*start, q->vaddr);
		*end = max_of(*end, q->vaddr + q->len);
	}
	return i - first;
}

static int write_patches(struct space *s, const struct tracer *tracer, const struct loaded *l,
			 const text_vec *texts)
{
	range_vec ranges = kept_out(tracer, l->image);
	int err = 0;

	for (size_t i = 0; i < l->image->patches.len && !err;) {
		uint64_t start, end;

		i += run_of(l->image, &ranges, i, &start, &end);
		if (!space__write(s, start + l->bias, texts__at(texts, start, end - start),
				  end - start))
			err = -EACCES;
	}
	vec__free(&ranges);
	return err;
}

/* Can it be patched? Only the memory can tell whether it may be written. */
int loaded__check(struct space *s, const struct loaded *l)
{
	const struct copy_patch *first = &l->image->patches.data[0];
	text_vec texts = {0};
	int err = texts__read(&texts, s, l) ? texts__compare(&texts, l) : -EACCES;

	if (!err && !space__write(s, first->vaddr + l->bias, original_of(l, first), 1))
		err = -EACCES;
	texts__free(&texts);
	return err;
}

int loaded__patch(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	text_vec texts = {0};
	int err = texts__read(&texts, s, l) ? texts__patch(&texts, tracer, l) : -EACCES;

	if (!err && (err = write_patches(s, tracer, l, &texts)))
		loaded__restore(s, tracer, l);
	texts__free(&texts);
	return err;
}

/* Entries first: the last patch that was written is the first to go. Only the bytes of the patches
 * are written, since breakpoints of others may come and go beside them. */
void loaded__restore(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	for (size_t i = l->image->patches.len; i-- > 0;) {
		const struct copy_patch *p = &l->image->patches.data[i];
		const uint8_t *bytes = original_of(l, p);

		if (bytes)
			space__write(s, p->vaddr + l->bias, bytes, p->len);
	}
}

void space__restore(struct space *s, const struct tracer *tracer)
{
	struct loaded *l;

	loader__unwatch(s, tracer);
	vec__each (l, &s->loaded)
		if (!l->refused)
			loaded__restore(s, tracer, l);
}
