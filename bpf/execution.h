/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What a uprobe's program does in the processor's place: struct execution of src/arch/execution.h,
 * which user space has decoded. Part of wire.h.
 */
#ifndef BBTRACE_BPF_EXECUTION_H
#define BBTRACE_BPF_EXECUTION_H

/* By site. */
struct wire_execution {
	__s64 imm;
	__u8 op, bits, dst, base, index, scale, len; /* len 0: the kernel executes it */
	__u8 pad;
	/* Its bytes. A bit of cares is 0 if the kernel has changed it in its copy. */
	__u64 code[2], cares[2];
};

#endif
