/* SPDX-License-Identifier: BSD-2-Clause */
/* watch: what is to be watched, as the command line names it, and the parts that hardware
 * breakpoints can watch. Part of the public header of src/resolve. */
#ifndef BBTRACE_RESOLVE_WATCH_H
#define BBTRACE_RESOLVE_WATCH_H

#include "util/util.h"

enum watch_access {
	WATCH_WRITE,
	WATCH_ANY, /* reads and writes: x86 has nothing for reads alone */
	WATCH_EXEC,
};

/* WHERE[:LEN][:ACCESS], WHERE one of 0xADDR, SYMBOL, SYMBOL+OFF and OBJECT:SYMBOL[+OFF], OBJECT
 * kernel or a module for the kernel's; perf's mem:0xADDR[/LEN][:ACCESS]. */
struct watch_spec {
	char *text;	     /* as given */
	char *object;	     /* NULL: not given */
	char *symbol;	     /* NULL: an address */
	uint64_t offset;     /* from the symbol; or the address */
	uint64_t len;	     /* 0: not given */
	uint8_t access;	     /* enum watch_access */
	bool kernel_address; /* an address in the kernel's half */
};
/* -EINVAL with a message. Free the result with watch_spec__free(). */
int watch_spec__parse(const char *text, struct watch_spec *out);
void watch_spec__free(struct watch_spec *s);

/* What one hardware breakpoint watches: 1, 2, 4 or 8 bytes, aligned to that. */
struct watch_piece {
	uint64_t addr;
	uint8_t len;
};
#define WATCH_SLOTS 4 /* of x86-64: SDM volume 3, 17.2.1 */
/* Sets the parts of [addr, addr + len). Returns their number; 0 if there are more than the
 * slots. */
unsigned watch__split(uint64_t addr, uint64_t len, struct watch_piece out[WATCH_SLOTS]);

#endif
