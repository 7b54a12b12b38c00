/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the tests of src/object and src/resolve: a scratch folder, programs built in it, and
 * the output of other tools about them. */
#ifndef TARGET_FIXTURE_H
#define TARGET_FIXTURE_H

#include <unistd.h>
#include "tap.h"
#include "resolve/resolve.h"

static char folder[] = "/tmp/bbtrace-test-XXXXXX";

static inline void __attribute__((format(printf, 1, 2))) run(const char *fmt, ...)
{
	char command[4096];
	__builtin_va_list ap;

	__builtin_va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	__builtin_va_end(ap);
	if (system(command) == 0)
		return;
	printf("Bail out! failed: %s\n", command);
	exit(2);
}

static inline void leave(void)
{
	run("cd / && rm -rf '%s'", folder);
}

/* Makes a temporary folder, the working directory from here on; it goes when the test ends. */
static inline void enter(void)
{
	unsetenv("DEBUGINFOD_URLS");
	if (!mkdtemp(folder) || chdir(folder)) {
		puts("Bail out! no temporary folder");
		exit(2);
	}
	atexit(leave);
}

static inline void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	if (!f || fputs(text, f) < 0 || fclose(f)) {
		printf("Bail out! can't write %s\n", name);
		exit(2);
	}
}

/* A process's lines of output: for (FILE *f = tool("nm x"); next(f, line); ) */
static inline FILE *__attribute__((format(printf, 1, 2))) tool(const char *fmt, ...)
{
	char command[4096];
	__builtin_va_list ap;
	FILE *f;

	__builtin_va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	__builtin_va_end(ap);
	f = popen(command, "r");
	if (!f) {
		printf("Bail out! failed: %s\n", command);
		exit(2);
	}
	return f;
}

static inline bool next(FILE *f, char line[4096])
{
	if (fgets(line, 4096, f)) {
		line[strcspn(line, "\n")] = 0;
		return true;
	}
	pclose(f);
	return false;
}

static inline struct object *open_or_die(const char *path)
{
	struct object *o;

	if (object__open(path, &o) == 0)
		return o;
	printf("Bail out! %s\n", err__text());
	exit(2);
}

static inline const struct symbol *symbol_named(const struct object *o, const char *name)
{
	const struct symbol *s;

	for (s = o->symbols.data; s < o->symbols.data + o->symbols.len; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

/* Resolves one FUNC; the vector is emptied first. */
static inline int resolve(struct object *o, const char *text, function_vec *v)
{
	struct spec spec;
	int err;

	functions__free(v);
	err = spec__parse(text, false, &spec);
	if (err)
		return err;
	err = object__resolve(o, &spec, v);
	spec__free(&spec);
	return err;
}

#endif
