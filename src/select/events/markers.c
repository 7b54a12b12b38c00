// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "select/targets.h"
#include "cli/command.h"
#include "dump_on.h"
#include "markers.h"

static struct probe_marker *add(struct markers *s, const struct object *o, uint64_t vaddr,
				enum marker_kind kind, char *name)
{
	vec__push(&s->names, name);
	vec__push(&s->all,
		  (struct probe_marker){.object = o, .vaddr = vaddr, .kind = kind, .name = name});
	return vec__last(&s->all);
}

/* ---- --start-on, --stop-on ---- */

static int add_function(struct markers *s, const struct function *f, enum marker_kind kind)
{
	const struct range *r;

	if (object__is_kernel(f->object))
		return err__usage(
			"%s is a function of the kernel; recording is switched by those of "
			"programs: user:OBJECT:FUNC",
			f->name);
	if (f->flags & FUNCTION_IFUNC)
		return err__usage(
			"the function that %s stands for is chosen when the program starts (IFUNC): "
			"name the one that is chosen, as bbtrace list %s shows it",
			f->name, f->object->path);
	if (!(f->flags & FUNCTION_RANGE)) {
		add(s, f->object, f->entry, kind, xstrdup(f->name));
		return 0;
	}
	vec__each (r, &f->ranges)
		add(s, f->object, r->vaddr, kind, xstrdup(r->name ? r->name : f->name));
	return 0;
}

static int find_functions(struct markers *s, const char *word, enum marker_kind kind)
{
	char *const words[] = {(char *)word};
	function_vec found = {0};
	struct function *f;
	int err = targets__find_more(&s->planning->targets, s->request, words, 1, s->planning->pid,
				     &found);

	vec__each (f, &found)
		if (!err)
			err = add_function(s, f, kind);
	functions__free(&found);
	return err ? err__prefix(err, kind == MARKER_STOP   ? "--stop-on"
				      : kind == MARKER_DUMP ? "--dump-on"
							    : "--start-on")
		   : 0;
}

/* ---- --dump-on FUNC=VALUE: at the instructions where FUNC returns ---- */

static bool returns_here(const struct plan *p, uint32_t site, const char *name)
{
	const struct plan_site *s = &p->sites.data[site];

	return s->kind == BRANCH_RET && s->role == ROLE_BRANCH && !plan__is_kernel_site(p, site) &&
	       !strcmp(p->functions.data[s->function].name, name);
}

static int find_returns(struct markers *s, const struct dump_on *d, const struct plan *plan)
{
	size_t before = s->all.len;

	for (uint32_t i = 0; i < plan->sites.len; i++) {
		const struct plan_site *site = &plan->sites.data[i];
		struct probe_marker *m;

		if (!returns_here(plan, i, d->name))
			continue;
		m = add(s, plan->objects.data[site->object].object, site->vaddr, MARKER_DUMP,
			xstrdup(d->name));
		m->mark = (struct marker_operands){.when = d->when, .constant = d->value};
	}
	if (s->all.len > before)
		return 0;
	return err__set(ENOENT,
			"--dump-on %s: returns are seen of traced functions only: "
			"trace it, too",
			d->name);
}

static int find_dump(struct markers *s, const char *text, const struct plan *plan)
{
	struct dump_on d;
	int err;

	dump_on__parse(text, &d);
	err = d.when ? find_returns(s, &d, plan) : find_functions(s, d.name, MARKER_DUMP);
	free(d.name);
	return err;
}

static int find_named(struct markers *s, const struct plan *plan)
{
	const char *const *word;
	int err = 0;

	vec__each (word, &s->request->when.start_on)
		if (!err)
			err = find_functions(s, *word, MARKER_START);
	vec__each (word, &s->request->record.dump_on)
		if (!err)
			err = find_dump(s, *word, plan);
	vec__each (word, &s->request->when.stop_on)
		if (!err)
			err = find_functions(s, *word, MARKER_STOP);
	return err;
}

/* ---- markers ---- */

static bool searches(const struct markers *s)
{
	return s->marks || s->request->when.control_app;
}

static bool is_new(struct markers *s, const struct object *o)
{
	const struct object **known;

	vec__each (known, &s->searched)
		if (*known == o)
			return false;
	vec__push(&s->searched, o);
	return true;
}

