// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_names: finds which symbol is a part or a variant of which function, by name. Pure.
 */
#include <stdlib.h>
#include "kernel_file.h"

bool kernel_name__is_cold(const char *name)
{
	const char *p, *last = NULL;

	for (p = name; (p = strstr(p, ".cold")); p++)
		last = p;
	if (!last || last == name)
		return false;
	last += strlen(".cold");
	return !*last || (*last == '.' && last[1] && !last[1 + strspn(last + 1, "0123456789")]);
}

/* ---- symbols that start with a name and a '.' ---- */

static int by_name(const void *a, const void *b, void *symbols)
{
	const struct symbol *x = (struct symbol *)symbols + *(const uint32_t *)a;
	const struct symbol *y = (struct symbol *)symbols + *(const uint32_t *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static void index_dotted(struct object *o)
{
	struct kernel_file *f = kernel_file__of(o);

	if (f->dotted_known)
		return;
	for (size_t i = 0; i < o->symbols.len; i++)
		if (strchr(o->symbols.data[i].name, '.'))
			vec__push(&f->dotted, i);
	if (f->dotted.len)
		qsort_r(f->dotted.data, f->dotted.len, sizeof(*f->dotted.data), by_name,
			o->symbols.data);
	f->dotted_known = true;
}

/* Calls fn for each symbol named name, '.', and a rest for which wanted() is true. */
static void each_derived(struct object *o, const char *name, bool (*wanted)(const char *rest),
			 kernel_part_fn fn, void *ctx)
{
	struct kernel_file *f = kernel_file__of(o);
	size_t low = 0, high, len = strlen(name) + 1;
	autofree char *prefix = xasprintf("%s.", name);

	index_dotted(o);
	for (high = f->dotted.len; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(o->symbols.data[f->dotted.data[mid]].name, prefix) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < f->dotted.len; low++) {
		const struct symbol *s = &o->symbols.data[f->dotted.data[low]];

		if (strncmp(s->name, prefix, len))
			break;
		if (wanted(s->name + len))
			fn(ctx, o, s);
	}
}

/* ---- the owner of a part ---- */

/*
 * Returns true if the code of s seems to have a direct branch into part. Every byte
 * offset is tried: for a false positive, four unrelated bytes would have to hold exactly this
 * distance.
 */
static bool refers_to(const struct object *o, const struct symbol *s, const struct symbol *part)
{
	const struct arch_kernel *code = kernel_code();
	uint64_t target;
	size_t avail;
	const uint8_t *p = object__bytes(o, s->vaddr, &avail);

	avail = min_of(avail, s->size);
	for (size_t i = 0; p && code->branch_at && i < avail; i++)
		if (code->branch_at(p + i, avail - i, s->vaddr + i, &target) &&
		    target - part->vaddr < part->size)
			return true;
	return false;
}

static bool is_unique(const struct object *o, const struct symbol *s)
{
	const struct symbol *p;

	vec__each (p, &o->symbols)
		if (p->vaddr != s->vaddr && !strcmp(p->name, s->name))
			return false;
	return true;
}

struct owned {
	const struct symbol *owner;
	kernel_part_fn fn;
	void *ctx;
};

static void pass_if_owned(void *ctx, struct object *o, const struct symbol *part)
{
	const struct owned *w = ctx;

	if (part->vaddr != w->owner->vaddr &&
	    (refers_to(o, w->owner, part) || (is_unique(o, w->owner) && is_unique(o, part))))
		w->fn(w->ctx, o, part);
}

static bool is_cold_rest(const char *rest)
{
	return !strncmp(rest, "cold", 4) &&
	       (!rest[4] || (rest[4] == '.' && !rest[5 + strspn(rest + 5, "0123456789")]));
}

static bool is_part_rest(const char *rest)
{
	return !strncmp(rest, "part.", 5) && !kernel_name__is_cold(rest);
}

static bool is_variant_rest(const char *rest)
{
	return !is_cold_rest(rest) && !kernel_name__is_cold(rest);
}

void kernel_names__cold_parts(struct object *o, const struct symbol *s, kernel_part_fn fn,
			      void *ctx)
{
	struct owned w = {.owner = s, .fn = fn, .ctx = ctx};

	each_derived(o, s->name, is_cold_rest, pass_if_owned, &w);
}

void kernel_names__parts(struct object *o, const struct symbol *s, kernel_part_fn fn, void *ctx)
{
	struct owned w = {.owner = s, .fn = fn, .ctx = ctx};

	each_derived(o, s->name, is_part_rest, pass_if_owned, &w);
}

void kernel_names__variants(struct object *o, const char *name, kernel_part_fn fn, void *ctx)
{
	each_derived(o, name, is_variant_rest, fn, ctx);
}
