/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_keeper: the process (util/keeper.h) that keeps root's right to names in folders, while the
 * process that shows what a trace or a file says has it no longer. It changes the names that it was
 * started with, and no others: it rotates the trace file, opens the output file, and removes one
 * (the control socket) at the end.
 */
#ifndef BBTRACE_PIPELINE_WRITE_FILE_KEEPER_H
#define BBTRACE_PIPELINE_WRITE_FILE_KEEPER_H

#include "pipeline/render.h"
#include "util/keeper.h"
#include "util/named_file.h"

/* What it keeps. */
struct kept_files {
	const struct sink_place
		*place; /* of the file to rotate, whose descriptor is current; or NULL */
	int current;
	const char *path;		  /* of that file */
	const char *output;		  /* of a file to open; NULL: none */
	const struct named_file *removed; /* at the end; NULL: none */
};

/* 0, or -errno with a message. */
int file_keeper__start(struct keeper *k, const struct kept_files *f);
/* A new file in place of the one that is full, the output file: a descriptor, or -errno with a
 * message. */
int file_keeper__rotate(const struct keeper *k);
int file_keeper__open(const struct keeper *k);
void file_keeper__end(struct keeper *k);

#endif
