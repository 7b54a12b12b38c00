// SPDX-License-Identifier: BSD-2-Clause
/* Resolves what the user named to functions: names and patterns. Offsets, ranges and points are in
 * offsets.c, FILE:LINE is in lines.c. */
#include <errno.h>
#include <stdlib.h>
#include "object/dwarf/dwarf.h"
#include "resolve/forms.h"

struct hit {
	uint32_t symbol;
	enum match match;
};

typedef VEC(struct hit) hit_vec;

/* ---- names ---- */

/* Returns true if foo.cold is included through foo. If the pattern matches only foo.cold, it is
 * separate. */
static bool comes_along(struct object *o, const struct name_query *q, uint32_t i)
{
	const struct symbol *owner = q->glob ? object__cold_part_owner(o, i) : NULL;

	return owner && name_query__match(q, owner) != MATCH_NONE;
}

static int by_string(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_symbol(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

/* foo.part.0 is code of foo: it is included with it, although it isn't exported itself. Its own
 * cold part is included in it. */
static void add_parts(struct object *o, hit_vec *hits)
{
	autofree VEC(const char *) names = {0};
	const struct symbol *s;
	const struct hit *h;

	vec__each (h, hits)
		vec__push(&names, o->symbols.data[h->symbol].name);
	vec__sort(&names, by_string);
	vec__each (s, &o->symbols) {
		size_t len = s->exported ? 0 : name__part_owner_len(s->name);
		autofree char *owner = len ? xstrndup(s->name, len) : NULL;

		if (owner && names.len && !object__cold_part_owner(o, s - o->symbols.data) &&
		    bsearch(&owner, names.data, names.len, sizeof(*names.data), by_string))
			vec__push(hits, (struct hit){s - o->symbols.data, MATCH_PART});
	}
	vec__sort(hits, by_symbol);
}

/* Puts the name to show, of the exported names of a function, first: _IO_puts is puts. */
static void prefer_plain(const struct object *o, hit_vec *hits)
{
	for (size_t i = 0, first = 0; i < hits->len; i++) {
		const struct symbol *s = &o->symbols.data[hits->data[i].symbol];
		const struct symbol *best = &o->symbols.data[hits->data[first].symbol];
		struct hit swap = hits->data[i];

		if (s->vaddr != best->vaddr)
			first = i;
		if (first == i || !s->exported || !name__is_plainer(s->name, best->name))
			continue;
		hits->data[i] = hits->data[first];
		hits->data[first] = swap;
	}
}

static void find_hits(struct object *o, const struct name_query *q, hit_vec *hits)
{
	enum match m;
	bool exact = false;
	size_t i, n = 0;

	for (i = 0; i < o->symbols.len; i++) {
		if (q->exported && !o->symbols.data[i].exported)
			continue;
		m = name_query__match(q, &o->symbols.data[i]);
		if (m == MATCH_NONE || comes_along(o, q, i))
			continue;
		exact |= m == MATCH_NAME || m == MATCH_DEMANGLED;
		vec__push(hits, (struct hit){i, m});
	}
	for (i = 0; i < hits->len; i++)
		if (!exact || hits->data[i].match != MATCH_CLONE)
			hits->data[n++] = hits->data[i];
	hits->len = n;
	if (!q->exported)
		return;
	add_parts(o, hits);
	prefer_plain(o, hits);
}

/* The number of distinct addresses among the hits of this kind (hits are sorted by address). */
static size_t count_places(const struct object *o, const hit_vec *hits, enum match match)
{
	const struct hit *h;
	uint64_t last = 0;
	size_t n = 0;

	vec__each (h, hits) {
		if (h->match != match || (n && o->symbols.data[h->symbol].vaddr == last))
			continue;
		last = o->symbols.data[h->symbol].vaddr;
		n++;
	}
	return n;
}

/* ---- the names that are shown ---- */

#define NO_HIT SIZE_MAX /* of a function that was found before */

struct shown_name {
	const char *name;
	uint64_t vaddr;
	size_t hit;
};

static int by_name(const void *a, const void *b)
{
	const struct shown_name *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Drops the short names that stand for several addresses. */
static void drop_ambiguous(const struct shown_name *sorted, size_t n, char **names)
{
	size_t i, j, end;

	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !strcmp(sorted[end].name, sorted[i].name); end++)
			;
		if (sorted[i].vaddr == sorted[end - 1].vaddr)
			continue;
		for (j = i; j < end; j++)
			if (sorted[j].hit != NO_HIT)
				util__free(&names[sorted[j].hit]);
	}
}

/*
 * Returns, for each hit of several, its readable name without parameters; NULL if that is
 * ambiguous among what is traced, or if it has no such name. The caller frees the array and the
 * names.
 */
static char **short_names(const struct object *o, const hit_vec *hits, const function_vec *v)
{
	char **names = xcalloc(hits->len, sizeof(*names));
	autofree VEC(struct shown_name) all = {0};
	const struct function *f;

	for (size_t i = 0; i < hits->len; i++) {
		const struct symbol *s = &o->symbols.data[hits->data[i].symbol];

		names[i] = name__demangle(s->name, DEMANGLE_NAME);
		vec__push(&all, (struct shown_name){names[i] ? names[i] : s->name, s->vaddr, i});
	}
	vec__each (f, v)
		if (f->object == o)
			vec__push(&all, (struct shown_name){f->name, f->entry, NO_HIT});
	vec__sort(&all, by_name);
	drop_ambiguous(all.data, all.len, names);
	return names;
}

/* The requested name, if it is unambiguous; else the symbol's own. */
static char *hit_name(struct object *o, const struct name_query *q, const struct hit *h,
		      size_t places)
{
	const struct symbol *s = symbol__show(o, &o->symbols.data[h->symbol]);

	if (q->glob || h->match == MATCH_PART || h->match == MATCH_CLONE ||
	    (h->match == MATCH_DEMANGLED && places > 1))
		return xstrdup(s->shown);
	if (places > 1 && s->version && !s->default_version && !q->version)
		return xasprintf("%s@%s", q->text, s->version);
	return xstrdup(q->text);
}

static bool has_plt_stub(const struct object *o, const char *name)
{
	size_t len = strlen(name);
	const struct symbol *s;

	vec__each (s, &o->symbols)
		if (s->type == SYMBOL_PLT && !strncmp(s->name, name, len) &&
		    !strcmp(s->name + len, "@plt"))
			return true;
	return false;
}

/* "f@OLD, f@@NEW": the functions of that name, whatever their versions. */
static void put_versions(const struct object *o, const char *name, struct str *out)
{
	const struct symbol *s;

	vec__each (s, &o->symbols) {
		if (s->type == SYMBOL_PLT || strcmp(s->name, name) != 0)
			continue;
		str__printf(out, "%s%s", out->len ? ", " : "", name);
		if (s->version)
			str__printf(out, "%s%s", s->default_version ? "@@" : "@", s->version);
	}
}

static bool has_functions(const struct object *o)
{
	const struct symbol *s;

	vec__each (s, &o->symbols)
		if (s->type != SYMBOL_PLT)
			return true;
	return false;
}

static bool any_matches(const struct object *o, const struct name_query *q)
{
	const struct symbol *s;

	vec__each (s, &o->symbols)
		if (name_query__match(q, s) != MATCH_NONE)
			return true;
	return false;
}

static bool suggest_pattern(const struct object *o, const char *pattern, struct str *out)
{
	struct name_query q;
	bool matches;

	name_query__init(&q, pattern, true);
	matches = any_matches(o, &q);
	name_query__free(&q);
	if (matches)
		str__printf(out, "; did you mean '%s'?", pattern);
	return matches;
}

/* A regular expression as a pattern of the shell: 'parse_.*' is 'parse_*'. */
static char *pattern_of_regex(const char *regex)
{
	struct str s = {0};

	for (const char *c = regex + (*regex == '^'); *c; c++)
		if (!(c[0] == '.' && c[1] == '*') && !(c[0] == '$' && !c[1]))
			str__putc(&s, *c);
	/* parse/ of /parse/ */
	if (*regex == '/' && s.len && s.data[s.len - 1] == '/')
		s.data[s.len - 1] = '*', s.data[0] = '*';
	return s.data ? s.data : xstrdup("");
}

/* A pattern that matches nothing may match with more before it, or be a regular expression. */
static void suggest_patterns(const struct object *o, const char *pattern, struct str *out)
{
	autofree char *wider = xasprintf("*%s", pattern), *shell = pattern_of_regex(pattern);

	if (!suggest_pattern(o, wider, out) && strcmp(shell, pattern))
		suggest_pattern(o, shell, out);
}

/* Names in a list, and numbers, are written differently elsewhere. */
static void suggest_form(const struct object *o, const char *name, struct str *out)
{
	autofree char *first = xstrndup(name, strcspn(name, ","));
	struct name_query q;

	name_query__init(&q, first, false);
	if (strchr(name, ',') && any_matches(o, &q))
		str__puts(out, "; names are separated by spaces");
	else if (*name == '/')
		suggest_patterns(o, name, out);
	else if (*name >= '0' && *name <= '9' && !name[strspn(name, "0123456789abcdefABCDEF")])
		str__printf(out, "; a file offset is written 0x%s", name);
	name_query__free(&q);
}

static void suggest(const struct object *o, const struct name_query *q, struct str *out)
{
	if (q->glob) {
		suggest_patterns(o, q->name, out);
		return;
	}
	suggest_form(o, q->name, out);
	if (!out->len)
		suggest__names(o, q->name, out);
}

static int not_found(const struct object *o, const struct name_query *q)
{
	autofree struct str close = {0}, versions = {0};
	bool asks;

	if (q->version)
		put_versions(o, q->name, &versions);
	if (versions.len)
		return err__set(ENOENT, "%s has no %s, but %.600s", o->path, q->text,
				versions.data);
	if (!q->glob && has_plt_stub(o, q->name))
		return err__set(ENOENT,
				"%s has no function %s of its own, it calls another "
				"object's: name that object, or its stub %s@plt",
				o->path, q->name, q->name);
	if (!has_functions(o) && object__is_packed(o))
		return err__set(ENOENT,
				"%s is packed by UPX: its functions are in it compressed alone; "
				"trace what `upx -d -o FILE %s` unpacks",
				o->path, o->path);
	if (!has_functions(o) && !o->frames.len)
		return err__set(ENOENT,
				"%s has neither symbols nor .eh_frame, so no function of it is "
				"known; they come with its debug symbols",
				o->path);
	if (!has_functions(o))
		return err__set(ENOENT,
				"%s %s, so no name %s: `bbtrace list %s` shows its functions; "
				"'*' means all of them, 0xOFF the one at that file offset; their "
				"names come with its debug symbols",
				o->path, o->stripped ? "is stripped" : "has no function symbols",
				q->text, o->path);
	suggest(o, q, &close);
	asks = close.len && close.len <= 600 && close.data[close.len - 1] == '?';
	return err__set(ENOENT, "no function %s %s in %s%s%.600s%s `bbtrace list %s` shows all",
			q->glob ? "matches" : "named", q->text, o->path,
			o->stripped ? ", which is stripped: only exported functions have names"
				    : "",
			close.len ? close.data : "", asks ? "" : ";", o->path);
}

static bool exports_functions(const struct object *o)
{
	const struct symbol *s;

	vec__each (s, &o->symbols)
		if (s->exported)
			return true;
	return false;
}

/* With --exported nothing was found. */
static int not_exported(const struct object *o, const struct name_query *q)
{
	if (!exports_functions(o))
		return err__set(
			ENOENT,
			"%s exports no function: without --exported `bbtrace list %s` shows "
			"all that it has",
			o->path, o->path);
	if (any_matches(o, q) && q->glob)
		return err__set(
			ENOENT,
			"no function that %s exports matches %s: leave out --exported, or see "
			"`bbtrace list %s --exported`",
			o->path, q->text, o->path);
	if (any_matches(o, q))
		return err__set(ENOENT,
				"%s is not exported by %s: leave out --exported; `bbtrace list %s "
				"--exported` shows what is",
				q->text, o->path, o->path);
	return not_found(o, q);
}

static int resolve_query(struct object *o, const struct name_query *q, function_vec *v)
{
	autofree struct map64 entries = {0};
	autofree hit_vec hits = {0};
	autofree char **shorts = NULL;
	size_t names, demangled;
	struct function main;
	struct hit *h;

	find_hits(o, q, &hits);
	if (!hits.len && !q->glob && !q->exported && !strcmp(q->name, "main") && o->main &&
	    object__function_at(o, o->main, &main)) {
		vec__push(v, main);
		return 0;
	}
	if (!hits.len)
		return q->exported ? not_exported(o, q) : not_found(o, q);
	names = count_places(o, &hits, MATCH_NAME);
	demangled = count_places(o, &hits, MATCH_DEMANGLED);
	entries = functions__entries(v, o);
	shorts = q->glob || demangled > 1 ? short_names(o, &hits, v)
					  : xcalloc(hits.len, sizeof(*shorts));
	vec__each (h, &hits) {
		char *name = shorts[h - hits.data];

		functions__add_symbol(v, &entries, o, h->symbol,
				      name ? name : hit_name(o, q, h, names + demangled));
	}
	return 0;
}

/*
 * All functions include those without a name, which .eh_frame bounds and which are shown by
 * address. Parts that compilers split off belong to their function.
 */
static size_t add_unnamed(struct object *o, function_vec *v)
{
	struct map64 entries = functions__entries(v, o);
	size_t before = v->len;
	const struct frame *f;
	struct function fn;

	vec__each (f, &o->frames) {
		const struct symbol *s = object__symbol_at(o, f->vaddr);

		if (f->part || f->signal || !f->size ||
		    (s && f->vaddr - s->vaddr < object__extent(o, s)) ||
		    map64__get(&entries, f->vaddr) || !object__function_at(o, f->vaddr, &fn))
			continue;
		map64__put(&entries, f->vaddr);
		vec__push(v, fn);
	}
	map64__free(&entries);
	return v->len - before;
}

static int resolve_all(struct object *o, const struct name_query *q, function_vec *v)
{
	int err = has_functions(o) || q->exported ? resolve_query(o, q, v) : -ENOENT;

	if (q->exported)
		return err;
	if ((err && err != -ENOENT) || add_unnamed(o, v))
		return err == -ENOENT ? 0 : err;
	return err ? not_found(o, q) : 0;
}

/* Resolves it as a name, or as a pattern. */
static int resolve_as(struct object *o, const struct spec *spec, bool glob, function_vec *v)
{
	struct name_query q;
	int err;

	name_query__init(&q, spec->name, glob);
	q.exported = spec->exported;
	err = glob && !strcmp(spec->name, "*") ? resolve_all(o, &q, v) : resolve_query(o, &q, v);
	name_query__free(&q);
	return err;
}

static bool is_name(const struct object *o, const struct spec *spec)
{
	struct name_query q;
	bool found;

	name_query__init(&q, spec->name, false);
	found = any_matches(o, &q);
	name_query__free(&q);
	return found;
}

/* A name may be the end of one function's qualified name: cart::add of shop::cart::add. */
static int resolve_plain(struct object *o, const struct spec *spec, function_vec *v)
{
	autofree struct str several = {0};
	autofree char *whole = NULL;
	int err = resolve_as(o, spec, false, v);

	if (err != -ENOENT)
		return err;
	whole = qualified__only(o, spec->name, &several);
	if (several.len)
		return err__set(ENOENT, "several functions of %s are called %s: name one: %s",
				o->path, spec->name, several.data);
	if (!whole)
		return err;
	err__clear();
	return resolve_as(o, &(struct spec){.name = whole, .exported = spec->exported}, false, v);
}

static int resolve_name(struct object *o, const struct spec *spec, function_vec *v)
{
	size_t before = v->len;
	int err;

	if (spec->kind != SPEC_GLOB)
		return resolve_plain(o, spec, v);
	err = resolve_as(o, spec, true, v);
	if (err != -ENOENT || v->len != before)
		return err;
	/* a pattern may be a name: operator*, operator[], main.Map[...] */
	return is_name(o, spec) ? resolve_as(o, spec, false, v) : err;
}

static int resolve_place(struct object *o, const struct spec *spec, function_vec *v)
{
	function_vec named = {0};
	int err = resolve_as(o, spec, false, &named);

	if (!err)
		err = places__select(spec, &named, v);
	functions__free(&named);
	return err;
}

int object__resolve(struct object *o, const struct spec *spec, function_vec *v)
{
	if (o->kind != OBJECT_ELF)
		return kernel__resolve(o, NULL, 0, spec, v);
	switch (spec->kind) {
	case SPEC_NAME:
	case SPEC_GLOB:
		return resolve_name(o, spec, v);
	case SPEC_OFFSET:
		return offsets__resolve(o, spec, v);
	case SPEC_RANGE:
		return ranges__resolve(o, spec, v);
	case SPEC_PLACE:
		return resolve_place(o, spec, v);
	case SPEC_LINE:
		return object__resolve_line(o, spec->text, spec->name, spec->start, v);
	case SPEC_POINTS:
		return points__resolve(o, spec, v);
	}
	return err__set(EINVAL, "%s: not a function", spec->text);
}

static bool overlaps(const struct function *f, uint64_t start, uint64_t len)
{
	const struct range *r;

	vec__each (r, &f->ranges)
		if (r->vaddr < start ? start - r->vaddr < r->size : r->vaddr - start < len)
			return true;
	return false;
}

bool spec__matches(const struct spec *spec, const struct function *f)
{
	struct name_query q;
	uint64_t vaddr;
	bool found;

	switch (spec->kind) {
	case SPEC_NAME:
	case SPEC_GLOB:
		if (spec->module &&
		    (f->object->kind != OBJECT_MODULE || strcmp(spec->module, f->object->path)))
			return false;
		name_query__init(&q, spec->name, spec->kind == SPEC_GLOB);
		found = name_query__matches_name(&q, f->raw) ||
			name_query__matches_name(&q, f->name) ||
			(f->object && functions__alias_matches(f, &q));
		name_query__free(&q);
		return found;
	case SPEC_OFFSET:
	case SPEC_RANGE:
		return !strcmp(spec->text, f->name) ||
		       (spec__vaddr(spec, f->object, &vaddr) &&
			overlaps(f, vaddr, spec->kind == SPEC_RANGE ? spec->len : 1));
	case SPEC_PLACE:
	case SPEC_LINE:
	case SPEC_POINTS:
		return false;
	}
	return false;
}

bool spec__is_line(const struct spec *spec, const char *path, unsigned line)
{
	return spec->start == line && path__is_file(path, spec->name);
}
