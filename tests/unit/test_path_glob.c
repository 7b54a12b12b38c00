// SPDX-License-Identifier: BSD-2-Clause
/* Patterns of paths: what matches, which folders are entered, where the search begins. */
#include "select/covered/path_glob.h"
#include "tap.h"

static void matches(const char *pattern, const char *path, bool want)
{
	ok(path_glob__matches(pattern, path) == want, "%s %s %s", pattern,
	   want ? "matches" : "doesn't match", path);
}

static void enters(const char *pattern, const char *folder, bool want)
{
	ok(path_glob__may_hold(pattern, folder) == want, "%s: %s is %s", pattern, folder,
	   want ? "entered" : "left out");
}

int main(void)
{
	matches("build/prog", "build/prog", true);
	matches("./build//prog", "build/prog", true);
	matches("build/prog", "build/progs", false);
	matches("build/*", "build/prog", true);
	matches("build/*", "build/a/prog", false);
	matches("build/*", "build", false);
	matches("build/**", "build/prog", true);
	matches("build/**", "build/a/.libs/b.so", true);
	matches("build/**", "other/prog", false);
	matches("**", "a/b/c", true);
	matches("**/*.so", "x.so", true);
	matches("**/*.so", "a/b/x.so", true);
	matches("**/*.so", "a/b/x.so.1", false);
	matches("a/**/b/*", "a/b/c", true);
	matches("a/**/b/*", "a/x/b/y/b/c", true);
	matches("a/**/b/*", "a/x/c", false);
	matches("**/a/**/b", "a/a/x/a/y/b", true);
	matches("**/a/**/b", "x/b", false);
	matches("t_[ab]?", "t_a1", true);
	matches("t_[ab]?", "t_c1", false);
	matches("/usr/*", "/usr/x", true);
	matches("/usr/*", "usr/x", false);
	matches("usr/*", "/usr/x", false);

	enters("build/*", "build", true);
	enters("build/*", "src", false);
	enters("build/*/x", "build/a", true);
	enters("build/*", "build/a/b", false);
	enters("build/**", "build/a/b", true);
	enters("**/x", "any/thing", true);

	is(path_glob__base("build/**"), 5, "the search begins in the folder before the wildcard");
	is(path_glob__base("a/b*/c"), 1, "not within a name");
	is(path_glob__base("*.so"), 0, "or nowhere");
	is(path_glob__base("a/b"), 3, "a path alone is searched itself");
	ok(path_glob__is_pattern("a?") && !path_glob__is_pattern("a/b"), "wildcards are known");
	return tap__done();
}
