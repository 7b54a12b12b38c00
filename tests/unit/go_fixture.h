/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes Go programs without section headers around a function table: as much of the linker's output
 * as bbtrace reads. The table's bytes are arbitrary.
 */
#ifndef GO_FIXTURE_H
#define GO_FIXTURE_H

#include <elf.h>
#include "util/util.h"

#define GO_TEXT	    0x401000u
#define GO_TEXT_LEN 0x400u
#define GO_TABLE    0x500000u /* the header */
#define GO_DATA	    0x600000u /* the mark of a Go program, moduledata, relocations */
#define GO_PAGE	    0x1000u
#define GO_MODULE   0x40u /* moduledata, in the data */
#define GO_BOUNDS   20	  /* words of moduledata before the bounds of the text */

enum go_version { GO_1_16, GO_1_18, GO_1_20, GO_VERSIONS };

static const uint32_t go_magic[GO_VERSIONS] = {0xfffffffa, 0xfffffff0, 0xfffffff1};

static inline void go__put(struct str *s, uint64_t v, unsigned size)
{
	str__put(s, (const char *)&v, size);
}

static inline uint64_t go__get(const struct str *s, uint64_t at, unsigned size)
{
	uint64_t v = 0;

	if (at <= s->len && size <= s->len - at)
		memcpy(&v, s->data + at, size);
	return v;
}

/* ---- a table ---- */

/* A value that holds up to this byte of the function; runs follow one another. */
struct go_run {
	int value;
	unsigned end;
};

static inline void go__put_leb(struct str *s, uint32_t v)
{
	for (; v > 0x7f; v >>= 7)
		go__put(s, v | 0x80, 1);
	go__put(s, v, 1);
}

/* Returns where the runs are in values. */
static inline uint32_t go__put_runs(struct str *values, const struct go_run *runs)
{
	uint32_t at = values->len;
	int value = -1;
	unsigned end = 0;

	for (; runs->end; runs++) {
		int step = runs->value - value;

		go__put_leb(values, step < 0 ? ~((uint32_t)step << 1) : (uint32_t)step << 1);
		go__put_leb(values, runs->end - end);
		value = runs->value;
		end = runs->end;
	}
	go__put(values, 0, 1);
	return at;
}

struct go_made {
	const char *name;
	unsigned entry; /* from the start of the text */
	int start_line;
	struct go_run files[4], lines[6], inlining[4];
};

struct go_tables {
	struct str names, values, records, list;
};

static inline void go__put_function(struct go_tables *t, enum go_version v, const struct go_made *f,
				    unsigned list_len)
{
	unsigned address = v == GO_1_16 ? 8 : 4;
	uint64_t text = v == GO_1_16 ? GO_TEXT : 0;
	uint32_t record[8] = {t->names.len};

	str__put(&t->names, f->name, strlen(f->name) + 1);
	record[4] = go__put_runs(&t->values, f->files);
	record[5] = go__put_runs(&t->values, f->lines);
	record[6] = 3; /* tables of other values: only the last is there, that of inlined calls */
	record[7] = 1; /* the unit's first file in the list of files */
	go__put(&t->list, text + f->entry, address);
	go__put(&t->list, list_len + t->records.len, address);
	go__put(&t->records, text + f->entry, address);
	str__put(&t->records, (const char *)record, sizeof(record));
	if (v == GO_1_20)
		go__put(&t->records, f->start_line, 4);
	go__put(&t->records, 0, 4);
	go__put(&t->records, 0, 8);
	go__put(&t->records, f->inlining[0].end ? go__put_runs(&t->values, f->inlining) : 0, 4);
	while (t->records.len % 8)
		go__put(&t->records, 0, 1);
}

static inline void go__put_table(struct str *out, uint64_t start, const struct str *part)
{
	while (out->len < start)
		go__put(out, 0, 1);
	str__put(out, part->data, part->len);
}

/* The files are a.go and d/b.go. end: of the last function, from the start of the text. */
static inline struct str go__table(enum go_version v, const struct go_made *f, size_t n,
				   unsigned end)
{
	static const char files[] = "/src/a.go\0/src/d/b.go";
	static const uint32_t unit[] = {UINT32_MAX, 0, 10};
	unsigned address = v == GO_1_16 ? 8 : 4, list_len = (n * 2 + 1) * address;
	struct str out = {0}, units = {0}, paths = {0};
	struct go_tables t = {0};
	uint64_t at[6] = {0x60};

	list_len += -list_len % 8;
	str__put(&units, (const char *)unit, sizeof(unit));
	str__put(&paths, files, sizeof(files));
	str__put(&t.names, "", 1);
	go__put(&t.values, 0, 1);
	for (size_t i = 0; i < n; i++)
		go__put_function(&t, v, &f[i], list_len);
	go__put(&t.list, (v == GO_1_16 ? GO_TEXT : 0) + end, address);
	while (t.list.len < list_len)
		go__put(&t.list, 0, 1);
	str__put(&t.list, t.records.data, t.records.len);
	const struct str *parts[] = {&t.names, &units, &paths, &t.values, &t.list};

	go__put(&out, go_magic[v] | 0x0801ull << 48, 8);
	go__put(&out, n, 8);
	go__put(&out, 2, 8);
	if (v != GO_1_16)
		go__put(&out, GO_TEXT, 8);
	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
		at[i + 1] = (at[i] + parts[i]->len + 7) / 8 * 8;
		go__put(&out, at[i], 8);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++)
		go__put_table(&out, at[i], parts[i]);
	str__free(&units);
	str__free(&paths);
	str__free(&t.names);
	str__free(&t.values);
	str__free(&t.records);
	str__free(&t.list);
	return out;
}

