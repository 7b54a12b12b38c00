// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_resolve: finds the functions of the kernel and its modules that one FUNC of the command
 * line names. Pure: it works on what kernel__open() read.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include "resolve/forms.h"

struct candidate {
	struct object *object;
	const struct symbol *symbol;
};

struct resolver {
	const struct spec *spec;
	VEC(struct object *) objects; /* objects that the spec may refer to, the kernel first */
	VEC(struct candidate) matches;
	function_vec *out;
	struct map64 have;	 /* entries of *out */
	size_t added;		 /* matches that were added to *out */
	size_t refused;		 /* matches that can't be traced */
	struct candidate reason; /* the first one that can't */
};

/* ---- one function ---- */

static void add_range(struct function *f, const struct symbol *s, const char *name)
{
	vec__push(&f->ranges,
		  (struct range){.vaddr = s->vaddr, .size = s->size, .name = xstrdup(name)});
}

static void add_cold(void *function, struct object *o, const struct symbol *s)
{
	add_range(function, s, s->shown);
}

static bool can_be_traced(struct resolver *r, struct object *o, const struct symbol *s)
{
	size_t avail;

	if (!object__noprobe_at(o, s->vaddr) && object__bytes(o, s->vaddr, &avail))
		return true;
	if (!r->refused++)
		r->reason = (struct candidate){.object = o, .symbol = s};
	return false;
}

static void add_function(struct resolver *r, struct object *o, const struct symbol *s,
			 const char *name);

static void add_part(void *ctx, struct object *o, const struct symbol *s)
{
	add_function(ctx, o, s, s->shown);
}

/* A cold part that is named on its own has no entry: jumps may lead anywhere into it. */
static void add_function(struct resolver *r, struct object *o, const struct symbol *s,
			 const char *name)
{
	bool cold = kernel_name__is_cold(s->name);
	struct function *f;

	if (map64__get(&r->have, s->vaddr)) {
		r->added++;
		return;
	}
	if (!can_be_traced(r, o, s))
		return;
	f = vec__add(r->out);
	f->object = o;
	f->name = xstrdup(name);
	f->raw = xstrdup(s->name);
	f->entry = s->vaddr;
	f->flags = (cold ? FUNCTION_RANGE : 0) | kernel_syscall__flags(s->name);
	add_range(f, s, name);
	map64__put(&r->have, s->vaddr);
	r->added++;
	if (cold)
		return;
	kernel_names__cold_parts(o, s, add_cold, f);
	kernel_names__parts(o, s, add_part, r);
}

static int refusal(const struct resolver *r)
{
	const struct object *o = r->reason.object;
	const struct symbol *s = r->reason.symbol;
	const struct noprobe *n = object__noprobe_at(o, s->vaddr);

	if (r->refused > 1)
		return err__set(EINVAL,
				"none of the %zu functions that '%s' names can be traced: %s is %s",
				r->refused, r->spec->text, s->name,
				n ? n->reason : "in code that can't be read");
	return err__set(EINVAL, "cannot trace %s: it is %s%s", s->name,
			n ? n->reason : "in code that can't be read",
			n ? "; trace what calls it" : "; run with sudo");
}

static int finish(const struct resolver *r)
{
	const struct noprobe *n;

	if (!r->added)
		return refusal(r);
	if (!r->refused)
		return 0;
	n = object__noprobe_at(r->reason.object, r->reason.symbol->vaddr);
	note_verbose("%zu functions that '%s' names are left out: %s is %s", r->refused,
		     r->spec->text, r->reason.symbol->name,
		     n ? n->reason : "in code that can't be read");
	return 0;
}

/* ---- names ---- */

static void add_match(void *ctx, struct object *o, const struct symbol *s)
{
	struct resolver *r = ctx;

	vec__push(&r->matches, (struct candidate){.object = o, .symbol = s});
}

static bool is_wanted(const struct resolver *r, const struct symbol *s)
{
	return !r->spec->exported || s->exported;
}

static void match_exactly(struct resolver *r)
{
	struct object **o;
	const struct symbol *s;

	vec__each (o, &r->objects)
		vec__each (s, &(*o)->symbols)
			if (is_wanted(r, s) &&
			    (!strcmp(s->name, r->spec->name) ||
			     (s->shown != s->name && !strcmp(s->shown, r->spec->name))))
				add_match(r, *o, s);
}

static void match_variants(struct resolver *r)
{
	struct object **o;

	vec__each (o, &r->objects)
		kernel_names__variants(*o, r->spec->name, add_match, r);
}

