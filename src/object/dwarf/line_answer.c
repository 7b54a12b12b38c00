// SPDX-License-Identifier: BSD-2-Clause
/*
 * Passes the result of a search of debug information between processes as bytes, and makes
 * functions from it. The bytes are untrusted: the process that wrote them has read hostile data.
 */
#include <errno.h>
#include <stdlib.h>
#include "object/elf/cursor.h"
#include "lines.h"

/* ---- writing ---- */

static void put_number(struct str *answer, uint64_t v)
{
	str__put(answer, (const char *)&v, sizeof(v));
}

void answer__put(struct str *answer, enum answer what, uint64_t a, uint64_t b)
{
	put_number(answer, what);
	put_number(answer, a);
	put_number(answer, b);
}

void answer__put_name(struct str *answer, const char *name)
{
	put_number(answer, strlen(name));
	str__puts(answer, name);
}

/* ---- reading ---- */

bool answer__has_no_dwarf(const struct str *answer)
{
	uint64_t what;

	if (answer->len < sizeof(what))
		return false;
	memcpy(&what, answer->data, sizeof(what));
	return what == ANSWER_NO_DWARF;
}

bool lines__is_range(const struct object *o, uint64_t start, uint64_t end)
{
	size_t avail;

	object__bytes(o, start, &avail);
	return end > start && end - start <= avail && object__is_code(o, start);
}

struct reader {
	struct object *o;
	const char *text, *file; /* FILE:LINE and FILE as the user gave them */
	function_vec *out;
	struct cursor c;
	bool no_dwarf, file_known;
	uint64_t below, above;
	size_t found,
		function; /* 1 + the index of the function that ANSWER_MORE refers to; 0 if none */
};

static char *take_name(struct cursor *c)
{
	uint64_t len = cursor__uint(c, 8);
	char *name;

	if (c->bad || len > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		return NULL;
	}
	name = xstrndup((const char *)c->p, len);
	c->p += len;
	return name;
}

static size_t function_with_entry(const function_vec *v, const struct object *o, uint64_t entry)
{
	for (size_t i = 0; i < v->len; i++)
		if (v->data[i].object == o && v->data[i].entry == entry &&
		    !(v->data[i].flags & FUNCTION_RANGE))
			return i + 1;
	return 0;
}

static void add_symbol(struct reader *r, size_t i, uint64_t entry)
{
	const struct symbol *s = object__symbol_at(r->o, entry);
	struct map64 entries = functions__entries(r->out, r->o);

	functions__add_symbol(r->out, &entries, r->o, s ? (size_t)(s - r->o->symbols.data) : i,
			      xstrdup(s ? s->shown : r->o->symbols.data[i].name));
	map64__free(&entries);
}

static void take_function(struct reader *r, uint64_t entry, uint64_t size)
{
	size_t i = object__symbols_from(r->o, entry);
	autofree char *name = take_name(&r->c);

	r->function = function_with_entry(r->out, r->o, entry);
	if (r->c.bad || r->function)
		return;
	if (i < r->o->symbols.len && object__is_code(r->o, entry))
		add_symbol(r, i, entry);
	else if (size && size <= UINT64_MAX - entry && object__is_code(r->o, entry))
		functions__add_range(r->out, r->o, entry, size, xstrdup(*name ? name : r->text));
	r->function = function_with_entry(r->out, r->o, entry);
}

static bool in_function(const struct function *f, uint64_t vaddr)
{
	const struct range *r;

	vec__each (r, &f->ranges)
		if (vaddr >= r->vaddr && vaddr - r->vaddr < r->size)
			return true;
	return false;
}

static void take_more(struct reader *r, uint64_t start, uint64_t end)
{
	struct function *f = r->function ? &r->out->data[r->function - 1] : NULL;
	const struct symbol *s;

	if (!f || !lines__is_range(r->o, start, end) || in_function(f, start))
		return;
	s = object__symbol_at(r->o, start);
	vec__push(&f->ranges, (struct range){start, end - start, s ? xstrdup(s->shown) : NULL,
					     s ? start - s->vaddr : 0});
}

static void take_range(struct reader *r, uint64_t start, uint64_t end)
{
	if (!lines__is_range(r->o, start, end))
		return;
	functions__select(r->out, r->o, start, end - start);
	r->found++;
}

static void take_one(struct reader *r)
{
	uint64_t what = cursor__uint(&r->c, 8), a = cursor__uint(&r->c, 8),
		 b = cursor__uint(&r->c, 8);

	if (r->c.bad)
		return;
	switch (what) {
	case ANSWER_NO_DWARF:
		r->no_dwarf = true;
		break;
	case ANSWER_FILE:
		r->file_known = true;
		r->below = a;
		r->above = b;
		break;
	case ANSWER_RANGE:
		take_range(r, a, b);
		break;
	case ANSWER_FUNCTION:
		take_function(r, a, b);
		r->found += r->function != 0;
		break;
	case ANSWER_MORE:
		take_more(r, a, b);
		break;
	default:
		r->c.bad = true;
	}
}

/* ---- no result ---- */

static int no_debug_information(const struct object *o)
{
	autofree struct str id = {0};

	object__put_build_id(o, &id);
	return err__set(
		ENOENT,
		"%s has no debug information: compile it with -g, or install its debug file "
		"(package -dbgsym, -dbg or -debuginfo%s%s)",
		o->path, id.len ? "; build-id " : "", id.len ? id.data : "");
}

static int not_found(const struct reader *r)
{
	char near[96] = "";

	if (r->c.bad)
		return err__set(EPROTO, "%s: the debug information of %s is damaged", r->text,
				r->o->path);
	if (!r->file_known)
		return err__set(
			ENOENT,
			"the debug information of %s names no source file %s; give the last "
			"components of its path",
			r->o->path, r->file);
	if (r->below && r->above)
		snprintf(near, sizeof(near), "; the nearest lines that have are %llu and %llu",
			 (unsigned long long)r->below, (unsigned long long)r->above);
	else if (r->below || r->above)
		snprintf(near, sizeof(near), "; the nearest line that has is %llu",
			 (unsigned long long)(r->below | r->above));
	return err__set(ENOENT, "%s: that line has no code in %s%s", r->text, r->o->path, near);
}

int answer__take(struct object *o, const char *text, const char *file, const struct str *answer,
		 function_vec *v)
{
	const uint8_t *p = (const uint8_t *)answer->data;
	struct reader r = {.o = o, .text = text, .file = file, .out = v};

	if (answer->len)
		r.c = (struct cursor){.start = p, .p = p, .end = p + answer->len};
	while (!r.c.bad && r.c.p < r.c.end)
		take_one(&r);
	if (r.no_dwarf)
		return no_debug_information(o);
	return r.found && !r.c.bad ? 0 : not_found(&r);
}