/* ---- the program ---- */

/* The bounds of the text that follow from a table, sound or not. */
static inline void go__bounds(const struct str *table, uint64_t out[3])
{
	bool old = go__get(table, 0, 4) == go_magic[GO_1_16];
	unsigned address = old ? 8 : 4;
	uint64_t list = go__get(table, old ? 0x38 : 0x40, 8), n = go__get(table, 8, 8);

	out[2] = GO_TEXT;
	out[0] = (old ? 0 : GO_TEXT) + go__get(table, list, address);
	out[1] = (old ? 0 : GO_TEXT) + go__get(table, list + n * 2 * address, address);
}

static inline void go__pad(struct str *s, size_t len)
{
	while (s->len < len)
		go__put(s, 0, 1);
}

/* relocated: moduledata has zeros for addresses, and relocations have the addresses. */
static inline void go__put_data(struct str *out, const struct str *table, bool relocated)
{
	struct {
		unsigned word;
		uint64_t value;
	} words[4] = {{0, GO_TABLE}, {GO_BOUNDS, 0}, {GO_BOUNDS + 1, 0}, {GO_BOUNDS + 2, 0}};
	uint64_t bounds[3], start = out->len, module = start + GO_MODULE;
	struct str rela = {0};

	go__bounds(table, bounds);
	str__put(out, "\xff Go buildinf:\x08\x02", 16);
	go__pad(out, start + 32);
	str__put(out, "\x06go1.20\0", 8);
	for (unsigned i = 0; i < 4; i++) {
		words[i].value = i ? bounds[i - 1] : words[i].value;
		go__pad(out, module + 8 * words[i].word);
		go__put(out, relocated ? 0 : words[i].value, 8);
		go__put(&rela, GO_DATA + GO_MODULE + 8 * words[i].word, 8);
		go__put(&rela, R_X86_64_RELATIVE, 8);
		go__put(&rela, words[i].value, 8);
	}
	go__pad(out, start + 0x200);
	for (unsigned i = 0; i < 3; i++) {
		go__put(out, (const unsigned[]){DT_RELA, DT_RELASZ, DT_NULL}[i], 8);
		go__put(out, (const unsigned[]){GO_DATA + 0x240, relocated ? 96 : 0, 0}[i], 8);
	}
	go__pad(out, start + 0x240);
	str__put(out, rela.data, rela.len);
	str__free(&rela);
}

static inline void go__put_segment(struct str *out, uint32_t type, uint32_t flags, uint64_t offset,
				   uint64_t vaddr, uint64_t len)
{
	Elf64_Phdr p = {type, flags, offset, vaddr, vaddr, len, len, 1};

	str__put(out, (const char *)&p, sizeof(p));
}

static inline struct str go__program(const struct str *table, bool relocated)
{
	uint64_t data = (GO_PAGE + GO_TEXT_LEN + table->len + 15) / 16 * 16, len = 0x300;
	struct str out = {0};
	Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				    EV_CURRENT},
			.e_type = relocated ? ET_DYN : ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(h),
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 4};

	str__put(&out, (const char *)&h, sizeof(h));
	go__put_segment(&out, PT_LOAD, PF_R | PF_X, GO_PAGE, GO_TEXT, GO_TEXT_LEN);
	go__put_segment(&out, PT_LOAD, PF_R, GO_PAGE + GO_TEXT_LEN, GO_TABLE, table->len);
	go__put_segment(&out, PT_LOAD, PF_R | PF_W, data, GO_DATA, len);
	go__put_segment(&out, PT_DYNAMIC, PF_R | PF_W, data + 0x200, GO_DATA + 0x200, 48);
	go__pad(&out, GO_PAGE);
	while (out.len < GO_PAGE + GO_TEXT_LEN)
		go__put(&out, 0xc3, 1);
	str__put(&out, table->data, table->len);
	go__pad(&out, data);
	go__put_data(&out, table, relocated);
	go__pad(&out, data + len);
	return out;
}

#endif
