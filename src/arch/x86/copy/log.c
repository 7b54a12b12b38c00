// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: the code that writes a record to the thread's ring, src/arch/log.h. In this order: what
 * is changed and not dead is kept, in dead registers or on the stack below the red zone; the
 * indirect branch's target is read, since the registers still have their values; the flags are
 * kept; the cursor is compared with the limit; the flags are back; then nothing changes flags: the
 * record is written; the cursor is advanced.
 */
#include "assembler.h"

#define WORD	 8
#define NOWHERE	 0xff
#define ON_STACK 0x80 /* + the number of words above it */

#define BIT(reg) (1u << (reg))

_Static_assert((5 + 6 + X86_FLAGS + 1 + 1 + LOG_CALLERS) * WORD <= LOG_RECORD_MAX,
	       "a goroutine, and the longest entry");

/* The order of choice: short encodings first. rax is for the flags and the time, rdx for the
 * time. */
static const uint8_t choice[] = {X86_RCX, X86_RSI, X86_RDI, X86_RDX, X86_RBX,
				 X86_R8,  X86_R9,  X86_R10, X86_R11, X86_RAX,
				 X86_R14, X86_R15, X86_RBP, X86_R13, X86_R12};

struct logger {
	struct code_buffer *c;
	struct code_part *hot;
	const struct log_point *point;
	const struct log_options *options;
	bool timed, keeps_flags;
	uint32_t recorded;	   /* registers */
	uint32_t changed, dead;	   /* dead: not recorded ones */
	uint8_t cursor, value;	   /* registers */
	uint8_t kept[X86_GENERAL]; /* where: a register, ON_STACK, NOWHERE */
	uint8_t flags_at;	   /* their word on the stack, from its lower end; NOWHERE */
	uint8_t pushed;		   /* words on the stack */
	uint32_t lowered;	   /* bytes, the red zone's, too */
	uint8_t zone;		   /* the red zone's */
	bool lowers;
};

enum { CC_ABOVE_EQUAL = 3 };

/* ---- registers ---- */

static uint32_t operand_registers(const struct operand *o)
{
	uint32_t regs = 0;

	if (o && o->base < X86_GENERAL)
		regs |= BIT(o->base);
	if (o && o->index < X86_GENERAL)
		regs |= BIT(o->index);
	return regs;
}

static uint8_t choose_from(uint32_t regs)
{
	for (size_t i = 0; i < ARRAY_SIZE(choice); i++)
		if (regs & BIT(choice[i]))
			return choice[i];
	return NOWHERE;
}

/* A register that is changed anyhow, else a dead one, else any. */
static uint8_t choose(struct logger *l, uint32_t except)
{
	uint8_t reg = choose_from(l->changed & ~except);

	if (reg == NOWHERE)
		reg = choose_from(l->dead & ~except);
	if (reg == NOWHERE)
		reg = choose_from(~except);
	l->changed |= BIT(reg);
	return reg;
}

static bool has_callers(const struct logger *l)
{
	return l->point->kind == LOG_ENTRY && l->options->callers;
}

/* The registers that a branch's record has. */
static uint32_t value_registers(const struct log_point *p)
{
	uint32_t regs = 0;

	for (unsigned i = 0; i < p->nvalues; i++)
		regs |= operand_registers(&p->values[i]);
	return regs;
}

/* Returns the value in memory; NULL if none is. */
static const struct operand *value_in_memory(const struct log_point *p)
{
	for (unsigned i = 0; i < p->nvalues; i++)
		if (p->values[i].kind == OPERAND_MEM)
			return &p->values[i];
	return NULL;
}

static uint32_t recorded_registers(const struct logger *l)
{
	bool entry = l->point->kind == LOG_ENTRY;
	uint32_t regs = entry ? l->options->regs : value_registers(l->point);

	if (has_callers(l))
		regs |= BIT(X86_RBP);

	if (l->point->kind == LOG_RETURN || (entry && (l->point->is_ret || l->point->operand)))
		regs |= BIT(X86_RAX);
	return regs;
}

/* A target that is in a register is stored from there. */
static bool is_stored_directly(const struct log_point *p)
{
	return p->kind == LOG_TARGET && p->operand && p->operand->kind == OPERAND_REG &&
	       p->operand->base != X86_RSP;
}

static bool needs_value(const struct log_point *p)
{
	return (p->kind != LOG_BRANCH && !is_stored_directly(p)) || value_in_memory(p);
}

