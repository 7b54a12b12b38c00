/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolve: turns the objects and functions that the user names on the command line into struct
 * function. Public header of src/resolve.
 */
#ifndef BBTRACE_RESOLVE_RESOLVE_H
#define BBTRACE_RESOLVE_RESOLVE_H

#include "kernel/kernel.h"
#include "object/lookup/lookup.h"
#include "process/process.h"
#include "resolve/watch.h"

/* ---- OBJECT ---- */

/*
 * Finds the file that OBJECT names: a path, a command in PATH, or a soname, found as the dynamic
 * loader does (the maps of pid and its mount namespace if pid > 0, LD_LIBRARY_PATH,
 * /etc/ld.so.cache, default directories). The caller passes the result to object__read() or
 * found__close(). Returns -ENOENT with a message that lists what was tried.
 */
int object__find(const char *name, pid_t pid, struct found *out);
/* Finds the library of this soname that the object needs, as a program's loader does: also by the
 * object's RPATH or RUNPATH, but not by those of what needs the object. *own: it belongs to the
 * program; other programs find another one, or none. Returns -ENOENT, without a message. */
int object__find_needed(const struct object *of, const char *soname, struct found *out, bool *own);
/* Returns the architecture of an ELF file, if its programs run here, and sets its type (ET_EXEC,
 * …); NULL otherwise. */
const struct arch *object__arch_of_file(int fd, uint16_t *type);
/* Returns the colon between OBJECT and what follows it in OBJECT:REST; NULL if there is none. A
 * path may have colons, too: it is the first one after the name of a file, else the first one. A
 * "::" is part of a name. */
const char *object__colon(const char *text, pid_t pid);
/* From now on, libraries without a process are those that this program would load, which may be of
 * 32 bits. Without effect if it isn't found, or if it is no program that runs on this machine. */
void object__find_as(const char *program);

/* ---- FUNC ---- */

enum spec_kind {
	SPEC_NAME,   /* name, name@VERSION, name@@VERSION; kernel: module:name */
	SPEC_GLOB,   /* fnmatch(3) pattern: has one of * ? [ */
	SPEC_OFFSET, /* 0xOFF or 0xOFF:NAME */
	SPEC_RANGE,  /* 0xOFF+0xLEN */
	SPEC_PLACE,  /* NAME+0xOFF, in one function */
	SPEC_LINE,   /* FILE:LINE */
	SPEC_POINTS, /* @POINTS */
};

struct spec {
	enum spec_kind kind;
	char *text;    /* as given */
	char *name;    /* NAME, GLOB, PLACE: the name or pattern; OFFSET: the alias or NULL; LINE:
			  FILE;    POINTS: the path */
	char *module;  /* kernel NAME, GLOB and PLACE: the part before the colon, or NULL */
	bool exported; /* set by the caller: only exported functions, of NAME and GLOB */
	uint64_t start, len; /* OFFSET, RANGE: file offset (user) or address (kernel) and length;
				PLACE: start = OFF; LINE: start = LINE */
};

/* -EINVAL with a message. Free the result with spec__free(). */
int spec__parse(const char *text, bool kernel, struct spec *out);
void spec__free(struct spec *s);

/*
 * Appends what spec names in object: each function once, whatever its aliases; one already in *v
 * with the same object and entry stays as it is. Returns -ENOENT with a message that suggests close
 * names; -EINVAL for a file offset outside of the code etc. Kernel: -ENOTUNIQ if several symbols
 * have the name; the message lists them with address and module. A range, place, point or line
 * becomes FUNCTION_RANGE members with the names of the functions that contain it, one per range
 * until functions__join().
 */
int object__resolve(struct object *o, const struct spec *spec, function_vec *v);
/*
 * As object__resolve(), for the kernel and its modules. foo: the function, with its cold parts as
 * further ranges and foo.part.N as separate functions; if there is no foo, foo.isra.N and the like.
 * module:name, kernel:name. 0xADDR: the function there, or from an address inside it to its end.
 * 0xADDR+0xLEN. -ENOTUNIQ lists the candidates, -ENOENT suggests close names, -EINVAL: on the
 * kernel's blacklist, or no such address.
 */
int kernel__resolve(struct object *kernel, struct object **modules, size_t nmodules,
		    const struct spec *spec, function_vec *v);
/* Appends "; did you mean a, b?" with those of these names that are close to one; nothing if none
 * is. */
void suggest__among(const char *const *names, size_t n, const char *name, struct str *out);
/*
 * For each exported function of v, a FUNC that names only it in its object, or in the kernel with
 * its modules, and that is one word of the shell: its name, name@VERSION, MODULE:NAME, or
 * 0xOFF:NAME. NULL for other functions. objects: all that were opened. The caller frees the array
 * and the words (words.c).
 */
char **functions__words(const function_vec *v, struct object *const *objects, size_t n);
/* Returns true if spec names this function. For --exclude. False for FILE:LINE and points, which
 * have to be resolved. */
bool spec__matches(const struct spec *spec, const struct function *f);
/* FILE:LINE: returns true if it names this line of the file that debug information calls path. */
bool spec__is_line(const struct spec *spec, const char *path, unsigned line);

/* A points file: "# objname=PATH" lines, each followed by "0xADDR+0xLEN" lines (link-time
 * addresses). */
struct points_object {
	char *path;
	VEC(struct range) ranges; /* name NULL */
};
typedef VEC(struct points_object) points_vec;
int points__read(const char *path, points_vec *out);
void points__free(points_vec *v);
/* Appends the ranges of o that p selects. -EINVAL: one is not in its code. path: the points file,
 * for messages. */
int object__select_points(const struct object *o, const struct points_object *p, const char *path,
			  function_vec *v);

#endif
