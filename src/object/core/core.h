/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core: core dumps: of which process, why, what was mapped, and the stacks of its threads. Front
 * header of src/object/core, which uses object.h, root and debug; notes and stacks are read in the
 * sandbox. First: core__open(), core__read(), core__map_at(), core__find().
 */
#ifndef BBTRACE_OBJECT_CORE_CORE_H
#define BBTRACE_OBJECT_CORE_CORE_H

#include "util/util.h"

/* Whether the file that is found is the one that was mapped. */
enum core_fit {
	CORE_SAME,    /* it has the same build-id, or it is a part of the core dump */
	CORE_OTHER,   /* it has another build-id */
	CORE_UNKNOWN, /* the dump, or the file, has no build-id */
	CORE_MISSING, /* it can't be read, or is no program */
};

struct core_file {
	const char *path;
	uint8_t build_id[20]; /* of what was mapped */
	size_t build_id_len;  /* 0 if not known */
	enum core_fit fit;
	char *why;	       /* why it is CORE_MISSING */
	struct object *object; /* NULL unless CORE_SAME, or named */
	bool named;	       /* the user named the file, in place of path */
};

struct core_map {
	uint64_t start, end, offset; /* offset in the file */
	uint32_t file;
};

enum core_stack_end {
	CORE_STACK_WHOLE,
	CORE_STACK_NO_RULES,   /* no unwinding table has the caller of the last frame */
	CORE_STACK_UNREADABLE, /* by the rules, the caller can't be found in the dump */
	CORE_STACK_LIMIT,      /* there are more frames */
	CORE_STACK_ENDS
};

struct core_frame {
	uint64_t pc;
	/* pc is the return address of a call; else the next instruction. */
	bool calls;
	/* It follows from no table, but from where a call leaves its return address. The
	 * instruction before pc is a call. */
	bool assumed;
};

struct core_thread {
	uint32_t tid;
	size_t first, n; /* indices into frames */
	enum core_stack_end end;
};

struct core {
	uint32_t pid, tid;    /* in their own PID namespace; tid: the thread that dumped core */
	int32_t signal, code; /* signal 0: none, as from gcore */
	bool stopped;	      /* gdb dumped it while the signal had stopped it */
	bool has_info;	      /* code is known */
	bool has_addr;
	uint64_t addr;	      /* the address that the thread accessed */
	uint64_t entry;	      /* where the program starts; 0 if not known */
	bool cut;	      /* a part of the file is missing */
	bool packed_cut;      /* a part of the compressed file is missing */
	uint64_t size, whole; /* bytes, unpacked */
	uint64_t mtime;	      /* CLOCK_REALTIME, ns */
	char comm[16], command[80];
	VEC(struct core_map) maps; /* of files, ascending */
	VEC(struct core_file) files;
	VEC(struct core_thread) threads; /* the first one dumped core */
	VEC(struct core_frame) frames;
	struct str strings;
};

/* Where the files of the process are; NULL: not given. */
struct core_from {
	const char *sysroot; /* a folder that has them by their paths */
	const char *program;
	uint32_t pid; /* it runs: what it has mapped is opened; 0: it does not */
};
/* Reads a core dump that the user named, the files that its process had mapped, as far as they can
 * be found, and its stacks. Returns -ENOEXEC if it is no core dump. A message is set. */
int core__open(const char *path, const struct core_from *from, struct core **out);
/* Likewise from a descriptor, which stays open. name is for messages. */
int core__read(int fd, const char *name, const struct core_from *from, struct core **out);
void core__free(struct core *c);
/* Returns the map that holds addr; NULL if no file's does. */
const struct core_map *core__map_at(const struct core *c, uint64_t addr);
/* Returns the file that holds addr; NULL if it is in none that is known. */
const struct core_file *core__find(const struct core *c, uint64_t addr, uint64_t *vaddr);
/* Sets the load bias of a file whose object is open, by its first mapping. */
bool core__bias(const struct core *c, uint32_t file, uint64_t *bias);

#endif
