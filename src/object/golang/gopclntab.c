// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads .gopclntab (Go's runtime/symtab.go and runtime2.go: pcHeader, moduledata, functab, _func;
 * the linker's ld/pcln.go). It is found as the runtime finds it: moduledata, in the program's data,
 * starts with a pointer to it and has the bounds of the code. Both must be consistent, as
 * moduledataverify1() checks. Section names are not needed.
 */
#include <stdlib.h>
#include "object/tables/readers.h"
#include "gopclntab.h"

/* How many words of moduledata are searched for the code's bounds; these are 20 and 21 up to Go
 * 1.25. */
#define MODULE_WORDS 48

/* The header's words after its first eight bytes, in this order. */
enum { NFUNCTIONS, NFILES, TEXT, NAMES, UNITS, FILES, VALUES, FUNCTIONS, HEADER_WORDS };

/* A function's record: its address, then these fields of four bytes. */
enum { NAME, FILE_VALUES = 4, LINE_VALUES, NVALUES, UNIT, START_LINE, RECORD_WORDS };

#define INLINING_VALUES 2 /* PCDATA_InlTreeIndex */
#define FLAG_ASSEMBLY	4 /* abi.FuncFlagAsm, from 1.18 on */

static const struct go_layout {
	uint64_t start;	 /* the start of the header: magic, two zeros, 1 (shortest instruction), 8
			    (pointer) */
	uint8_t address; /* the size of an address, and of an offset, in the list of functions */
	bool has_text;	 /* the header has TEXT, to which addresses are relative */
	bool has_start_line; /* a record has START_LINE */
} layouts[] = {
	{0x08010000fffffffa, 8, false, false}, /* Go 1.16 */
	{0x08010000fffffff0, 4, true, false},  /* 1.18 */
	{0x08010000fffffff1, 4, true, true},   /* 1.20 */
};

/* Returns 0 if it is not within the table. */
static uint64_t number_at(const struct go_table *t, uint64_t at, unsigned size)
{
	uint64_t v = 0;

	if (bytes__within(at, size, t->len))
		memcpy(&v, t->bytes + at, size);
	return v;
}

/* ---- functions ---- */

static uint64_t address_at(const struct go_table *t, uint64_t at)
{
	return t->text + number_at(t, at, t->layout->address);
}

static uint64_t entry_of(const struct go_table *t, uint64_t i)
{
	return address_at(t, t->functions + i * 2 * t->layout->address);
}

uint64_t go_table__at(const struct go_table *t, uint64_t vaddr)
{
	uint64_t low = 0, high = t->nfunctions, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (entry_of(t, mid) <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : t->nfunctions;
}

static const char *string_at(const struct go_table *t, uint64_t at)
{
	return at < t->len && memchr(t->bytes + at, 0, t->len - at) ? (const char *)t->bytes + at
								    : NULL;
}

bool go_table__function(const struct go_table *t, uint64_t i, struct go_function *out)
{
	const struct go_layout *l = t->layout;
	uint64_t at =
		t->functions + number_at(t, t->functions + (2 * i + 1) * l->address, l->address);
	uint64_t entry = i < t->nfunctions ? entry_of(t, i) : 0, kind;
	uint32_t r[RECORD_WORDS];

	if (!entry || !bytes__within(at, l->address + sizeof(r) + 4, t->len) ||
	    address_at(t, at) != entry)
		return false;
	at += l->address;
	memcpy(r, t->bytes + at, sizeof(r));
	/* after the unit, or the start line: four bytes of kind and flags */
	kind = at + 4 * (START_LINE + l->has_start_line);
	*out = (struct go_function){
		.vaddr = entry,
		.limit = entry_of(t, i + 1) - entry,
		.name = string_at(t, t->names + r[NAME]),
		.unit = r[UNIT],
		.files = r[FILE_VALUES],
		.lines = r[LINE_VALUES],
		.start_line = l->has_start_line ? r[START_LINE] : 0,
		.inlining = r[NVALUES] > INLINING_VALUES
				    ? number_at(t, kind + 4 * (1 + INLINING_VALUES), 4)
				    : 0,
		.assembly = number_at(t, kind + 1, 1) & FLAG_ASSEMBLY,
	};
	return out->name;
}

const char *go_table__file(const struct go_table *t, const struct go_function *f, int64_t number)
{
	uint64_t at = t->units + (f->unit + (uint64_t)number) * 4;
	uint32_t file = number_at(t, at, 4);

	return number >= 0 && bytes__within(at, 4, t->len) && file != UINT32_MAX
		       ? string_at(t, t->files + file)
		       : NULL;
}

/* ---- pc-value tables ---- */

struct go_values go_values__start(const struct go_table *t, const struct go_function *f,
				  uint32_t offset)
{
	const uint8_t *end = t->bytes + t->len;
	uint64_t at = min_of(t->values + offset, t->len);

	return (struct go_values){
		.c = {.start = t->bytes, .p = t->bytes + at, .end = end, .bad = !offset},
		.limit = f->limit,
		.value = -1};
}

/* A zigzag delta of the value, then a delta of the address, which is never 0. */
bool go_values__next(struct go_values *v)
{
	uint32_t step = cursor__leb(&v->c, false);
	uint64_t bytes = cursor__leb(&v->c, false);

	if (v->c.bad || (!step && v->end) || !bytes || bytes > v->limit - v->end)
		return !(v->c.bad = true);
	v->value += (uint32_t)(step & 1 ? ~(step >> 1) : step >> 1);
	v->end += bytes;
	return true;
}

uint64_t go_function__size(const struct go_table *t, const struct go_function *f)
{
	struct go_values v = go_values__start(t, f, f->lines);

	while (go_values__next(&v))
		;
	return v.end ? v.end : f->limit;
}

/* ---- the table ---- */

static const struct go_layout *layout_at(const struct object *o, uint64_t vaddr)
{
	size_t avail, i;
	const uint8_t *bytes = vaddr % 8 ? NULL : object__bytes(o, vaddr, &avail);
	uint64_t start;

	if (!bytes || avail < sizeof(start))
		return NULL;
	memcpy(&start, bytes, sizeof(start));
	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].start == start)
			return &layouts[i];
	return NULL;
}

