/* SPDX-License-Identifier: BSD-2-Clause */
/* pack_block: appends the bytes that a trace file has of a block. */
#ifndef BBTRACE_TESTS_UNIT_PACK_BLOCK_H
#define BBTRACE_TESTS_UNIT_PACK_BLOCK_H

#include "file/file.h"

static inline void pack_block(const struct trace_block *b, struct str *out)
{
	struct block_packer *p = block_packer__new();

	block_packer__put(p, b, out);
	block_packer__free(p);
}

#endif
