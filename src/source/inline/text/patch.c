// SPDX-License-Identifier: BSD-2-Clause
/* What is written over the original code, and what was there before. */
#include <errno.h>
#include "text.h"

const uint8_t *loaded__original(const struct loaded *l, const struct copy_patch *p)
{
	size_t avail = 0;
	const uint8_t *bytes = object__bytes(l->object, p->vaddr, &avail);

	return bytes && avail >= p->len ? bytes : NULL;
}

/* ---- the code in memory: copies of the pages that copied functions are in ---- */

#define PAGE	      4096
#define PAGE_OF(addr) ((addr) / PAGE)

struct text {
	VEC(uint64_t) pages; /* link-time addresses / PAGE, ascending */
	uint8_t *bytes;	     /* of these, one after the other */
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

static void add_pages(struct text *t, uint64_t vaddr, uint64_t size)
{
	for (uint64_t n = PAGE_OF(vaddr); size && n <= PAGE_OF(vaddr + size - 1); n++)
		if (!t->pages.len || t->pages.data[t->pages.len - 1] != n)
			vec__push(&t->pages, n);
}

/* The text of all functions that have a copy; their patches are within it, too. */
static void text__init(struct text *t, const struct plan *plan, const struct copy_image *image)
{
	const struct copy_function *f;
	const struct copy_patch *p;
	size_t kept = 0;

	vec__each (p, &image->patches)
		add_pages(t, p->vaddr, p->len);
	vec__each (f, &image->functions) {
		const struct plan_function *pf = &plan->functions.data[f->function];

		for (size_t k = 0; k < pf->nranges; k++)
			add_pages(t, pf->ranges[k].vaddr, pf->ranges[k].size);
	}
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

/* Returns NULL if not all of it is in the text. */
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

/* Copies to a text with the same pages. */
static void text__copy(struct text *to, const struct text *from)
{
	memcpy(to->bytes, from->bytes, from->pages.len * PAGE);
}

static bool text__equals(const struct text *a, const struct text *b)
{
	return !memcmp(a->bytes, b->bytes, a->pages.len * PAGE);
}

/* ---- whether the code is the file's ---- */

/* Breakpoints of other tracers are ignored: who has put them there removes them. */
static bool is_same(const struct arch *arch, const uint8_t *is, const uint8_t *was, size_t n)
{
	const struct breakpoint *b = &arch->uprobe_breakpoint;

	if (!memcmp(is, was, n))
		return true;
	for (size_t i = 0; i < n; i++)
		if (is[i] != was[i] && !(b->len == 1 && is[i] == b->bytes[0]))
			return false;
	return true;
}

/* Returns the file's bytes there; NULL if there aren't as many. */
static const uint8_t *file_bytes(const struct loaded *l, uint64_t vaddr, uint64_t size)
{
	size_t avail = 0;
	const uint8_t *bytes = object__bytes(l->object, vaddr, &avail);

	return bytes && avail >= size ? bytes : NULL;
}

static bool has_changed(const struct text *t, const struct tracer *tracer, const struct loaded *l,
			const struct copy_function *f)
{
	const struct plan_function *pf = &tracer->plan->functions.data[f->function];

	for (size_t i = f->patches; i < f->patches_end; i++) {
		const struct copy_patch *p = &l->image->patches.data[i];
		const uint8_t *was = loaded__original(l, p), *now = text__at(t, p->vaddr, p->len);

		if (!was || !now || memcmp(was, now, p->len) != 0)
			return true;
	}
	for (size_t k = 0; k < pf->nranges; k++) {
		const struct range *r = &pf->ranges[k];
		const uint8_t *was = file_bytes(l, r->vaddr, r->size);
		const uint8_t *now = text__at(t, r->vaddr, r->size);

		if (!was || !now || !is_same(tracer->arch, now, was, r->size))
			return true;
	}
	return false;
}

/* Functions whose code isn't that of the file lose their copies. Returns -ESTALE if all do. */
static int text__compare(const struct text *t, const struct tracer *tracer, const struct loaded *l)
{
	const struct copy_function *f;

	vec__each (f, &l->image->functions)
		if (has_changed(t, tracer, l, f))
			loaded__set_state(tracer, l, f - l->image->functions.data, STATE_LOST);
	return loaded__count(l, STATE_LOST) == l->image->functions.len ? -ESTALE : 0;
}

/* Writes the patches into it, except for those of functions that have lost their copies. */
static int text__patch(const struct text *t, const struct tracer *tracer, const struct loaded *l)
{
	int err = text__compare(t, tracer, l);
	const struct copy_patch *p;
	uint8_t bytes[PATCH_MAX];

	if (err)
		return err;
	vec__each (p, &l->image->patches) {
		if (loaded__state(l, p) != STATE_IN_PLACE)
			continue;
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

/* Returns true if none of them is between a and b. */
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
	const struct loaded *l;
	const struct copy_image *image;
	const uint32_t *order; /* NULL: that of the patches */
	size_t from, n, end;   /* from: the first one. n: the next one. end: after all */
	int step;	       /* 1, or -1: backwards */
	uint64_t start, stop;
};

static const struct copy_patch *patch_of(const struct run *r, size_t n)
{
	return &r->image->patches.data[r->order ? r->order[n] : n];
}

/* What is there for functions that have no copies. */
static bool is_left_out(const struct run *r, const struct copy_patch *p)
{
	return r->step > 0 && loaded__state(r->l, p) != STATE_IN_PLACE;
}

static bool find_run(const range_vec *ranges, struct run *r)
{
	while (r->n != r->end && is_left_out(r, patch_of(r, r->n)))
		r->n += (size_t)r->step;
	r->from = r->n;
	r->start = UINT64_MAX;
	r->stop = 0;
	for (; r->n != r->end; r->n += (size_t)r->step) {
		const struct copy_patch *p = patch_of(r, r->n);

		if (is_left_out(r, p))
			continue;

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
static struct run runs_of(const struct loaded *l, uint32_t function, int step)
{
	const struct copy_image *image = l->image;
	const struct copy_function *f =
		function == ALL_FUNCTIONS ? NULL : &image->functions.data[function];
	size_t from = f ? f->patches : 0, end = f ? f->patches_end : image->order.len;

	return (struct run){.l = l,
			    .image = image,
			    .order = f ? NULL : image->order.data,
			    .n = step > 0 ? from : end - 1,
			    .end = step > 0 ? end : from - 1,
			    .step = step};
}

static int write_patches(struct space *s, struct tracer *tracer, const struct loaded *l,
			 const struct text *text)
{
	const range_vec *ranges = kept_out(tracer, l->image);
	struct run r = runs_of(l, ALL_FUNCTIONS, 1);

	while (find_run(ranges, &r))
		if (!space__write(s, r.start + l->bias, text__at(text, r.start, r.stop - r.start),
				  r.stop - r.start))
			return -EACCES;
	return 0;
}

static enum swapped swap_patch(const struct tracer *tracer, const struct run *r,
			       const struct copy_patch *p, uint8_t *is)
{
	const struct loaded *l = r->l;
	const uint8_t *was = loaded__original(l, p);
	uint8_t patch[PATCH_MAX];

	if (!was || !copy_image__patch(l->image, tracer->arch, p, l->bias, l->base, patch))
		return SWAP_NOTHING;
	return r->step > 0 ? bytes__swap(is, was, patch, p->len)
			   : bytes__swap(is, patch, was, p->len);
}

/* Patches a run, or restores it. Whose patch is not as expected loses its copy. */
static void swap_run(struct space *s, const struct tracer *tracer, const struct run *r)
{
	const struct loaded *l = r->l;
	uint8_t bytes[PAGE];
	bool changed = false;

	if (!space__read(s, r->start + l->bias, bytes, r->stop - r->start))
		return;
	for (size_t i = r->from; i != r->n; i += (size_t)r->step) {
		const struct copy_patch *p = patch_of(r, i);
		enum swapped how =
			is_left_out(r, p) ? SWAP_NOTHING
					  : swap_patch(tracer, r, p, bytes + (p->vaddr - r->start));

		changed |= how == SWAP_DONE;
		if (how == SWAP_FOREIGN)
			loaded__set_state(tracer, l, loaded__function_of(l, p), STATE_LOST);
	}
	if (changed)
		space__write(s, r->start + l->bias, bytes, r->stop - r->start);
}

static void swap_runs(struct space *s, struct tracer *tracer, const struct loaded *l,
		      uint32_t function, int step)
{
	const range_vec *ranges = kept_out(tracer, l->image);
	struct run r = runs_of(l, function, step);

	while (find_run(ranges, &r))
		swap_run(s, tracer, &r);
}

void loaded__write(struct space *s, struct tracer *tracer, const struct loaded *l,
		   uint32_t function, bool patched)
{
	size_t lost = loaded__count(l, STATE_LOST);

	swap_runs(s, tracer, l, function, patched ? 1 : -1);
	if (patched && loaded__count(l, STATE_LOST) > lost)
		loaded__take_back(s, tracer, l);
}

void loaded__take_back(struct space *s, struct tracer *tracer, const struct loaded *l)
{
	for (uint32_t i = 0; i < l->image->functions.len; i++)
		if (l->states[i] != STATE_IN_PLACE)
			swap_runs(s, tracer, l, i, -1);
}

/* ---- what can be done while threads run ---- */

/* The code as it was, with its patches, and as it is now. */
struct new_text {
	struct text was, then, now;
	bool checked; /* it has not changed, and all threads are stopped */
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

void loaded__prepare_text(struct space *s, const struct tracer *tracer, struct loaded *l)
{
	struct new_text *t = l->text = xcalloc(1, sizeof(*l->text));
	bool done;

	text__init(&t->was, tracer->plan, l->image);
	text__init(&t->then, tracer->plan, l->image);
	text__init(&t->now, tracer->plan, l->image);
	done = text__read(&t->was, s, l->bias);
	if (done) {
		text__copy(&t->then, &t->was);
		text__copy(&t->now, &t->was); /* its memory is there in the stop */
		done = !text__patch(&t->then, tracer, l);
	}
	if (!done)
		loaded__drop_text(l);
}

/* Returns true if it has not changed since it was prepared. */
static bool is_prepared(const struct space *s, const struct loaded *l)
{
	struct new_text *t = l->text;

	return t && text__read(&t->now, s, l->bias) && text__equals(&t->was, &t->now);
}

/* ---- patching ---- */

/* The first one that will be put there. */
static const struct copy_patch *first_patch(const struct loaded *l)
{
	const struct copy_patch *p;

	vec__each (p, &l->image->patches)
		if (loaded__state(l, p) != STATE_LOST)
			return p;
	return NULL;
}

/* Whether it can be patched. Only an attempt shows whether the memory may be written: a byte is
 * written with its own value. */
int loaded__check(struct space *s, const struct tracer *tracer, const struct loaded *l)
{
	const struct copy_patch *first;
	struct text text = {0};
	int err = 0;

	if (is_prepared(s, l)) {
		l->text->checked = true;
	} else {
		text__init(&text, tracer->plan, l->image);
		err = text__read(&text, s, l->bias) ? text__compare(&text, tracer, l) : -EACCES;
		text__free(&text);
	}
	first = err ? NULL : first_patch(l);
	if (first && !space__write(s, first->vaddr + l->bias, loaded__original(l, first), 1))
		err = -EACCES;
	return err;
}

/* Our patches aren't changes. */
static void text__unpatch(const struct text *t, const struct tracer *tracer, const struct loaded *l)
{
	const struct copy_patch *p;
	uint8_t ours[PATCH_MAX];

	vec__each (p, &l->image->patches) {
		const uint8_t *was = loaded__original(l, p);
		uint8_t *is = text__at(t, p->vaddr, p->len);

		if (is && was &&
		    copy_image__patch(l->image, tracer->arch, p, l->bias, l->base, ours) &&
		    !memcmp(is, ours, p->len))
			memcpy(is, was, p->len);
	}
}

bool loaded__compare(struct space *s, const struct tracer *tracer, const struct loaded *l,
		     bool lose)
{
	const struct copy_function *f;
	struct text text = {0};
	bool any = false;

	text__init(&text, tracer->plan, l->image);
	if (text__read(&text, s, l->bias)) {
		text__unpatch(&text, tracer, l);
		vec__each (f, &l->image->functions) {
			uint32_t n = f - l->image->functions.data;

			if (l->states[n] != STATE_IN_PLACE || !has_changed(&text, tracer, l, f))
				continue;
			any = true;
			if (lose)
				loaded__set_state(tracer, l, n, STATE_LOST);
		}
	}
	text__free(&text);
	return any;
}

int loaded__patch(struct space *s, struct tracer *tracer, const struct loaded *l)
{
	bool prepared = l->text && l->text->checked;
	struct text text = {0};
	int err = 0;

	if (!prepared) {
		text__init(&text, tracer->plan, l->image);
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

	beacon__remove(s, tracer);
	vec__each (l, &s->loaded)
		if (!l->refused)
			loaded__write(s, tracer, l, ALL_FUNCTIONS, false);
}
