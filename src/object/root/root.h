/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * root: opens the files that are not bbtrace's own. Front header of src/object/root, which uses
 * only util and the system. root__open_file() is the only way to a path that somebody else chose;
 * root__open() takes another process's root directory, root__shown_path() names an open file.
 */
#ifndef BBTRACE_OBJECT_ROOT_ROOT_H
#define BBTRACE_OBJECT_ROOT_ROOT_H

#include <sys/types.h>
#include "util/util.h"

/*
 * Every file whose path a traced program, its container or one of their files could have chosen
 * (objects, their debug files and sources, a container's ld.so.cache) is opened by
 * root__open_file() only, and kept as a descriptor.
 */

/* Where paths are looked up: a process's root directory in its mount namespace, or a folder that
 * has another machine's files. {0} is our own. */
struct root {
	pid_t pid; /* the process; 0 for our own root, ROOT_FOLDER for a folder */
	int fd;	   /* that directory, O_PATH; unused for our own */
};
#define ROOT_FOLDER -1
/* Sets {0} if it is the same as our own. Returns -ESRCH if there is no such process, -EACCES
 * without permission. */
int root__open(struct root *r, pid_t pid);
/* Takes a folder that the user named as a root. Returns -ENOTDIR, -ENOENT, ... with a message. */
int root__open_folder(struct root *r, const char *path);
/* Sets *r to another reference to the same root. Returns -errno if there are too many files. */
int root__copy(struct root *r, const struct root *from);
void root__close(struct root *r);

struct stat;
/*
 * Opens path beneath r for reading; the caller closes the descriptor. Links can't lead out of
 * another process's root. A relative path starts at our own working directory. *st, unless NULL,
 * gets the file's status. Returns -ENODEV if it is not a regular file (nothing was opened), -EFBIG
 * if it is larger than limit bytes, or -ENOENT, -EACCES, ... A message is set.
 */
int root__open_file(const struct root *r, const char *path, uint64_t limit, struct stat *st);
/* Returns true if path, in our own root, leads to the file that is open as fd. */
bool root__path_leads_to(const char *path, int fd);
/* Return the real path of an open file, malloc()ed. inside: as seen in r. shown: our own path if
 * there is one, else the one in r. NULL if not known. */
char *root__path_inside(const struct root *r, int fd);
char *root__shown_path(const struct root *r, int fd);

#endif
