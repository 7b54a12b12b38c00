/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bbtrace.h: a program controls when its tracer records, and marks what it does.
 *
 *   BBTRACE_START()            record from here on      (bbtrace user --control app ...)
 *   BBTRACE_STOP()             and no longer
 *   BBTRACE_MARK(name, value)  note a text and a number in the trace: a NUL-terminated string,
 * which is read up to its 63rd byte, and an integer of at most 64 bits
 *
 * Each is one nop of the smallest size, whose address is in an ELF note (.note.stapsdt) as
 * sys/sdt.h of SystemTap writes it: the probes start, stop and mark of the provider bbtrace. Until
 * somebody attaches to them they cost that nop, and what it takes to have a mark's two operands in
 * registers. bbtrace, SystemTap, perf, bpftrace and gdb (info probes) find them in programs and
 * libraries, also in stripped ones; readelf -n lists them.
 *
 * START while the trace records, and STOP while it doesn't, do nothing: they don't nest. They
 * switch the whole trace, whichever thread of the traced processes executes them.
 *
 * For C from C89 and C++ from C++98 on, gcc and clang, with any optimization; nothing is to be
 * linked. x86-64, aarch64 and riscv64: elsewhere, and with BBTRACE_NO_MARKERS defined, these are
 * nothing.
 */
#ifndef BBTRACE_H
#define BBTRACE_H

#if !defined(BBTRACE_NO_MARKERS) && defined(__GNUC__) && defined(__ELF__) && defined(__LP64__) &&  \
	(defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))

/* An operand as sys/sdt.h has it: its size, negative if signed, and where it is. On aarch64 and
 * riscv64 a number has no prefix there either. */
#define BBTRACE_NOTE_(name, args)                                                                  \
	"990: nop\n\t"                                                                             \
	".pushsection .note.stapsdt,\"?\",\"note\"\n\t"                                            \
	".balign 4\n\t"                                                                            \
	".4byte 992f-991f, 994f-993f, 3\n"                                                         \
	"991: .asciz \"stapsdt\"\n"                                                                \
	"992: .balign 4\n"                                                                         \
	"993: .8byte 990b\n\t"                                                                     \
	".8byte _.stapsdt.base\n\t"                                                                \
	".8byte 0\n\t"                                                                             \
	".asciz \"bbtrace\"\n\t"                                                                   \
	".asciz \"" name "\"\n\t"                                                                  \
	".asciz \"" args "\"\n"                                                                    \
	"994: .balign 4\n\t"                                                                       \
	".popsection\n\t"                                                                          \
	".ifndef _.stapsdt.base\n\t"                                                               \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n\t"                  \
	".weak _.stapsdt.base\n\t"                                                                 \
	".hidden _.stapsdt.base\n"                                                                 \
	"_.stapsdt.base: .space 1\n\t"                                                             \
	".size _.stapsdt.base, 1\n\t"                                                              \
	".popsection\n\t"                                                                          \
	".endif\n"

/* "memory": what the program did before is done, and what comes later isn't, as far as its memory
 * shows. */
#define BBTRACE_START()		  __asm__ __volatile__(BBTRACE_NOTE_("start", "") : : : "memory")
#define BBTRACE_STOP()		  __asm__ __volatile__(BBTRACE_NOTE_("stop", "") : : : "memory")
#define BBTRACE_MARK(name, value) bbtrace_mark_((name), (value))

static __inline__ __attribute__((__always_inline__, __unused__)) void
bbtrace_mark_(const char *name, long value)
{
	__asm__ __volatile__(BBTRACE_NOTE_("mark", "8@%0 -8@%1")
			     :
			     : "r"(name), "nr"(value)
			     : "memory");
}

#else

#define BBTRACE_START()		  ((void)0)
#define BBTRACE_STOP()		  ((void)0)
#define BBTRACE_MARK(name, value) ((void)(name), (void)(value))

#endif

#endif
