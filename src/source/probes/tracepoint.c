// SPDX-License-Identifier: BSD-2-Clause
/*
 * Static tracepoints of the kernel: their names and fields, as tracefs has them in
 * events/GROUP/NAME/format (Documentation/trace/events.rst).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <unistd.h>
#include "session.h"
#include "tracefs.h"

#define FORMAT_MAX (1u << 20)

/* ---- names ---- */

typedef VEC(char *) name_vec;

static void free_names(name_vec *v)
{
	char **name;

	vec__each (name, v)
		free(*name);
	vec__free(v);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders in a folder. */
static int read_folder(int root, const char *path, name_vec *out)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir)))
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			vec__push(out, xstrdup(e->d_name));
	closedir(dir);
	vec__sort(out, by_name);
	return 0;
}

static bool is_in(const char *folder, const char *pattern)
{
	return !pattern || !fnmatch(pattern, folder, 0);
}

static void add_group(int root, const char *group, const char *pattern,
		      void (*fn)(void *ctx, const char *name), void *ctx)
{
	autofree char *path = xasprintf("events/%s", group);
	CLEANUP(free_names) name_vec names = {0};
	char **name;

	if (read_folder(root, path, &names))
		return;
	vec__each (name, &names)
		if (is_in(*name, pattern)) {
			autofree char *full = xasprintf("%s:%s", group, *name);

			fn(ctx, full);
		}
}

/* Groups of probes that tracers define, whose events belong to these. */
static bool is_defined(const char *group)
{
	static const char *const rows[] = {"bbtrace_*", "kprobes", "uprobes", "probe_*",
					   "synthetic"};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!fnmatch(rows[i], group, 0))
			return true;
	return false;
}

int tracepoints__each(const char *pattern, void (*fn)(void *ctx, const char *name), void *ctx)
{
	const char *colon = pattern ? strchr(pattern, ':') : NULL;
	autofree char *group = colon ? xstrndup(pattern, colon - pattern) : NULL;
	autoclose int root = tracefs__mount();
	CLEANUP(free_names) name_vec groups = {0};
	char **g;
	int err;

	if (root < 0)
		return root;
	err = read_folder(root, "events", &groups);
	if (err)
		return err__set(-err, "cannot read the kernel's tracepoints in tracefs: %s",
				strerror(-err));
	vec__each (g, &groups)
		if (is_in(*g, group) && !is_defined(*g))
			add_group(root, *g, colon ? colon + 1 : pattern, fn, ctx);
	return 0;
}

/* ---- the format file ---- */

/* The value behind "NAME:" in a line, up to ';'; -1: it has none. */
static long number_of(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* "char comm[16]": the name's end, and that of the type. */
static bool split(char *declaration, char **name, char **bracket)
{
	char *end = declaration + strlen(declaration);

	*bracket = end > declaration && end[-1] == ']' ? strrchr(declaration, '[') : NULL;
	end = *bracket ? *bracket : end;
	while (end > declaration && end[-1] == ' ')
		end--;
	*end = *bracket ? 0 : *end;
	*name = end;
	while (*name > declaration && (*name)[-1] != ' ' && (*name)[-1] != '*')
		--*name;
	return *name > declaration && *name < end;
}

static bool is_text(const char *type)
{
	return begins(type, "char") || begins(type, "const char") || begins(type, "unsigned char");
}

/* How the bytes of a field of this type are read. */
static enum named_type type_of(const char *type, bool array, unsigned size, bool is_signed)
{
	bool located = begins(type, "__data_loc ");
	bool text = is_text(located ? type + strlen("__data_loc ") : type);

	if (located)
		return text ? TYPE_STRING_AT : TYPE_BYTES_AT;
	if (array && text)
		return TYPE_STRING;
	if (strchr(type, '*'))
		return TYPE_HEX;
	if (!strcmp(type, "bool"))
		return TYPE_BOOL;
	if (size != 1 && size != 2 && size != 4 && size != 8 && !array)
		return TYPE_BYTES;
	return is_signed ? TYPE_SIGNED : TYPE_UNSIGNED;
}

/* Of an array of numbers: how many; 0: their size isn't that of a number. */
static unsigned elements_of(const char *bracket, unsigned size)
{
	long n = bracket ? strtol(bracket + 1, NULL, 10) : 0;
	unsigned each = n > 0 && (unsigned)n <= size && size % n == 0 ? size / n : 0;

	return each == 1 || each == 2 || each == 4 || each == 8 ? n : 0;
}

/* What is in front of the name, and behind it: "char[16]". */
static void put_type(const char *field, char *name, const char *bracket, char *out, size_t size)
{
	long n = bracket ? strtol(bracket + 1, NULL, 10) : 0;

	name[-1] = name[-1] == ' ' ? 0 : name[-1];
	if (n > 0)
		snprintf(out, size, "%s[%ld]", field, n);
	else
		snprintf(out, size, "%s", field);
}

/* "	field:char prev_comm[16];	offset:8;	size:16;	signed:0;" */
static bool parse_field(char *line, char *type, size_t size_of_type, struct plan_field *out)
{
	long offset = number_of(line, "\toffset:"), size = number_of(line, "\tsize:"),
	     is_signed = number_of(line, "\tsigned:");
	char *field = strstr(line, "field:"), *name, *bracket;
	bool array;

	if (!field || offset < 0 || size < 0 || offset > NAMED_DATA || size > NAMED_DATA)
		return false;
	field += strlen("field:");
	field[strcspn(field, ";")] = 0;
	if (!split(field, &name, &bracket) || begins(name, "common_"))
		return false;
	*out = (struct plan_field){.name = name, .offset = offset, .size = size};
	array = bracket && !begins(field, "__data_loc ");
	out->kind = type_of(field, array, size, is_signed > 0);
	out->count = array && out->kind < TYPE_STRING ? elements_of(bracket, size) : 0;
	if (array && out->kind < TYPE_STRING && !out->count)
		out->kind = TYPE_BYTES;
	put_type(field, name, bracket, type, size_of_type);
	out->type = type;
	return true;
}

void tracepoint__parse(const char *format, struct plan *p)
{
	autofree char *text = xstrdup(format);
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct plan_field f;
		char type[128];

		if (parse_field(line, type, sizeof(type), &f))
			plan__add_field(p, &f);
	}
}

int tracepoint__add(struct plan *p, const char *name)
{
	const char *colon = strchr(name, ':');
	autofree char *path =
		xasprintf("events/%.*s/%s/format", (int)(colon - name), name, colon + 1);
	autofree char *text = NULL;
	autoclose int root = tracefs__mount();
	int fd, err;

	if (root < 0)
		return root;
	fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : fd__read(fd, path, FORMAT_MAX, &text, NULL);
	util__close(&fd);
	if (err)
		return err__set(-err, "tracepoint %s: cannot read its fields: %s", name,
				strerror(-err));
	plan__add_named(p, NAMED_TRACEPOINT, name);
	tracepoint__parse(text, p);
	return 0;
}
