// SPDX-License-Identifier: BSD-2-Clause
/* What is written over the original code, and what it was before. */
#include <errno.h>
#include "source/inline/tracer.h"

const uint8_t *loaded__original(const struct loaded *l, const struct copy_patch *p)
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

static bool texts__equal(const text_vec *a, const text_vec *b)
{
	for (size_t i = 0; i < a->len; i++)
		if (memcmp(a->data[i].bytes, b->data[i].bytes, a->data[i].segment->size) != 0)
			return false;
	return true;
}

static int texts__compare(const text_vec *v, const struct loaded *l)
{
	const struct copy_patch *p;

	vec__each (p, &l->image->patches) {
		const uint8_t *was = loaded__original(l, p), *now = texts__at(v, p->vaddr, p->len);

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
		const uint8_t *was = loaded__original(l, p);
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

#define PAGE	      4096
#define PAGE_OF(addr) ((addr) / PAGE)

/* Patches that follow each other in one page, and are written at once. */
struct run {
	size_t from, n, end; /* from: the first one. n: the one behind. end: behind all */
	int step;	     /* 1, or -1: backwards */
	uint64_t start, stop;
};

static bool find_run(const struct copy_image *image, const range_vec *ranges, struct run *r)
{
	r->from = r->n;
	r->start = UINT64_MAX;
	r->stop = 0;
	for (; r->n != r->end; r->n += (size_t)r->step) {
		const struct copy_patch *p = &image->patches.data[r->n];
		uint64_t start = min_of(p->vaddr, r->start);
		uint64_t stop = max_of(p->vaddr + p->len, r->stop);

		if (r->n != r->from &&
		    (PAGE_OF(start) != PAGE_OF(stop - 1) || !is_ours(ranges, start, stop)))
			break;
		r->start = start;
		r->stop = stop;
	}
	return r->n != r->from;
}

static int write_patches(struct space *s, const struct tracer *tracer, const struct loaded *l,
			 const text_vec *texts)
{
	struct run r = {.end = l->image->patches.len, .step = 1};
	range_vec ranges = kept_out(tracer, l->image);
	int err = 0;

	while (!err && find_run(l->image, &ranges, &r))
		if (!space__write(s, r.start + l->bias, texts__at(texts, r.start, r.stop - r.start),
				  r.stop - r.start))
			err = -EACCES;
	vec__free(&ranges);
	return err;
}

/* What lies between them may have changed. */
static void restore_run(struct space *s, const struct loaded *l, const struct run *r)
{
	uint8_t bytes[PAGE];

	if (!space__read(s, r->start + l->bias, bytes, r->stop - r->start))
		return;
	for (size_t i = r->from; i != r->n; i += (size_t)r->step) {
		const struct copy_patch *p = &l->image->patches.data[i];
		const uint8_t *was = loaded__original(l, p);

		if (was)
			memcpy(bytes + (p->vaddr - r->start), was, p->len);
	}
	space__write(s, r->start + l->bias, bytes, r->stop - r->start);
}

/* ---- what can be done while threads run ---- */

/* The code as it was, and with its patches. */
struct new_text {
	text_vec was, then;
};

void loaded__drop_text(struct loaded *l)
{
	if (!l->text)
		return;
	texts__free(&l->text->was);
	texts__free(&l->text->then);
	free(l->text);
	l->text = NULL;
}

static void texts__copy(text_vec *to, const text_vec *from)
{
	const struct text *t;

	vec__each (t, from) {
		struct text copy = {t->segment, xmalloc(t->segment->size + 1)};

		memcpy(copy.bytes, t->bytes, t->segment->size);
		vec__push(to, copy);
	}
}

/* An address within the first instruction that a patch covers, where nobody has a breakpoint; 0:
 * there is none. */
static uint64_t within(const struct arch *arch, const struct copy_patch *p, const uint8_t *bytes)
{
	struct insn insn;

	return !arch->decode(bytes, p->len, p->vaddr, false, &insn) && insn.len > 1 ? p->vaddr + 1
										    : 0;
}

/* The process gets pages of its own where patches will be: the first write to each takes long. */
static void get_pages(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	uint64_t done = UINT64_MAX;
	const struct copy_patch *p;

	vec__each (p, &l->image->patches) {
		const uint8_t *was = texts__at(&l->text->was, p->vaddr, p->len);
		uint64_t at = PAGE_OF(p->vaddr) != done ? within(tracer->arch, p, was) : 0;

		if (!at || !space__write(s, at + l->bias, was + 1, 1))
			continue;
		done = PAGE_OF(at);
	}
}

void loaded__prepare_text(struct space *s, const struct tracer *tracer, struct loaded *l)
{
	bool done = false;

	l->text = xcalloc(1, sizeof(*l->text));
	if (texts__read(&l->text->was, s, l)) {
		texts__copy(&l->text->then, &l->text->was);
		done = !texts__patch(&l->text->then, tracer, l);
	}
	if (done)
		get_pages(s, tracer, l);
	else
		loaded__drop_text(l);
}

static bool is_prepared(const struct loaded *l, const text_vec *now)
{
	return l->text && texts__equal(&l->text->was, now);
}

/* ---- patching ---- */

/* Can it be patched? Only the memory can tell whether it may be written. */
int loaded__check(struct space *s, const struct loaded *l)
{
	const struct copy_patch *first = &l->image->patches.data[0];
	text_vec texts = {0};
	int err = !texts__read(&texts, s, l) ? -EACCES
		  : is_prepared(l, &texts)   ? 0
					     : texts__compare(&texts, l);

	if (!err && !space__write(s, first->vaddr + l->bias, loaded__original(l, first), 1))
		err = -EACCES;
	texts__free(&texts);
	return err;
}

int loaded__patch(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	text_vec texts = {0};
	const text_vec *then = &texts;
	int err = texts__read(&texts, s, l) ? 0 : -EACCES;

	if (!err && is_prepared(l, &texts))
		then = &l->text->then;
	else if (!err)
		err = texts__patch(&texts, tracer, l);
	if (!err && (err = write_patches(s, tracer, l, then)))
		loaded__restore(s, tracer, l);
	texts__free(&texts);
	return err;
}

/* Entries first: the last patch that was written is the first to go. */
void loaded__restore(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	struct run r = {.n = l->image->patches.len - 1, .end = (size_t)-1, .step = -1};
	range_vec ranges = kept_out(tracer, l->image);

	while (find_run(l->image, &ranges, &r))
		restore_run(s, l, &r);
	vec__free(&ranges);
}

void space__restore(struct space *s, const struct tracer *tracer)
{
	struct loaded *l;

	loader__unwatch(s, tracer);
	vec__each (l, &s->loaded)
		if (!l->refused)
			loaded__restore(s, tracer, l);
}
