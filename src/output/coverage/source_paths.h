/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_paths: how coverage formats name source files. Debug information has the paths of the
 * machine that built the object; readers match files of a repository.
 */
#ifndef BBTRACE_OUTPUT_COVERAGE_SOURCE_PATHS_H
#define BBTRACE_OUTPUT_COVERAGE_SOURCE_PATHS_H

#include "coverage.h"

struct source_paths {
	const struct output_options *options;
	char *root; /* the repository's folder, "" if there is none; without a slash at its end */
	VEC(char *)
	paths; /* by file of the plan: after --prefix-map, absolute where that is known;
		  NULL for files without coverage */
};

/* Finds the root of all files that the coverage has. */
void source_paths__init(struct source_paths *p, const struct coverage *c);
void source_paths__free(struct source_paths *p);
/* Return the name of a file: absolute where that is known; and relative to the root, for files
 * below it. */
const char *source_paths__path(const struct source_paths *p, uint32_t file);
const char *source_paths__shown(const struct source_paths *p, uint32_t file);
/* Returns the name of an object: relative to the current folder, if it is below it. */
const char *source_paths__of_object(const struct source_paths *p, const char *path);

#endif
