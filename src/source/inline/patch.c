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

/* ---- the code in memory: copies of the pages that have patches ---- */

#define PAGE	      4096
#define PAGE_OF(addr) ((addr) / PAGE)

struct text {
	VEC(uint64_t) pages; /* link-time addresses / PAGE, ascending */
	uint8_t *bytes;	     /* of these, one behind the other */
};

static void text__free(struct text *t)
{
	vec__free(&t->pages);
	free(t->bytes);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void text__init(struct text *t, const struct copy_image *image)
{
	const struct copy_patch *p;
	size_t kept = 0;

	vec__each (p, &image->patches)
		for (uint64_t n = PAGE_OF(p->vaddr); n <= PAGE_OF(p->vaddr + p->len - 1); n++)
			if (!t->pages.len || t->pages.data[t->pages.len - 1] != n)
				vec__push(&t->pages, n);
	vec__sort(&t->pages, by_number);
	for (size_t i = 0; i < t->pages.len; i++)
		if (!kept || t->pages.data[kept - 1] != t->pages.data[i])
			t->pages.data[kept++] = t->pages.data[i];
	t->pages.len = kept;
	t->bytes = xmalloc(kept * PAGE + 1);
}

static bool text__read(struct text *t, const struct space *s, uint64_t bias)
{
	const uint64_t *pages = t->pages.data;
	size_t end;

	for (size_t i = 0; i < t->pages.len; i = end) {
		for (end = i + 1; end < t->pages.len && pages[end] == pages[end - 1] + 1; end++)
			;
		if (!space__read(s, pages[i] * PAGE + bias, t->bytes + i * PAGE, (end - i) * PAGE))
			return false;
	}
	return true;
}

/* NULL: not all of it is in there. */
static uint8_t *text__at(const struct text *t, uint64_t vaddr, size_t len)
{
	const uint64_t page = PAGE_OF(vaddr), last = PAGE_OF(vaddr + len - 1);
	const uint64_t *found =
		t->pages.len ? bsearch(&page, t->pages.data, t->pages.len, sizeof(page), by_number)
			     : NULL;
	size_t n = found ? found - t->pages.data : 0;

	if (!found || t->pages.len - n <= last - page || found[last - page] != last)
		return NULL;
	return t->bytes + n * PAGE + vaddr % PAGE;
}

/* With the same pages. */
static void text__copy(struct text *to, const struct text *from)
{
	memcpy(to->bytes, from->bytes, from->pages.len * PAGE);
}

static bool text__equals(const struct text *a, const struct text *b)
{
	return !memcmp(a->bytes, b->bytes, a->pages.len * PAGE);
}

/* Is it the file's, where patches will be? */
static int text__compare(const struct text *t, const struct loaded *l)
{
	const struct copy_patch *p;

	vec__each (p, &l->image->patches) {
		const uint8_t *was = loaded__original(l, p), *now = text__at(t, p->vaddr, p->len);

		if (!was || !now || memcmp(was, now, p->len) != 0)
			return -ESTALE;
	}
	return 0;
}

/* Puts all patches into it. -ESTALE: the code isn't that of the file. */
static int text__patch(const struct text *t, const struct tracer *tracer, const struct loaded *l)
{
	int err = text__compare(t, l);
	const struct copy_patch *p;
	uint8_t bytes[PATCH_MAX];

	if (err)
		return err;
	vec__each (p, &l->image->patches) {
		if (!copy_image__patch(l->image, tracer->arch, p, l->bias, l->base, bytes))
			return -ERANGE;
		memcpy(text__at(t, p->vaddr, p->len), bytes, p->len);
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
	const struct plan_place *place;
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
	vec__each (place, &plan->reserved)
		if (place->object == image->object)
			vec__push(v, (struct range){.vaddr = place->vaddr, .size = 1});
	vec__sort(v, by_vaddr);
}

/* Ranges of functions of the object that have no copy, and places of other probes, ascending:
 * breakpoints of bbtrace's may come and go there at any time. */
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
			 const struct text *text)
{
	const range_vec *ranges = kept_out(tracer, l->image);
	struct run r = runs_of(l->image, ALL_FUNCTIONS, 1);

	while (find_run(ranges, &r))
		if (!space__write(s, r.start + l->bias, text__at(text, r.start, r.stop - r.start),
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

/* The code as it was, with its patches, and as it is now. */
struct new_text {
	struct text was, then, now;
	bool checked; /* it is as it was, and all threads are stopped */
};

void loaded__drop_text(struct loaded *l)
{
	if (!l->text)
		return;
	text__free(&l->text->was);
	text__free(&l->text->then);
	text__free(&l->text->now);
	free(l->text);
	l->text = NULL;
}

/* Is the byte behind p->vaddr within an instruction? Nobody has a breakpoint there. */
static bool is_within(const struct arch *arch, const struct loaded *l, const struct copy_patch *p)
{
	size_t avail = 0;
	const uint8_t *bytes = object__bytes(l->object, p->vaddr, &avail);
	struct insn insn;

	return bytes && !arch->decode(bytes, avail, p->vaddr, false, &insn) && insn.len > 1;
}

/* The process gets pages of its own where patches will be: the first write to each takes long. */
static void get_pages(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	uint64_t done = UINT64_MAX;
	const uint32_t *i;

	vec__each (i, &l->image->order) {
		const struct copy_patch *p = &l->image->patches.data[*i];
		const uint8_t *byte = text__at(&l->text->was, p->vaddr + 1, 1);

		if (byte && PAGE_OF(p->vaddr) != done && PAGE_OF(p->vaddr + 1) != done &&
		    is_within(tracer->arch, l, p) &&
		    space__write(s, p->vaddr + 1 + l->bias, byte, 1))
			done = PAGE_OF(p->vaddr + 1);
	}
}

void loaded__prepare_text(struct space *s, const struct tracer *tracer, struct loaded *l)
{
	struct new_text *t = l->text = xcalloc(1, sizeof(*l->text));
	bool done;

	text__init(&t->was, l->image);
	text__init(&t->then, l->image);
	text__init(&t->now, l->image);
	done = text__read(&t->was, s, l->bias);
	if (done) {
		text__copy(&t->then, &t->was);
		text__copy(&t->now, &t->was); /* its memory is there in the stop */
		done = !text__patch(&t->then, tracer, l);
	}
	if (done)
		get_pages(s, tracer, l);
	else
		loaded__drop_text(l);
}

/* Is it as it was when it was prepared? */
static bool is_prepared(const struct space *s, const struct loaded *l)
{
	struct new_text *t = l->text;

	return t && text__read(&t->now, s, l->bias) && text__equals(&t->was, &t->now);
}

/* ---- patching ---- */

/* Can it be patched? Only the memory can tell whether it may be written. */
int loaded__check(struct space *s, const struct loaded *l)
{
	const struct copy_patch *first = &l->image->patches.data[0];
	struct text text = {0};
	int err = 0;

	if (is_prepared(s, l)) {
		l->text->checked = true;
	} else {
		text__init(&text, l->image);
		err = text__read(&text, s, l->bias) ? text__compare(&text, l) : -EACCES;
		text__free(&text);
	}
	if (!err && !space__write(s, first->vaddr + l->bias, loaded__original(l, first), 1))
		err = -EACCES;
	return err;
}

int loaded__patch(struct space *s, struct tracer *tracer, const struct loaded *l)
{
	bool prepared = l->text && l->text->checked;
	struct text text = {0};
	int err = 0;

	if (!prepared) {
		text__init(&text, l->image);
		err = text__read(&text, s, l->bias) ? text__patch(&text, tracer, l) : -EACCES;
	}
	if (!err && (err = write_patches(s, tracer, l, prepared ? &l->text->then : &text)))
		loaded__write(s, tracer, l, ALL_FUNCTIONS, false);
	text__free(&text);
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
