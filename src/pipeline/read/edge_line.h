/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of -c -F json, as src/output/json/edges.c writes it, read back. Any bytes may come. */
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
 * 1: an edge, object to be freed. 0: another event, or an edge whose address is hidden. -EBADMSG
 * with a message: no object of JSON, not an event, or a field is wrong.
 */
int edge_line__read(const char *line, size_t len, struct edge *out);

#endif
