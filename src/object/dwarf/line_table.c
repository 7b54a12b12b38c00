// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decodes line tables (DWARF 5, 6.2). libdw sorts the rows of all sequences of a unit together, so
 * that those of a function that the linker dropped, which begin at address 0, can't be
 * distinguished from others; here each sequence is kept or dropped as a whole. Runs in the sandbox.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <elfutils/libdwfl.h>
#include "lines.h"
#include "object/elf/cursor.h"

/* Up to this many bytes of line tables, all are decoded: some code is in several. */
#define INDEX_ALWAYS (16u << 20)

/* ---- the program of one unit ---- */

struct program {
	struct cursor c;
	uint8_t least, most_ops, range, opcode_base;
	int8_t base;
	const uint8_t *lengths; /* of the standard opcodes, from 1 on */
	Dwarf_Addr bias;
};

/* The registers of the line number machine, as far as they are used here. */
struct machine {
	uint64_t vaddr;
	uint32_t op, file, line, discriminator;
};

static const struct machine at_start = {.file = 1, .line = 1};

static Elf_Data *data_of(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr h;
		const char *name =
			gelf_getshdr(section, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;

		/* libdw has decompressed it */
		if (name && (!strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line")))
			return elf_getdata(section, NULL);
	}
	return NULL;
}

/* Returns the cursor's rest as another cursor, and skips it. */
static struct cursor cut(struct cursor *c, uint64_t len)
{
	struct cursor part = *c;

	if (c->bad || len > (uint64_t)(c->end - c->p)) {
		c->bad = part.bad = true;
		return part;
	}
	part.end = c->p += len;
	return part;
}

/* Returns false if this isn't a table of a known version. */
static bool read_header(struct program *p)
{
	struct cursor *c = &p->c, header;
	uint64_t len = cursor__uint(c, 4);
	unsigned word = 4, version;

	if (len == 0xffffffff) {
		word = 8;
		len = cursor__uint(c, 8);
	}
	*c = cut(c, len);
	version = cursor__uint(c, 2);
	if (c->bad || version < 2 || version > 5)
		return false;
	if (version >= 5)
		cut(c, 2); /* the sizes of an address and of a segment selector */
	len = cursor__uint(c, word);
	header = cut(c, len);
	p->least = cursor__uint(&header, 1);
	p->most_ops = version >= 4 ? cursor__uint(&header, 1) : 1;
	cut(&header, 1); /* default_is_stmt */
	p->base = (int8_t)cursor__uint(&header, 1);
	p->range = cursor__uint(&header, 1);
	p->opcode_base = cursor__uint(&header, 1);
	p->lengths = header.p;
	cut(&header, p->opcode_base ? p->opcode_base - 1 : 0);
	return !header.bad && !c->bad && p->range && p->opcode_base && p->most_ops;
}

static bool find_program(struct program *p, const struct line_unit *u, const Elf_Data *data)
{
	Dwarf_Die die = u->die;
	Dwarf_Attribute attr;
	Dwarf_Word offset;

	if (!data || !data->d_buf ||
	    dwarf_formudata(dwarf_attr(&die, DW_AT_stmt_list, &attr), &offset) ||
	    offset >= data->d_size)
		return false;
	*p = (struct program){.bias = u->bias};
	p->c.start = p->c.p = (const uint8_t *)data->d_buf + offset;
	p->c.end = (const uint8_t *)data->d_buf + data->d_size;
	return read_header(p);
}

static void advance(const struct program *p, struct machine *m, uint64_t operations)
{
	uint64_t ops = m->op + operations;

	m->vaddr += p->least * (p->most_ops > 1 ? ops / p->most_ops : operations);
	m->op = p->most_ops > 1 ? ops % p->most_ops : 0;
}

static void put_row(struct line_unit *u, struct machine *m)
{
	vec__push(&u->rows,
		  (struct line_place){m->vaddr + u->bias, m->file,
				      m->line <= INT32_MAX ? m->line : 0, m->discriminator});
	m->discriminator = 0;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct line_place *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Sorts the rows from first on. Those at one address keep their order. */
static void sort_rows(struct line_unit *u, size_t first)
{
	for (size_t i = first + 1; i < u->rows.len; i++)
		if (u->rows.data[i].vaddr < u->rows.data[i - 1].vaddr) {
			/* no compiler does this */
			qsort(u->rows.data + first, u->rows.len - first, sizeof(*u->rows.data),
			      by_vaddr);
			return;
		}
}

/* Keeps the rows from first on as a sequence, if the linker has kept the code. */
static void end_sequence(const struct line_tables *t, struct line_unit *u, size_t first,
			 uint64_t end)
{
	struct line_sequence s = {.end = end + u->bias, .first = first, .n = u->rows.len - first};

	if (s.n) {
		sort_rows(u, first);
		s.start = u->rows.data[first].vaddr;
		s.unit = u - t->units.data;
	}
	if (s.n && s.start < s.end && debug__has_code(t->session, s.start, s.end))
		vec__push(&u->sequences, s);
	else
		u->rows.len = first;
}

static void run_extended(const struct line_tables *t, struct program *p, struct line_unit *u,
			 struct machine *m, size_t *first)
{
	struct cursor c = cut(&p->c, cursor__leb(&p->c, false));

	switch (cursor__uint(&c, 1)) {
	case DW_LNE_end_sequence:
		end_sequence(t, u, *first, m->vaddr);
		*first = u->rows.len;
		*m = at_start;
		break;
	case DW_LNE_set_address:
		m->vaddr = cursor__uint(&c, min_of((size_t)(c.end - c.p), sizeof(m->vaddr)));
		m->op = 0;
		break;
	case DW_LNE_set_discriminator:
		m->discriminator = cursor__leb(&c, false);
		break;
	}
}

static void run_standard(struct program *p, struct line_unit *u, struct machine *m, uint8_t opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		put_row(u, m);
		return;
	case DW_LNS_advance_pc:
		advance(p, m, cursor__leb(&p->c, false));
		return;
	case DW_LNS_advance_line:
		m->line += (uint32_t)cursor__leb(&p->c, true);
		return;
	case DW_LNS_set_file:
		m->file = cursor__leb(&p->c, false);
		return;
	case DW_LNS_const_add_pc:
		advance(p, m, (255 - p->opcode_base) / p->range);
		return;
	case DW_LNS_fixed_advance_pc:
		m->vaddr += cursor__uint(&p->c, 2);
		m->op = 0;
		return;
	}
	for (uint8_t i = 0; i < p->lengths[opcode - 1]; i++)
		cursor__leb(&p->c, false);
}

static void run(const struct line_tables *t, struct program *p, struct line_unit *u)
{
	struct machine m = at_start;
	size_t first = 0;

	while (!p->c.bad && p->c.p < p->c.end) {
		uint8_t opcode = cursor__uint(&p->c, 1);

		if (opcode >= p->opcode_base) {
			opcode -= p->opcode_base;
			advance(p, &m, opcode / p->range);
			m.line += p->base + opcode % p->range;
			put_row(u, &m);
		} else if (!opcode) {
			run_extended(t, p, u, &m, &first);
		} else {
			run_standard(p, u, &m, opcode);
		}
	}
	u->damaged |= p->c.bad;
	u->rows.len = first; /* a sequence that doesn't end */
}

/* ---- units ---- */

static int by_start(const void *a, const void *b)
{
	const struct line_sequence *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_unit(const void *a, const void *b)
{
	const struct line_sequence *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void set_reach(sequence_vec *v)
{
	uint64_t reach = 0;
	struct line_sequence *s;

	vec__sort(v, by_start);
	vec__each (s, v)
		s->reach = reach = max_of(reach, s->end);
}

/* Doesn't read the names of files. */
static void read_unit(const struct line_tables *t, struct line_unit *u)
{
	struct program p;

	if (!dwarf_hasattr(&u->die, DW_AT_stmt_list))
		return;
	if (find_program(&p, u, t->data))
		run(t, &p, u);
	else
		u->damaged = true;
	set_reach(&u->sequences);
}

struct line_unit *line_tables__unit(struct line_tables *t, uint32_t unit)
{
	struct line_unit *u = &t->units.data[unit];

	if (u->read)
		return u;
	u->read = true;
	read_unit(t, u);
	if (u->sequences.len && dwarf_getsrcfiles(&u->die, &u->files, &u->nfiles)) {
		u->files = NULL;
		u->damaged = true;
	}
	return u;
}

const char *line_unit__file(const struct line_unit *u, const struct line_place *row)
{
	return u->files && row->file < u->nfiles ? dwarf_filesrc(u->files, row->file, NULL, NULL)
						 : NULL;
}

static void clear_unit(struct line_unit *u)
{
	vec__free(&u->rows);
	vec__free(&u->sequences);
	u->read = false;
}

static void index_all(struct line_tables *t)
{
	struct line_unit *u;

	if (t->indexed)
		return;
	t->indexed = true;
	vec__each (u, &t->units) {
		bool was_read = u->read;

		if (!was_read)
			read_unit(t, u);
		vec__append(&t->all, &u->sequences);
		if (!was_read)
			clear_unit(u);
	}
	set_reach(&t->all);
}

void line_tables__begin(struct line_tables *t, const struct debug_session *s)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	*t = (struct line_tables){.session = s};
	while ((unit = dwfl_module_nextcu(s->module, unit, &bias))) {
		int tag = dwarf_tag(unit);

		/* Units of types, and what units share, have no code, but may refer to the tables
		 * of those that have. */
		if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
			continue;
		vec__push(&t->units, (struct line_unit){.die = *unit, .bias = bias});
		*map64__put(&t->by_offset, dwarf_dieoffset(unit)) = t->units.len;
	}
	if (t->units.len)
		t->data = data_of(dwarf_getelf(dwarf_cu_getdwarf(t->units.data->die.cu)));
	if (t->data && t->data->d_size <= INDEX_ALWAYS)
		index_all(t);
}

void line_tables__end(struct line_tables *t)
{
	struct line_unit *u;

	vec__each (u, &t->units) {
		clear_unit(u);
		folded_unit__free(&u->folded);
	}
	vec__free(&t->units);
	vec__free(&t->all);
	map64__free(&t->by_offset);
}

/* ---- by address ---- */

/* Appends the sequences that hold vaddr. */
static void find_holders(const sequence_vec *v, uint64_t vaddr, sequence_vec *out)
{
	size_t low = 0, high = v->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v->data[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- && v->data[low].reach > vaddr)
		if (v->data[low].end > vaddr)
			vec__push(out, v->data[low]);
	vec__sort(out, by_unit);
}

/* Returns true if symbols of several names begin there: a linker may have folded functions. */
static bool has_aliases(const struct line_tables *t, uint64_t vaddr)
{
	const struct object *o = t->session->object;
	size_t i = object__symbols_from(o, vaddr);

	return !t->session->moved && i + 1 < o->symbols.len &&
	       o->symbols.data[i + 1].vaddr == vaddr;
}

/* The unit that .debug_aranges or the units' ranges have for vaddr need not be the right one. */
static void find_candidates(struct line_tables *t, uint64_t vaddr, sequence_vec *out)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = t->indexed ? NULL : dwfl_module_addrdie(t->session->module, vaddr, &bias);
	const uint64_t *known = unit ? map64__get(&t->by_offset, dwarf_dieoffset(unit)) : NULL;

	if (known)
		find_holders(&line_tables__unit(t, *known - 1)->sequences, vaddr, out);
	if (out->len == 1 && !has_aliases(t, out->data->start))
		return;
	index_all(t);
	out->len = 0;
	find_holders(&t->all, vaddr, out);
}

/* Returns how far the sequence's first line is after a function's; UINT32_MAX if it isn't. */
static uint32_t distance(struct line_tables *t, const struct line_sequence *s,
			 const struct folded_function *f)
{
	struct line_unit *u = line_tables__unit(t, s->unit);

	for (size_t i = s->first; i < s->first + s->n; i++) {
		const struct line_place *row = &u->rows.data[i];
		const char *file = row->line ? line_unit__file(u, row) : NULL;

		if (!row->line)
			continue;
		return file && f->file && !strcmp(file, f->file) && row->line >= f->line
			       ? row->line - f->line
			       : UINT32_MAX;
	}
	return UINT32_MAX;
}

/* Returns the function of the source that the code is shown as; NULL if not known. *unit is its
 * unit. */
static const struct folded_function *find_owner(struct line_tables *t, const sequence_vec *v,
						const char *name, uint32_t *unit)
{
	const struct folded_function *f, *best = NULL;
	const struct line_sequence *s;
	enum folded_fit found = FOLDED_OTHER;

	vec__each (s, v) {
		struct line_unit *u = line_tables__unit(t, s->unit);

		folded_unit__read(&u->folded, &u->die, u->bias, t->session);
		vec__each (f, &u->folded.functions) {
			enum folded_fit fit = folded__fit(f, s->start, name);

			if (fit <= found)
				continue;
			found = fit;
			best = f;
			*unit = s->unit;
		}
	}
	return best;
}

static bool starts_function(const struct line_tables *t, const struct line_sequence *s)
{
	const struct object *o = t->session->object;

	return !t->session->moved && object__symbols_from(o, s->start) < o->symbols.len;
}

/* Of several sequences, the first in the file is that of the code that the linker has kept. */
static const struct line_sequence *choose(struct line_tables *t, const sequence_vec *v,
					  const char *name)
{
	const struct line_sequence *s, *best = v->data;
	const struct folded_function *owner;
	uint32_t unit = 0, least = UINT32_MAX;

	vec__each (s, v)
		if (starts_function(t, s) && !starts_function(t, best))
			best = s;
	owner = find_owner(t, v, name ? name : folded__listed(t->session, best->start), &unit);
	vec__each (s, v) {
		uint32_t far = owner && s->unit == unit ? distance(t, s, owner) : UINT32_MAX;

		if (far < least) {
			least = far;
			best = s;
		}
	}
	return best;
}

bool line_tables__at(struct line_tables *t, uint64_t vaddr, const char *name,
		     struct line_sequence *out)
{
	autofree sequence_vec found = {0};

	find_candidates(t, vaddr, &found);
	if (!found.len)
		return false;
	*out = found.len == 1 ? *found.data : *choose(t, &found, name);
	return true;
}

uint64_t line_tables__next(const struct line_tables *t, uint64_t vaddr)
{
	size_t low = 0, high = t->all.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->all.data[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->all.len ? t->all.data[low].start : UINT64_MAX;
}
