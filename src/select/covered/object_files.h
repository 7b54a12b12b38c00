/* SPDX-License-Identifier: BSD-2-Clause */
/* object_files: the executables and shared objects of folders, known by their first bytes. */
#ifndef BBTRACE_SELECT_COVERED_OBJECT_FILES_H
#define BBTRACE_SELECT_COVERED_OBJECT_FILES_H

#include <time.h>
#include "util/util.h"

typedef VEC(char *) path_vec; /* owned */

/*
 * Appends the paths of all files that a pattern of path_glob.h matches and that run on this
 * machine, in the order of their names. A folder means all below it. Links to folders, and what
 * version control keeps in its own folders, are left out, and with since files that have not
 * changed after that time. Uses the rights of the user. Returns 0; -E2BIG if there are more files
 * than it reads, or another error, with a message.
 */
int object_files__find(const char *pattern, const struct timespec *since, path_vec *out);
void path_vec__free(path_vec *v);

#endif
