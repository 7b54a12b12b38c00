/* SPDX-License-Identifier: BSD-2-Clause */
/* readers: fill in an object's tables while object__read() runs. Private to src/object. */
#ifndef BBTRACE_OBJECT_READERS_H
#define BBTRACE_OBJECT_READERS_H

#include "object/elf/elf_file.h"

void frames__read(struct object *o, struct elf_file *f);
void plt__read(struct object *o, struct elf_file *f);

/* sleds.c: code that the program changes, as places for no probe. Once all symbols are there. */
void sleds__read(struct object *o, struct elf_file *f);

/* modes.c: the mode from vaddr on. Call modes__settle() once all symbols and frames are there. */
void modes__mark(struct object *o, uint64_t vaddr, uint8_t mode, enum mode_rank rank);
/* A symbol of that value: returns the value without the mode, if it is one of a function. */
uint64_t modes__see_symbol(struct object *o, const char *name, uint64_t value, bool function);
void modes__settle(struct object *o, struct elf_file *f);

void relatives__read(const struct object *o, struct elf_file *f);
/* The word at vaddr, of its class's size, after relocation at the link-time address. False: not
 * within a segment. */
bool elf__word(const struct object *o, const struct elf_file *f, uint64_t vaddr, uint64_t *word);

#endif
