/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel: the running kernel and its modules as objects, and what it tells about itself. Front door
 * of src/kernel.
 */
#ifndef BBTRACE_KERNEL_H
#define BBTRACE_KERNEL_H

#include "object/object.h"

/* ---- the kernel (x86-64 today) ---- */

/*
 * The running kernel: kallsyms, live text (of /proc/kcore, else through read_text), blacklist.
 * Modules are objects of their own, *modules an array of *nmodules pointers. read_text is given by
 * src/probe (a BPF program that reads kernel memory): returns 0 when it filled buf. So is layout,
 * which is asked when there are other tracers' kprobes in the code. Either may be NULL.
 */
typedef int (*kernel_read_fn)(void *ctx, uint64_t vaddr, void *buf, size_t len);
/* Sizes of the kernel's struct kprobe and optimized_kprobe (0: there is none), and what is where in
 * them. */
struct kprobe_layout {
	uint32_t size, hlist, addr, opcode, flags;
	uint32_t optimized_size, covered, detour;
};
typedef int (*kprobe_layout_fn)(struct kprobe_layout *out);
int kernel__open(kernel_read_fn read_text, void *ctx, kprobe_layout_fn layout,
		 struct object **kernel, struct object ***modules, size_t *nmodules);

/* Variables of the kernel that are looked at. */
enum kernel_variable {
	KERNEL_PER_CPU_OFFSET, /* an array: where each CPU has its own, from the addresses below */
	KERNEL_PREEMPT_COUNT,  /* of each CPU */
	KERNEL_PCPU_HOT,       /* of each CPU: has the count from Linux 6.2 to 6.14 */
	KERNEL_KPROBE_TABLE,
	KERNEL_VARIABLES
};
/* Its address; 0: kallsyms doesn't have it. */
uint64_t kernel__variable(const struct object *kernel, enum kernel_variable which);

/* ---- system calls (syscalls.c) ---- */

/* FUNCTION_SYSCALL and so on, where the name is that of a wrapper. Pure. */
unsigned kernel_syscall__flags(const char *name);
/* Fills in the arguments of the system calls among them; notes which are not known. */
void kernel_syscalls__count(function_vec *v);

/* ---- names (names.c); pure ---- */

/* foo.cold, foo.cold.N: code split off foo, entered by jumps only. */
bool kernel_name__is_cold(const char *name);
typedef void (*kernel_part_fn)(void *ctx, struct object *o, const struct symbol *part);
/*
 * The symbols that gcc split off s: its cold parts; its parts (foo.part.N), which are functions. Of
 * several functions of one name, a part belongs to the one whose code refers to it.
 */
void kernel_names__cold_parts(struct object *o, const struct symbol *s, kernel_part_fn fn,
			      void *ctx);
void kernel_names__parts(struct object *o, const struct symbol *s, kernel_part_fn fn, void *ctx);
/* name.isra.N, name.constprop.N, ...: what is left of name in o, but the cold parts. */
void kernel_names__variants(struct object *o, const char *name, kernel_part_fn fn, void *ctx);

/* ---- the file systems that it tells about itself in ---- */

enum kernel_fs { KERNEL_TRACEFS, KERNEL_DEBUGFS };

/* lockdown=confidentiality: then tracefs is not opened, nor mounted. */
bool kernel__is_locked_down(void);
/* A descriptor of its root (O_PATH) where it is mounted in its usual place. -errno with the message
 * set: -ENOENT where it isn't, -EPERM for tracefs in a kernel that is locked down. Mounts
 * nothing. */
int kernel_fs__find(enum kernel_fs fs);
/* That place; NULL: it isn't mounted. */
const char *kernel_fs__place(enum kernel_fs fs);
/* The same as kernel_fs__find(), but where it isn't mounted it gets mounted: tracefs in its usual
 * place, where it stays; what can't be, and debugfs, for as long as the descriptor is open. */
int kernel_fs__open(enum kernel_fs fs);
/* 0: that could be done. */
int kernel_fs__can_mount(enum kernel_fs fs);

#endif