static int by_name_and_vaddr(const void *a, const void *b)
{
	const struct symbol *x = ((const struct candidate *)a)->symbol;
	const struct symbol *y = ((const struct candidate *)b)->symbol;
	int order = strcmp(x->name, y->name);

	return order ? order : x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Returns true if the name is ambiguous: the same name at two addresses, or variants in two
 * objects. */
static bool is_ambiguous(struct resolver *r)
{
	vec__sort(&r->matches, by_name_and_vaddr);
	for (size_t i = 1; i < r->matches.len; i++) {
		const struct candidate *a = &r->matches.data[i - 1], *b = a + 1;

		if (a->object != b->object || (a->symbol->vaddr != b->symbol->vaddr &&
					       !strcmp(a->symbol->name, b->symbol->name)))
			return true;
	}
	return false;
}

static int ambiguous(const struct resolver *r)
{
	const size_t room = 800; /* of the error's message */
	autofree struct str list = {0};
	bool modules = false;
	size_t i;

	for (i = 0; i < r->matches.len && list.len < room; i++) {
		const struct candidate *m = &r->matches.data[i];

		modules |= m->object != r->matches.data[0].object;
		str__printf(&list, "%s0x%llx", i ? ", " : "", (unsigned long long)m->symbol->vaddr);
		if (m->object->kind == OBJECT_MODULE)
			str__printf(&list, " (%s)", m->object->path);
	}
	if (i < r->matches.len)
		str__printf(&list, " and %zu more", r->matches.len - i);
	return err__set(ENOTUNIQ, "'%s' names %zu functions: %s; give the address%s", r->spec->text,
			r->matches.len, list.data,
			modules ? ", or MODULE:FUNC (kernel:FUNC for the kernel's own)" : "");
}

static int unknown(const struct resolver *r)
{
	struct object *const *o;
	autofree struct str close = {0};

	vec__each (o, &r->objects)
		if (!close.len)
			suggest__names(*o, r->spec->name, &close);
	return err__set(
		ENOENT,
		"no function '%s' in %s (inlined everywhere, or in a module that isn't loaded?)%s",
		r->spec->name, r->spec->module ? r->spec->module : "the running kernel",
		close.len ? close.data : "");
}

static int not_exported(const struct resolver *r)
{
	const char *exporter = r->spec->module ? r->spec->module : "the running kernel";

	if (r->spec->kind == SPEC_GLOB)
		return err__set(
			ENOENT,
			"no function that %s exports matches '%s': leave out --exported, or see "
			"`bbtrace list kernel --exported`",
			exporter, r->spec->name);
	return err__set(ENOENT,
			"%s exports no function '%s': leave out --exported; `bbtrace list kernel "
			"--exported` shows what is exported",
			exporter, r->spec->name);
}

static int resolve_name(struct resolver *r)
{
	const struct candidate *m;

	match_exactly(r);
	if (!r->matches.len && r->spec->exported)
		return not_exported(r);
	if (!r->matches.len)
		match_variants(r);
	if (!r->matches.len)
		return unknown(r);
	if (is_ambiguous(r))
		return ambiguous(r);
	vec__each (m, &r->matches)
		add_function(r, m->object, m->symbol, m->symbol->shown);
	return finish(r);
}

/* ---- globs ---- */

static bool is_better(const struct resolver *r, const struct symbol *a, const struct symbol *b)
{
	if (r->spec->exported)
		return name__is_plainer(a->name, b->name);
	return a->global > b->global || (a->global == b->global && strcmp(a->name, b->name) < 0);
}

/* The display name among those that match at one address: a global one, else the first. */
static const struct symbol *best_match(const struct resolver *r, const struct object *o, size_t *i)
{
	uint64_t vaddr = o->symbols.data[*i].vaddr;
	const struct symbol *best = NULL;

	for (; *i < o->symbols.len && o->symbols.data[*i].vaddr == vaddr; (*i)++) {
		const struct symbol *s = &o->symbols.data[*i];

		if (kernel_name__is_cold(s->name) && !strstr(r->spec->name, ".cold"))
			continue;
		if (fnmatch(r->spec->name, s->name, 0) &&
		    (s->shown == s->name || fnmatch(r->spec->name, s->shown, 0)))
			continue;
		if (is_wanted(r, s) && (!best || is_better(r, s, best)))
			best = s;
	}
	return best;
}

static int resolve_glob(struct resolver *r)
{
	struct object **o;

	vec__each (o, &r->objects)
		for (size_t i = 0; i < (*o)->symbols.len;) {
			const struct symbol *s = best_match(r, *o, &i);

			if (s)
				add_function(r, *o, s, s->shown);
		}
	if (!r->added && !r->refused && r->spec->exported)
		return not_exported(r);
	if (!r->added && !r->refused)
		return err__set(ENOENT, "no function of %s matches '%s'",
				r->spec->module ? r->spec->module : "the running kernel",
				r->spec->name);
	return finish(r);
}

/* ---- addresses ---- */

static struct object *object_at(const struct resolver *r, uint64_t vaddr)
{
	struct object **o;

	vec__each (o, &r->objects)
		if (object__segment_at(*o, vaddr))
			return *o;
	return NULL;
}

static int outside(const struct resolver *r)
{
	return err__set(EINVAL,
			"'%s' is not in a function of the running kernel: addresses change at each "
			"boot; list kernel shows today's",
			r->spec->text);
}

static int blacklisted(const struct resolver *r, const struct object *o, uint64_t len)
{
	const struct noprobe *n = object__noprobe_at(o, r->spec->start);

	if (!n || n->vaddr + n->size - r->spec->start < len)
		return 0;
	return err__set(EINVAL, "cannot trace '%s': it is %s", r->spec->text, n->reason);
}

/* Adds the range from an address within a function to its end. */
static int add_rest(struct resolver *r, struct object *o, const struct symbol *s)
{
	uint64_t start = r->spec->start, len = s->vaddr + s->size - start;
	int err = blacklisted(r, o, len);

	if (err)
		return err;
	functions__add_range(r->out, o, start, len, r->spec->name ? xstrdup(r->spec->name) : NULL);
	return 0;
}

static int resolve_address(struct resolver *r)
{
	uint64_t start = r->spec->start;
	struct object *o = object_at(r, start);
	const struct symbol *s = o ? object__symbol_at(o, start) : NULL;

	if (!s)
		return outside(r);
	if (s->vaddr != start)
		return add_rest(r, o, s);
	add_function(r, o, s, r->spec->name ? r->spec->name : s->shown);
	return finish(r);
}

static int resolve_range(struct resolver *r)
{
	uint64_t start = r->spec->start, len = r->spec->len;
	struct object *o = object_at(r, start);
	size_t avail;
	int err;

	if (!o || !object__bytes(o, start, &avail) || len > avail)
		return outside(r);
	err = blacklisted(r, o, len);
	if (err)
		return err;
	functions__select(r->out, o, start, len);
	return 0;
}

static int resolve_place(struct resolver *r)
{
	function_vec named = {0}, *out = r->out;
	int err;

	r->out = &named;
	map64__free(&r->have);
	r->have = (struct map64){0};
	err = resolve_name(r);
	if (!err)
		err = places__select(r->spec, &named, out);
	functions__free(&named);
	return err;
}

/* ---- all forms ---- */

/* The kernel replaces '-' by '_' in module names. */
static bool same_module(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
			return false;
	return *a == *b;
}

static void choose_objects(struct resolver *r, struct object *kernel, struct object **modules,
			   size_t n)
{
	const char *module = r->spec->module;

	if (!module || !strcmp(module, kernel->path))
		vec__push(&r->objects, kernel);
	for (size_t i = 0; i < n; i++)
		if (!module || same_module(module, modules[i]->path))
			vec__push(&r->objects, modules[i]);
}

/* Returns -ENOTSUP if it is not known what these objects export. */
static int check_exports(const struct resolver *r)
{
	struct object *const *o;

	vec__each (o, &r->objects)
		if (!kernel__lists_exports(*o))
			return err__set(
				ENOTSUP,
				"/proc/kallsyms doesn't show what this kernel exports (no "
				"__ksymtab_ symbols: it has no modules, or was built without "
				"CONFIG_KALLSYMS_ALL): leave out --exported and name the "
				"functions%s",
				r->objects.len > 1 ? ", or those of a module, 'MODULE:*'" : "");
	return 0;
}

static int resolve(struct resolver *r)
{
	const struct function *f;
	int err;

	if (!r->objects.len)
		return err__set(ENOENT, "no module '%s' is loaded: see lsmod", r->spec->module);
	err = r->spec->exported ? check_exports(r) : 0;
	if (err)
		return err;
	vec__each (f, r->out)
		if (!(f->flags & FUNCTION_RANGE))
			map64__put(&r->have, f->entry);
	switch (r->spec->kind) {
	case SPEC_NAME:
		return resolve_name(r);
	case SPEC_GLOB:
		return resolve_glob(r);
	case SPEC_PLACE:
		return resolve_place(r);
	case SPEC_OFFSET:
		return resolve_address(r);
	case SPEC_RANGE:
		return resolve_range(r);
	default:
		return err__set(EINVAL,
				"'%s': the kernel's functions go by name, pattern or address",
				r->spec->text);
	}
}

int kernel__resolve(struct object *kernel, struct object **modules, size_t nmodules,
		    const struct spec *spec, function_vec *v)
{
	struct resolver r = {.spec = spec, .out = v};
	int err;

	choose_objects(&r, kernel, modules, nmodules);
	err = resolve(&r);
	vec__free(&r.objects);
	vec__free(&r.matches);
	map64__free(&r.have);
	return err;
}