static void choose_registers(struct logger *l)
{
	const uint32_t time = BIT(X86_RAX) | BIT(X86_RDX);
	uint32_t flags = l->keeps_flags ? BIT(X86_RAX) : 0;

	l->recorded = recorded_registers(l);
	l->dead = l->point->dead &
		  ~(l->recorded | operand_registers(l->point->operand) | BIT(X86_RSP));
	l->changed = flags | (l->timed ? time : 0);
	l->cursor = NOWHERE;
	l->value = NOWHERE;
	if (needs_value(l->point))
		l->value = choose(l, flags | operand_registers(l->point->operand) |
					     value_registers(l->point));
	l->cursor = choose(l, l->changed | operand_registers(l->point->operand) |
				      value_registers(l->point));
}

/* Keeps what is changed and not dead in dead registers, or else on the stack. */
static void choose_places(struct logger *l)
{
	uint32_t save = l->changed & ~l->dead, places = l->dead & ~l->changed;

	memset(l->kept, NOWHERE, sizeof(l->kept));
	l->flags_at = NOWHERE;
	if (l->recorded & BIT(X86_FLAGS))
		l->flags_at = l->pushed++;
	for (uint8_t reg = 0; reg < X86_GENERAL; reg++) {
		uint8_t place = choose_from(places);

		if (!(save & BIT(reg)))
			continue;
		l->kept[reg] = place == NOWHERE ? ON_STACK | l->pushed++ : place;
		if (place != NOWHERE)
			places &= ~BIT(place);
	}
	/* reporting a goroutine is a call */
	l->lowers = l->pushed || l->c->goroutine.any;
	l->lowered = l->lowers ? l->zone + l->pushed * WORD : 0;
}

/* Returns the operand that was pushed as number n. */
static struct operand pushed(const struct logger *l, uint8_t n)
{
	return asm__at(X86_RSP, (l->pushed - 1 - n) * WORD);
}

static void lower(struct logger *l)
{
	struct operand down = asm__at(X86_RSP, -l->zone);

	if (l->lowers)
		asm__mem(l->hot, ASM_LEA, 64, X86_RSP, &down);
	if (l->flags_at != NOWHERE)
		asm__put(l->hot, 0x9c); /* pushf */
	for (uint8_t reg = 0; reg < X86_GENERAL; reg++) {
		if (l->kept[reg] == NOWHERE)
			continue;
		if (l->kept[reg] & ON_STACK)
			asm__push(l->hot, reg);
		else
			asm__move(l->hot, 64, l->kept[reg], reg);
	}
}

static void raise_again(struct logger *l)
{
	uint8_t above = l->zone + (l->flags_at != NOWHERE ? WORD : 0);
	struct operand up = asm__at(X86_RSP, above);

	for (uint8_t reg = X86_GENERAL; reg-- > 0;) {
		if (l->kept[reg] == NOWHERE)
			continue;
		if (l->kept[reg] & ON_STACK)
			asm__pop(l->hot, reg);
		else
			asm__move(l->hot, 64, reg, l->kept[reg]);
	}
	if (l->lowers)
		asm__mem(l->hot, ASM_LEA, 64, X86_RSP, &up);
}

/* ---- values ---- */

/* Returns the operand while the stack pointer is lowered. Changes the value register if the
 * displacement has no room for that. */
static struct operand adjusted(struct logger *l, const struct operand *o)
{
	struct operand m = *o;

	if (m.base != X86_RSP)
		return m;
	if (m.addr32 || m.disp <= INT32_MAX - (int32_t)l->lowered) {
		m.disp = (uint32_t)m.disp + l->lowered;
	} else {
		struct operand sp = asm__at(X86_RSP, l->lowered);

		/* lea keeps the flags; an index that is the value register can't be, see
		 * choose_registers() */
		asm__mem(l->hot, ASM_LEA, 64, l->value, &sp);
		m.base = l->value;
	}
	return m;
}

/* The value of a memory operand; if it can't be read, instead. */
static void load_or(struct logger *l, const struct operand *o, uint64_t instead)
{
	unsigned opcode = o->size == 1 ? ASM_LOAD_8 : o->size == 2 ? ASM_LOAD_16 : ASM_LOAD;
	unsigned bits = o->size == 8 || !o->size ? 64 : 32;
	uint32_t resume = code_buffer__label(l->c), after = code_buffer__label(l->c);
	bool by_ip = o->base == REG_IP;
	uint64_t to = l->point->vaddr + l->point->len + o->disp;
	struct operand m = adjusted(l, o);
	uint32_t start;

	if (by_ip && (o->addr32 || o->seg)) {
		asm__original(l->hot, ASM_LEA, o->addr32 ? 32 : 64, l->value, to);
		m = asm__at(l->value, 0);
		m.seg = o->seg;
		by_ip = false;
	}
	start = l->hot->bytes.len;
	if (by_ip)
		asm__original(l->hot, opcode, bits, l->value, to);
	else
		asm__mem(l->hot, opcode, bits, l->value, &m);
	vec__push(&l->c->faults, (struct code_fault){start, l->hot->bytes.len, resume});
	code_buffer__set(l->c, after, false);
	code_buffer__set(l->c, resume, true);
	if (instead)
		asm__constant(&l->c->cold, l->value, instead);
	else
		asm__zero(&l->c->cold, l->value);
	asm__jump(&l->c->cold, after);
}

