/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapped_file: the files that processes have mapped. They are identified by device and inode and
 * kept open from their first mapping on, so that a file that is unlinked or replaced later is read
 * as it was mapped.
 */
#ifndef BBTRACE_PROCESS_MAPPED_FILE_H
#define BBTRACE_PROCESS_MAPPED_FILE_H

#include "process/process.h"

struct mapped_file {
	uint64_t dev, ino; /* as in mappings */
	char *path;
	struct mapped_file *next; /* of the same hash */
	uint32_t pid;		  /* the process of its first mapping */
	int fd;			  /* -1: could not be opened, or was read already */
	const struct object *object;
	struct object *own; /* the same if owned, NULL if borrowed */
	bool tried;	    /* reading it was tried */
	bool shown;	    /* its strings are in use: never freed before the end */
	size_t mappings;    /* current number */
	uint64_t idle;	    /* order in which files lost their last mapping */
	size_t looked;	    /* recorded: number of known files at the last lookup */
};

/* An object that was opened elsewhere: borrowed. */
struct used_object {
	const struct object *object;
	bool mapped; /* its file was */
};

/* Recorded: the object of a file. */
struct known_file {
	uint64_t dev, ino;
	char *path;
	const struct object *object;
};

struct mapped_files {
	VEC(struct mapped_file *) all;
	struct map64 by_hash; /* of device, inode and path -> the first one */
	VEC(struct used_object) used;
	bool incomplete; /* files were mapped that could not be opened, or that were forgotten */
	bool recorded;	 /* nothing is opened */
	VEC(struct known_file) known;
	size_t nidle; /* files without mappings that were never shown */
	uint64_t clock;
};

/* The file of a new mapping of pid; counts the mapping. parent: a process that may have mapped it,
 * too, or 0. */
struct mapped_file *mapped_files__get(struct mapped_files *s, uint32_t pid, uint32_t parent,
				      const struct map *m);
/* Uncounts a mapping. The file is closed some time after its last one. */
void mapped_files__drop(struct mapped_files *s, struct mapped_file *f);
/* Returns the file's object, read on first use; NULL if unknown. Marks the file as shown. */
const struct object *mapped_file__object(struct mapped_files *s, struct mapped_file *f);
void mapped_files__free(struct mapped_files *s);

/* ---- the kernel's own object (vdso.c) ---- */

bool vdso__is_path(const char *path);
/* Returns true if this mapping has the image of native processes, that vdso__read() reads. */
bool vdso__is_native(const struct object *vdso, uint64_t start, uint64_t end);
int vdso__read(struct object **out);

#endif
