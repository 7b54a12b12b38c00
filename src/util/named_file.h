/* SPDX-License-Identifier: BSD-2-Clause */
/* named_file: a name in a folder, and the file that it was given to. */
#ifndef BBTRACE_UTIL_NAMED_FILE_H
#define BBTRACE_UTIL_NAMED_FILE_H

#include <sys/stat.h>

struct named_file {
	int folder; /* its descriptor */
	char *name;
	struct stat st;
};

/* Looks up which file has the name now. Returns 0, or -errno. */
int named_file__look(struct named_file *f);
/* Removes the name, if the same file still has it. */
void named_file__remove(const struct named_file *f);

#endif
