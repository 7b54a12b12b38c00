// SPDX-License-Identifier: BSD-2-Clause
/* Source lines of instructions, rendered once each. */
#include <stdlib.h>
#include "paint.h"
#include "src.h"

#define COLUMN 56 /* of the text's last cell, after time and thread */

struct src_cache {
	struct map64 by_place; /* -> struct src * */
	VEC(struct src *) all;
};

/* ---- one frame ---- */

/* For C++ and Rust: with its scopes, without parameters. Returns NULL if not known. */
static char *name_of(const struct plan_scope *s)
{
	char *name = s && s->raw ? name__demangle(s->raw, DEMANGLE_NAME) : NULL;

	if (name || !s)
		return name;
	return s->name ? xstrdup(s->name) : s->raw ? xstrdup(s->raw) : NULL;
}

static bool is_inlined(const struct plan_frame *f)
{
	return f->scope && f->scope->parent != NO_SCOPE;
}

/* Returns the functions that were folded with the one that begins here, NULL if there are none. */
static const char *folded_at(const struct plan_frame *f, uint64_t vaddr)
{
	return f->scope && f->scope->entry == vaddr ? f->scope->folded : NULL;
}

static void put_folded_json(struct json *j, const char *names)
{
	json__key(j, "folded");
	json__open_array(j);
	for (size_t n; *names; names += n + (names[n] == '\n')) {
		n = strcspn(names, "\n");
		autofree char *name = xstrndup(names, n);

		json__string(j, name);
	}
	json__close_array(j);
}

static void put_folded_text(struct str *s, const char *names)
{
	size_t n = strcspn(names, "\n"), more = 0;
	autofree char *first = xstrndup(names, n);

	for (const char *p = names; (p = strchr(p, '\n')); p++)
		more++;
	str__puts(s, ", folded with ");
	str__shown(s, first);
	if (more)
		str__printf(s, " and %zu more", more);
}

static void put_frame_json(struct json *j, const struct plan_frame *f, uint64_t vaddr)
{
	const char *folded = folded_at(f, vaddr);
	autofree char *name = name_of(f->scope);

	json__open_object(j);
	if (name)
		json__member(j, string, "function", name);
	if (f->file)
		json__member(j, string, "file", f->file);
	if (f->line)
		json__member(j, unsigned, "line", f->line);
	if (folded)
		put_folded_json(j, folded);
	json__close_object(j);
}

/* The source's own name, without the arguments of a template. */
static void put_short_name(struct str *s, const char *name)
{
	bool whole = name[0] == '<' || !strncmp(name, "operator", strlen("operator"));
	autofree char *own = xstrndup(name, whole ? strlen(name) : strcspn(name, "<"));

	str__shown(s, own);
}

/* For a function's own code, the line has the name already. before is put between frames. */
static void put_frame_text(struct str *s, const struct plan_frame *f, const char *before)
{
	const char *name = is_inlined(f) ? f->scope->name : NULL;

	if (!f->line && !name)
		return;
	str__puts(s, before);
	if (f->line) {
		str__shown(s, f->file ? path__base_name(f->file) : "?");
		str__putc(s, ':');
		str__dec(s, f->line);
	}
	if (f->line && name)
		str__putc(s, ' ');
	if (name)
		put_short_name(s, name);
}

bool src__put_json(struct json *j, const struct plan *p, uint32_t object, uint64_t vaddr)
{
	struct plan_frame f;

	if (!plan__source(p, object, vaddr, &f))
		return false;
	json__key(j, "src");
	json__open_array(j);
	do
		put_frame_json(j, &f, vaddr);
	while (plan__source_outer(p, &f));
	json__close_array(j);
	return true;
}

bool src__put_line(struct str *s, const struct plan *p, uint32_t object, uint64_t vaddr)
{
	const char *folded = NULL;
	size_t start = s->len;
	struct plan_frame f;

	if (!plan__source(p, object, vaddr, &f))
		return false;
	do {
		put_frame_text(s, &f, s->len > start ? ", " : "");
		folded = folded_at(&f, vaddr);
	} while (plan__source_outer(p, &f));
	if (folded && s->len > start)
		put_folded_text(s, folded);
	return s->len > start;
}

