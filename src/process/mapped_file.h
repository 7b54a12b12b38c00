/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapped_file: the files that processes have mapped. They are told apart by device and inode and
 * kept open from their first mapping on, so that what was unlinked or replaced since is still read
 * as it was mapped.
 */
#ifndef BBTRACE_PROCESS_MAPPED_FILE_H
#define BBTRACE_PROCESS_MAPPED_FILE_H

#include "process/process.h"

struct mapped_file {
	uint64_t dev, ino; /* as mappings show them */
	char *path;
	int fd; /* -1: could not be opened, or is read already */
	const struct object *object;
	struct object *own; /* the same, where it isn't borrowed */
	bool tried;	    /* to read it */
	bool shown;	    /* its strings were given out: it stays */
	size_t mappings;    /* that there are now */
	uint64_t idle;	    /* when the last of them went */
	size_t looked;	    /* recorded: among so many known files */
};

/* Recorded: which object a file is. */
struct known_file {
	uint64_t dev, ino;
	char *path;
	const struct object *object;
};

struct mapped_files {
	VEC(struct mapped_file *) all;
	VEC(const struct object *) known; /* open already: borrowed */
	bool recorded;			  /* nothing is opened */
	VEC(struct known_file) told;
	size_t nidle; /* files that are mapped nowhere, and were never shown */
	uint64_t clock;
};

/* The file of a new mapping of pid, which counts from now on; parent: a process that may have it
 * too, 0: none. */
struct mapped_file *mapped_files__get(struct mapped_files *s, uint32_t pid, uint32_t parent,
				      const struct map *m);
/* A mapping is gone: the file is closed some time after its last one. */
void mapped_files__drop(struct mapped_files *s, struct mapped_file *f);
/* What it holds, read when this is asked for the first time; NULL: not known. It is shown from now
 * on. */
const struct object *mapped_file__object(struct mapped_files *s, struct mapped_file *f);
void mapped_files__free(struct mapped_files *s);

#endif
