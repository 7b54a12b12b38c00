/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip: output in the format of gzip(1), compressed as it comes; no time is in it. Private to
 * src/output. */
#ifndef BBTRACE_OUTPUT_BASE_GZIP_H
#define BBTRACE_OUTPUT_BASE_GZIP_H

#include <zlib.h>
#include "util/util.h"

struct gzip {
	z_stream z;
	bool pending; /* bytes that no flush has followed */
};

/* level: as zlib's. Until gzip__free() the stream must not move. */
int gzip__begin(struct gzip *g, int level);
/* Compresses bytes; appends to out what zlib gives. */
void gzip__put(struct gzip *g, const struct str *bytes, struct str *out);
/* A reader of out has all bytes then, whatever follows. */
void gzip__flush(struct gzip *g, struct str *out);
void gzip__end(struct gzip *g, struct str *out);
void gzip__free(struct gzip *g);

#endif
