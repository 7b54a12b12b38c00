/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core: core dumps: whose they are, why, what was mapped, and the stacks of their threads. Front
 * header of src/object/core, which uses object.h, root and debug; notes and stacks are read in the
 * sandbox. First: core__open(), core__map_at(), core__find().
 */
#ifndef BBTRACE_OBJECT_CORE_H
#define BBTRACE_OBJECT_CORE_H

#include "util/util.h"

/* Is the file at hand the one that was mapped? */
enum core_fit {
	CORE_SAME,    /* by its build-id, or it is a part of the core dump */
	CORE_OTHER,   /* it has another build-id */
	CORE_UNKNOWN, /* the dump, or the file, has no build-id to tell it by */
	CORE_MISSING, /* it can't be read, or is no program */
};

struct core_file {
	const char *path;
	uint8_t build_id[20]; /* of what was mapped */
	size_t build_id_len;  /* 0: not known */
	enum core_fit fit;
	char *why;	       /* CORE_MISSING: the reason */
	struct object *object; /* NULL unless CORE_SAME */
};

struct core_map {
	uint64_t start, end, offset; /* offset in the file */
	uint32_t file;
};

enum core_stack_end {
	CORE_STACK_WHOLE,
	CORE_STACK_NO_RULES,   /* no unwind table tells the caller of the last frame */
	CORE_STACK_UNREADABLE, /* by its rules the caller can't be found in the dump */
	CORE_STACK_LIMIT,      /* there are more */
	CORE_STACK_ENDS
};

struct core_frame {
	uint64_t pc;
	bool calls; /* pc is the return address of a call, else the instruction that comes next */
};

struct core_thread {
	uint32_t tid;
	size_t first, n; /* in frames */
	enum core_stack_end end;
};

struct core {
	uint32_t pid, tid;    /* tid: the thread that dumped it; in their own PID namespace */
	int32_t signal, code; /* signal 0: none, as of gcore */
	bool stopped;	      /* gdb dumped it, which the signal had stopped it for */
	bool has_info;	      /* code is known */
	bool has_addr;
	uint64_t addr;	/* that the thread accessed */
	uint64_t entry; /* where the program starts; 0: not known */
	bool cut;	/* a part of the file is missing */
	uint64_t size, whole;
	uint64_t mtime; /* CLOCK_REALTIME, ns */
	char comm[16], command[80];
	VEC(struct core_map) maps; /* of files, ascending */
	VEC(struct core_file) files;
	VEC(struct core_thread) threads; /* the one that dumped it is the first */
	VEC(struct core_frame) frames;
	struct str strings;
};

/*
 * Reads a core dump, which is named by the user, the files that its processes had mapped, as far
 * as they are here, and its stacks. -ENOEXEC: it is none. A message is set.
 */
int core__open(const char *path, struct core **out);
void core__free(struct core *c);
/* The map that holds addr; NULL: none of a file. */
const struct core_map *core__map_at(const struct core *c, uint64_t addr);
/* Where an address is; NULL: of no file that is known. */
const struct core_file *core__find(const struct core *c, uint64_t addr, uint64_t *vaddr);

#endif
