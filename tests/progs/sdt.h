/* SPDX-License-Identifier: BSD-2-Clause */
/* Static probes of provider test, as sys/sdt.h of SystemTap writes them, but by hand: what a
 * compiler would choose, of registers and of forms, is chosen by the program. */
#ifndef SDT_H
#define SDT_H

#include <stdint.h>

#if __SIZEOF_POINTER__ == 4
#define ADDRESS ".4byte "
#else
#define ADDRESS ".8byte "
#endif
#define NOTE(name, semaphore, args) "990: nop\n" NOTE_AT("990b", name, semaphore, args)
#define NOTE_AT(pc, name, semaphore, args)                                                         \
	".pushsection .note.stapsdt,\"\",@note\n"                                                  \
	".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                                              \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n"                                                \
	"993: " ADDRESS pc "\n" ADDRESS "_.stapsdt.base\n" ADDRESS semaphore "\n"                  \
	".asciz \"test\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n"                              \
	"994: .balign 4\n.popsection\n"                                                            \
	".ifndef _.stapsdt.base\n"                                                                 \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                    \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"                 \
	".size _.stapsdt.base, 1\n.popsection\n.endif\n"

/* A probe's semaphore, which a tracer counts up. */
#define SEMAPHORE __attribute__((section(".probes"))) volatile uint16_t

#endif
