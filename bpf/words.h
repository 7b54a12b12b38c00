/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Reads memory, and words of programs, which have 32 bits if config.narrow is set. Included once,
 * by bbtrace.bpf.c. */
#ifndef BBTRACE_BPF_WORDS_H
#define BBTRACE_BPF_WORDS_H

/* For a register: 32-bit code doesn't see the rest, which system calls leave there. */
static __always_inline __u64 visible(__u64 value)
{
	return config.narrow ? (__u32)value : value;
}

/* Loads from the kernel's memory, or the thread's program's. */
static __always_inline long load(void *to, __u32 size, __u64 addr, bool kernel)
{
	return kernel ? bpf_probe_read_kernel(to, size, (void *)addr)
		      : bpf_probe_read_user(to, size, (void *)addr);
}

/* The first size bytes: 1, 2, 4 or 8. */
static __always_inline long load_sized(__u64 *value, __u8 size, __u64 addr, bool kernel)
{
	switch (size) {
	case 1:
		return load(value, 1, addr, kernel);
	case 2:
		return load(value, 2, addr, kernel);
	case 4:
		return load(value, 4, addr, kernel);
	}
	return load(value, 8, addr, kernel);
}

/* The size of the program's words, in bytes. */
#define USER_WORD (config.narrow ? 4 : 8)

/* A word of the program's memory, or of the kernel's. */
static __always_inline long load_word(__u64 *to, __u64 addr, bool kernel)
{
	if (kernel || !config.narrow)
		return load(to, 8, addr, kernel);
	*to = 0;
	return load(to, 4, addr, false);
}

#endif
