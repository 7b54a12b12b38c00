/* SPDX-License-Identifier: BSD-2-Clause */
/* frames: parsing .eh_frame, shared by frames.c (ranges) and unwind.c (rows). Private to
 * src/object. */
#ifndef BBTRACE_OBJECT_FRAMES_H
#define BBTRACE_OBJECT_FRAMES_H

#include "object/elf_file.h"

/* The rule for the CFA. */
struct row {
	uint64_t reg, offset;
	bool expression;
};

struct cie {
	bool usable, signal;
	uint8_t pc_encoding, lsda_encoding;
	uint64_t code_align, data_align, return_reg;
	struct cursor program;
	struct row initial; /* after its own instructions */
};

/* c: the bytes after its id, to its end. */
struct cie cie__read(struct cursor c);

#endif
