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

static void find_kept_out(const struct plan *plan, const struct copy_image *image, range_vec *v)
{
	const struct copy_function *f;
	struct map64 copied = {0};

	vec__each (f, &image->functions)
		map64__put(&copied, f->function);
	for (size_t i = 0; i < plan->functions.len; i++) {
		const struct plan_function *pf = &plan->functions.data[i];

		if (pf->object != image->object || map64__get(&copied, i))
			continue;
		for (size_t k = 0; k < pf->nranges; k++)
			vec__push(v, pf->ranges[k]);
	}
	map64__free(&copied);
	vec__sort(v, by_vaddr);
}

/* Ranges of functions of the object that have no copy, ascending: breakpoints of bbtrace's may come
 * and go there at any time. */
static const range_vec *kept_out(struct tracer *tracer, const struct copy_image *image)
{
	size_t n = image - tracer->copies->images.data;

	if (!tracer->kept_out)
		tracer->kept_out = xcalloc(tracer->copies->images.len, sizeof(*tracer->kept_out));
	if (!tracer->kept_out[n].found) {
		find_kept_out(tracer->plan, image, &tracer->kept_out[n].ranges);
		tracer->kept_out[n].found = true;
	}
	return &tracer->kept_out[n].ranges;
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

/* Patches that follow each other in one page, and are written at once (copy_image.order). */
struct run {
	const struct copy_image *image;
	const uint32_t *order; /* NULL: that of the patches */
	size_t from, n, end;   /* from: the first one. n: the one behind. end: behind all */
	int step;	       /* 1, or -1: backwards */
	uint64_t start, stop;
};

static const struct copy_patch *patch_of(const struct run *r, size_t n)
{
	return &r->image->patches.data[r->order ? r->order[n] : n];
}

static bool find_run(const range_vec *ranges, struct run *r)
{
	r->from = r->n;
	r->start = UINT64_MAX;
	r->stop = 0;
	for (; r->n != r->end; r->n += (size_t)r->step) {
		const struct copy_patch *p = patch_of(r, r->n);
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

/* Before the first run. Of one function, or ALL_FUNCTIONS. */
static struct run runs_of(const struct copy_image *image, uint32_t function, int step)
{
	const struct copy_function *f =
		function == ALL_FUNCTIONS ? NULL : &image->functions.data[function];
	size_t from = f ? f->patches : 0, end = f ? f->patches_end : image->order.len;

	return (struct run){.image = image,
			    .order = f ? NULL : image->order.data,
			    .n = step > 0 ? from : end - 1,
			    .end = step > 0 ? end : from - 1,
			    .step = step};
}

static int write_patches(struct space *s, struct tracer *tracer, const struct loaded *l,
			 const text_vec *texts)
{
	const range_vec *ranges = kept_out(tracer, l->image);
	struct run r = runs_of(l->image, ALL_FUNCTIONS, 1);

	while (find_run(ranges, &r))
		if (!space__write(s, r.start + l->bias, texts__at(texts, r.start, r.stop - r.start),
				  r.stop - r.start))
			return -EACCES;
	return 0;
}

/* Patches a run, or restores it. What lies between the patches may have changed. */
static void write_run(struct space *s, const struct arch *arch, const struct loaded *l,
		      const struct run *r)
{
	uint8_t bytes[PAGE], patch[PATCH_MAX];

	if (!space__read(s, r->start + l->bias, bytes, r->stop - r->start))
		return;
	for (size_t i = r->from; i != r->n; i += (size_t)r->step) {
		const struct copy_patch *p = patch_of(r, i);
		const uint8_t *becomes = loaded__original(l, p);

		if (r->step > 0)
			becomes = copy_image__patch(l->image, arch, p, l->bias, l->base, patch)
					  ? patch
					  : NULL;
		if (becomes)
			memcpy(bytes + (p->vaddr - r->start), becomes, p->len);
	}
	space__write(s, r->start + l->bias, bytes, r->stop - r->start);
}

void loaded__write(struct space *s, struct tracer *tracer, const struct loaded *l,
		   uint32_t function, bool patched)
{
	const range_vec *ranges = kept_out(tracer, l->image);
	struct run r = runs_of(l->image, function, patched ? 1 : -1);

	while (find_run(ranges, &r))
		write_run(s, tracer->arch, l, &r);
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

/* Is the byte behind p->vaddr within an instruction? Nobody has a breakpoint there. */
static bool is_within(const struct arch *arch, const struct copy_patch *p, const text_vec *v)
{
	const uint8_t *bytes = texts__at(v, p->vaddr, PATCH_MAX);
	struct insn insn;

	return bytes && !arch->decode(bytes, PATCH_MAX, p->vaddr, false, &insn) && insn.len > 1;
}

/* The process gets pages of its own where patches will be: the first write to each takes long. */
static void get_pages(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	uint64_t done = UINT64_MAX;
	const uint32_t *i;

	vec__each (i, &l->image->order) {
		const struct copy_patch *p = &l->image->patches.data[*i];
		uint64_t at = p->vaddr + 1;

		if (PAGE_OF(p->vaddr) != done && PAGE_OF(at) != done &&
		    is_within(tracer->arch, p, &l->text->was) &&
		    space__write(s, at + l->bias, texts__at(&l->text->was, at, 1), 1))
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

int loaded__patch(struct space *s, struct tracer *tracer, const struct loaded *l)
{
	text_vec texts = {0};
	const text_vec *then = &texts;
	int err = texts__read(&texts, s, l) ? 0 : -EACCES;

	if (!err && is_prepared(l, &texts))
		then = &l->text->then;
	else if (!err)
		err = texts__patch(&texts, tracer, l);
	if (!err && (err = write_patches(s, tracer, l, then)))
		loaded__write(s, tracer, l, ALL_FUNCTIONS, false);
	texts__free(&texts);
	return err;
}

void space__restore(struct space *s, struct tracer *tracer)
{
	struct loaded *l;

	loader__unwatch(s, tracer);
	vec__each (l, &s->loaded)
		if (!l->refused)
			loaded__write(s, tracer, l, ALL_FUNCTIONS, false);
}