static void load(struct logger *l, const struct operand *o)
{
	load_or(l, o, 0);
}

static void load_return_address(struct logger *l)
{
	struct operand top = asm__at(X86_RSP, 0);

	load(l, &top);
}

static void load_target(struct logger *l)
{
	const struct operand *o = l->point->operand;
	bool returns = l->point->kind == LOG_RETURN || l->point->is_ret;
	struct operand sp = asm__at(X86_RSP, l->lowered);

	if (is_stored_directly(l->point))
		return;
	if (l->point->kind == LOG_BRANCH) {
		if (value_in_memory(l->point))
			load_or(l, value_in_memory(l->point), LOG_UNREADABLE);
		return;
	}
	if (returns)
		load_return_address(l);
	else if (o && o->kind == OPERAND_MEM)
		load(l, o);
	else if (o && o->base == X86_RSP)
		asm__mem(l->hot, ASM_LEA, 64, l->value, &sp);
	else if (o)
		asm__move(l->hot, 64, l->value, o->base);
}

/* ---- the record ---- */

static void store(struct logger *l, uint8_t reg, unsigned word)
{
	struct operand m = asm__at(l->cursor, word * WORD);

	asm__mem(l->hot, ASM_STORE, 64, reg, &m);
}

/* Stores a register's value at the instruction. Without a value register it uses one that is
 * changed, and free now. */
static void store_register(struct logger *l, uint8_t reg, unsigned word)
{
	struct operand sp = asm__at(X86_RSP, l->lowered), m;
	uint8_t place = reg < X86_GENERAL ? l->kept[reg] : NOWHERE;

	if (reg == X86_FLAGS || (place != NOWHERE && place & ON_STACK)) {
		m = pushed(l, reg == X86_FLAGS ? l->flags_at : place & ~ON_STACK);
		reg = l->value == NOWHERE ? reg : l->value;
		asm__mem(l->hot, ASM_LOAD, 64, reg, &m);
	} else if (place != NOWHERE) {
		reg = place;
	} else if (reg == X86_RIP) {
		asm__original(l->hot, ASM_LEA, 64, l->value, l->point->vaddr);
		reg = l->value;
	} else if (reg == X86_RSP && l->lowered) {
		asm__mem(l->hot, ASM_LEA, 64, l->value, &sp);
		reg = l->value;
	}
	store(l, reg, word);
}

static void store_time(struct logger *l, unsigned word)
{
	x86__store_time(l->c, false, l->cursor, word * WORD);
}

static unsigned store_entry(struct logger *l)
{
	bool leaves = l->point->is_ret || l->point->operand;
	unsigned word = 4;

	if (leaves) {
		store(l, l->value, word++);
		store_register(l, X86_RAX, word++);
	}
	for (uint8_t reg = 0; reg <= X86_FLAGS; reg++)
		if (l->options->regs & BIT(reg))
			store_register(l, reg, word++);
	store_register(l, X86_RIP, 3);
	load_return_address(l);
	store(l, l->value, 2);
	store_time(l, 1);
	return word;
}

/* Stores the value in memory first, since its register is used for others then. */
static unsigned store_values(struct logger *l)
{
	const struct log_point *p = l->point;
	unsigned word = 1 + p->nvalues;

	for (unsigned i = 0; i < p->nvalues; i++)
		if (p->values[i].kind == OPERAND_MEM)
			store(l, l->value, 1 + i);
	for (unsigned i = 0; i < p->nvalues; i++)
		if (p->values[i].kind == OPERAND_REG)
			store_register(l, p->values[i].base, 1 + i);
	if (l->timed)
		store_time(l, word++);
	return word;
}

/* All words but the first; returns how many the record has. */
static unsigned store_words(struct logger *l)
{
	unsigned word = 1;

	switch (l->point->kind) {
	case LOG_BRANCH:
		return store_values(l);
	case LOG_ENTRY:
		return store_entry(l);
	case LOG_RETURN:
		store(l, l->value, word++);
		store_register(l, X86_RAX, word++);
		break;
	case LOG_TARGET:
		if (is_stored_directly(l->point))
			store_register(l, l->point->operand->base, word++);
		else
			store(l, l->value, word++);
		break;
	}
	if (l->timed)
		store_time(l, word++);
	return word;
}

