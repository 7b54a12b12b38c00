/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel: the running kernel and its modules as objects, and facts from /proc, /sys and tracefs.
 * Public header of src/kernel.
 */
#ifndef BBTRACE_KERNEL_KERNEL_H
#define BBTRACE_KERNEL_KERNEL_H

#include "object/lookup/lookup.h"
#include "types/types.h"

/* ---- the kernel ---- */

/*
 * Opens the running kernel: kallsyms, live text (from /proc/kcore, else through read_text) and
 * blacklist. Modules are separate objects; *modules is an array of *nmodules pointers. src/source
 * supplies read_text, a BPF program that reads kernel memory and returns 0 if it filled buf, and
 * layout, which is called if the code contains other tracers' kprobes. Either may be NULL.
 */
typedef int (*kernel_read_fn)(void *ctx, uint64_t vaddr, void *buf, size_t len);
/* Sizes of the kernel's struct kprobe and optimized_kprobe (0: none), and offsets of their
 * members. */
struct kprobe_layout {
	uint32_t size, hlist, addr, opcode, flags;
	uint32_t optimized_size, covered, detour;
};
typedef int (*kprobe_layout_fn)(struct kprobe_layout *out);
int kernel__open(kernel_read_fn read_text, void *ctx, kprobe_layout_fn layout,
		 struct object **kernel, struct object ***modules, size_t *nmodules);

/* Kernel variables that bbtrace reads. */
enum kernel_variable {
	KERNEL_PER_CPU_OFFSET, /* array: each CPU's offset from the addresses below */
	KERNEL_PREEMPT_COUNT,  /* of each CPU */
	KERNEL_PCPU_HOT,       /* of each CPU: contains the count from Linux 6.2 to 6.14 */
	KERNEL_KPROBE_TABLE,
	KERNEL_VARIABLES
};
/* Returns its address; 0 if it is not in kallsyms. */
uint64_t kernel__variable(const struct object *kernel, enum kernel_variable which);

/* Appends the variables of that name, of a module ("kernel": of the kernel itself, NULL: of any).
 * size: to the next symbol. Only kernels with CONFIG_KALLSYMS_ALL list their variables. -EPERM: the
 * addresses are hidden. */
int kernel__find_data(const char *module, const char *name, data_vec *out);
/* Returns true if kallsyms shows which functions the object exports to modules (symbol.exported):
 * the kernel's own only with CONFIG_KALLSYMS_ALL. */
bool kernel__lists_exports(const struct object *o);

/* ---- system calls (syscalls.c) ---- */

/* FUNCTION_SYSCALL etc., if this is the name of a system call wrapper. Pure. */
unsigned kernel_syscall__flags(const char *name);
/* Fills in the number of arguments of system calls; prints a note if some are unknown. */
void kernel_syscalls__count(function_vec *v);

/* ---- names (names.c); pure ---- */

/* foo.cold, foo.cold.N: code split off foo, entered by jumps only. */
bool kernel_name__is_cold(const char *name);
typedef void (*kernel_part_fn)(void *ctx, struct object *o, const struct symbol *part);
/*
 * The symbols that gcc split from s: its cold parts, and its parts (foo.part.N), which are
 * functions. If several functions have the same name, a part belongs to the one whose code refers
 * to it.
 */
void kernel_names__cold_parts(struct object *o, const struct symbol *s, kernel_part_fn fn,
			      void *ctx);
void kernel_names__parts(struct object *o, const struct symbol *s, kernel_part_fn fn, void *ctx);
/* The variants of name in o: name.isra.N, name.constprop.N etc., without cold parts. */
void kernel_names__variants(struct object *o, const char *name, kernel_part_fn fn, void *ctx);

/* ---- types (btf_types.c) ---- */

/*
 * Passes the prototypes of functions of the kernel or a module, by their names; those that its BTF
 * doesn't have, or has twice with different ones, are left out. btf_file is NULL for the kernel's
 * own.
 */
void kernel__prototypes(const struct object *o, const char *btf_file,
			const struct type_query *queries, size_t n,
			const struct type_names *members, struct types *out);

/* ---- tracefs and debugfs ---- */

enum kernel_fs { KERNEL_TRACEFS, KERNEL_DEBUGFS };

/* lockdown=confidentiality: tracefs is neither opened nor mounted. */
bool kernel__is_locked_down(void);
/* An O_PATH descriptor of its root, if it is mounted at a usual place. Else -errno with a message:
 * -ENOENT: not mounted; -EPERM: tracefs of a locked-down kernel. Mounts nothing. */
int kernel_fs__find(enum kernel_fs fs);
/* Returns the path of that mount; NULL if not mounted. */
const char *kernel_fs__place(enum kernel_fs fs);
/* As kernel_fs__find(), but mounts it if necessary: tracefs permanently at its usual place;
 * debugfs, and tracefs if that fails, only as long as the descriptor is open. */
int kernel_fs__open(enum kernel_fs fs);
/* Returns 0 if it could be mounted. */
int kernel_fs__can_mount(enum kernel_fs fs);

#endif
