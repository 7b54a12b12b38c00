// SPDX-License-Identifier: BSD-2-Clause
/* A stream of zlib with the header and trailer of gzip(1). */
#include <errno.h>
#include "gzip.h"

#define GZIP_HEADER 16 /* zlib.h, deflateInit2(): added to windowBits */
#define ROOM	    (64 << 10)

int gzip__begin(struct gzip *g, int level)
{
	if (deflateInit2(&g->z, level, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, 8,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return 0;
	return err__set(ENOMEM, "out of memory for zlib");
}

/* Runs until zlib has taken all of its input, and has no more output. */
static void run(struct gzip *g, int flush, struct str *out)
{
	do {
		str__reserve(out, ROOM);
		g->z.next_out = (Bytef *)out->data + out->len;
		g->z.avail_out = ROOM;
		deflate(&g->z, flush);
		out->len += ROOM - g->z.avail_out;
	} while (!g->z.avail_out);
}

void gzip__put(struct gzip *g, const struct str *bytes, struct str *out)
{
	for (size_t at = 0, n; at < bytes->len; at += n) {
		n = min_of(bytes->len - at, (size_t)1 << 20); /* avail_in has 32 bits */
		g->z.next_in = (Bytef *)bytes->data + at;
		g->z.avail_in = n;
		run(g, Z_NO_FLUSH, out);
		g->pending = true;
	}
}

void gzip__flush(struct gzip *g, struct str *out)
{
	if (g->pending)
		run(g, Z_SYNC_FLUSH, out);
	g->pending = false;
}

void gzip__end(struct gzip *g, struct str *out)
{
	run(g, Z_FINISH, out);
}

void gzip__free(struct gzip *g)
{
	deflateEnd(&g->z);
}
