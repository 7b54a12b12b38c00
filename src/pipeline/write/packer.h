/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packer: packs the blocks of a trace file and writes them, in a thread of its own: deflating them
 * takes a third of the time of decoding what they hold.
 */
#ifndef BBTRACE_PIPELINE_WRITE_PACKER_H
#define BBTRACE_PIPELINE_WRITE_PACKER_H

#include "file/file.h"
#include "pipeline/render.h"

/* Blocks that wait for it at most; more of them would be lost if bbtrace is killed. */
#define PACKER_WAITING 4

struct packer;
/* sink must outlive it. threaded: else a block is written when put returns. */
struct packer *packer__new(struct sink *sink, enum armor_kind armor, bool threaded);
/* Drops what waits. */
void packer__free(struct packer *p);
/* A trace_put_fn. It returns the error of a block before, too. */
int packer__put(void *packer, struct trace_block *b);
/* All that was put is written then. 0, or the first error. */
int packer__flush(struct packer *p);
/* Bytes of the file, before armor. */
uint64_t packer__size(struct packer *p);
/* The reader of the pipe that was written to has closed it. */
bool packer__reader_gone(struct packer *p);

#endif
