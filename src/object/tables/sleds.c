// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code that its program changes, as the compiler recorded it: sleds of XRay (LLVM, "XRay
 * Instrumentation"; compiler-rt, xray_interface_internal.h), nops at entries
 * (-fpatchable-function-entry, -mnop-mcount). A probe there would be overwritten, and a copy would
 * have the old code.
 */
#include <elf.h>
#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "readers.h"

static const char changes[] = "the program changes this code";

/*
 * An entry of xray_instr_map: the addresses of the sled and of its function, its kind, whether it
 * is always instrumented, and the version; from version 2 on, addresses are relative to their
 * places.
 */
#define XRAY_ENTRY   32
#define XRAY_KIND    16
#define XRAY_VERSION 18
#define XRAY_CUSTOM  4 /* from here on, kinds are events, whose sleds are longer */
#define SLED	     11
#define SLED_CUSTOM  24

static void add(struct object *o, uint64_t vaddr, uint64_t size)
{
	const struct segment *s = object__segment_at(o, vaddr);

	if (s && s->exec && size && size <= s->size - (vaddr - s->vaddr))
		vec__push(&o->noprobe, ((struct noprobe){vaddr, size, changes}));
}

static void read_xray(struct object *o, struct elf_file *f)
{
	const Elf64_Shdr *s = elf__section(f, "xray_instr_map");
	uint64_t len = 0;
	const uint8_t *p = s ? elf__bytes(f, s, &len) : NULL;

	for (uint64_t at = 0; p && len - at >= XRAY_ENTRY; at += XRAY_ENTRY) {
		uint64_t vaddr = elf__take_word(f->class, p + at);

		if (p[at + XRAY_VERSION] >= 2)
			vaddr += s->sh_addr + at;
		add(o, vaddr, p[at + XRAY_KIND] < XRAY_CUSTOM ? SLED : SLED_CUSTOM);
	}
}

/* Adds the nops that a function begins with, after a landing instruction. */
static void add_nops(struct object *o, uint64_t vaddr)
{
	const struct arch *arch = arch__by_machine(o->machine);
	size_t avail = 0, at;
	const uint8_t *bytes = object__bytes(o, vaddr, &avail);
	struct insn insn;
	size_t skip = bytes && arch && arch->copier ? arch->copier->landing(bytes, avail) : 0;

	if (!bytes || !arch)
		return;
	for (at = skip; at < avail && at < UINT8_MAX; at += insn.len)
		if (arch->decode(bytes + at, avail - at, vaddr + at, false, &insn) ||
		    insn.flow != FLOW_NEXT || !insn.padding)
			break;
	add(o, vaddr + skip, at - skip);
}

static int by_vaddr(const void *a, const void *b)
{
	const struct noprobe *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

void sleds__read(struct object *o, struct elf_file *f)
{
	const struct symbol *s;

	if (o->machine != EM_X86_64)
		return;
	read_xray(o, f);
	if (elf__section(f, "__patchable_function_entries") || elf__section(f, "__mcount_loc"))
		vec__each (s, &o->symbols)
			add_nops(o, s->vaddr);
	vec__sort(&o->noprobe, by_vaddr);
}
