/* SPDX-License-Identifier: BSD-2-Clause */
/* packer: packs the blocks of a trace file and writes them, in a thread of its own: deflating
 * takes a third of the time of decoding what they hold. */
#ifndef BBTRACE_PIPELINE_WRITE_PACKER_H
#define BBTRACE_PIPELINE_WRITE_PACKER_H

#include "file/file.h"
#include "pipeline/render.h"

/* Most blocks that wait; they would be lost if bbtrace is killed. */
#define PACKER_WAITING 4

struct packer;
/* sink must outlive the packer. Unless threaded, a block is written when put returns. */
struct packer *packer__new(struct sink *sink, enum armor_kind armor, bool threaded);
/* Drops the blocks that wait. */
void packer__free(struct packer *p);
/* A trace_put_fn. It also returns the error of an earlier block. */
int packer__put(void *packer, struct trace_block *b);
/* Waits until all blocks are written. Returns 0, or the first error. */
int packer__flush(struct packer *p);
/* Returns the bytes of the file, before armor. */
uint64_t packer__size(struct packer *p);
/* True if the reader of the pipe has closed it. */
bool packer__reader_gone(struct packer *p);

#endif
