/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gopclntab: the table of functions and lines that every Go program has for its runtime, even if
 * stripped. Its bytes are untrusted. Front header of src/object/golang, private to src/object; uses
 * elf and lookup. First: golang__find(), go_table__function(), go_values__next().
 */
#ifndef BBTRACE_OBJECT_GOLANG_GOPCLNTAB_H
#define BBTRACE_OBJECT_GOLANG_GOPCLNTAB_H

#include "object/elf/cursor.h"
#include "object/elf/elf_file.h"

struct go_table {
	bool register_args;   /* compiled functions take arguments in registers */
	const uint8_t *bytes; /* from its header to the end of its segment */
	uint64_t len;
	const struct go_layout *layout;
	uint64_t nfunctions;
	uint64_t text, end; /* addresses: the base of entries, the end of the code */
	uint64_t names, units, files, values, functions; /* offsets of its subtables in bytes */
};

struct go_function {
	uint64_t vaddr;
	uint64_t limit; /* bytes up to the next function, including padding */
	const char *name;
	uint32_t unit;
	uint32_t files, lines; /* offsets of pc-value tables: go_values__start() */
	bool assembly;	       /* written in assembly, which may use any convention */
	uint32_t start_line;   /* of its declaration; 0 if not known (before Go 1.20) */
	/* Like files: the index of the inlined call, negative if none. 0: there is no table. */
	uint32_t inlining;
};

/* Returns NULL if there is no valid table. It belongs to f. */
struct go_table *go_table__find(const struct object *o, struct elf_file *f);
/* Ascending by address. Returns false if damaged. The name ends within the table. */
bool go_table__function(const struct go_table *t, uint64_t i, struct go_function *out);
/* Returns the last function that starts at vaddr or before; t->nfunctions if there is none. */
uint64_t go_table__at(const struct go_table *t, uint64_t vaddr);
/* Returns NULL if damaged, or if no file is known. */
const char *go_table__file(const struct go_table *t, const struct go_function *f, int64_t number);
/* The size of the function without padding. */
uint64_t go_function__size(const struct go_table *t, const struct go_function *f);

/* Iterates over a pc-value table of a function. */
struct go_values {
	struct cursor c;
	/* Offsets from the function's start: the end of this value's range, and its upper bound. */
	uint64_t end, limit;
	int32_t value;
};
struct go_values go_values__start(const struct go_table *t, const struct go_function *f,
				  uint32_t offset);
/* Advances to the next value. Returns false if there is none. */
bool go_values__next(struct go_values *v);

/* Fills in symbol.args (golang_args.c). */
void golang__args(struct object *o, struct elf_file *f);
/* Finds the table, g and goid of a Go program (golang.c). */
void golang__find(struct object *o, struct elf_file *f);

#endif
