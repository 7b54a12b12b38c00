/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sandbox_files: a library in the sandbox that opens a file by its path gets a descriptor that was
 * opened outside, and no other file. Private to src/object/debug.
 */
#ifndef BBTRACE_OBJECT_DEBUG_SANDBOX_FILES_H
#define BBTRACE_OBJECT_DEBUG_SANDBOX_FILES_H

#include <stddef.h>

/* A file as the library names it. Each entry is opened once; several may have the same path. */
struct sandbox_file {
	char *path;
	int fd; /* -1 after it was opened */
};

/* The path that each descriptor has in the sandbox: libdw looks for other files beside it. */
#define SANDBOX_FOLDER "/.bbtrace"
#define SANDBOX_PATH   SANDBOX_FOLDER "/object"

/* From now on, open(2) and readlink(2), which the filter of the sandbox has to trap
 * (SECCOMP_RET_TRAP), are answered from these files, which must stay. */
void sandbox_files__answer(struct sandbox_file *files, size_t n);

#endif
