/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols: an ELF file's symbols, for symbols.c, data.c and object.c. Private to src/object. */
#ifndef BBTRACE_OBJECT_SYMBOLS_H
#define BBTRACE_OBJECT_SYMBOLS_H

#include "object/elf/elf_file.h"

void symbols__read(struct object *o, struct elf_file *f);
/* Calls fn with all symbols, also those of separate files if there is no .symtab (symbols.c). */
typedef void (*symbol_fn)(void *ctx, const Elf64_Sym *sym, const char *name);
void symbols__each(struct object *o, struct elf_file *f, symbol_fn fn, void *ctx);

#endif
