// SPDX-License-Identifier: BSD-2-Clause
/*
 * rules: how to get from the registers at an instruction to those of its caller, for all of an
 * object's code: by .eh_frame and .debug_frame, through libdw in the sandbox (DWARF 5, 6.4). The
 * result is checked row by row.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <elfutils/libdwfl.h>
#include "arch/arch.h"
#include "object/debug/debug.h"
#include "object/elf/elf_file.h"
#include "dwarf.h"

/* The start of the answer: the numbers of rows, sets and operations that follow, in this order. */
struct header {
	uint64_t rows, sets, ops;
};
struct row {
	uint64_t start;
	uint32_t size;
	uint32_t set; /* SIGNAL: of a signal's trampoline */
};
#define SIGNAL (1u << 31)

struct part {
	uint64_t from, to; /* the addresses of its FDEs */
	bool asked;
	struct str answer;
	struct row *rows; /* ascending, not overlapping */
	const struct rule_set *sets;
	const struct rule_op *ops;
	size_t n;
};

/* The table of a large object is read in parts, when they are needed: a part has this many FDEs of
 * .eh_frame. The last one has what only .debug_frame has; of another object it has all. */
#define LARGE	     8192
#define FDES_OF_PART 256
struct rule_table {
	size_t n;
	struct part parts[]; /* ascending */
};

/* ---- in the sandbox ---- */

struct asked {
	const struct object *o;
	const struct part *part;
	bool debug_frame; /* also what only that has */
};

struct finder {
	const struct object *o;
	const struct arch_dwarf *layout;
	Dwarf_CFI *cfi;
	Dwarf_Addr bias;
	struct str rows, sets, ops;
	struct map64 seen; /* hash of a set, or of operations -> 1 + its position */
};

/* Appends what is not there yet. Returns its position in bytes. */
static size_t put_once(struct finder *f, struct str *to, const void *data, size_t len)
{
	uint64_t *known = map64__put(&f->seen, map64__hash(data, len));

	if (!*known) {
		*known = to->len + 1;
		str__put(to, data, len);
	}
	return *known - 1;
}

static void put_ops(struct finder *f, struct rule *rule, const Dwarf_Op *ops, size_t n)
{
	struct rule_op copy[RULE_OPS];

	if (n > RULE_OPS)
		return;
	memset(copy, 0, sizeof(copy));
	for (size_t i = 0; i < n; i++) {
		copy[i].a = ops[i].number;
		copy[i].b = ops[i].number2;
		copy[i].atom = ops[i].atom;
	}
	rule->kind = RULE_OPS_LEAD;
	rule->n = n;
	rule->first = put_once(f, &f->ops, copy, n * sizeof(*copy)) / sizeof(*copy);
}

static void find_rule(struct finder *f, Dwarf_Frame *frame, int reg, struct rule *rule)
{
	Dwarf_Op room[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, room, &ops, &n))
		return;
	if (n)
		put_ops(f, rule, ops, n);
	else if (!ops)
		rule->kind = RULE_SAME;
}

static uint32_t put_set(struct finder *f, Dwarf_Frame *frame)
{
	struct rule_set set;
	Dwarf_Op *ops;
	size_t n;

	memset(&set, 0, sizeof(set));
	if (!dwarf_frame_cfa(frame, &ops, &n) && n)
		put_ops(f, &set.cfa, ops, n);
	for (int i = 0; i < f->layout->nregs; i++)
		find_rule(f, frame, i, &set.regs[i]);
	return put_once(f, &f->sets, &set, sizeof(set)) / sizeof(set);
}

/* Returns where the row ends; 0 if there is none. */
static uint64_t put_row(struct finder *f, uint64_t vaddr, uint64_t end)
{
	Dwarf_Addr from, to = 0;
	Dwarf_Frame *frame;
	bool signal;
	int reg;

	if (dwarf_cfi_addrframe(f->cfi, vaddr - f->bias, &frame))
		return 0;
	reg = dwarf_frame_info(frame, &from, &to, &signal);
	to = min_of(to + f->bias, end);
	if (reg == f->layout->return_reg && to > vaddr) {
		struct row row = {.start = vaddr,
				  .size = min_of(to - vaddr, (uint64_t)UINT32_MAX),
				  .set = put_set(f, frame) | (signal ? SIGNAL : 0)};

		str__put(&f->rows, (const char *)&row, sizeof(row));
	}
	free(frame);
	return to;
}

