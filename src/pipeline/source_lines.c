// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of source files, for the formats that show them. The paths come from the program's debug
 * information, which is untrusted: so only what the user could read without bbtrace is shown, from
 * regular files of limited size in the program's root that are not newer than the program. Root,
 * who may read everything, sees world-readable files.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "source_lines.h"
#include "cli/request.h"

#define MAX_FILE  (16u << 20)
#define MAX_TOTAL (256u << 20) /* bytes of all cached files */

struct source_file {
	char *path, *object;
	char *text; /* NULL if it can't be shown. Each line ends with a 0 */
	VEC(const char *) lines;
};

struct source_lines {
	struct root root;
	bool gone; /* the process whose root it is has ended */
	VEC(struct source_file) files;
	size_t last; /* the line that was requested last */
	size_t total;
};

struct source_lines *source_lines__new(pid_t pid)
{
	struct source_lines *s = xcalloc(1, sizeof(*s));

	s->gone = root__open(&s->root, pid) < 0;
	return s;
}

void source_lines__free(struct source_lines *s)
{
	struct source_file *f;

	if (!s)
		return;
	vec__each (f, &s->files) {
		free(f->path);
		free(f->object);
		free(f->text);
		vec__free(&f->lines);
	}
	vec__free(&s->files);
	root__close(&s->root);
	free(s);
}

/* True if the user could read the file: the traced program names its sources, and must not make
 * bbtrace show files that need a privilege. */
static bool may_be_read(const struct stat *st)
{
	bool ordinary = rights__user() && privileges__missing(PRIVILEGE_DAC_READ_SEARCH);

	return ordinary || st->st_mode & S_IROTH;
}

/* Opens a source. Fails also for a readable file in a folder that the user may not enter. */
static int open_source(const struct root *r, const char *path, struct stat *st)
{
	with_own_rights;
	int fd = root__open_file(r, path, MAX_FILE, st);

	if (fd < 0 || may_be_read(st))
		return fd;
	close(fd);
	return -EACCES;
}

/* True if the source may have other lines than those the program was built from. */
static bool is_newer(const struct root *r, const struct stat *st, const char *object)
{
	static const struct root ours; /* an object in a chroot has a path in our root */
	struct stat built;
	autoclose int fd = root__open_file(r, object, OBJECT_LIMIT, &built);
	autoclose int outside = fd < 0 ? root__open_file(&ours, object, OBJECT_LIMIT, &built) : -1;

	return max_of(fd, outside) >= 0 && st->st_mtime > built.st_mtime;
}

static char *read_all(int fd, size_t size)
{
	char *text = xmalloc(size + 1);
	size_t len = 0;
	ssize_t n = 1;

	while (len < size && n > 0) {
		n = pread(fd, text + len, size - len, len);
		len += n > 0 ? n : 0;
	}
	text[len] = 0;
	return text;
}

static void load(struct source_lines *s, struct source_file *f)
{
	autoclose int fd = -1;
	struct stat st;

	if (f->path[0] != '/' || s->gone)
		return;
	fd = open_source(&s->root, f->path, &st);
	if (fd < 0 || s->total + st.st_size > MAX_TOTAL)
		return;
	if (is_newer(&s->root, &st, f->object)) {
		note("%s is newer than %s: its lines are not shown", f->path, f->object);
		return;
	}
	s->total += st.st_size;
	f->text = read_all(fd, st.st_size);
	for (char *p = f->text; *p;) {
		char *end = strchrnul(p, '\n');

		vec__push(&f->lines, p);
		p = *end ? end + 1 : end;
		*end = 0;
	}
}

static struct source_file *find(struct source_lines *s, const char *object, const char *file)
{
	struct source_file *f;

	for (size_t i = 0; i <= s->files.len && s->files.len; i++) {
		f = &s->files.data[i ? i - 1 : s->last];
		if (!strcmp(f->path, file) && !strcmp(f->object, object)) {
			s->last = f - s->files.data;
			return f;
		}
	}
	s->last = s->files.len;
	f = vec__add(&s->files);
	f->path = xstrdup(file);
	f->object = xstrdup(object);
	load(s, f);
	return f;
}

const char *source_lines__line(void *ctx, const char *object, const char *file, unsigned line)
{
	const struct source_file *f = find(ctx, object, file);

	return line && line <= f->lines.len ? f->lines.data[line - 1] : NULL;
}

/* With the rights of the user: the names come from the traced program. */
bool source_lines__exists(void *ctx, const char *path)
{
	with_own_rights;
	struct stat st;

	return !stat(path, &st);
}
