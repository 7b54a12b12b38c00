// SPDX-License-Identifier: BSD-2-Clause
/* Libraries that the program needs, as far as messages lead into them. */
#include <stdlib.h>
#include "explain/libraries.h"
#include "object/tables/tables.h"

/* The C library's own messages are what errors are called, which many calls have. */
bool library__is_system(const char *soname)
{
	static const char *const names[] = {"libc.so",	     "ld-linux", "libm.so",
					    "libpthread.so", "libdl.so", "libstdc++.so",
					    "libgcc_s.so"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(soname, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Go: the path of a package of one's own begins with a domain, or is main. */
static bool is_go_standard(const char *name)
{
	size_t first = strcspn(name, "/");

	if (!name[first])
		return strncmp(name, "main.", 5) != 0 && strchr(name, '.');
	return !memchr(name, '.', first);
}

bool function__is_standard(const struct plan *p, uint32_t function)
{
	static const char *const roots[] = {
		"std::", "core::", "alloc::", "__gnu_cxx::", "T as core::"};
	const struct plan_function *f = &p->functions.data[function];
	const struct object *o = p->objects.data[f->object].object;
	const char *name = f->name;

	if (o && o->go)
		return is_go_standard(name);
	name += strspn(name, "<&");
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (!strncmp(name, roots[i], strlen(roots[i])))
			return true;
	return false;
}

static const struct object *open_library(const struct explaining *e, const char *name)
{
	return !e->library || library__is_system(path__base_name(name))
		       ? NULL
		       : e->library(e->library_ctx, name);
}

static const struct object *program_of(const struct output *o)
{
	const struct plan_object *p;

	vec__each (p, &o->plan->objects)
		if (p->object && !p->kernel)
			return p->object;
	return NULL;
}

/* ---- texts ---- */

struct searching {
	const struct explaining *e;
	const struct message *m;
	struct text_places *out;
};

static int search_library(void *ctx, const char *soname)
{
	struct searching *s = ctx;
	const struct object *o = open_library(s->e, soname);

	if (o)
		literal__find(o, s->m->text, s->m->len, s->out->all, &s->out->n);
	return 0;
}

static int has_name(void *ctx, const char *soname)
{
	return !strcmp(ctx, soname);
}

/* Likewise the modules that the program has loaded by itself. */
static void search_called(struct searching *s, const struct output *o)
{
	const struct explain_state *state = o->state;
	const struct object *program = program_of(o);
	char *const *path;

	vec__each (path, &state->called)
		if (**path == '/' && strcmp(*path, program->path) != 0 &&
		    !object__needed(program, has_name, (void *)path__base_name(*path)))
			search_library(s, *path);
}

static bool is_traced(const struct plan *p, const char *path, uint64_t vaddr)
{
	for (uint32_t i = 0; i < p->objects.len; i++)
		if (!strcmp(p->objects.data[i].path, path))
			return plan__function_at(p, i, vaddr) != NO_FUNCTION;
	return false;
}

bool library__is_traced(const struct plan *p, const struct text_place *at)
{
	return is_traced(p, at->object->path, at->code);
}

bool libraries__find_text(struct output *o, const struct message *m, struct text_places *out)
{
	const struct object *program = program_of(o);
	struct searching s = {o->options.explaining, m, out};
	size_t n = 0, all, traced = 0;

	*out = (struct text_places){0};
	if (!program)
		return false;
	literal__find(program, m->text, m->len, out->all, &out->n);
	object__needed(program, search_library, &s);
	search_called(&s, o);
	all = out->n > TEXT_PLACES_MOST ? 0 : out->n;
	for (size_t i = 0; i < all; i++)
		if (out->all[i].object != program) {
			traced += library__is_traced(o->plan, &out->all[i]);
			out->all[n++] = out->all[i];
		}
	out->n = n;
	return n && n == all && !traced;
}

/* ---- functions ---- */

#define WANTED_MOST 200

static void want(struct explaining *e, char *operand)
{
	char *const *known;

	vec__each (known, &e->elsewhere)
		if (!strcmp(*known, operand))
			break;
	if (known < vec__end(&e->elsewhere) || e->elsewhere.len == WANTED_MOST)
		free(operand);
	else
		vec__push(&e->elsewhere, operand);
}

static void want_function(struct explaining *e, const struct object *o, uint64_t vaddr)
{
	const struct symbol *symbol = object__symbol_at(o, vaddr);
	const struct frame *frame = object__frame_at(o, vaddr);
	uint64_t offset;

	if (strchr(o->path, ':')) /* no operand */
		return;
	if (symbol && symbol->exported)
		want(e, xasprintf("user:%s:%s", o->path, symbol->name));
	else if (object__vaddr_to_offset(o,
					 symbol	 ? symbol->vaddr
					 : frame ? frame->vaddr
						 : vaddr,
					 &offset))
		want(e, xasprintf("user:%s:0x%llx", o->path, (unsigned long long)offset));
}

struct looking {
	struct explaining *e;
	const char *name;
	size_t len;
	const struct object *found;
	uint64_t vaddr;
};

static int look_in_library(void *ctx, const char *soname)
{
	struct looking *l = ctx;
	const struct object *o = open_library(l->e, soname);
	const struct symbol *s;

	if (!o)
		return 0;
	vec__each (s, &o->symbols) {
		const char *name = s->exported ? symbol__show(o, s)->shown : NULL;

		/* a stub is shown with the same name */
		if (!name || strlen(name) != l->len || memcmp(name, l->name, l->len))
			continue;
		l->found = o;
		l->vaddr = s->vaddr;
		return 1;
	}
	return 0;
}

/* Returns true if the symbol is that of a PLT stub, and sets the library's function that it leads
 * to, if there is one. */
static bool find_callee(const struct output *o, const char *symbol, struct looking *out)
{
	const struct object *program = program_of(o);
	size_t len = symbol ? strcspn(symbol, "@") : 0;
	const struct plan_object *p;

	*out = (struct looking){o->options.explaining, symbol, len, NULL, 0};
	if (!len || !symbol[len])
		return false;
	/* a library's stub may lead to the library itself */
	vec__each (p, &o->plan->objects)
		if (p->object && !p->kernel && p->object != program &&
		    look_in_library(out, p->object->path))
			return true;
	object__needed(program, look_in_library, out);
	return true;
}

const char *library__of(const struct output *o, const struct location *l)
{
	const struct object *program = program_of(o);
	struct looking at;
	const char *name;

	if (!program || !l->object)
		return NULL;
	if (find_callee(o, l->symbol, &at))
		return at.found ? path__base_name(at.found->path) : NULL;
	name = path__base_name(l->object);
	return strcmp(l->object, program->path) && !library__is_system(name) && *l->object == '/'
		       ? name
		       : NULL;
}

/* A PLT stub leads to the library that has the function. */
static void want_callee(struct output *o, const struct location *l)
{
	struct explaining *e = o->options.explaining;
	const struct object *program = program_of(o), *library;
	struct looking at;

	if (!l->object)
		return;
	if (find_callee(o, l->symbol, &at)) {
		if (at.found)
			want_function(e, at.found, at.vaddr);
		return;
	}
	library = !strcmp(l->object, program->path) ? NULL : open_library(e, l->object);
	if (library)
		want_function(e, library, l->vaddr);
}

#define CAUSES_MOST 10 /* in a row */

/* A branch has tested what a function returned, because of what another one returned, and so on. */
static void want_result(struct output *o, const struct verdict *v)
{
	const struct verdict *inner;

	for (unsigned n = 0; v && v->tests_call && n < CAUSES_MOST; n++) {
		if (!v->cause) {
			want_callee(o, &v->failed_in);
			return;
		}
		inner = verdict__innermost(v->cause);
		if (inner->origin.kind == VALUE_CALL && inner->callee_known &&
		    !inner->callee_traced)
			want_callee(o, &inner->callee);
		v = verdict__deciding(v->cause);
	}
}

/* ---- children ---- */

static const struct outcomes *all_of(const struct output *o)
{
	return &((const struct explain_state *)o->state)->outcomes;
}

static bool is_planned(const struct plan *p, const char *path)
{
	const struct plan_object *o;

	vec__each (o, &p->objects)
		if (!o->kernel && !strcmp(o->path, path))
			return true;
	return false;
}

static const char *program_of_process(const struct outcomes *all, uint32_t pid)
{
	const uint64_t *index = map64__get(&all->program_of, pid);

	return index ? all->programs.data[*index - 1] : NULL;
}

/* Of a child that failed, whose program wasn't traced. */
static void want_program(struct output *o, uint32_t pid)
{
	struct explaining *e = o->options.explaining;
	const char *path = program_of_process(all_of(o), pid);
	char *const *known;

	if (!path || *path != '/' || strchr(path, ':') || is_planned(o->plan, path))
		return;
	vec__each (known, &e->programs)
		if (!strcmp(*known, path))
			return;
	vec__push(&e->programs, xstrdup(path));
}

/* Returns the last child of a process that failed; NULL if there is none. */
static const struct ended_child *last_child(const struct outcomes *all, uint32_t pid)
{
	const struct ended_child *c, *last = NULL;

	vec__each (c, &all->children)
		if (c->parent == pid)
			last = c;
	return last;
}

/* The last child that failed, its last child that failed, and so on; a process may wait for one
 * that has the PID of its parent. */
void programs__want(struct output *o)
{
	const struct outcomes *all = all_of(o);
	const struct ended_child *c = last_child(all, o->options.explaining->pid);

	for (size_t n = 0; c && n < all->children.len; n++) {
		want_program(o, c->pid);
		c = last_child(all, c->pid);
	}
}

static void want_message(struct output *o, const struct message *m)
{
	struct explaining *e = o->options.explaining;
	struct text_places text;
	const struct reached *r;
	const struct location *l;

	const char *path = program_of_process(all_of(o), m->pid);

	if (!m->text || (m->pid != e->pid && path && !is_planned(o->plan, path)))
		return;
	libraries__find_text(o, m, &text);
	for (size_t i = 0; i < text.n; i++)
		if (!library__is_traced(o->plan, &text.all[i]))
			want_function(e, text.all[i].object, text.all[i].code);
	vec__each (l, &m->stack)
		if (l->object && strcmp(l->object, program_of(o)->path) != 0 &&
		    !is_traced(o->plan, l->object, l->vaddr))
			want_callee(o, l);
	vec__each (r, &m->reached)
		if (r->frame >= m->printing.len && r->verdict->tests_call)
			want_result(o, r->verdict);
}

void libraries__want(struct output *o)
{
	const struct outcomes *all = all_of(o);

	if (!program_of(o))
		return;
	want_message(o, &all->first);
	want_message(o, &all->before);
	want_message(o, &all->last);
	want_message(o, &all->jump);
	if (message__output(all, o->options.explaining->pid))
		want_message(o, &all->output);
}
