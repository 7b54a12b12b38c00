// SPDX-License-Identifier: BSD-2-Clause
/* The log that copied functions write: where indirect branches go, in all forms of operands. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include "log_fixture.h"

static void use_target(struct trial *t)
{
	t->point.operand = &t->operand;
	t->point.dead &= ~(t->operand.base < GENERAL ? 1u << t->operand.base : 0);
	t->point.dead &= ~(t->operand.index < GENERAL ? 1u << t->operand.index : 0);
}

static void test_registers(unsigned kind)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < 8000; i++) {
		struct trial t;
		const char *what;

		prepare(&t, kind, i % 8);
		t.operand = (struct operand){.kind = OPERAND_REG,
					     .base = random64() % GENERAL,
					     .index = REG_NONE,
					     .size = 8};
		use_target(&t);
		what = try(&t, random64() % RING_STATES, t.in.r[t.operand.base]);
		if (what && bad++ < 3)
			describe(&t, what);
	}
	is(bad, 0, "%s: target in a register", kind == LOG_ENTRY ? "entry" : "branch");
}

static uint8_t *low_page; /* within 31 bits */

static uint64_t fs_base(void)
{
	uint64_t base = 0;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
	return base;
}

static int32_t random_disp(void)
{
	switch (random64() % 4) {
	case 0:
		return 0;
	case 1:
		return (int8_t)random64();
	case 2: /* no room for how far the stack pointer is lowered */
		return INT32_MAX - random64() % 256;
	default:
		return random64();
	}
}

static bool in_reach(uint64_t address)
{
	return address - (uintptr_t)code + 0x7fff0000 < 0xfffe0000;
}

/* Gives the operand's registers values so that it is memory at ea. False: it can't be. */
static bool aim(struct trial *t, uint64_t ea)
{
	struct operand *o = &t->operand;
	uint64_t mask = o->addr32 ? UINT32_MAX : UINT64_MAX, *r = t->in.r;
	uint64_t rest = ea - (o->seg == SEG_FS ? fs_base() : 0);

	if (rest & ~mask)
		return false;
	if (o->base == REG_IP) {
		o->disp %= 1 << 30;
		t->point.vaddr = rest - o->disp - t->point.len;
		if (o->addr32)
			t->point.vaddr = ((uintptr_t)code & ~mask) | (uint32_t)t->point.vaddr;
		return in_reach(t->point.vaddr) && in_reach(t->point.vaddr + o->disp);
	}
	if (o->base == REG_NONE && o->index == REG_NONE) {
		o->disp = rest;
		return (uint64_t)o->disp == rest || o->addr32;
	}
	if (o->base < GENERAL && o->base != RSP) {
		rest -= o->disp + (o->index == REG_NONE ? 0 : r[o->index] * o->scale);
		r[o->base] = (rest & mask) | (random64() & ~mask);
		return o->base != o->index;
	}
	rest -= o->base == RSP ? r[RSP] : 0;
	if (o->index == REG_NONE) {
		o->disp = rest;
		return ((uint64_t)o->disp & mask) == (rest & mask);
	}
	o->disp = (uint32_t)o->disp + (rest - o->disp) % o->scale;
	r[o->index] = ((rest - o->disp) & mask) / o->scale;
	return true;
}

static uint64_t cut(uint64_t value, unsigned size)
{
	return size == 8 ? value : value & ((1ull << 8 * size) - 1);
}

static void random_operand(struct operand *o)
{
	static const uint8_t sizes[] = {8, 8, 8, 4, 2};
	unsigned form = random64() % 8;

	*o = (struct operand){.kind = OPERAND_MEM,
			      .base = form == 0	  ? REG_NONE
				      : form == 1 ? REG_IP
				      : form == 2 ? RSP
						  : random64() % GENERAL,
			      .index = REG_NONE,
			      .scale = 1,
			      .seg = random64() % 8 ? SEG_NONE : SEG_FS,
			      .addr32 = random64() % 8 == 0,
			      .size = sizes[random64() % 5],
			      .disp = random_disp()};
	if (form == 1 || random64() & 1)
		return;
	do
		o->index = random64() % GENERAL;
	while (o->index == RSP);
	o->scale = 1 << random64() % 4;
}

/* The word's address: in the data page near the code, the low page, or above the stack pointer. */
static uint64_t random_place(struct trial *t, uint64_t value)
{
	unsigned slot = 8 * (random64() % 32);
	bool near_sp = t->operand.base == RSP && t->operand.index == REG_NONE;
	uint64_t at;

	if (near_sp || random64() % 4 == 0) {
		memcpy(t->stack + RED_ZONE + slot, &value, 8);
		return t->in.r[RSP] + slot;
	}
	at = (uintptr_t)(t->operand.base == REG_IP && !t->operand.addr32 ? code + 32768
									 : low_page) +
	     slot;
	memcpy((void *)at, &value, 8);
	return at;
}

static void test_memory(unsigned kind)
{
	unsigned bad = 0, done = 0;

	for (unsigned i = 0; i < 30000; i++) {
		uint64_t value = random64();
		struct trial t;
		const char *what;

		prepare(&t, kind, i % 8);
		random_operand(&t.operand);
		if (!aim(&t, random_place(&t, value)))
			continue;
		use_target(&t);
		done++;
		what = try(&t, random64() % RING_STATES, cut(value, t.operand.size));
		if (!what && had_fault)
			what = "fault";
		if (what && bad++ < 3)
			describe(&t, what);
	}
	is(bad, 0, "%s: target in memory", kind == LOG_ENTRY ? "entry" : "branch");
	ok(done > 10000, "%u operands", done);
}

static void test_faults(unsigned kind)
{
	unsigned bad = 0, done = 0;

	for (unsigned i = 0; i < 8000; i++) {
		uint64_t nowhere = random64() & 1 ? 0x7000 : 0x8000000000000000;
		struct trial t;
		const char *what;

		prepare(&t, kind, i % 8);
		random_operand(&t.operand);
		if (!aim(&t, nowhere))
			continue;
		if (t.operand.addr32 && nowhere >> 32)
			continue;
		use_target(&t);
		done++;
		what = try(&t, random64() % RING_STATES, 0);
		if (!what && !had_fault)
			what = "address";
		if (what && bad++ < 3)
			describe(&t, what);
	}
	is(bad, 0, "%s: a target that can't be read", kind == LOG_ENTRY ? "entry" : "branch");
	ok(done > 1000, "%u operands", done);
}

int main(void)
{
	init();
	low_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
			-1, 0);
	test_registers(LOG_TARGET);
	test_registers(LOG_ENTRY);
	test_memory(LOG_TARGET);
	test_memory(LOG_ENTRY);
	test_faults(LOG_TARGET);
	test_faults(LOG_ENTRY);
	return tap__done();
}
#endif
