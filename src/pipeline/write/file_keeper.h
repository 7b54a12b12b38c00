/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_keeper: the process (util/keeper.h) that keeps root's right to change names in folders,
 * while the process that shows a trace or a file has lost it. It changes only the names that it was
 * started with: it rotates the trace file, opens the output file, and removes one file (the control
 * socket) at the end.
 */
#ifndef BBTRACE_PIPELINE_WRITE_FILE_KEEPER_H
#define BBTRACE_PIPELINE_WRITE_FILE_KEEPER_H

#include "pipeline/render.h"
#include "util/keeper.h"
#include "util/named_file.h"

/* The files that it may change. */
struct kept_files {
	const struct sink_place
		*place; /* of the file to rotate, with descriptor current; or NULL */
	int current;
	const char *path;		  /* its path */
	const char *output;		  /* path of a file to open; NULL if none */
	const struct named_file *removed; /* file to remove at the end; NULL if none */
};

/* Starts the keeper. Returns 0, or -errno with a message. */
int file_keeper__start(struct keeper *k, const struct kept_files *f);
/* Rotates the full file, or opens the output file. Returns a descriptor, or -errno with a
 * message. */
int file_keeper__rotate(const struct keeper *k);
int file_keeper__open(const struct keeper *k);
void file_keeper__end(struct keeper *k);

#endif
