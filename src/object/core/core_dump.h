/* SPDX-License-Identifier: BSD-2-Clause */
/* core_dump: the queries of a core dump's bytes, in the sandbox (core_notes.c, core_stacks.c).
 * Private to src/object. */
#ifndef BBTRACE_OBJECT_CORE_CORE_DUMP_H
#define BBTRACE_OBJECT_CORE_CORE_DUMP_H

#include "core.h"

/* The answer of core_notes__read(): this, then a table of struct core_mapping. */
struct core_notes {
	uint32_t pid, tid;
	int32_t signal, code;
	uint8_t has_info, has_addr, stopped, pad[5];
	uint64_t addr;
	uint64_t entry;
	uint64_t whole; /* the original size of the file, bytes */
	uint64_t vdso, vdso_at,
		/* Where it was mapped; where it is in the file; 0 if there is none. */
		vdso_len;
	char comm[16], command[80];
};
struct core_mapping {
	uint64_t start, end, offset;
	uint64_t path; /* in the strings */
	uint8_t build_id[20];
	uint32_t build_id_len;
};

/* For sandbox__run(): ctx is the descriptor. */
void core_notes__read(void *fd, struct str *answer);

/* ---- the files that were mapped (core_files.c) ---- */

/* Opens c->files, and adds the vDSO from the dump, which is open as fd. Returns -errno with a
 * message if what the user named can't be used. */
int core_files__open(struct core *c, int fd, const struct core_notes *n,
		     const struct core_from *from);

/* ---- stacks ---- */

/* An object that the process had mapped. */
struct core_module {
	int own, debug; /* descriptors; debug is -1 if there is none */
	uint64_t bias;
};
struct core_stacks {
	int fd;
	struct core_module *modules;
	size_t n;
};
/* The answer of core_stacks__read(): the number of threads, as many struct core_thread, and then
 * the frames. */
void core_stacks__read(void *stacks, struct str *answer);
#define CORE_FRAMES  128 /* the most of a thread */
#define CORE_THREADS 10000

#endif
