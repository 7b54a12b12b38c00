// SPDX-License-Identifier: BSD-2-Clause
/*
 * The log of copied functions: words of any kind, for a plan with each kind of site. The first byte
 * says which registers an entry has, and whether branches have times.
 */
#include <elf.h>
#include "event/event.h"
#include "fuzz.h"
#include "plan/plan.h"

#define SITES 8

static struct plan_site sites[SITES];
static struct plan plan = {.sites = {sites, SITES, SITES}};

static void make_plan(void)
{
	static const uint8_t kinds[SITES] = {BRANCH_JCC,  BRANCH_JMP, BRANCH_IJMP, BRANCH_RET,
					     BRANCH_NONE, BRANCH_RET, BRANCH_JCC,  BRANCH_NONE};

	plan.arch = arch__by_machine(EM_X86_64);
	for (unsigned i = 0; i < SITES; i++)
		sites[i] = (struct plan_site){.kind = kinds[i],
					      .role = kinds[i] ? ROLE_BRANCH : ROLE_ENTRY,
					      .entry = i >= 4,
					      .probe = PROBE_INLINE};
	sites[7].role = ROLE_WITNESS;
	sites[7].entry = 0;
}

static uint64_t to_ns(void *ctx, uint64_t ticks)
{
	return ticks * 3;
}

static void check(const struct event *e, const struct log_thread *t)
{
	CHECK(e->type == EVENT_BRANCH || e->type == EVENT_ENTRY || e->type == EVENT_LOST);
	CHECK(e->type == EVENT_LOST || e->site < SITES);
	CHECK((e->type == EVENT_ENTRY) == !!e->entry);
	CHECK(e->time <= t->until && e->pid == t->pid && e->tid == t->tid);
	CHECK(!e->entry || (e->entry->nregs <= EVENT_REGS && strlen(e->entry->comm) < 17));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	uint8_t how = input__number(&in, 1);
	const struct log_options options = {
		.regs = how & 1 ? 0x3ffff : 0xd6, .timed = how & 2, .callers = how & 4};
	struct log_thread t = {
		.pid = 1, .tid = 2, .stacks = {0x7ffd00000000}, .until = 1u << 30, .comm = "x"};
	size_t n = input__left(&in) / 8, at = 0;
	uint64_t *words = xmalloc(n * 8 + 1), last = 0;
	struct log_decoder *d;

	make_plan();
	d = log_decoder__new(&plan, &options, (struct log_clock){to_ns, NULL});
	input__bytes(&in, words, n * 8);
	while (at < n) {
		const struct event *e;
		uint64_t time;
		size_t looked = log_decoder__look(d, words + at, n - at, &time);
		int taken = log_decoder__event(d, &t, words + at, n - at, &e);

		CHECK(taken <= (int)(n - at) && (taken > 0 || !e));
		CHECK(looked == (size_t)(taken > 0 ? taken : 0));
		CHECK(!e || !e->untimed || !time);
		if (e) {
			check(e, &t);
			CHECK(e->time >= last);
			last = e->time;
		}
		at += taken > 0 ? taken : 1;
	}
	log_decoder__free(d);
	free(words);
	return 0;
}
