/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debuginfod: separate debug files from servers, if that was asked for. The only code here that
 * uses the network; it does so outside of the sandbox. Private to src/object.
 */
#ifndef BBTRACE_OBJECT_DEBUGINFOD_H
#define BBTRACE_OBJECT_DEBUGINFOD_H

#include "object/object.h"

/* The file with the debug information of a build: a descriptor; -1: none was found, or nothing is
 * to be fetched. It is what a server sent: check it. name: for messages. */
int debuginfod__fetch(const uint8_t *build_id, size_t len, const char *name);
/* What came wasn't that: it is not asked for again. */
void debuginfod__reject(const uint8_t *build_id, size_t len);

#endif
