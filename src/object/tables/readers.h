/* SPDX-License-Identifier: BSD-2-Clause */
/* readers: fill in an object's tables while object__read() runs. Private to src/object. */
#ifndef BBTRACE_OBJECT_TABLES_READERS_H
#define BBTRACE_OBJECT_TABLES_READERS_H

#include "object/elf/elf_file.h"

void frames__read(struct object *o, struct elf_file *f);
void plt__read(struct object *o, struct elf_file *f);

/* sleds.c: adds code that the program changes to the places for no probe. To be called when all
 * symbols are there. */
void sleds__read(struct object *o, struct elf_file *f);

/* modes.c: sets the mode from vaddr on. modes__settle() is to be called when all symbols and frames
 * are there. */
void modes__mark(struct object *o, uint64_t vaddr, uint8_t mode, enum mode_rank rank);
/* Notes a symbol of that value. Returns the value without the mode, if it is a function's. */
uint64_t modes__note_symbol(struct object *o, const char *name, uint64_t value, bool function);
void modes__settle(struct object *o, struct elf_file *f);

/* Calls fn with each entry of the dynamic segment, up to DT_NULL (dynamic.c). */
void dynamic__each(const struct object *o, const struct elf_file *f,
		   void (*fn)(void *ctx, const Elf64_Dyn *d), void *ctx);

/* finals.c */
void finals__read(struct object *o, struct elf_file *f);

void relatives__read(const struct object *o, struct elf_file *f);
/* Sets the word at vaddr, of its class's size, after relocation at the link-time address. Returns
 * false if it is not within a segment. */
bool elf__word(const struct object *o, const struct elf_file *f, uint64_t vaddr, uint64_t *word);

#endif