bool src__own_line(const struct output *o, uint32_t object, uint64_t vaddr, struct plan_frame *f)
{
	if (o->options.no_src || !plan__source(o->plan, object, vaddr, f))
		return false;
	while (plan__source_outer(o->plan, f))
		;
	return f->file && f->line;
}

/* ---- those that were rendered ---- */

struct src_cache *src_cache__new(void)
{
	return xcalloc(1, sizeof(struct src_cache));
}

void src_cache__clear(struct src_cache *c)
{
	struct src **s;

	vec__each (s, &c->all) {
		str__free(&(*s)->json);
		str__free(&(*s)->text);
		free(*s);
	}
	vec__free(&c->all);
	map64__free(&c->by_place);
	*c = (struct src_cache){0};
}

void src_cache__free(struct src_cache *c)
{
	if (c)
		src_cache__clear(c);
	free(c);
}

static struct src *render(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	struct src *s = xcalloc(1, sizeof(*s));
	struct json j = {.out = &s->json};

	s->object = object;
	s->vaddr = vaddr;
	if (src__put_json(&j, p, object, vaddr) && plan__source(p, object, vaddr, &s->frame))
		src__put_line(&s->text, p, object, vaddr);
	return s;
}

const struct src *src__of(const struct output *o, uint32_t object, uint64_t vaddr)
{
	struct src_cache *c = o->src;
	struct src *s;
	uint64_t *known;

	if (o->options.no_src || (!o->plan->lines.len && !o->plan->scope_ranges.len))
		return NULL;
	known = map64__put(&c->by_place, vaddr ^ (uint64_t)object << 48);
	s = (struct src *)(uintptr_t)*known;
	if (!s || s->object != object || s->vaddr != vaddr) {
		s = render(o->plan, object, vaddr);
		vec__push(&c->all, s);
		*known = (uintptr_t)s;
	}
	return s->json.len ? s : NULL;
}

const struct src *src__of_target(const struct output *o, const struct step *s)
{
	const char *here = s->at.object, *there = s->to.object;

	if (s->type != STEP_BRANCH || !s->to_known || !here || !there ||
	    (here != there && strcmp(here, there) != 0))
		return NULL;
	return src__of(o, o->plan->functions.data[s->function].object, s->to.vaddr);
}

/* ---- in a line of text ---- */

static bool same_line(const struct plan_frame *a, const struct plan_frame *b)
{
	return a->file == b->file && a->line == b->line;
}

void src__put_text(struct str *s, const struct src *at, const struct src *to)
{
	str__put(s, at->text.data, at->text.len);
	if (!at->text.len || !to || !to->frame.line || same_line(&at->frame, &to->frame))
		return;
	if (at->frame.file == to->frame.file && !is_inlined(&at->frame) && !is_inlined(&to->frame))
		str__printf(s, " -> %u", to->frame.line);
	else
		put_frame_text(s, &to->frame, " -> ");
}

/* Characters that are seen: no colours. */
static unsigned width_of(const char *text, const char *end)
{
	unsigned width = 0;

	for (; text < end; text++) {
		if (*text == '\033')
			while (text < end && *text != 'm')
				text++;
		else
			width += (*text & 0xc0) != 0x80;
	}
	return width;
}

void src__put_cell(struct output *o, size_t line, unsigned before, const struct str *text)
{
	const char *data = o->buffer.data;
	unsigned least = width_of(data + line, data + o->buffer.len) + 2;
	unsigned column = max_of(least, (unsigned)COLUMN), room = o->options.width;
	unsigned width = before + width_of(text->data, vec__end(text));

	if (room && width + column > room)
		column = least;
	if (!text->len || (room && width + column > room))
		return;
	put_spaces(&o->buffer, column - least + 2);
	paint(o, DIM);
	str__put(&o->buffer, text->data, text->len);
	paint(o, PLAIN);
}
