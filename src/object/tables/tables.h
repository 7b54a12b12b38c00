/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables: what an ELF file's own tables have besides its symbols: static probes, marks of
 * include/bbtrace.h, needed libraries, pointers in data. Front header of src/object/tables, which
 * uses elf and lookup; object__read() calls the readers of frames, PLT stubs, modes and sleds
 * (readers.h). First: object__usdt(), object__markers(), object__needed().
 */
#ifndef BBTRACE_OBJECT_TABLES_TABLES_H
#define BBTRACE_OBJECT_TABLES_TABLES_H

#include "object/object.h"

/* Calls fn with each address that the object's data may hold: link-time addresses by relative
 * relocations or, without those or position independence, any word of the data (pointers.c). */
void object__pointers(const struct object *o, void (*fn)(void *ctx, uint64_t value), void *ctx);
/* Returns true if the loader changes its code. */
bool object__text_relocated(const struct object *o);
/* Returns true if it has sequences that the kernel aborts by the pc (rseq(2), by the section that
 * librseq and tcmalloc use). */
bool object__has_rseq(const struct object *o);
/* Returns true if a function of this entry is called when the process ends, or when the object is
 * unloaded (finals.c). */
bool object__is_final(const struct object *o, uint64_t entry);
/* Calls fn with each soname that the object needs (DT_NEEDED), in order, until fn returns non-zero,
 * which is returned. */
int object__needed(const struct object *o, int (*fn)(void *ctx, const char *soname), void *ctx);
/* The same for each folder in which its loader looks for them after LD_LIBRARY_PATH (DT_RUNPATH)
 * or, if there is none of these, before it (DT_RPATH). $ORIGIN is the folder of the object; folders
 * with other variables are left out. */
int object__runpath(const struct object *o, int (*fn)(void *ctx, const char *folder), void *ctx);
int object__rpath(const struct object *o, int (*fn)(void *ctx, const char *folder), void *ctx);

/* ---- markers, by which a program controls its tracer: include/bbtrace.h (markers.c) ---- */

/* DUMP is not in bbtrace.h: --dump-on shows there what a thread did last. */
enum marker_kind { MARKER_START, MARKER_STOP, MARKER_MARK, MARKER_DUMP };

struct marker {
	uint64_t vaddr;
	enum marker_kind kind;
	/* The locations of its arguments, in the note's words; lives as long as the object. */
	const char *args;
};
typedef VEC(struct marker) marker_vec;

/* The locations of a mark's operands: registers by the architecture's numbers. */
struct marker_operands {
	/* For a marker that is no mark: enum wire_when of bpf/wire_named.h, with constant. */
	uint8_t when;
	uint8_t name, value;
	int64_t constant; /* the value, with MARKER_CONSTANT */
};
#define MARKER_CONSTANT 0xff
struct arch;
/* Returns false if the operands are elsewhere, where bbtrace.h doesn't put them. */
bool marker__operands(const struct marker *m, const struct arch *arch, struct marker_operands *out);
/* Returns true if the file has notes of these markers, or also of marks: a quick check before it is
 * read as an object. */
bool markers__in_file(int fd, bool marks);
/* Appends the markers of the object in the order of its notes. */
void object__markers(const struct object *o, marker_vec *out);

/* ---- static probes (usdt.c) ---- */

struct usdt_probe {
	const char *provider, *name, *arguments; /* live as long as the object */
	uint64_t vaddr, semaphore;		 /* semaphore is 0 if there is none */
};
typedef VEC(struct usdt_probe) usdt_vec;
/* Appends the object's static probes: a name may be at several places. */
void object__usdt(const struct object *o, usdt_vec *out);

#endif
