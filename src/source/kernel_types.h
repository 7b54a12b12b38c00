/* SPDX-License-Identifier: BSD-2-Clause */
/* The running kernel's types (BTF), as far as they are needed: those with certain names. */
#ifndef BBTRACE_SOURCE_KERNEL_TYPES_H
#define BBTRACE_SOURCE_KERNEL_TYPES_H

#include "util/util.h"

struct btf;

/* Reads all of them, once: before a fork, so that parent and child need not both do it. The others
 * do it themselves. 0, or -errno with a message. */
int kernel_types__read(void);
/* Those that have one of these names, and what they contain, opened: btf__free() it. */
int kernel_types__open(const char *const *names, size_t n, struct btf **out);
/* A struct's member. */
struct kernel_member {
	const char *type, *name;
};
/* Returns 0 if the running kernel has all of them; -ENOTSUP with one that it does not have. */
int kernel_types__have(const struct kernel_member *members, size_t n);

/* The number of a function (attach_btf_id of bpf(2)); 0: the kernel's types don't have it. */
uint32_t kernel_types__function(const char *name);

/* For a BPF object's relocations: a file in memory. */
struct types_file {
	int fd;	       /* -1: none; libbpf has to find the kernel's types itself */
	char path[32]; /* for libbpf */
};
/* An empty file. */
struct types_file types_file__open(void);
/* Once the object is open, before it is loaded: the types that it names. own: its types. */
int types_file__fill(const struct types_file *f, const struct btf *own);
void types_file__close(struct types_file *f);

#endif