static void put_rows(struct finder *f, uint64_t vaddr, uint64_t end)
{
	uint64_t next;

	for (; vaddr < end && (next = put_row(f, vaddr, end)) > vaddr; vaddr = next)
		;
}

static Elf_Data *debug_frame(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	const char *name;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, ".debug_frame"))
			return elf_getdata(section, NULL);
	}
	return NULL;
}

static bool has_fde(const struct object *o, uint64_t vaddr)
{
	const struct frame *frame = object__frame_at(o, vaddr);

	return frame && !frame->found;
}

/* Adds what only .debug_frame has. An FDE begins with two words: the address of its code, and its
 * size. */
static void put_debug_frame(struct finder *f, Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Data *data = elf ? debug_frame(elf) : NULL;
	const uint8_t *ident = data ? (const uint8_t *)elf_getident(elf, NULL) : NULL;
	Dwarf_Off at = 0, next;
	const struct elf_class *class = ident ? elf__class(ident[EI_CLASS]) : NULL;
	Dwarf_CFI_Entry entry;
	uint64_t code[2];

	for (; ident && !dwarf_next_cfi(ident, data, false, at, &next, &entry); at = next) {
		if (dwarf_cfi_cie_p(&entry) ||
		    (size_t)(entry.fde.end - entry.fde.start) < 2u * class->word)
			continue;
		code[0] = elf__take_word(class, entry.fde.start) + f->bias;
		code[1] = elf__take_word(class, entry.fde.start + class->word);
		if (object__is_code(f->o, code[0]) && !has_fde(f->o, code[0]) &&
		    code[1] <= UINT64_MAX - code[0])
			put_rows(f, code[0], code[0] + code[1]);
	}
}

static void find_rows(void *ctx, const struct debug_session *s, struct str *answer)
{
	const struct asked *asked = ctx;
	const struct object *o = asked->o;
	struct finder f = {.o = o, .layout = &arch__by_machine(o->machine)->dwarf};
	const struct frame *frame;
	struct header header;
	Dwarf *dwarf;

	if (!s->module)
		return;
	f.cfi = asked->part->to ? dwfl_module_eh_cfi(s->module, &f.bias) : NULL;
	if (f.cfi)
		vec__each (frame, &o->frames)
			if (!frame->found && frame->vaddr >= asked->part->from &&
			    frame->vaddr < asked->part->to)
				put_rows(&f, frame->vaddr, frame->vaddr + frame->size);
	dwarf = asked->debug_frame ? dwfl_module_getdwarf(s->module, &f.bias) : NULL;
	f.cfi = dwarf ? dwfl_module_dwarf_cfi(s->module, &f.bias) : NULL;
	if (f.cfi)
		put_debug_frame(&f, dwarf);
	header = (struct header){f.rows.len / sizeof(struct row),
				 f.sets.len / sizeof(struct rule_set),
				 f.ops.len / sizeof(struct rule_op)};
	str__put(answer, (const char *)&header, sizeof(header));
	str__put(answer, f.rows.data, f.rows.len);
	str__put(answer, f.sets.data, f.sets.len);
	str__put(answer, f.ops.data, f.ops.len);
	str__free(&f.rows);
	str__free(&f.sets);
	str__free(&f.ops);
	map64__free(&f.seen);
}

/* ---- in bbtrace's own process ---- */

