// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include "switches.h"

bool args__switches(const struct args *a)
{
	return a->control_app || a->start_on.len || a->stop_on.len;
}

static void add(struct switches *s, const struct object *o, uint64_t vaddr, bool stops, char *name)
{
	vec__push(&s->names, name);
	vec__push(&s->all, (struct probe_switch){o, vaddr, stops, name});
}

/* ---- --start-on, --stop-on ---- */

static int add_function(struct switches *s, const struct function *f, bool stops)
{
	const struct range *r;

	if (object__is_kernel(f->object))
		return err__usage(
			"%s is a function of the kernel; recording is switched by those of "
			"programs: user:OBJECT:FUNC",
			f->name);
	if (f->flags & FUNCTION_IFUNC)
		return err__usage(
			"which function %s is, is decided when the program starts (IFUNC): "
			"name the one that is chosen, as bbtrace list %s shows it",
			f->name, f->object->path);
	if (!(f->flags & FUNCTION_RANGE)) {
		add(s, f->object, f->entry, stops, xstrdup(f->name));
		return 0;
	}
	vec__each (r, &f->ranges)
		add(s, f->object, r->vaddr, stops, xstrdup(r->name ? r->name : f->name));
	return 0;
}

static int find_functions(struct switches *s, const char *word, bool stops)
{
	char *const words[] = {(char *)word};
	function_vec found = {0};
	struct function *f;
	int err = targets__find_more(&s->planning->targets, s->args, words, 1, s->planning->pid,
				     &found);

	vec__each (f, &found)
		if (!err)
			err = add_function(s, f, stops);
	functions__free(&found);
	return err ? err__prefix(err, stops ? "--stop-on" : "--start-on") : 0;
}

static int find_named(struct switches *s)
{
	const char *const *word;
	int err = 0;

	vec__each (word, &s->args->start_on)
		if (!err)
			err = find_functions(s, *word, false);
	vec__each (word, &s->args->stop_on)
		if (!err)
			err = find_functions(s, *word, true);
	return err;
}

/* ---- markers ---- */

static bool is_new(struct switches *s, const struct object *o)
{
	const struct object **known;

	vec__each (known, &s->searched)
		if (*known == o)
			return false;
	vec__push(&s->searched, o);
	return true;
}

static void search(struct switches *s, const struct object *o)
{
	marker_vec markers = {0};
	const struct marker *m;
	size_t before = s->markers;

	if (object__is_kernel(o) || !is_new(s, o))
		return;
	object__markers(o, &markers);
	vec__each (m, &markers) {
		if (m->kind == MARKER_MARK)
			continue;
		add(s, o, m->vaddr, m->kind == MARKER_STOP,
		    xstrdup(m->kind == MARKER_STOP ? "BBTRACE_STOP()" : "BBTRACE_START()"));
		s->markers++;
	}
	vec__free(&markers);
	if (s->markers > before)
		note_verbose("%s has %zu markers that switch recording", o->path,
			     s->markers - before);
}

/* What can't be read has no markers. */
static struct object *open_file(struct switches *s, const char *name)
{
	struct object *o = NULL;

	if (!targets__open(&s->planning->targets, name, s->planning->pid, &o))
		return o;
	err__clear();
	return NULL;
}

static int search_file(void *ctx, const char *name)
{
	struct switches *s = ctx;
	size_t before = s->searched.len;
	struct object *o = open_file(s, name);

	if (!o)
		return 0;
	search(s, o);
	return s->searched.len > before ? object__needed(o, search_file, s) : 0;
}

static void search_process(struct switches *s, uint32_t pid)
{
	map_vec maps = {0};
	const struct map *m;

	if (maps__read(pid, &maps))
		err__clear();
	vec__each (m, &maps)
		if (m->exec && m->path && *m->path == '/')
			search_file(s, m->path);
	maps__free(&maps);
}

static void find_markers(struct switches *s)
{
	const struct targets *n = &s->planning->targets;
	autofree char *command = s->args->command ? child__path_of(s->args->command[0]) : NULL;
	const uint32_t *pid;

	for (size_t i = 0; i < n->objects.len; i++)
		search(s, n->objects.data[i]);
	if (command) {
		search_file(s, command);
	} else {
		vec__each (pid, &s->args->filters.pids)
			search_process(s, *pid);
	}
}

int switches__find(struct switches *s, const struct args *a, struct planning *p)
{
	int err;

	s->args = a;
	s->planning = p;
	err = find_named(s);
	if (!err && a->control_app)
		find_markers(s);
	return err;
}

/* ---- files that are mapped later ---- */

/* A file that is mapped a second time was searched. */
void switches__mapped(struct switches *s, const char *path, uint64_t ino)
{
	uint64_t key = ino;

	if (!s->args || !s->args->control_app || !path || *path != '/')
		return;
	for (const char *p = path; *p; p++)
		key = key * 31 + (uint8_t)*p;
	if (map64__get(&s->seen, key))
		return;
	*map64__put(&s->seen, key) = 1;
	vec__push(&s->mapped, xstrdup(path));
}

size_t switches__look(struct switches *s)
{
	size_t before = s->all.len;
	char **path;

	vec__each (path, &s->mapped) {
		search_file(s, *path);
		free(*path);
	}
	s->mapped.len = 0;
	return before;
}

void switches__free(struct switches *s)
{
	char **text;

	vec__each (text, &s->names)
		free(*text);
	vec__each (text, &s->mapped)
		free(*text);
	vec__free(&s->names);
	vec__free(&s->mapped);
	vec__free(&s->all);
	vec__free(&s->searched);
	map64__free(&s->seen);
}
