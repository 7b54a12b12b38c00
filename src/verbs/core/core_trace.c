// SPDX-License-Identifier: BSD-2-Clause
/* Decides whether a trace file is of the process that dumped core: by the PID, and by the
 * addresses of its files, which differ from run to run. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include "core.h"
#include "pipeline/show.h"

struct look {
	const struct core *core;
	struct spaces *spaces;
	struct map64 inner; /* process -> its PID in its own namespace */
	struct map64 ended;
	VEC(uint32_t) seen;
	VEC(const struct object *) objects;
};

/* ---- the trace ---- */

static void see(struct look *l, uint32_t pid)
{
	for (size_t i = 0; i < l->seen.len; i++)
		if (l->seen.data[i] == pid)
			return;
	vec__push(&l->seen, pid);
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	struct look *l = ctx;
	struct map m = sideband__map(e);

	if (e->type == SIDEBAND_FORK && e->pid != e->ppid) {
		spaces__fork(l->spaces, e->pid, e->ppid);
		map64__del(&l->ended, e->pid);
	} else if (e->type == SIDEBAND_EXEC) {
		spaces__exec(l->spaces, e->pid);
	} else if (e->type == SIDEBAND_MAP) {
		spaces__map(l->spaces, e->pid, &m);
	} else if (e->type == SIDEBAND_INNER) {
		*map64__put(&l->inner, e->pid) = e->count;
	} else if (e->type == SIDEBAND_EXIT && e->pid == e->tid) {
		*map64__put(&l->ended, e->pid) = 1;
	}
	if (e->pid)
		see(l, e->pid);
	return 0;
}

static int on_object(void *ctx, const struct object *o)
{
	struct look *l = ctx;

	vec__push(&l->objects, o);
	return 0;
}

/* ---- the comparison ---- */

struct build_compared {
	const struct core *core;
	const struct core_file *file;
	bool same, other;
};

static void compare_map(void *ctx, const struct map *m)
{
	struct build_compared *c = ctx;
	const struct core_map *have;

	if (!m->path || strcmp(m->path, c->file->path))
		return;
	have = core__map_at(c->core, m->start);
	if (have && &c->core->files.data[have->file] == c->file &&
	    m->start - have->start + have->offset == m->offset)
		c->same = true;
	else
		c->other = true;
}

/* Returns the trace's object of this path; NULL if it has none. */
static const struct object *object_of(const struct look *l, const char *path)
{
	for (size_t i = 0; i < l->objects.len; i++)
		if (!strcmp(l->objects.data[i]->path, path))
			return l->objects.data[i];
	return NULL;
}

static bool is_other_build(const struct look *l, const struct core_file *f)
{
	const struct object *o = object_of(l, f->path);

	return o && o->build_id_len && f->build_id_len &&
	       (o->build_id_len != f->build_id_len ||
		memcmp(o->build_id, f->build_id, f->build_id_len));
}

static void compare(struct look *l, struct core_trace *t)
{
	const struct core_file *f;

	vec__each (f, &l->core->files) {
		struct build_compared c = {l->core, f, false, false};

		spaces__each(l->spaces, t->pid, compare_map, &c);
		if ((c.same || c.other) && is_other_build(l, f) && !t->why)
			t->why = xasprintf("its %s is of another build", f->path);
		if (c.other && !c.same && !t->why)
			t->why = xasprintf("its process %u had %s at another address: it is "
					   "another run",
					   t->pid, f->path);
		t->same += c.same;
	}
	if (!t->why && !t->same)
		t->why = xasprintf("it doesn't have the addresses of the files of its process %u",
				   t->pid);
}

/* Returns the process that has this PID in its own namespace. */
static uint32_t find_pid(const struct look *l)
{
	uint32_t pid = 0;

	for (size_t i = 0; i < l->seen.len; i++) {
		const uint64_t *inner = map64__get(&l->inner, l->seen.data[i]);

		if ((inner && *inner ? *inner : l->seen.data[i]) == l->core->pid)
			pid = l->seen.data[i];
	}
	return pid;
}

static void close_look(struct look *l)
{
	spaces__free(l->spaces);
	map64__free(&l->inner);
	map64__free(&l->ended);
	vec__free(&l->seen);
	vec__free(&l->objects);
}

int core_trace__look(const char *path, const struct core *c, struct core_trace *out)
{
	static const struct trace_calls calls = {.object = on_object, .sideband = on_sideband};
	CLEANUP(close_look) struct look l = {.core = c, .spaces = spaces__recorded()};
	CLEANUP(input__close) struct input in = {.fd = -1};
	int err = input__open(&in, path);

	*out = (struct core_trace){0};
	if (err)
		return err;
	in.progress.shown = false;
	err = trace_reader__run(in.reader, &calls, &l);
	if (err && (err == -ENOEXEC || !input__is_of_file(err)))
		return err__prefix(err, "%s", path);
	out->pid = find_pid(&l);
	out->ended = map64__get(&l.ended, out->pid);
	if (out->pid)
		compare(&l, out);
	else
		out->why = xasprintf("it has no process %u", c->pid);
	return 0;
}

void core_trace__free(struct core_trace *t)
{
	free(t->why);
	t->why = NULL;
}

/* ---- beside the core dump ---- */

struct beside {
	char *path;
	uint64_t mtime;
};

static int by_time(const void *a, const void *b)
{
	const struct beside *x = a, *y = b;

	return x->mtime < y->mtime ? 1 : -(x->mtime > y->mtime);
}

static bool has_suffix(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && !strcmp(name + len - 4, ".bbt");
}

char *core_trace__beside(const char *core_path, const struct core *c)
{
	const char *slash = strrchr(core_path, '/');
	autofree char *folder = slash ? xstrndup(core_path, slash + 1 - core_path) : xstrdup("");
	VEC(struct beside) all = {0};
	char *found = NULL;
	struct dirent *e;
	DIR *d;
	with_own_rights;

	d = opendir(*folder ? folder : ".");
	while (d && (e = readdir(d))) {
		char *path = has_suffix(e->d_name) ? xasprintf("%s%s", folder, e->d_name) : NULL;
		struct stat st;

		if (path && !stat(path, &st) && input__is_trace(path))
			vec__push(&all, (struct beside){path, st.st_mtim.tv_sec * 1000000000ull +
								      st.st_mtim.tv_nsec});
		else
			free(path);
	}
	if (d)
		closedir(d);
	vec__sort(&all, by_time);
	for (size_t i = 0; i < all.len; i++) {
		struct core_trace t;

		if (!found && !core_trace__look(all.data[i].path, c, &t)) {
			if (!t.why)
				found = xstrdup(all.data[i].path);
			else
				note_verbose("%s: not of this process: %s", all.data[i].path,
					     t.why);
			core_trace__free(&t);
		}
		free(all.data[i].path);
	}
	vec__free(&all);
	return found;
}
