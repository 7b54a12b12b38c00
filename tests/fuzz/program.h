/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose debug sections an input is: their lengths, two bytes each, then their contents.
 * One function, f; a link to a separate debug file where it is asked for. And what is asked of the
 * debug information of a program.
 */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include <elf.h>
#include "arch/arch.h"
#include "object/dwarf/dwarf.h"
#include "fuzz.h"
#include "resolve/resolve.h"

/* ---- a program around debug sections ---- */

static const char *const names[] = {
	"",
	".shstrtab",
	".text",
	".symtab",
	".debug_info",
	".debug_abbrev",
	".debug_line",
	".debug_str",
	".debug_line_str",
	".debug_ranges",
	".debug_rnglists",
	".debug_addr",
	".debug_str_offsets",
	".debug_types",
	".debug_aranges",
	".gnu_debuglink",
};
#define SECTIONS   ARRAY_SIZE(names)
#define LINK	   (SECTIONS - 1)
#define DEBUG	   4 /* the first debug section */
#define COMPRESSED 0x8000
#define TEXT	   0x200u
#define TEXT_END   0x1000u

struct file {
	struct str bytes;
	Elf64_Shdr sections[SECTIONS];
};

static inline void put_section(struct file *f, unsigned i, Elf64_Shdr s, const void *data)
{
	s.sh_name = f->sections[i].sh_name;
	s.sh_offset = f->bytes.len;
	f->sections[i] = s;
	str__put(&f->bytes, data, s.sh_size);
}

static inline void put_names(struct file *f)
{
	struct str all = {0};

	for (unsigned i = 0; i < SECTIONS; i++) {
		f->sections[i].sh_name = all.len;
		str__put(&all, names[i], strlen(names[i]) + 1);
	}
	str__put(&all, "f", 2);
	put_section(f, 1, (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_size = all.len}, all.data);
	str__free(&all);
}

/* Headers, .text and the one function, f. */
static inline void put_program(struct file *f)
{
	static const uint8_t nops[TEXT_END] = {[TEXT] = 0x90, [TEXT_END - 1] = 0xc3};
	Elf64_Sym symbols[2] = {
		{0}, {.st_info = STT_FUNC, .st_shndx = 2, .st_value = 0x270, .st_size = 0x35}};

	str__put(&f->bytes, (const char *)nops, sizeof(nops));
	f->sections[2] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				      .sh_addr = TEXT,
				      .sh_offset = TEXT,
				      .sh_size = TEXT_END - TEXT};
	put_names(f);
	symbols[1].st_name = f->sections[1].sh_size - 2;
	put_section(f, 3,
		    (Elf64_Shdr){.sh_type = SHT_SYMTAB,
				 .sh_link = 1,
				 .sh_size = sizeof(symbols),
				 .sh_entsize = sizeof(symbols[0])},
		    symbols);
}

static inline void put_debug(struct file *f, struct input *in)
{
	uint16_t len[SECTIONS];

	for (unsigned i = DEBUG; i < LINK; i++)
		len[i] = input__number(in, 2);
	for (unsigned i = DEBUG; i < LINK; i++) {
		struct input part = input__part(in, len[i] & (COMPRESSED - 1));

		put_section(f, i,
			    (Elf64_Shdr){.sh_type = SHT_PROGBITS,
					 .sh_flags = len[i] & COMPRESSED ? SHF_COMPRESSED : 0,
					 .sh_size = input__left(&part)},
			    part.p);
	}
}

static inline void put_headers(struct file *f)
{
	Elf64_Phdr load = {.p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_filesz = TEXT_END,
			   .p_memsz = TEXT_END};
	Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				    EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(h),
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(load),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = SECTIONS,
			.e_shstrndx = 1};

	while (f->bytes.len % 8)
		str__putc(&f->bytes, 0);
	h.e_shoff = f->bytes.len;
	str__put(&f->bytes, (const char *)f->sections, sizeof(f->sections));
	memcpy(f->bytes.data, &h, sizeof(h));
	memcpy(f->bytes.data + sizeof(h), &load, sizeof(load));
}

/* link: the contents of .gnu_debuglink; 0 bytes: none. */
static inline struct str make_program(struct input *in, const void *link, size_t len)
{
	struct file f = {0};

	put_program(&f);
	put_debug(&f, in);
	put_section(&f, LINK, (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_size = len}, link);
	put_headers(&f);
	return f.bytes;
}

