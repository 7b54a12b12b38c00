/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the tests of src/code: compiles a program in a scratch folder, plans an object, runs a
 * command. */
#ifndef CODE_FIXTURE_H
#define CODE_FIXTURE_H

#include <unistd.h>
#include "plan/plan.h"
#include "resolve/resolve.h"
#include "tap.h"

static char scratch[] = "/tmp/bbtrace-code-XXXXXX";

static inline void scratch__remove(void)
{
	char cmd[64];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", scratch);
	if (system(cmd))
		fprintf(stderr, "# could not remove %s\n", scratch);
}

static inline const char *scratch__path(const char *name)
{
	static char paths[8][96];
	static unsigned n;
	char *p = paths[n++ % 8];

	if (strstr(scratch, "XXXXXX")) {
		if (!mkdtemp(scratch))
			exit(99);
		atexit(scratch__remove);
	}
	snprintf(p, sizeof(paths[0]), "%s/%s", scratch, name);
	return p;
}

static inline void scratch__write(const char *name, const char *text)
{
	FILE *f = fopen(scratch__path(name), "w");

	if (!f)
		exit(99);
	fputs(text, f);
	fclose(f);
}

/* Runs a shell command in which %s is the scratch folder; true: status 0. */
static inline bool PRINTF_LIKE(1, 2) run(const char *fmt, ...)
{
	char *cmd;
	va_list ap;
	int status;

	scratch__path("");
	va_start(ap, fmt);
	if (vasprintf(&cmd, fmt, ap) < 0)
		exit(99);
	va_end(ap);
	status = system(cmd);
	free(cmd);
	return status == 0;
}

/* Resolves names (NULL-terminated) to the functions of an object. */
static inline bool resolve(struct object *o, const char *const *names, function_vec *v)
{
	for (; *names; names++) {
		struct spec s;

		if (spec__parse(*names, false, &s) || object__resolve(o, &s, v)) {
			printf("# %s\n", err__text());
			return false;
		}
		spec__free(&s);
	}
	return true;
}

static inline struct plan *plan_of(struct object *o, const char *const *names, unsigned events)
{
	struct plan_options options = {.events = events};
	function_vec v = {0};
	struct plan *p = NULL;

	if (resolve(o, names, &v) && plan__build(&v, &options, &p))
		printf("# %s\n", err__text());
	functions__free(&v);
	return p;
}

#define ALL (PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN)

#endif