static int by_start(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool is_rule(const struct rule *r, uint64_t nops)
{
	return r->kind <= RULE_OPS_LEAD && r->n <= RULE_OPS && r->first <= nops &&
	       r->n <= nops - r->first;
}

static bool is_set(const struct rule_set *s, uint64_t nops)
{
	bool good = is_rule(&s->cfa, nops);

	for (size_t i = 0; i < RULE_REGS; i++)
		good &= is_rule(&s->regs[i], nops);
	return good;
}

/* Keeps the rows that are valid and don't overlap an earlier one. */
static void check_rows(struct part *t, const struct object *o, uint64_t sets)
{
	uint64_t end = 0;
	size_t n = 0;

	qsort(t->rows, t->n, sizeof(*t->rows), by_start);
	for (size_t i = 0; i < t->n; i++) {
		const struct row *r = &t->rows[i];

		if (r->start < end || !r->size || r->size > UINT64_MAX - r->start ||
		    (r->set & ~SIGNAL) >= sets || !object__is_code(o, r->start))
			continue;
		end = r->start + r->size;
		t->rows[n++] = *r;
	}
	t->n = n;
}

/* Returns false if this isn't valid output of the sandbox. */
static bool take_table(struct part *t, const struct object *o)
{
	uint64_t len = t->answer.len;
	struct header h;
	char *at = t->answer.data + sizeof(h);

	if (len < sizeof(h))
		return false;
	memcpy(&h, t->answer.data, sizeof(h));
	if (h.rows > len || h.sets > len || h.ops > len ||
	    sizeof(h) + h.rows * sizeof(struct row) + h.sets * sizeof(struct rule_set) +
			    h.ops * sizeof(struct rule_op) !=
		    len)
		return false;
	t->rows = (struct row *)at;
	t->sets = (const struct rule_set *)(at += h.rows * sizeof(struct row));
	t->ops = (const struct rule_op *)(at + h.sets * sizeof(struct rule_set));
	for (uint64_t i = 0; i < h.sets; i++)
		if (!is_set(&t->sets[i], h.ops))
			return false;
	t->n = h.rows;
	check_rows(t, o, h.sets);
	return true;
}

static struct rule_table *new_table(const struct object *o)
{
	size_t fdes = o->frames.len > LARGE ? o->frames.len : 0;
	size_t n = (fdes + FDES_OF_PART - 1) / FDES_OF_PART;
	struct rule_table *t = xcalloc(1, sizeof(*t) + (n + 1) * sizeof(*t->parts));

	t->n = n + 1;
	for (size_t i = 0; i < n; i++) {
		t->parts[i].from = i ? t->parts[i - 1].to : 0;
		t->parts[i].to =
			i + 1 < n ? o->frames.data[(i + 1) * FDES_OF_PART].vaddr : UINT64_MAX;
	}
	t->parts[n].to = n ? 0 : UINT64_MAX;
	return t;
}

static void read_part(const struct object *o, struct part *part, bool last)
{
	struct asked asked = {o, part, last};
	const struct arch *arch = arch__by_machine(o->machine);

	part->asked = true;
	if (object__is_kernel(o) || !o->priv || !arch || !arch->dwarf.nregs)
		return;
	if (debug__ask(o, find_rows, &asked, &part->answer) < 0)
		note("%s: its unwind tables can't be used (%s): call stacks end there", o->path,
		     err__text());
	else if (part->answer.len && !take_table(part, o))
		part->n = 0;
}

/* Returns the part that has the code at vaddr, if any has. */
static const struct part *part_of(const struct object *o, uint64_t vaddr)
{
	struct object *own = (struct object *)o;
	const struct frame *frame = object__frame_at(o, vaddr);
	struct rule_table *t;
	size_t i = 0;

	if (!o->rules)
		own->rules = new_table(o);
	t = own->rules;
	while (i + 1 < t->n && (!frame || frame->found || frame->vaddr >= t->parts[i].to))
		i++;
	if (!t->parts[i].asked)
		read_part(o, &t->parts[i], i + 1 == t->n);
	return &t->parts[i];
}

void rules__free(struct rule_table *t)
{
	for (size_t i = 0; t && i < t->n; i++)
		str__free(&t->parts[i].answer);
	free(t);
}

bool object__rules(const struct object *o, uint64_t vaddr, struct rule_row *out)
{
	const struct part *p = part_of(o, vaddr);
	size_t low = 0, high;
	const struct row *r;

	for (high = p->n; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (p->rows[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	r = low ? &p->rows[low - 1] : NULL;
	if (!r || vaddr - r->start >= r->size)
		return false;
	*out = (struct rule_row){.start = r->start,
				 .end = r->start + r->size,
				 .signal = r->set & SIGNAL,
				 .set = &p->sets[r->set & ~SIGNAL],
				 .ops = p->ops};
	return true;
}