/* ---- the whole ---- */

/* Calls a function that has the cursor in rax, off bytes further. Flags are free. */
static void call_with_cursor(struct logger *l, struct code_part *p, uint32_t label, int32_t off)
{
	struct operand there = asm__at(X86_RAX, off), back = asm__at(X86_RAX, -off);

	if (!l->lowered)
		asm__put(p, 0x48, 0x83, 0xc4, 0x80); /* add $-128,%rsp */
	if (l->cursor != X86_RAX)
		asm__swap(p, l->cursor, X86_RAX);
	asm__mem(p, ASM_LEA, 64, X86_RAX, &there);
	asm__call(p, label);
	asm__mem(p, ASM_LEA, 64, X86_RAX, &back);
	if (l->cursor != X86_RAX)
		asm__swap(p, l->cursor, X86_RAX);
	if (!l->lowered)
		asm__put(p, 0x48, 0x83, 0xec, 0x80); /* sub $-128,%rsp */
}

/* Returns where an entry's record has the number of its callers. */
static unsigned callers_at(const struct logger *l)
{
	bool leaves = l->point->is_ret || l->point->operand;

	return 4 + (leaves ? 2 : 0) +
	       __builtin_popcount(l->options->regs & (2 * BIT(X86_FLAGS) - 1));
}

/* The register cursor becomes the record's address. */
static void put_cursor(struct logger *l)
{
	uint32_t slow = code_buffer__label(l->c), back = code_buffer__label(l->c);

	if (l->keeps_flags)
		asm__put(l->hot, 0x9f, 0x0f, 0x90, 0xc0); /* lahf; seto %al */
	RING(l->hot, ASM_LOAD, l->cursor, cursor);
	RING(l->hot, ASM_CMP, l->cursor, limit);
	asm__jump_if(l->hot, CC_ABOVE_EQUAL, slow);
	code_buffer__set(l->c, back, false);
	code_buffer__set(l->c, slow, true);
	call_with_cursor(l, &l->c->cold, l->c->slow, 0);
	asm__jump(&l->c->cold, back);
	if (l->c->goroutine.any)
		x86__goroutine(l->c, l->cursor);
	if (has_callers(l))
		call_with_cursor(l, l->hot, l->c->walk, callers_at(l) * WORD);
	if (l->flags_at != NOWHERE) {
		struct operand trap = pushed(l, l->flags_at);

		trap.disp++;
		asm__mem(l->hot, ASM_AND_IMM8, 32, 4, &trap); /* without TF */
		asm__put(l->hot, 0xfe);
	}
	if (l->keeps_flags)
		asm__put(l->hot, 0x04, 0x7f, 0x9e); /* add $0x7f,%al: OF; sahf: the others */
}

/* The first word, and the cursor. */
static void finish(struct logger *l, unsigned words)
{
	const struct log_point *p = l->point;
	struct operand id = asm__at(l->cursor, 0), sp = asm__at(l->cursor, 4);
	struct operand end = asm__at(l->cursor, words * WORD), callers = end;
	unsigned lowered = l->pushed ? l->pushed + 1 : 0;

	if (l->c->small_stack)
		lowered = l->lowers ? 8 + l->pushed : 0;

	asm__mem(l->hot, ASM_STORE, 32, X86_RSP, &sp);
	asm__mem(l->hot, ASM_STORE_IMM32, 32, 0, &id);
	asm__put32(l->hot, LOG_ID(p->kind, lowered, p->taken, p->site));
	if (has_callers(l)) {
		asm__mem(l->hot, ASM_LOAD, 64, l->value, &callers);
		end.disp += WORD;
		end.index = l->value;
		end.scale = WORD;
	}
	asm__mem(l->hot, ASM_LEA, 64, l->cursor, &end);
	RING(l->hot, ASM_STORE, l->cursor, cursor);
}

void x86__log(struct code_buffer *c, const struct log_point *p, const struct log_options *options)
{
	struct logger l = {.c = c,
			   .hot = &c->hot,
			   .point = p,
			   .options = options,
			   .zone = c->small_stack ? X86_SMALL_ZONE : X86_RED_ZONE};

	l.timed = options->timed || p->kind == LOG_ENTRY || p->kind == LOG_RETURN;
	l.keeps_flags = !p->flags_dead;
	choose_registers(&l);
	choose_places(&l);
	lower(&l);
	load_target(&l);
	put_cursor(&l);
	finish(&l, store_words(&l));
	raise_again(&l);
}
