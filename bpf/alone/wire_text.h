/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What text.bpf.c and src/source/inline/text/text.c share. */
#ifndef BBTRACE_BPF_ALONE_WIRE_TEXT_H
#define BBTRACE_BPF_ALONE_WIRE_TEXT_H

#define TEXT_LEARN   0x62747874
#define TEXT_RANGES  16
#define TEXT_SLOTS   2048 /* of processes and of threads: powers of 2 */
#define TEXT_PROBES  16	  /* slots in a row that may have a process */
#define TEXT_THREADS 8192

/* The code of a process that has copies. pid 0: an empty slot, which ends no search. */
struct text_process {
	unsigned int pid, unused;
	struct {
		unsigned long long start, end;
	} at[TEXT_RANGES];
};

#endif
