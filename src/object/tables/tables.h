/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables: what an ELF file's own tables say beside its symbols: static probes, marks of
 * include/bbtrace.h, needed libraries, pointers in data. Front header of src/object/tables, which
 * uses elf and lookup; object__read() calls the readers of frames, PLT stubs, modes and sleds
 * (readers.h). First: object__usdt(), object__markers(), object__needed().
 */
#ifndef BBTRACE_OBJECT_TABLES_H
#define BBTRACE_OBJECT_TABLES_H

#include "object/object.h"

/* Calls fn with each address that the object's data may hold: link-time addresses by relative
 * relocations, without those or position independence any word of the data (pointers.c). */
void object__pointers(const struct object *o, void (*fn)(void *ctx, uint64_t value), void *ctx);
/* Does the loader change its code? */
bool object__text_relocated(const struct object *o);
/* Has it sequences that the kernel breaks off by the pc (rseq(2), by the section that librseq and
 * tcmalloc use)? */
bool object__has_rseq(const struct object *o);
/*
 * The sonames that the object needs (DT_NEEDED), in order: fn is called with each, until it returns
 * non-zero, which is returned.
 */
int object__needed(const struct object *o, int (*fn)(void *ctx, const char *soname), void *ctx);

/* ---- what a program says to its tracer, by include/bbtrace.h (markers.c) ---- */

/* DUMP: none of bbtrace.h: where --dump-on shows what a thread did last. */
enum marker_kind { MARKER_START, MARKER_STOP, MARKER_MARK, MARKER_DUMP };

struct marker {
	uint64_t vaddr;
	enum marker_kind kind;
	const char *args; /* where its arguments are, in the note's words; lives as long as the
			     object */
};
typedef VEC(struct marker) marker_vec;

/* Where a mark's operands are: registers by the architecture's numbers. */
struct marker_operands {
	uint8_t when; /* of a marker that is no mark: enum wire_when of bpf/wire_named.h, with
			 constant */
	uint8_t name, value;
	int64_t constant; /* value MARKER_CONSTANT: this is the value */
};
#define MARKER_CONSTANT 0xff
struct arch;
/* False: they are somewhere else, which bbtrace.h doesn't write. */
bool marker__operands(const struct marker *m, const struct arch *arch, struct marker_operands *out);
/* Has the file notes of these markers, or of marks among them? A quick look, before it is read as
 * an object. */
bool markers__in_file(int fd, bool marks);
/* Appends those of the object in the order of its notes. */
void object__markers(const struct object *o, marker_vec *out);

/* ---- static probes (usdt.c) ---- */

struct usdt_probe {
	const char *provider, *name, *arguments; /* live as long as the object */
	uint64_t vaddr, semaphore;		 /* semaphore 0: none */
};
typedef VEC(struct usdt_probe) usdt_vec;
/* Appends the object's static probes: a name may be at several places. */
void object__usdt(const struct object *o, usdt_vec *out);

#endif
