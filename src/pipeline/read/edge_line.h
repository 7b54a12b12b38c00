/* SPDX-License-Identifier: BSD-2-Clause */
/* edge_line: reads a line of -c -F json, as src/output/json/edges.c writes it. Accepts any
 * bytes. */
#ifndef BBTRACE_PIPELINE_READ_EDGE_LINE_H
#define BBTRACE_PIPELINE_READ_EDGE_LINE_H

#include <stddef.h>
#include <stdint.h>

#define EDGE_LINE_MAX (1u << 20) /* bytes */

struct edge {
	char *object; /* owned */
	uint64_t vaddr, taken, not_taken;
};
/*
 * Returns 1 for an edge, whose object the caller frees; 0 for another event, or an edge whose
 * address is hidden; -EBADMSG with a message if the line is no JSON object, no event, or a field is
 * wrong.
 */
int edge_line__read(const char *line, size_t len, struct edge *out);

#endif