/* ---- asking ---- */

static inline void resolve(struct object *o, const char *text)
{
	function_vec v = {0};
	const struct function *f;
	const struct range *r;
	struct spec spec;

	CHECK(!spec__parse(text, false, &spec) && spec.kind == SPEC_LINE);
	err__clear();
	CHECK(!object__resolve(o, &spec, &v) || *err__text());
	vec__each (f, &v)
		vec__each (r, &f->ranges) {
			size_t avail;

			CHECK(object__bytes(o, r->vaddr, &avail) && r->size && r->size <= avail);
		}
	functions__free(&v);
	spec__free(&spec);
}

struct row_check {
	uint64_t start, end, last;
	bool open; /* the last one was of a line: another one ends it */
};

static inline void check_row(void *ctx, const struct line_row *row)
{
	struct row_check *c = ctx;

	CHECK(row->vaddr >= c->start && row->vaddr <= c->end && row->vaddr >= c->last);
	CHECK(!row->file == !row->line);
	if (row->file)
		CHECK(strlen(row->file) < 1u << 20);
	c->last = row->vaddr;
	c->open = row->line;
}

struct scope_check {
	uint32_t scopes;
};

static inline void check_scope(void *ctx, const struct source_scope *s)
{
	struct scope_check *c = ctx;

	CHECK(s->parent == NO_SCOPE || s->parent < c->scopes);
	CHECK(!s->line || s->file);
	CHECK((s->name ? strlen(s->name) : 0) + (s->raw ? strlen(s->raw) : 0) < 1u << 20);
	c->scopes++;
}

static inline void check_scope_range(void *ctx, uint32_t scope, uint64_t start, uint64_t end)
{
	CHECK(start < end && scope < ((struct scope_check *)ctx)->scopes);
}

static inline void check_folded(void *ctx, uint32_t scope, const char *folded)
{
	CHECK(*folded && scope < ((struct scope_check *)ctx)->scopes);
}

/* Registers and memory at the ranges' starts. */
static inline void ask_variables(const struct object *o, const struct range *ranges)
{
	struct operand_place places[16];
	struct variable found[ARRAY_SIZE(places)];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		places[i] = (struct operand_place){
			.vaddr = ranges[0].vaddr + 3 * (i / 2),
			.kind = i % 2 ? OPERAND_MEM : OPERAND_REG,
			.base = i % 5	? i % 8
				: i % 2 ? REG_NONE
					: 7,
			.size = 1 << i % 4,
			.disp = i % 2 ? 8 * (int64_t)i - 32 : 0,
		};
	object__variables(o, places, ARRAY_SIZE(places), found);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		CHECK(!found[i].name || (*found[i].name && found[i].type < VARIABLE_TYPES));
}

static inline void look_at_types(struct object *o)
{
	const struct type_query queries[] = {{0x200, "a", 0}, {0x270, "f", 1}, {0x2a5, "c", 2}};
	struct type_names members = {0};
	expression_vec list = {0};
	struct types t;

	CHECK(!expressions__parse("a.a, a.b, a.c, a.next, a.name", &list));
	expressions__names(&list, &members);
	object__prototypes(o, queries, ARRAY_SIZE(queries), &members, &t);
	CHECK(t.prototypes.len <= ARRAY_SIZE(queries));
	types__free(&t);
	vec__free(&members.all);
	expressions__free(&list);
}

/* All that is asked of debug information. */
static inline void look_at_debug(struct object *o)
{
	const struct range ranges[] = {{0x200, 0x70}, {0x270, 0x35}, {0x2a5, 0xd00}};
	const struct scope_calls calls = {check_scope, check_scope_range, check_folded};
	struct row_check rows = {.start = 0x200, .end = 0xfa5};
	struct scope_check scopes = {0};

	resolve(o, "a.c:2");
	resolve(o, "d/b.h:1");
	resolve(o, "c.cc:3");
	object__lines(o, ranges, ARRAY_SIZE(ranges), check_row, &rows);
	CHECK(!rows.open);
	object__scopes(o, ranges, ARRAY_SIZE(ranges), &calls, &scopes);
	ask_variables(o, ranges);
	look_at_types(o);
}

#endif
