/* SPDX-License-Identifier: BSD-2-Clause */
/* path_glob: patterns of paths: in a component * ? [ ] as in fnmatch(3), and ** for any number of
 * components. Pure. */
#ifndef BBTRACE_SELECT_COVERED_PATH_GLOB_H
#define BBTRACE_SELECT_COVERED_PATH_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if all of the path matches. Empty and "." components of both are ignored. */
bool path_glob__matches(const char *pattern, const char *path);
/* Returns true if a path below this folder may match. */
bool path_glob__may_hold(const char *pattern, const char *folder);
/* Returns the length of the folders at the start of the pattern that have no wildcard, without the
 * slash after them; 0: there are none. */
size_t path_glob__base(const char *pattern);
/* Returns true if the pattern has a wildcard. */
bool path_glob__is_pattern(const char *pattern);

#endif
