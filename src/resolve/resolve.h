/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolve: what the user named on the command line, found and made into functions. Front door of
 * src/resolve.
 */
#ifndef BBTRACE_RESOLVE_H
#define BBTRACE_RESOLVE_H

#include "kernel/kernel.h"
#include "object/object.h"
#include "process/process.h"

/* ---- OBJECT ---- */

/*
 * Finds what OBJECT names: a path, a command in PATH, a soname found as the dynamic loader finds it
 * (the maps of pid and its mount namespace if pid > 0, LD_LIBRARY_PATH, /etc/ld.so.cache, default
 * folders). What it found is the caller's: for object__read(), or found__close(). -ENOENT with a
 * message that names what was tried.
 */
int object__find(const char *name, pid_t pid, struct found *out);

/* ---- FUNC ---- */

enum spec_kind {
	SPEC_NAME,   /* name, name@VERSION, name@@VERSION; kernel: module:name */
	SPEC_GLOB,   /* fnmatch(3) pattern: has one of * ? [ */
	SPEC_OFFSET, /* 0xOFF or 0xOFF:NAME */
	SPEC_RANGE,  /* 0xOFF+0xLEN */
	SPEC_LINE,   /* FILE:LINE */
	SPEC_POINTS, /* @POINTS */
};

struct spec {
	enum spec_kind kind;
	char *text;   /* as given */
	char *name;   /* NAME, GLOB: the name or pattern; OFFSET: the alias or NULL; LINE: FILE;
			 POINTS: the path */
	char *module; /* kernel NAME and GLOB: before the colon, or NULL */
	uint64_t start, len; /* OFFSET, RANGE: file offset (user) or address (kernel) and length;
				LINE: start = LINE */
};

/* -EINVAL with a message. spec__free() clears what it filled in. */
int spec__parse(const char *text, bool kernel, struct spec *out);
void spec__free(struct spec *s);

/*
 * Appends what spec names in object: a function once, whatever its aliases (one already in *v with
 * the same object and entry is left as it is). exclude: specs whose functions are left out. -ENOENT
 * with close names suggested, -EINVAL (a file offset outside the code, ...). Kernel: a name that
 * several symbols have is -ENOTUNIQ, and the message lists them all with address and module.
 * A range, a point or a line selects within the functions that hold it: FUNCTION_RANGE members
 * under their names, one for each stretch until functions__join().
 */
int object__resolve(struct object *o, const struct spec *spec, function_vec *v);
/*
 * What spec names in the kernel and its modules, as object__resolve() does for one object. name:
 * foo, with its cold parts as further ranges and foo.part.N as functions of their own; where no foo
 * is left, foo.isra.N and its like. module:name, kernel:name. 0xADDR: the function there; inside
 * one: from there to its end. 0xADDR+0xLEN. -ENOTUNIQ lists the candidates, -ENOENT suggests close
 * names, -EINVAL: on the kernel's blacklist, no such address.
 */
int kernel__resolve(struct object *kernel, struct object **modules, size_t nmodules,
		    const struct spec *spec, function_vec *v);
/* Does spec name this function? For --exclude. False of FILE:LINE and points, which have to be
 * resolved. */
bool spec__matches(const struct spec *spec, const struct function *f);
/* FILE:LINE: is it this line of the file that debug information calls path? */
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
/* Appends what they select in o. -EINVAL: one is not in its code; path: of the points file. */
int object__select_points(const struct object *o, const struct points_object *p, const char *path,
			  function_vec *v);

#endif
