/* SPDX-License-Identifier: BSD-2-Clause */
/* source_lines: lines of source files, for output_options.source. */
#ifndef BBTRACE_PIPELINE_SOURCE_LINES_H
#define BBTRACE_PIPELINE_SOURCE_LINES_H

#include <stdbool.h>
#include <sys/types.h>

struct source_lines;
/* pid: the process in whose root sources are looked up; 0: our own. */
struct source_lines *source_lines__new(pid_t pid);
void source_lines__free(struct source_lines *s);
/* The function for output_options.source; ctx is a struct source_lines *. */
const char *source_lines__line(void *ctx, const char *object, const char *file, unsigned line);
/* The function for output_options.exists. */
bool source_lines__exists(void *ctx, const char *path);

#endif
