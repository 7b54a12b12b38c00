/* SPDX-License-Identifier: BSD-2-Clause */
/* paths: what a path is made of. Private to src/diff. */
#ifndef BBTRACE_DIFF_PATHS_H
#define BBTRACE_DIFF_PATHS_H

#include "diff/diff.h"
#include "util/scratch.h"

struct path_chunk {
	uint64_t at; /* in scratch */
	size_t len;
};

struct path {
	size_t number;
	uint64_t key;
	struct path_thread about;
	struct str buffer;
	VEC(struct path_chunk) chunks;
	VEC(uint64_t) times;
	uint64_t time;	   /* of the last step that has one */
	uint32_t expected; /* the depth of an entry that comes next */
	size_t captured;
};

#endif
