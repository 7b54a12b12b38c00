/* SPDX-License-Identifier: BSD-2-Clause */
/* debuginfod: separate debug files from servers, if the user asked for that. Only this code uses
 * the network; it does so outside of the sandbox. Private to src/object. */
#ifndef BBTRACE_OBJECT_DEBUG_DEBUGINFOD_H
#define BBTRACE_OBJECT_DEBUG_DEBUGINFOD_H

#include "object/object.h"

/*
 * Returns a descriptor of the file with the debug information of a build; -1 if none was found, or
 * if nothing is to be fetched. A server sent the file, so it has to be checked. name is for
 * messages.
 */
int debuginfod__fetch(const uint8_t *build_id, size_t len, const char *name);
/* The file that came wasn't that: it is not asked for again. */
void debuginfod__reject(const uint8_t *build_id, size_t len);

#endif
