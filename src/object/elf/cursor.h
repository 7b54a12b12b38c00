/* SPDX-License-Identifier: BSD-2-Clause */
/* cursor: reads the numbers of exception tables (LSB Core, 10.5 and 10.6; GCC's unwind-pe.h),
 * within bounds. */
#ifndef BBTRACE_OBJECT_ELF_CURSOR_H
#define BBTRACE_OBJECT_ELF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENC_OMIT   0xff
#define NO_ADDRESS UINT64_MAX

/* Reads forward within bounds. Once bad, every read returns 0. */
struct cursor {
	const uint8_t *start, *p, *end;
	uint64_t vaddr; /* of start */
	uint8_t word;	/* bytes of an address: 4, else 8 */
	bool bad;
};

uint64_t cursor__uint(struct cursor *c, unsigned size);
uint64_t cursor__leb(struct cursor *c, bool is_signed);
/* Reads a number in the format of a DW_EH_PE_* encoding, without adding its base. */
uint64_t cursor__format(struct cursor *c, uint8_t encoding);
/*
 * Reads an encoded pointer: 0 if null, NO_ADDRESS if it is indirect. base is the function's
 * address, for DW_EH_PE_funcrel. Text- and data-relative pointers don't occur where this is called:
 * i386 has them only in the search table of .eh_frame_hdr.
 */
uint64_t cursor__pointer(struct cursor *c, uint8_t encoding, uint64_t base);

#endif
