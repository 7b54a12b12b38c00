// SPDX-License-Identifier: BSD-2-Clause
/*
 * Resolves numbers: 0xOFF, 0xOFF+0xLEN and points files of an ELF object, and NAME+0xOFF. A number
 * is a file offset; if that isn't in the code, it is a link-time address, as disassemblers and
 * bbtrace show.
 */
#include <errno.h>
#include <stdlib.h>
#include "resolve/forms.h"

/* Functions without a symbol are named by their address. */
static bool is_shown_name(const struct object *o, uint64_t vaddr)
{
	const struct frame *f = object__frame_at(o, vaddr);

	return f && f->vaddr == vaddr && !f->part && object__is_code(o, vaddr) &&
	       !object__symbol_at(o, vaddr);
}

static bool offset_in_code(const struct object *o, uint64_t offset, uint64_t *vaddr)
{
	offset = object__code_vaddr(o, offset);
	return object__offset_to_vaddr(o, offset, vaddr) && object__is_code(o, *vaddr);
}

bool spec__vaddr(const struct spec *spec, const struct object *o, uint64_t *vaddr)
{
	if (!(spec->kind == SPEC_OFFSET && is_shown_name(o, object__code_vaddr(o, spec->start))) &&
	    offset_in_code(o, spec->start, vaddr))
		return true;
	*vaddr = object__code_vaddr(o, spec->start);
	return object__is_code(o, *vaddr);
}

/* Prints a note if the number is valid both as an offset and as an address, of different places. */
static void note_choice(const struct object *o, const struct spec *spec, uint64_t vaddr)
{
	uint64_t by_offset;

	if (offset_in_code(o, spec->start, &by_offset) &&
	    by_offset != object__code_vaddr(o, spec->start) && object__is_code(o, spec->start))
		note("%s is both a file offset and an address in the code of %s: taken for the %s",
		     spec->text, o->path,
		     vaddr == by_offset ? "file offset" : "address of a function without symbol");
}

static int code_at(const struct object *o, const struct spec *spec, uint64_t *vaddr)
{
	if (!spec__vaddr(spec, o, vaddr))
		return err__set(EINVAL,
				"%s: neither file offset 0x%llx nor that address is in the code of "
				"%s (`bbtrace list %s` shows its functions)",
				spec->text, (unsigned long long)spec->start, o->path, o->path);
	note_choice(o, spec, *vaddr);
	return 0;
}

/* Returns the end of the function that contains vaddr; 0 if not known. */
static uint64_t end_of_function(const struct object *o, uint64_t vaddr)
{
	const struct symbol *s = object__symbol_at(o, vaddr);
	const struct frame *f = object__frame_at(o, vaddr);

	if (s && (s->size || !f))
		return s->vaddr + object__extent(o, s);
	return f ? f->vaddr + f->size : 0;
}

int offsets__resolve(struct object *o, const struct spec *spec, function_vec *v)
{
	const struct symbol *s;
	struct map64 entries;
	uint64_t vaddr, end;
	int err = code_at(o, spec, &vaddr);

	if (err)
		return err;
	s = object__symbol_at(o, vaddr);
	if (s && s->vaddr == vaddr) {
		entries = functions__entries(v, o);
		functions__add_symbol(v, &entries, o, s - o->symbols.data,
				      xstrdup(spec->name ? spec->name : s->shown));
		map64__free(&entries);
		return 0;
	}
	end = end_of_function(o, vaddr);
	if (!end)
		return err__set(EINVAL,
				"%s: neither a symbol nor .eh_frame of %s says where the "
				"function there ends: give a length, 0xOFF+0xLEN",
				spec->text, o->path);
	functions__add_range(v, o, vaddr, end - vaddr, spec->name ? xstrdup(spec->name) : NULL);
	return 0;
}

int ranges__resolve(struct object *o, const struct spec *spec, function_vec *v)
{
	uint64_t vaddr;
	size_t avail;
	int err = code_at(o, spec, &vaddr);

	if (err)
		return err;
	object__bytes(o, vaddr, &avail);
	if (spec->len > avail)
		return err__set(EINVAL,
				"%s reaches beyond the code of %s: 0x%zx bytes are left there",
				spec->text, o->path, avail);
	functions__select(v, o, vaddr, spec->len);
	return 0;
}

/* ---- places ---- */

/* The function's end, of the range that its entry is in. */
static uint64_t size_from_entry(const struct function *f)
{
	const struct range *r;

	vec__each (r, &f->ranges)
		if (f->entry - r->vaddr < r->size)
			return r->size - (f->entry - r->vaddr);
	return 0;
}

int places__select(const struct spec *spec, const function_vec *named, function_vec *v)
{
	const struct function *f;
	uint64_t most = 0;
	bool found = false;

	vec__each (f, named) {
		most = max_of(most, size_from_entry(f));
		if (spec->start >= size_from_entry(f))
			continue;
		functions__select(v, f->object, f->entry + spec->start, 1);
		found = true;
	}
	return found ? 0
		     : err__set(EINVAL, "%s is not in %s, which has 0x%llx bytes", spec->text,
				spec->name, (unsigned long long)most);
}

/* ---- points ---- */

static bool same_file(const struct object *o, const char *path)
{
	autofree char *real = realpath(path, NULL);

	return !strcmp(path, o->path) || (real && !strcmp(real, o->path));
}

int object__select_points(const struct object *o, const struct points_object *p, const char *path,
			  function_vec *v)
{
	const struct range *r;
	size_t avail;

	vec__each (r, &p->ranges) {
		object__bytes(o, r->vaddr, &avail);
		if (!object__is_code(o, r->vaddr) || r->size > avail)
			return err__set(EINVAL, "%s: 0x%llx+0x%llx is not in the code of %s", path,
					(unsigned long long)r->vaddr, (unsigned long long)r->size,
					o->path);
		functions__select(v, o, r->vaddr, r->size);
	}
	return 0;
}

int points__resolve(struct object *o, const struct spec *spec, function_vec *v)
{
	const struct points_object *p;
	CLEANUP(points__free) points_vec points = {0};
	size_t n = 0;
	int err = points__read(spec->name, &points);

	if (err)
		return err;
	vec__each (p, &points) {
		if (!same_file(o, p->path))
			continue;
		n += p->ranges.len;
		err = object__select_points(o, p, spec->name, v);
		if (err)
			return err;
	}
	if (!n)
		return err__set(ENOENT, "%s has no points for %s (no line \"# objname=%s\")",
				spec->name, o->path, o->path);
	return 0;
}
