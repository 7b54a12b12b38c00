// SPDX-License-Identifier: BSD-2-Clause
/* Writes functions as words that can be given as FUNC again: by a name if no other function has it,
 * else by their version, module or address. */
#include <stdlib.h>
#include "resolve/forms.h"

/* A name under which FUNC finds a function. */
struct known_name {
	const char *name;
	char *made; /* the same, if it was made here */
	const char *version;
	const struct object *object;
	uint64_t vaddr;
};

typedef VEC(struct known_name) known_names;

static int by_name(const void *a, const void *b)
{
	const struct known_name *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int key_order(const void *key, const void *element)
{
	return strcmp(key, ((const struct known_name *)element)->name);
}

/* Returns it without parameters and template arguments, if it has no namespace: a name with one is
 * no word. */
static char *short_name(const char *mangled)
{
	char *name;

	if (strncmp(mangled, "_Z", 2) || strchr("NSZTGK", mangled[2]))
		return NULL;
	name = name__demangle(mangled, DEMANGLE_NAME);
	if (name)
		name[strcspn(name, "<")] = 0;
	return name;
}

static void add_names(known_names *all, const struct object *o)
{
	const struct symbol *s;

	vec__each (s, &o->symbols) {
		struct known_name n = {.name = s->name, .object = o, .vaddr = s->vaddr};

		if (s->type == SYMBOL_PLT)
			continue;
		n.version = s->version;
		vec__push(all, n);
		n.made = object__is_kernel(o) ? NULL : short_name(s->name);
		if (!n.made)
			continue;
		n.name = n.made;
		vec__push(all, n);
	}
}

static void free_names(known_names *all)
{
	struct known_name *n;

	vec__each (n, all)
		free(n->made);
	vec__free(all);
}

/* Returns true if FUNC takes it for a name, and the shell for one word. */
static bool is_word(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') &&
		    !(*c >= '0' && *c <= '9') && !strchr("_.$", *c))
			return false;
	return *name && strncmp(name, "0x", 2) && strncmp(name, "0X", 2);
}

/* Returns true if FUNC, as written with this version or for this object alone (NULL: any), may also
 * be another function. */
static bool is_shared(const known_names *all, const struct function *f, const char *name,
		      const char *version, const struct object *module)
{
	const struct known_name *first =
		bsearch(name, all->data, all->len, sizeof(*all->data), key_order);
	const struct known_name *n, *end = all->data + all->len;

	while (first && first > all->data && !strcmp(first[-1].name, name))
		first--;
	for (n = first; n && n < end && !strcmp(n->name, name); n++) {
		/* names in other programs are not asked */
		if (n->object != f->object && (module || !object__is_kernel(f->object)))
			continue;
		if (version && (!n->version || strcmp(n->version, version)))
			continue;
		if (n->object != f->object || n->vaddr != f->entry)
			return true;
	}
	return false;
}

static bool is_among(const function_vec *v, const struct object *o, uint64_t entry)
{
	const struct function *f;

	vec__each (f, v)
		if (f->object == o && f->entry == entry)
			return true;
	return false;
}

/* Returns true if a part of it is among the functions, as foo.part.0 is one of foo. FUNC brings the
 * parts of the name that is given, not those of other names of the same function. */
static bool has_part(const known_names *all, const function_vec *v, const struct object *o,
		     const char *name)
{
	size_t len = strlen(name), low = 0, high = all->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(all->data[middle].name, name) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < all->len && !strncmp(all->data[low].name, name, len) &&
	       all->data[low].name[len] <= '.';
	     low++)
		if (all->data[low].object == o &&
		    name__part_owner_len(all->data[low].name) == len &&
		    is_among(v, o, all->data[low].vaddr))
			return true;
	return false;
}

/* Returns an exported symbol at the function's entry: one that has its parts, if any has, else the
 * one that it is shown by, else the first. NULL if there is none. */
static const struct symbol *symbol_of(const known_names *all, const function_vec *v,
				      const struct function *f)
{
	const struct object *o = f->object;
	const struct symbol *best = NULL;
	unsigned rank, best_rank = 0;

	for (size_t i = object__symbols_from(o, f->entry);
	     i < o->symbols.len && o->symbols.data[i].vaddr == f->entry; i++) {
		const struct symbol *s = &o->symbols.data[i];

		if (!s->exported)
			continue;
		rank = 2 * has_part(all, v, o, s->name) + (f->raw && !strcmp(s->name, f->raw));
		if (best && rank <= best_rank)
			continue;
		best = s;
		best_rank = rank;
	}
	return best;
}

/* Returns the number that FUNC takes for this address; 0 if there is none. */
static uint64_t number_of(const struct function *f)
{
	struct spec spec = {.kind = SPEC_OFFSET};
	uint64_t found;

	if (object__is_kernel(f->object))
		return f->entry;
	if (object__vaddr_to_offset(f->object, f->entry, &spec.start) &&
	    spec__vaddr(&spec, f->object, &found) && found == f->entry)
		return spec.start;
	spec.start = f->entry;
	return spec__vaddr(&spec, f->object, &found) && found == f->entry ? f->entry : 0;
}

static char *word_of(const known_names *all, const function_vec *v, const struct function *f)
{
	const struct symbol *s = symbol_of(all, v, f);
	const struct object *o = f->object;
	uint64_t number;
	bool word;

	if (!s)
		return NULL;
	word = is_word(s->name);
	if (word && !is_shared(all, f, s->name, NULL, NULL))
		return xstrdup(s->name);
	if (word && s->version && is_word(s->version) && !is_shared(all, f, s->name, s->version, o))
		return xasprintf("%s@%s", s->name, s->version);
	if (word && object__is_kernel(o) && !is_shared(all, f, s->name, NULL, o))
		return xasprintf("%s:%s", o->path, s->name);
	number = number_of(f);
	if (!number)
		return NULL;
	return xasprintf(word ? "0x%llx:%s" : "0x%llx", (unsigned long long)number, s->name);
}

char **functions__words(const function_vec *v, struct object *const *objects, size_t n)
{
	char **words = xcalloc(v->len + 1, sizeof(*words));
	known_names all = {0};

	for (size_t i = 0; i < n; i++)
		add_names(&all, objects[i]);
	vec__sort(&all, by_name);
	for (size_t i = 0; i < v->len; i++)
		words[i] = word_of(&all, v, &v->data[i]);
	free_names(&all);
	return words;
}
