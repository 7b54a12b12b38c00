// SPDX-License-Identifier: BSD-2-Clause
#include <fnmatch.h>
#include <string.h>
#include "path_glob.h"
#include "util/util.h"

/* A component of a path. */
struct part {
	const char *at;
	size_t len;
};

/* Takes the next component. Returns false at the end. */
static bool next(const char **at, struct part *out)
{
	do {
		*at += strspn(*at, "/");
		*out = (struct part){*at, strcspn(*at, "/")};
		*at += out->len;
	} while (out->len == 1 && *out->at == '.');
	return out->len;
}

static bool is_deep(const struct part *p)
{
	return p->len == 2 && !memcmp(p->at, "**", 2);
}

static bool part_matches(const struct part *pattern, const struct part *name)
{
	autofree char *p = xstrndup(pattern->at, pattern->len);
	autofree char *n = xstrndup(name->at, name->len);

	return !fnmatch(p, n, 0);
}

/* partly: the path is a folder, below which the rest of the pattern may match. After a mismatch the
 * last ** takes one component more. */
static bool matches(const char *pattern, const char *path, bool partly)
{
	const char *deep = NULL, *deep_path = NULL;
	struct part want, have;

	if ((*pattern == '/') != (*path == '/'))
		return false;
	for (;;) {
		const char *here = path;
		bool wants = next(&pattern, &want), has = next(&path, &have);

		if (wants && is_deep(&want)) {
			if (partly)
				return true;
			deep = pattern;
			deep_path = path = here;
			continue;
		}
		if (!has)
			return partly || !wants;
		if (wants && part_matches(&want, &have))
			continue;
		if (!deep)
			return false;
		pattern = deep;
		next(&deep_path, &have);
		path = deep_path;
	}
}

bool path_glob__matches(const char *pattern, const char *path)
{
	return matches(pattern, path, false);
}

bool path_glob__may_hold(const char *pattern, const char *folder)
{
	return matches(pattern, folder, true);
}

bool path_glob__is_pattern(const char *pattern)
{
	return strpbrk(pattern, "*?[");
}

size_t path_glob__base(const char *pattern)
{
	size_t len = strcspn(pattern, "*?[");

	if (!pattern[len])
		return len;
	while (len && pattern[len] != '/')
		len--;
	return len;
}
