/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug: queries of an object's debug information. This is the only interface to libelf, libdw and
 * liblzma, which hostile files can crash: they run in a sandbox, on descriptors that were opened
 * outside of it. Front header of src/object/debug, private to src/object; uses elf and root. First:
 * debug__ask(), debug_files__find(), table__take().
 */
#ifndef BBTRACE_OBJECT_DEBUG_DEBUG_H
#define BBTRACE_OBJECT_DEBUG_DEBUG_H

#include "object/elf/elf_file.h"
#include "sandbox_files.h"

struct Dwfl_Module;

/* An object's file and its separate debug files, opened by root__open_file() (debug_files.c); -1 if
 * there is none. */
struct debug_files {
	int own;   /* for the kernel and modules: the file with the debug information */
	int debug; /* found by build-id or .gnu_debuglink, and checked to be of the same build */
	int alt;   /* .gnu_debugaltlink: shared by several debug files */
	char *lost_alt; /* its name, if it isn't there; else NULL */
	/* files of split units: none, until split_files__open() adds them */
	struct sandbox_file *split;
	size_t nsplit;
	uint64_t bytes;
	bool may_be_split;
	bool dwarf;   /* one of them has .debug_info */
	bool symbols; /* its file has .gnu_debugdata: compressed symbols */
};
/* Opens a file that an object names; NULL if it isn't there, or no ELF file. */
struct elf_file *debug_file__open(const struct root *root, const char *path);
/* The ELF file of a descriptor, which it owns, or closes. NULL if it is none, or damaged. */
struct elf_file *debug_file__read(int fd);
void debug_files__find(const struct object *o, struct debug_files *out);
/* For queries that read DWARF: where debug sections are compressed, copies in memory in which they
 * aren't take the files' places (unpacked.c). */
void debug_files__unpack(const struct object *o, struct debug_files *files);
/* Appends the places of the debug information of the running kernel or of a module, the likeliest
 * one first (kernel_debug.c). */
typedef VEC(char *) path_vec;
void kernel_debug__paths(const struct object *o, path_vec *out);
void debug_files__close(struct debug_files *f);

/* Code that runs at another address than in its debug information (moved.c). */
struct moved {
	uint64_t start, end; /* the address in the debug information */
	uint64_t shift;	     /* running address minus that address */
};
typedef VEC(struct moved) moved_vec;

/* What a query can use in the sandbox. */
struct debug_session {
	struct Dwfl_Module *module; /* NULL if libdwfl can't read the file */
	const struct debug_files *files;
	const struct object *object;
	const moved_vec *moved; /* NULL if addresses are those of the file */
};
/* Return the code that runs at vaddr, and the code that debug information has at vaddr; NULL if not
 * known. */
const struct moved *debug__moved_to(const struct debug_session *s, uint64_t vaddr);
const struct moved *debug__moved_from(const struct debug_session *s, uint64_t vaddr);
/* Returns true if the program has this code: linkers keep debug information of functions that they
 * drop, at address 0, 1, -1, -2, or what these plus an offset are. start is the function's, or the
 * line sequence's. */
bool debug__has_code(const struct debug_session *s, uint64_t start, uint64_t end);
void moved__find(const struct object *o, struct Dwfl_Module *module, moved_vec *out);
/* Returns true if there is DWARF. If it can't be read, the query ends with an error. */
bool debug__has_dwarf(const struct debug_session *s);

/* Runs in the sandbox; answer is passed back. */
typedef void (*debug_fn)(void *ctx, const struct debug_session *s, struct str *answer);
/* Returns 0, or -errno with a message and an empty answer. */
int debug__ask(const struct object *o, debug_fn fn, void *ctx, struct str *answer);
/* As debug__ask(), for optional data: the first failure prints a note and disables later queries.
 * lost says, for the note, what is missing. */
bool debug__try(const struct object *o, debug_fn fn, void *ctx, struct str *answer,
		const char *lost);
/* The same for a query that reads no DWARF, but symbols. */
bool debug__try_symbols(const struct object *o, debug_fn fn, void *ctx, struct str *answer,
			const char *lost);

/* Keeps an answer as long as the object. */
void debug__keep(const struct object *o, char *answer);

/* Appends the name of a source file, with NUL, and without redundant parts: relative to the folder
 * in which the compiler was started, if that is known and the name isn't absolute. */
void debug__put_path(struct str *to, const char *folder, const char *name);

/* ---- answers that are a table: records of one size, then their strings ---- */

struct table {
	const uint8_t *records;
	size_t n;
	const char *strings; /* the last byte is NUL */
	size_t len;
};
/* Called in the sandbox, with all records and all strings. */
void table__put(struct str *answer, const struct str *records, size_t size,
		const struct str *strings);
/* Returns false if it is not a table of such records. The result points into answer. */
bool table__take(struct table *t, const struct str *answer, size_t size);

#endif
