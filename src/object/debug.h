/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug: the debug information of an object, and the only way to libelf, libdw and liblzma, which
 * don't survive all hostile files: they run in a sandbox, on descriptors that were opened here.
 * Private to src/object.
 */
#ifndef BBTRACE_OBJECT_DEBUG_H
#define BBTRACE_OBJECT_DEBUG_H

#include "elf_file.h"

struct Dwfl_Module;

/* An object's file and its separate ones, opened by the door (debug_files.c); -1: none. */
struct debug_files {
	int own;
	int debug; /* by build-id or .gnu_debuglink, and proved to be of the same build */
	int alt;   /* .gnu_debugaltlink: what several debug files share */
	uint64_t bytes;
	bool dwarf;   /* one of them has .debug_info */
	bool symbols; /* it has .gnu_debugdata: symbols, packed */
};
void debug_files__find(const struct object *o, struct debug_files *out);
void debug_files__close(struct debug_files *f);

/* What a question finds in the sandbox. */
struct debug_session {
	struct Dwfl_Module *module; /* NULL: libdwfl can't make anything of the file */
	const struct debug_files *files;
};
/* Is there DWARF? Where there is, and it can't be read, the question ends there, as an error. */
bool debug__has_dwarf(const struct debug_session *s);

/* Runs in the sandbox; what it leaves in answer comes back. */
typedef void (*debug_fn)(void *ctx, const struct debug_session *s, struct str *answer);
/* 0; or -errno with a message, answer is empty then. */
int debug__ask(const struct object *o, debug_fn fn, void *ctx, struct str *answer);
/* The same for what bbtrace can do without: noted the first time that it fails, and not tried again
 * then. lost: the words for what is missing now. */
bool debug__try(const struct object *o, debug_fn fn, void *ctx, struct str *answer,
		const char *lost);

/* ---- answers that are a table: records of one size, then the strings that they point into ---- */

struct table {
	const uint8_t *records;
	size_t n;
	const char *strings; /* the last byte is NUL */
	size_t len;
};
/* In the sandbox: all records, all strings. */
void table__put(struct str *answer, const struct str *records, size_t size,
		const struct str *strings);
/* False: these bytes are no table of such records. It points into answer. */
bool table__take(struct table *t, const struct str *answer, size_t size);

#endif
