// SPDX-License-Identifier: BSD-2-Clause
/* What an OBJECT that isn't found may have meant: a program whose file was deleted while it runs,
 * or a soname that was not written in full. */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include "resolve/near.h"

/* ---- deleted programs ---- */

char *near__absolute(const char *name)
{
	const char *slash = strrchr(name, '/');
	autofree char *folder = slash ? xstrndup(name, slash + 1 - name) : xstrdup(".");
	autofree char *real = NULL;
	with_own_rights;

	real = realpath(folder, NULL);
	return real ? xasprintf("%s/%s", strcmp(real, "/") ? real : "", slash ? slash + 1 : name)
		    : NULL;
}

/* Returns true if the process runs a deleted file of this name. A name without slash is that of its
 * file. */
static bool runs_deleted(uint32_t pid, const char *name)
{
	char link[32], path[PATH_MAX];
	const char *shown = path;
	ssize_t n;
	size_t len;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	path[max_of(n, 0)] = 0;
	len = path__undeleted_len(path, strlen(path));
	if (n <= 0 || len == (size_t)n)
		return false;
	path[len] = 0;
	if (!strchr(name, '/') && strrchr(path, '/'))
		shown = strrchr(path, '/') + 1;
	return !strcmp(shown, name);
}

void near__deleted(const char *name, struct str *out)
{
	autofree char *absolute = strchr(name, '/') ? near__absolute(name) : xstrdup(name);
	autofree pid_vec all = {0};
	uint32_t *pid, first = UINT32_MAX;
	size_t n = 0;

	if (!absolute)
		return;
	processes__all(&all);
	vec__each (pid, &all) {
		if (!runs_deleted(*pid, absolute))
			continue;
		first = min_of(first, *pid);
		n++;
	}
	if (n == 1)
		str__printf(out, "; it was deleted, but process %u still runs it", first);
	else if (n)
		str__printf(out, "; it was deleted, but process %u and %zu more still run it",
			    first, n - 1);
	if (n)
		str__printf(out, ": name it /proc/%u/exe", first);
}

/* ---- sonames ---- */

/* A shorter part of a name, without "lib", would be near too many. */
#define PART_MIN 3

/* ssl is libssl */
static const char *without_lib(const char *name)
{
	return strncmp(name, "lib", 3) ? name : name + 3;
}

/* The length of a soname without ".so" and what follows. */
static size_t base_len(const char *soname)
{
	const char *end = soname;

	while ((end = strstr(end, ".so")) && end[3] && end[3] != '.')
		end += 3;
	return end ? (size_t)(end - soname) : strlen(soname);
}

/* Returns 0 if it is not near; 1 without its version; 2 without its version, and a part of its
 * name. */
static unsigned farness(const char *name, const char *soname)
{
	size_t len;

	name = without_lib(name);
	soname = without_lib(soname);
	len = base_len(name);
	if (!len || strncmp(soname, name, len))
		return 0;
	if (base_len(soname) == len)
		return 1;
	return len >= PART_MIN && strchr("-.0123456789", soname[len]) ? 2 : 0;
}

/* Returns true if a is nearer than b. */
static bool is_nearer(const char *name, const char *a, const char *b)
{
	unsigned x = farness(name, a), y = farness(name, b);
	size_t a_len = strlen(a), b_len = strlen(b);

	if (x != y)
		return x < y;
	return a_len != b_len ? a_len < b_len : strcmp(a, b) < 0;
}

void near__soname(struct near *n, const char *soname)
{
	unsigned i;

	if (!farness(n->name, soname))
		return;
	for (i = 0; i < NEAR_MAX && n->best[i]; i++)
		if (!strcmp(n->best[i], soname))
			return;
	for (i = 0; i < NEAR_MAX && n->best[i] && !is_nearer(n->name, soname, n->best[i]); i++)
		;
	if (i == NEAR_MAX)
		return;
	free(n->best[NEAR_MAX - 1]);
	memmove(&n->best[i + 1], &n->best[i], (NEAR_MAX - 1 - i) * sizeof(n->best[0]));
	n->best[i] = xstrdup(soname);
}

const char *near__unversioned(const struct near *n)
{
	bool one = n->best[0] && farness(n->name, n->best[0]) == 1 &&
		   !(n->best[1] && farness(n->name, n->best[1]) == 1);

	return one && !strncmp(n->name, "lib", 3) ? n->best[0] : NULL;
}

void near__put(const struct near *n, struct str *out)
{
	unsigned i;

	/* the name without its version is meant, if there is one */
	for (i = 0; i < NEAR_MAX && n->best[i] &&
		    farness(n->name, n->best[i]) == farness(n->name, n->best[0]);
	     i++)
		str__printf(out, "%s%s", i ? ", " : "; did you mean ", n->best[i]);
	if (i)
		str__putc(out, '?');
}

void near__free(struct near *n)
{
	for (unsigned i = 0; i < NEAR_MAX; i++)
		free(n->best[i]);
}
