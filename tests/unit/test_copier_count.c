// SPDX-License-Identifier: BSD-2-Clause
/* Code that counts is executed: the counter is higher by 1, and all else is as before. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include "copier_fixture.h"

#define CODE_SIZE 65536 /* the end is the stack */
#define COUNTERS  1000
#define CASES	  20000
#define RED_ZONE  128

static const struct arch_copier *copier;
static uint8_t *code;
static uint64_t *counters;
static uint64_t wrong_count, wrong_other, wrong_register, wrong_flags, wrong_stack;

static void place(uint32_t counter, uint32_t dead, bool flags_dead)
{
	struct code_buffer c = {0};

	copier->count(&c, counter, dead, flags_dead);
	put_exit(&c.hot);
	place_code(&c, code);
	code_buffer__free(&c);
}

static bool others_are(uint32_t counter, const uint64_t *before)
{
	for (uint32_t i = 0; i < COUNTERS; i++)
		if (i != counter && counters[i] != before[i])
			return false;
	return true;
}

static void run_case(uint32_t counter, uint32_t dead, bool flags_dead)
{
	uint64_t before[COUNTERS], *stack = (uint64_t *)(code + CODE_SIZE - 1024);
	uint8_t zone[RED_ZONE + 64];
	struct machine in, out;

	place(counter, dead, flags_dead);
	machine__randomize(&in);
	in.r[RSP] = (uintptr_t)stack;
	for (int i = -RED_ZONE / 8; i < 8; i++)
		stack[i] = random64();
	memcpy(zone, (uint8_t *)stack - RED_ZONE, sizeof(zone));
	memcpy(before, counters, sizeof(before));
	machine__run(code, &in, &out);
	wrong_count += counters[counter] != before[counter] + 1;
	wrong_other += !others_are(counter, before);
	for (int i = 0; i < GENERAL; i++)
		wrong_register += in.r[i] != out.r[i] && (i == RSP || !(dead >> i & 1));
	wrong_flags += !flags_dead && (in.flags ^ out.flags) & ARITHMETIC;
	wrong_stack += memcmp(zone, (uint8_t *)stack - RED_ZONE, sizeof(zone)) != 0;
}

int main(void)
{
	struct log_ring *ring = map_pages(log__slot_size(COUNTERS), PROT_READ | PROT_WRITE);

	copier = arch__by_machine(EM_X86_64)->copier;
	code = map_pages(CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
	counters = (uint64_t *)((char *)ring + LOG_COUNTERS_AT);
	for (uint32_t i = 0; i < COUNTERS; i++)
		counters[i] = random64();
	counters[7] = UINT32_MAX;
	machine__init();
	ring__use(ring);
	for (int i = 0; i < CASES; i++) {
		uint32_t dead = i % 3 == 0 ? 0 : i % 3 == 1 ? (uint32_t)random64() : UINT32_MAX;

		run_case(i % 5 == 0 ? 7 : random64() % COUNTERS, dead, i & 1);
	}
	is(wrong_count, 0, "the counter is higher by 1");
	is(wrong_other, 0, "no other one changes");
	is(wrong_register, 0, "registers that aren't dead keep their values");
	is(wrong_flags, 0, "so do flags that aren't dead");
	is(wrong_stack, 0, "and the stack, with the red zone");
	return tap__done();
}
#endif
