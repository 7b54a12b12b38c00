/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_file: the kernel's tables as data, the pure functions that build objects from them, and
 * the private data of such an object. Private to src/kernel.
 */
#ifndef BBTRACE_KERNEL_KERNEL_FILE_H
#define BBTRACE_KERNEL_KERNEL_FILE_H

#include "arch/arch.h"
#include "kernel/kernel.h"

/* ---- /proc/kallsyms and /proc/modules (kallsyms.c); pure ---- */

struct kallsym {
	uint64_t vaddr;
	const char *name;
	const char *module; /* NULL: the kernel itself */
	uint32_t object;    /* kernel_objects__build(): the object that it belongs to */
	char type;	    /* as nm(1) shows it */
};
typedef VEC(struct kallsym) kallsym_vec;

struct kernel_module {
	const char *name;
	uint64_t base, size; /* of its text; size is an upper bound, which may include data */
};
typedef VEC(struct kernel_module) kernel_module_vec;

/* Both split text (len bytes and a NUL) in place, so it must outlive the result. Return -EPROTO if
 * it is malformed, -EPERM if the kernel hides the addresses (all are zero). */
int kallsyms__parse(char *text, size_t len, kallsym_vec *out);
int kernel_modules__parse(char *text, size_t len, kernel_module_vec *out);

/* ---- objects (objects.c); pure but for memory ---- */

/* The private data of the kernel's and a module's object. */
struct kernel_file {
	VEC(char *) shown;		      /* demangled names */
	char *names;			      /* all other strings of the symbols */
	uint8_t *text;			      /* the bytes of the segments */
	uint64_t start, end;		      /* of its code; both 0: unknown */
	uint64_t variables[KERNEL_VARIABLES]; /* of the kernel itself: kernel__variable() */
	VEC(uint32_t) dotted;		      /* symbols with a '.' in the name, by name: names.c */
	bool dotted_known;
	bool lists_exports; /* kallsyms has what EXPORT_SYMBOL defined */
};
struct kernel_file *kernel_file__of(const struct object *o);

struct kernel_objects {
	struct object *kernel;
	struct object **modules;
	size_t nmodules;
};
/* Sorts symbols and copies what it needs. -EPROTO: _stext or _etext is missing. */
int kernel_objects__build(kallsym_vec *symbols, const kernel_module_vec *modules,
			  struct kernel_objects *out);
void kernel_objects__free(struct kernel_objects *k);
/* Bounds the last function before a module's data, of which the table has no size: its page is
 * padded with zeros or breakpoints. To be called when the segments are known. */
void kernel_object__trim(struct object *o);

/* ---- live text (text.c) ---- */

struct kernel_text;
/* kcore is its path; fn may be NULL. Never fails: errors show on reading. */
struct kernel_text *kernel_text__open(const char *kcore, kernel_read_fn fn, void *ctx);
void kernel_text__close(struct kernel_text *t);
/* Sets the segments of o to the readable parts of [start, end). Returns -EIO with the cause if
 * nothing was readable. */
int kernel_text__read(struct kernel_text *t, struct object *o);
/* Reads any kernel memory. False: not all of it is readable. */
bool kernel_text__peek(const struct kernel_text *t, uint64_t vaddr, void *buf, size_t len);

/* ---- other facts (facts.c) ---- */

/* Adds the ranges of kprobes/blacklist that are in the object's code to its noprobe. */
void kernel_blacklist__apply(const char *text, struct object *o);
/* Returns the kernel's blacklist; NULL if it is not readable. The caller frees it. */
char *kernel_blacklist__read(void);
/* The same for kprobes/list. */
char *kernel_probes__read(void);
/* Finds the GNU build-id in ELF notes. Returns false if there is none. */
bool kernel_notes__build_id(const uint8_t *notes, size_t len, struct object *o);

/* ---- system calls (syscalls.c) ---- */

/* The number of arguments in a tracepoint's format; -1: not of a system call. Pure. */
int kernel_syscall__count(const char *format);

/* ---- other tracers (patches.c); pure ---- */

/* Returns true if kprobes/list contains a probe that changes code. */
bool kernel_probes__patch(const char *list);
/* Adds the functions of o with kprobes, by kprobes/list, to its noprobe, except for probes at
 * addresses in proved. Call it before kernel_blacklist__apply(), which sorts. */
void kernel_probes__apply(const char *list, const struct map64 *proved, struct object *o);
/* Adds the function of o with a probe at vaddr to its noprobe. */
void kernel_patches__hide(struct object *o, uint64_t vaddr);
/* Restores ftrace's nops in the code of o. */
void kernel_patches__undo(const struct kernel_objects *k, struct object *o);

/* ---- kprobes (kprobes.c); pure but for reading memory ---- */

#define KPROBE_COVERED	    4u /* bytes of a jump after its first */
#define KPROBE_LAYOUT_LIMIT 1024u

/* A kprobe in the kernel's table. */
struct kernel_kprobe {
	uint64_t vaddr, detour; /* detour: the target of its jump; 0: none */
	uint32_t flags;
	uint8_t opcode;			 /* first byte of the original instruction */
	uint8_t covered[KPROBE_COVERED]; /* the bytes after it that a jump replaced */
	bool after;			 /* it existed after the code was read */
};
typedef VEC(struct kernel_kprobe) kernel_kprobe_vec;

/* Returns true if the offsets are within the bounds that reading requires. */
bool kprobe_layout__is_sane(const struct kprobe_layout *l);
/* Adds the kprobes of the table (0: unknown). after: the code has been read already. False:
 * incomplete. */
bool kernel_kprobes__read(struct kernel_text *t, const struct kprobe_layout *l, uint64_t table,
			  bool after, kernel_kprobe_vec *out);
/* Restores the bytes that kprobes replaced in the code of o. If that is proved correct, the address
 * is added to proved; else the function is hidden. */
void kernel_kprobes__undo(const kernel_kprobe_vec *all, struct object *o, struct map64 *proved);

/* Returns what is known of the kernel's code on this machine; never NULL. */
const struct arch_kernel *kernel_code(void);

#endif
