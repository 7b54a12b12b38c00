// SPDX-License-Identifier: BSD-2-Clause
/* Addresses that instructions make, and main's, which the C library calls. */
#include "search_private.h"

/* Returns true if its last four bytes are the value itself, not a distance. */
static bool is_absolute(const uint8_t *bytes, size_t len, uint64_t value)
{
	int32_t word;

	memcpy(&word, bytes + len - sizeof(word), sizeof(word));
	return (uint64_t)(int64_t)word == value || (uint32_t)word == value;
}

bool search__address(const struct search *s, const uint8_t *bytes, const struct insn *insn,
		     uint64_t *out)
{
	return s->arch->constant && insn->len > 4 &&
	       s->arch->constant(bytes, insn->len, insn->addr, out) && *out &&
	       !(s->o->pie && (insn->len == 10 || is_absolute(bytes, insn->len, *out)));
}

bool search__sets_argument(const struct search *s, const uint8_t *bytes, const struct insn *insn)
{
	struct insn_detail d;

	return s->arch->detail(bytes, insn->len, insn->addr, &d) && d.op == DETAIL_CONST &&
	       d.dst == s->arch->conventions[CONVENTION_C].args[0];
}

#define STARTER "__libc_start_main"

/* Returns the name of what a call leads to; NULL if it is not known. */
static const char *callee_name(const struct search *s, const struct insn *insn)
{
	const struct symbol *symbol;
	const struct got_slot *slot;

	if (insn->kind == BRANCH_CALL) {
		symbol = object__symbol_at(s->o, insn->target);
		return symbol ? symbol->name : NULL;
	}
	if (insn->kind != BRANCH_ICALL || insn->operand.base != REG_IP)
		return NULL;
	slot = object__slot_at(s->o, insn->addr + insn->len + insn->operand.disp);
	return slot ? slot->name : NULL;
}

bool search__runs_main(const struct search *s, const struct insn *insn)
{
	const char *name = callee_name(s, insn);

	return name && !strncmp(name, STARTER, strlen(STARTER));
}

#define START_MOST 40 /* instructions of the start code */

void search__find_main(struct object *o)
{
	const struct search s = {.o = o, .arch = arch__by_machine(o->machine)};
	uint64_t at = elf__of(o)->header.e_entry, value, last = 0;
	struct insn insn;

	if (!s.arch || !s.arch->constant)
		return;
	for (unsigned i = 0; i < START_MOST; i++, at += insn.len) {
		size_t avail;
		const uint8_t *bytes = object__bytes(o, at, &avail);

		if (!bytes || !object__is_code(o, at) ||
		    s.arch->decode(bytes, avail, at, false, &insn))
			return;
		if (insn.flow == FLOW_NEXT && search__address(&s, bytes, &insn, &value) &&
		    search__sets_argument(&s, bytes, &insn))
			last = value;
		if (insn.kind != BRANCH_CALL && insn.kind != BRANCH_ICALL)
			continue;
		if (search__runs_main(&s, &insn) && object__is_code(o, last))
			o->main = last;
		return;
	}
}