static bool read_header(const struct object *o, uint64_t vaddr, struct go_table *t)
{
	uint64_t h[HEADER_WORDS], at = sizeof(uint64_t);
	size_t avail, i;

	*t = (struct go_table){.layout = layout_at(o, vaddr)};
	t->bytes = t->layout ? object__bytes(o, vaddr, &avail) : NULL;
	if (!t->bytes)
		return false;
	t->len = avail;
	for (i = 0; i < HEADER_WORDS; i++) {
		h[i] = i == TEXT && !t->layout->has_text ? 0 : number_at(t, at, sizeof(h[i]));
		at += i == TEXT && !t->layout->has_text ? 0 : sizeof(h[i]);
		if (i > TEXT && h[i] > t->len)
			return false;
	}
	t->register_args = t->layout->has_text; /* also in 1.17, which has the layout of 1.16 */
	t->names = h[NAMES];
	t->units = h[UNITS];
	t->files = h[FILES];
	t->values = h[VALUES];
	t->functions = h[FUNCTIONS];
	t->nfunctions = h[NFUNCTIONS];
	/* the end of the last function follows it */
	return h[NFUNCTIONS] && h[NFUNCTIONS] < (t->len - t->functions) / (2 * t->layout->address);
}

/* moduledata has the first function's address, the last one's end and the start of the text as
 * consecutive words. */
static bool find_text(const struct object *o, const struct elf_file *f, uint64_t module,
		      struct go_table *t)
{
	uint64_t first = entry_of(t, 0), end = entry_of(t, t->nfunctions), w[3];

	for (unsigned i = 1; i < MODULE_WORDS; i++) {
		for (unsigned k = 0; k < ARRAY_SIZE(w); k++)
			if (!elf__word(o, f, module + 8 * (i + k), &w[k]))
				return false;
		t->text = t->layout->has_text ? w[2] : 0;
		if (w[2] && w[2] <= w[0] && w[0] == t->text + first && w[1] == t->text + end)
			return true;
	}
	return false;
}

/* Returns true if all functions are in order and in one segment, and their records match. */
static bool is_sound(const struct object *o, struct elf_file *f, const struct go_table *t)
{
	uint64_t first = entry_of(t, 0), end = entry_of(t, t->nfunctions), at;
	struct go_function fn;
	size_t avail;

	object__bytes(o, first, &avail);
	if (!object__is_code(o, first) || end <= first || end - first > avail ||
	    !elf__afford(f,
			 t->nfunctions * (2 * t->layout->address + sizeof(uint32_t[RECORD_WORDS]))))
		return false;
	for (uint64_t i = 0; i < t->nfunctions; i++) {
		at = entry_of(t, i + 1);
		if (!go_table__function(t, i, &fn) || at < fn.vaddr || at > end ||
		    !elf__afford(f, strlen(fn.name)))
			return false;
	}
	return true;
}

static struct go_table *read_table(const struct object *o, struct elf_file *f, uint64_t module,
				   uint64_t vaddr)
{
	struct go_table t;

	if (!read_header(o, vaddr, &t) || !find_text(o, f, module, &t) || !is_sound(o, f, &t))
		return NULL;
	return memcpy(elf__keep(f, xmalloc(sizeof(t))), &t, sizeof(t));
}

struct go_table *go_table__find(const struct object *o, struct elf_file *f)
{
	struct go_table *found = NULL;
	const struct relative *r;
	const struct segment *s;
	uint64_t word;

	relatives__read(o, f);
	vec__each (r, &f->relatives)
		if (layout_at(o, r->value) && (found = read_table(o, f, r->vaddr, r->value)))
			return found;
	vec__each (s, &o->segments) {
		if (!s->write)
			continue;
		for (uint64_t at = -s->vaddr % 8; at + sizeof(word) <= s->size;
		     at += sizeof(word)) {
			memcpy(&word, s->bytes + at, sizeof(word));
			if (word && layout_at(o, word) &&
			    (found = read_table(o, f, s->vaddr + at, word)))
				return found;
		}
	}
	return NULL;
}
