/* SPDX-License-Identifier: BSD-2-Clause */
/* How the springboards of copied functions are laid out. */
#ifndef COPY_LAYOUT_H
#define COPY_LAYOUT_H

#include "copy_fixture.h"

#define BEGIN                                                                                      \
	".macro FN name\n.globl \\name\n.type \\name, @function\n\\name:\n.endm\n"                 \
	".macro END name\n.size \\name, . - \\name\n.endm\n.text\n"

static struct log_options options;

static inline const struct copy_image *image(void)
{
	static const struct copy_image none;

	return copies && copies->images.len ? copies->images.data : &none;
}

/* Assembles a program, plans some of its functions, and copies them. */
static inline bool copy_some(const char *source, const char *const *names, unsigned events)
{
	return assemble_anew(source) && plan_and_copy(names, events, &options);
}
#define COPY(source, events, ...)                                                                  \
	({                                                                                         \
		static const char *const names_[] = {__VA_ARGS__, NULL};                           \
		ok(copy_some(BEGIN source, names_, events), "it is planned and copied");           \
	})

static inline const struct copy_patch *patch_at(uint64_t vaddr)
{
	static const struct copy_patch none = {.kind = 99};
	const struct copy_patch *p;

	vec__each (p, &image()->patches)
		if (p->vaddr == vaddr)
			return p;
	return &none;
}

static inline uint32_t copy_of(uint64_t vaddr)
{
	uint32_t offset;

	return copy_image__copy_at(image(), vaddr, &offset) ? offset : UINT32_MAX;
}

static inline void is_copied(const char *name)
{
	is(refusal(name), COPY_OK, "%s: it is copied", name);
	ok(copy_of(address(name)) != UINT32_MAX, "%s: its first instruction has a copy", name);
}

/* The number of the write that a patch belongs to. */
static inline unsigned write_of(uint64_t vaddr)
{
	uint64_t page = 0;
	unsigned n = 0;
	const uint32_t *i;

	vec__each (i, &image()->order) {
		const struct copy_patch *p = &image()->patches.data[*i];

		n += p->vaddr / 4096 != page;
		page = p->vaddr / 4096;
		if (p->vaddr == vaddr)
			return n;
	}
	return 0;
}

/* A function to call. */
#define CALLED ".p2align 4\nFN g\nmov %rdi, %rax\nadd %rsi, %rax\nret\nEND g\n.p2align 4\n"

#endif
