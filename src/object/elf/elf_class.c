// SPDX-License-Identifier: BSD-2-Clause
/* The two classes of ELF files, 64 and 32 bits (gABI, "Data Representation"): the structures of a
 * file of 32 bits are converted to those of 64 bits. */
#include "elf_file.h"

static const struct elf_class class64 = {
	.ident = ELFCLASS64,
	.word = sizeof(Elf64_Addr),
	.header = sizeof(Elf64_Ehdr),
	.segment = sizeof(Elf64_Phdr),
	.section = sizeof(Elf64_Shdr),
	.symbol = sizeof(Elf64_Sym),
	.dynamic = sizeof(Elf64_Dyn),
	.rel = sizeof(Elf64_Rel),
	.rela = sizeof(Elf64_Rela),
};
static const struct elf_class class32 = {
	.ident = ELFCLASS32,
	.word = sizeof(Elf32_Addr),
	.header = sizeof(Elf32_Ehdr),
	.segment = sizeof(Elf32_Phdr),
	.section = sizeof(Elf32_Shdr),
	.symbol = sizeof(Elf32_Sym),
	.dynamic = sizeof(Elf32_Dyn),
	.rel = sizeof(Elf32_Rel),
	.rela = sizeof(Elf32_Rela),
};

/* Another class than these two is damaged; what is read then is checked like everything else. */
const struct elf_class *elf__class(uint8_t ident)
{
	return ident == ELFCLASS32 ? &class32 : &class64;
}

static bool is32(const struct elf_class *c)
{
	return c == &class32;
}

void elf__take_header(const struct elf_class *c, const void *p, Elf64_Ehdr *out)
{
	Elf32_Ehdr h;

	if (!is32(c)) {
		memcpy(out, p, sizeof(*out));
		return;
	}
	memcpy(&h, p, sizeof(h));
	*out = (Elf64_Ehdr){
		.e_type = h.e_type,
		.e_machine = h.e_machine,
		.e_version = h.e_version,
		.e_entry = h.e_entry,
		.e_phoff = h.e_phoff,
		.e_shoff = h.e_shoff,
		.e_flags = h.e_flags,
		.e_ehsize = h.e_ehsize,
		.e_phentsize = h.e_phentsize,
		.e_phnum = h.e_phnum,
		.e_shentsize = h.e_shentsize,
		.e_shnum = h.e_shnum,
		.e_shstrndx = h.e_shstrndx,
	};
	memcpy(out->e_ident, h.e_ident, sizeof(h.e_ident));
}

Elf64_Phdr elf__take_segment(const struct elf_class *c, const void *p)
{
	Elf64_Phdr out;
	Elf32_Phdr h;

	if (!is32(c)) {
		memcpy(&out, p, sizeof(out));
		return out;
	}
	memcpy(&h, p, sizeof(h));
	return (Elf64_Phdr){
		.p_type = h.p_type,
		.p_flags = h.p_flags,
		.p_offset = h.p_offset,
		.p_vaddr = h.p_vaddr,
		.p_paddr = h.p_paddr,
		.p_filesz = h.p_filesz,
		.p_memsz = h.p_memsz,
		.p_align = h.p_align,
	};
}

Elf64_Shdr elf__take_section(const struct elf_class *c, const void *p)
{
	Elf64_Shdr out;
	Elf32_Shdr h;

	if (!is32(c)) {
		memcpy(&out, p, sizeof(out));
		return out;
	}
	memcpy(&h, p, sizeof(h));
	return (Elf64_Shdr){
		.sh_name = h.sh_name,
		.sh_type = h.sh_type,
		.sh_flags = h.sh_flags,
		.sh_addr = h.sh_addr,
		.sh_offset = h.sh_offset,
		.sh_size = h.sh_size,
		.sh_link = h.sh_link,
		.sh_info = h.sh_info,
		.sh_addralign = h.sh_addralign,
		.sh_entsize = h.sh_entsize,
	};
}

Elf64_Sym elf__take_symbol(const struct elf_class *c, const void *p)
{
	Elf64_Sym out;
	Elf32_Sym s;

	if (!is32(c)) {
		memcpy(&out, p, sizeof(out));
		return out;
	}
	memcpy(&s, p, sizeof(s));
	return (Elf64_Sym){
		.st_name = s.st_name,
		.st_info = s.st_info,
		.st_other = s.st_other,
		.st_shndx = s.st_shndx,
		.st_value = s.st_value,
		.st_size = s.st_size,
	};
}

Elf64_Dyn elf__take_dynamic(const struct elf_class *c, const void *p)
{
	Elf64_Dyn out;
	Elf32_Dyn d;

	if (!is32(c)) {
		memcpy(&out, p, sizeof(out));
		return out;
	}
	memcpy(&d, p, sizeof(d));
	return (Elf64_Dyn){.d_tag = d.d_tag, .d_un.d_val = d.d_un.d_val};
}

Elf64_Rela elf__take_relocation(const struct elf_class *c, const void *p, bool addends)
{
	Elf64_Rela out = {0};
	Elf32_Rela r = {0};

	if (!is32(c)) {
		memcpy(&out, p, addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel));
		return out;
	}
	memcpy(&r, p, addends ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel));
	return (Elf64_Rela){
		.r_offset = r.r_offset,
		.r_info = ELF64_R_INFO((uint64_t)ELF32_R_SYM(r.r_info), ELF32_R_TYPE(r.r_info)),
		.r_addend = r.r_addend,
	};
}

uint64_t elf__take_word(const struct elf_class *c, const void *p)
{
	uint64_t word = 0;

	memcpy(&word, p, c->word);
	return word;
}
