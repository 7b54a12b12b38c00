/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel objects from made-up tables, for test_kernel_*.c. */
#ifndef KERNEL_TABLES_H
#define KERNEL_TABLES_H

#include <stdlib.h>
#include "kernel/kernel_file.h"

static inline int tables__build(struct kernel_objects *k, const char *kallsyms, const char *modules)
{
	autofree char *symbol_text = xstrdup(kallsyms), *module_text = xstrdup(modules);
	kernel_module_vec loaded = {0};
	kallsym_vec symbols = {0};
	int err = kallsyms__parse(symbol_text, strlen(symbol_text), &symbols);

	if (!err)
		err = kernel_modules__parse(module_text, strlen(module_text), &loaded);
	if (!err)
		err = kernel_objects__build(&symbols, &loaded, k);
	vec__free(&symbols);
	vec__free(&loaded);
	return err;
}

/* The object's code is bytes, which stay the caller's. */
static inline void tables__text(struct object *o, const uint8_t *bytes)
{
	const struct kernel_file *f = kernel_file__of(o);

	vec__push(&o->segments, (struct segment){.vaddr = f->start,
						 .size = f->end - f->start,
						 .bytes = bytes,
						 .exec = true});
}

#endif