static void add_mark(struct markers *s, const struct object *o, const struct marker *m)
{
	struct marker_operands operands;

	if (marker__operands(m, arch__native(), &operands))
		add(s, o, m->vaddr, MARKER_MARK, xstrdup("BBTRACE_MARK()"))->mark = operands;
	else
		note_verbose("%s: a mark is ignored, since its operands '%s' can't be read",
			     o->path, m->args);
}

static void search(struct markers *s, const struct object *o)
{
	marker_vec found = {0};
	const struct marker *m;
	size_t before = s->all.len;

	if (object__is_kernel(o) || !is_new(s, o))
		return;
	object__markers(o, &found);
	vec__each (m, &found) {
		if (m->kind == MARKER_MARK && s->marks)
			add_mark(s, o, m);
		if (m->kind == MARKER_MARK || !s->request->when.control_app)
			continue;
		add(s, o, m->vaddr, m->kind,
		    xstrdup(m->kind == MARKER_STOP ? "BBTRACE_STOP()" : "BBTRACE_START()"));
		s->switches++;
	}
	vec__free(&found);
	if (s->all.len > before)
		note_verbose("%s has %zu markers", o->path, s->all.len - before);
}

/* A file that can't be read has no markers. NULL also if a quick look finds none and the file's
 * libraries are not needed. */
static struct object *open_file(struct markers *s, const char *name)
{
	pid_t pid = s->planning->pid;
	struct object *o = NULL;
	struct found found;
	bool looks = !object__find(name, pid, &found);

	if (looks && !s->request->when.control_app)
		looks = markers__in_file(found.fd, false);
	found__close(&found);
	if (looks && !targets__open(&s->planning->targets, name, pid, &o))
		return o;
	err__clear();
	return NULL;
}

/* With --control app, libraries must be searched before they are mapped. */
static int search_file(void *ctx, const char *name)
{
	struct markers *s = ctx;
	size_t before = s->searched.len;
	struct object *o = open_file(s, name);

	if (!o)
		return 0;
	search(s, o);
	return s->searched.len > before && s->request->when.control_app
		       ? object__needed(o, search_file, s)
		       : 0;
}

static void search_process(struct markers *s, uint32_t pid)
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

static void find_markers(struct markers *s)
{
	const struct targets *n = &s->planning->targets;
	autofree char *command = s->request->command ? command__path(s->request->command[0]) : NULL;
	const uint32_t *pid;

	for (size_t i = 0; i < n->objects.len; i++)
		search(s, n->objects.data[i]);
	if (command) {
		search_file(s, command);
	} else {
		vec__each (pid, &s->request->who.filters.pids)
			search_process(s, *pid);
	}
}

/* Searches files that may be mapped only just before their first marker is executed. */
static int find_in_files(struct markers *s)
{
	const char *const *name;
	struct object *o;
	int err;

	vec__each (name, &s->request->when.markers_in) {
		size_t before = s->all.len;

		err = targets__open(&s->planning->targets, *name, s->planning->pid, &o);
		if (err)
			return err__prefix(err, "--control");
		search(s, o);
		if (s->all.len == before)
			return err__set(ENOENT,
					"--control: %s has no BBTRACE_START() or BBTRACE_STOP() "
					"(bbtrace.h has them)",
					o->path);
	}
	return 0;
}

int markers__find(struct markers *s, const struct request *req, struct planning *p, bool marks,
		  const struct plan *plan)
{
	int err;

	s->request = req;
	s->planning = p;
	s->marks = marks;
	err = find_named(s, plan);
	if (!err)
		err = find_in_files(s);
	if (!err && searches(s))
		find_markers(s);
	return err;
}

/* ---- files that are mapped later ---- */

/* A file that is mapped again was searched before. */
void markers__mapped(struct markers *s, const char *path, uint64_t ino)
{
	uint64_t key = ino;

	if (!s->request || !searches(s) || !path || *path != '/')
		return;
	for (const char *p = path; *p; p++)
		key = key * 31 + (uint8_t)*p;
	if (map64__get(&s->seen, key))
		return;
	*map64__put(&s->seen, key) = 1;
	vec__push(&s->mapped, xstrdup(path));
}

size_t markers__look(struct markers *s)
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

void markers__free(struct markers *s)
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
