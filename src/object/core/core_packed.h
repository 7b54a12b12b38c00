/* SPDX-License-Identifier: BSD-2-Clause */
/* core_packed: compressed core dumps. Private to src/object/core. */
#ifndef BBTRACE_OBJECT_CORE_CORE_PACKED_H
#define BBTRACE_OBJECT_CORE_CORE_PACKED_H

#include "util/util.h"

enum core_packing { CORE_PLAIN, CORE_ZSTD, CORE_XZ, CORE_LZ4, CORE_GZIP };

/* Returns how the file is compressed, by its first bytes. */
enum core_packing core_packed__by(int fd);
/*
 * Unpacks it. Returns the descriptor of a file that has no name, or -errno with a message: it is
 * damaged, or there is no room. cut: the compressed file ends early; what it has was unpacked.
 */
int core_packed__unpack(const char *path, int fd, enum core_packing packing, bool *cut);

/* ---- in the sandbox (core_stream.c) ---- */

/* How the stream ended: the last byte that is written. */
enum core_stream_end {
	CORE_STREAM_WHOLE,
	CORE_STREAM_CUT,
	CORE_STREAM_BAD,
	CORE_STREAM_LARGE,  /* it needs too much memory */
	CORE_STREAM_ABSENT, /* the library was not there when this program was built */
};
struct core_stream {
	int fd;
	enum core_packing packing;
};
/* For sandbox__run(): writes the stream, then how it ended. */
void core_stream__decode(void *stream, struct str *answer);

#endif
