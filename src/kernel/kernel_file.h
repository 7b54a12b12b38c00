/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_file: what the kernel reader's files share, and nobody else includes: the kernel's own
 * tables as data, the pure functions that make objects of them, and the private part of such an
 * object.
 */
#ifndef BBTRACE_KERNEL_KERNEL_FILE_H
#define BBTRACE_KERNEL_KERNEL_FILE_H

#include "kernel/kernel.h"

/* ---- /proc/kallsyms and /proc/modules (kallsyms.c); pure ---- */

struct kallsym {
	uint64_t vaddr;
	const char *name;
	const char *module; /* NULL: the kernel itself */
	uint32_t object;    /* kernel_objects__build(): whose function it is */
	char type;	    /* as nm(1) shows it */
};
typedef VEC(struct kallsym) kallsym_vec;

struct kernel_module {
	const char *name;
	uint64_t base, size; /* of its text; size is an upper bound: it may count its data too */
};
typedef VEC(struct kernel_module) kernel_module_vec;

/*
 * Both cut text (len bytes and a NUL) into the strings that they point to, so it must outlive the
 * result. Hostile text: -EPROTO. -EPERM: the kernel hides the addresses (all are zero).
 */
int kallsyms__parse(char *text, size_t len, kallsym_vec *out);
int kernel_modules__parse(char *text, size_t len, kernel_module_vec *out);

/* ---- objects (kernel_object.c); pure but for memory ---- */

/* The priv of the kernel's and a module's object. */
struct kernel_file {
	VEC(char *) shown;		      /* demangled names */
	char *names;			      /* every other string of the symbols */
	uint8_t *text;			      /* what the segments point to */
	uint64_t start, end;		      /* where its code is; nothing known: both 0 */
	uint64_t variables[KERNEL_VARIABLES]; /* of the kernel itself: kernel__variable() */
	VEC(uint32_t) dotted; /* symbols with a '.' in the name, by name: kernel_names.c */
	bool dotted_known;
};
struct kernel_file *kernel_file__of(const struct object *o);

struct kernel_objects {
	struct object *kernel;
	struct object **modules;
	size_t nmodules;
};
/* Sorts symbols and copies what it needs of them. -EPROTO: no _stext or _etext among them. */
int kernel_objects__build(kallsym_vec *symbols, const kernel_module_vec *modules,
			  struct kernel_objects *out);
void kernel_objects__free(struct kernel_objects *k);
/*
 * The table does not say where the last function before a module's data ends. Its page is filled up
 * with zeros or int3: cuts it there. Called when the segments are known.
 */
void kernel_object__trim(struct object *o);

/* ---- live text (kernel_text.c) ---- */

struct kernel_text;
/* kcore: its path. fn may be NULL. Never fails; reading does. */
struct kernel_text *kernel_text__open(const char *kcore, kernel_read_fn fn, void *ctx);
void kernel_text__close(struct kernel_text *t);
/* Fills in the segments of o with what can be read of [start, end). -EIO with the cause: nothing
 * could. */
int kernel_text__read(struct kernel_text *t, struct object *o);
/* Any of the kernel's memory. false: it can't be read, at least not as one. */
bool kernel_text__peek(const struct kernel_text *t, uint64_t vaddr, void *buf, size_t len);

/* ---- other facts (kernel_facts.c) ---- */

/* The text of kprobes/blacklist: what lies in the object's code becomes its noprobe. */
void kernel_blacklist__apply(const char *text, struct object *o);
/* The kernel's list; NULL where it can't be had. Caller frees. */
char *kernel_blacklist__read(void);
/* The same of kprobes/list. */
char *kernel_probes__read(void);
/* The GNU build-id among ELF notes; false: none. */
bool kernel_notes__build_id(const uint8_t *notes, size_t len, struct object *o);

/* ---- system calls (kernel_syscalls.c) ---- */

/* The arguments that a tracepoint's format lists; -1: it is none of a system call. Pure. */
int kernel_syscall__count(const char *format);

/* ---- other tracers (kernel_patches.c); pure ---- */

/* Does a line of the text of kprobes/list name a probe that changes code? */
bool kernel_probes__patch(const char *list);
/* The text of kprobes/list: the functions of o that have kprobes become its noprobe, but for probes
 * at the addresses that are in proved. Before kernel_blacklist__apply(), which sorts. */
void kernel_probes__apply(const char *list, const struct map64 *proved, struct object *o);
/* The function of o that has a probe at vaddr becomes its noprobe. */
void kernel_patches__hide(struct object *o, uint64_t vaddr);
/* Puts ftrace's nops back into the code of o that was read. */
void kernel_patches__undo(const struct kernel_objects *k, struct object *o);

/* ---- kprobes (kernel_kprobes.c); pure but for reading memory ---- */

#define KPROBE_COVERED	    4u /* bytes of a jump behind its first */
#define KPROBE_LAYOUT_LIMIT 1024u

/* One that is in the kernel's table. */
struct kernel_kprobe {
	uint64_t vaddr, detour; /* detour: where its jump would lead; 0: none */
	uint32_t flags;
	uint8_t opcode;			 /* of the instruction */
	uint8_t covered[KPROBE_COVERED]; /* what follows it, where the jump is */
	bool after;			 /* it was there when the code had been read */
};
typedef VEC(struct kernel_kprobe) kernel_kprobe_vec;

/* Within the bounds that reading asks for? */
bool kprobe_layout__is_sane(const struct kprobe_layout *l);
/* Adds those of the table (0: unknown). after: the code has been read already. false: not all. */
bool kernel_kprobes__read(struct kernel_text *t, const struct kprobe_layout *l, uint64_t table,
			  bool after, kernel_kprobe_vec *out);
/* Puts back what they have replaced in the code of o. Where that is proved their address comes into
 * proved; else their function is hidden. */
void kernel_kprobes__undo(const kernel_kprobe_vec *all, struct object *o, struct map64 *proved);

#endif
