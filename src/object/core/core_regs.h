/* SPDX-License-Identifier: BSD-2-Clause */
/* core_regs: the registers of a core dump's threads, in the sandbox. Private to src/object/core. */
#ifndef BBTRACE_OBJECT_CORE_CORE_REGS_H
#define BBTRACE_OBJECT_CORE_CORE_REGS_H

#include <elfutils/libdwfl.h>
#include "util/util.h"

/* The note of a thread: struct elf_prstatus */
struct core_status {
	uint32_t tid;
	char *desc;
};
struct core_regs {
	Elf *elf;
	const struct core_machine *machine; /* NULL: its notes aren't known */
	VEC(struct core_status) all;
	VEC(GElf_Phdr) segments;
};

void core_regs__open(struct core_regs *r, Elf *elf);
void core_regs__close(struct core_regs *r);
/* Returns true if the process could execute what is at addr. */
bool core_regs__is_code(const struct core_regs *r, uint64_t addr);

/* The registers of a frame, by DWARF number; known: a bit each; others are 0. */
struct core_state {
	uint64_t pc, regs[32];
	uint32_t known;
};
void core_regs__of_frame(const struct core_regs *r, Dwfl_Frame *frame, struct core_state *out);
/* Those that a signal has saved. sp: the stack pointer where its handler has returned. False if it
 * is not known where they are. */
bool core_regs__interrupted(const struct core_regs *r, uint64_t sp, struct core_state *out);
bool core_regs__sp(const struct core_regs *r, Dwfl_Frame *frame, uint64_t *sp);
/*
 * The thread's registers become those in the caller of this state, which is at the first
 * instruction of what was called, so that the return address is where the call left it. The pc is
 * within the call. Returns false if the caller can't be read.
 */
bool core_regs__call(struct core_regs *r, uint32_t tid, struct core_state *state);
/* The thread's registers become these, which are those after a call that returns to the state's pc.
 * The pc is within that call. Returns false if the thread has no note. */
bool core_regs__resume(struct core_regs *r, uint32_t tid, const struct core_state *state);
/* arm64: functions may sign return addresses in bits that no address has; libdw before 0.191 takes
 * them for a part of it. Replaces such an address; returns false if it isn't one. */
bool core_regs__unsigned(const struct core_regs *r, uint64_t *addr);

#endif
