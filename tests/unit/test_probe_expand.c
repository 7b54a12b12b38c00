// SPDX-License-Identifier: BSD-2-Clause
/* Short records made whole again: every field, the edges of what they can say, what is forgotten.
 */
#include "tap.h"
#include "probe/expand.c"

static struct wire_event whole(uint32_t pid, uint32_t tid, unsigned cpu, uint64_t time, uint64_t sp,
			       uint16_t flags)
{
	return (struct wire_event){.time = time,
				   .pid = pid,
				   .tid = tid,
				   .sp = sp,
				   .site_type = 5,
				   .flags = flags,
				   .cpu = cpu};
}

/* As bpf/short.h packs it. */
static struct wire_compact short_of(const struct wire_event *e)
{
	uint64_t f = e->flags,
		 six = (f & 1) | (f >> 1 & 2) | (f >> 2 & 4) | (f >> 3 & 0x18) | (f >> 6 & 0x20);

	return (struct wire_compact){.where = (e->site_type & WIRE_SITE_MASK) |
					      (uint64_t)e->tid << 24 | (uint64_t)e->cpu << 46 |
					      six << 58,
				     .when = e->time << 24 | (e->sp >> 3 & 0xffffff)};
}

static bool same(const struct wire_event *a, const struct wire_event *b)
{
	return a->time == b->time && a->pid == b->pid && a->tid == b->tid && a->sp == b->sp &&
	       a->site_type == b->site_type && a->flags == b->flags && a->cpu == b->cpu &&
	       a->missing == b->missing;
}

static bool comes_back(struct expander *w, const struct wire_event *e)
{
	struct wire_compact s = short_of(e);
	struct wire_event out;

	return complete(w, &s, &out) && same(&out, e);
}

static void test_fields(void)
{
	const uint64_t sp = 0x7ffd12345678, time = (1ull << 40) - 100;
	struct wire_event a = whole(70, 71, 3, time, sp, 0x246), e;
	struct expander w = {0};
	unsigned bad = 0;

	note_full(&w, &a, 0);
	ok(comes_back(&w, &a), "itself");
	e = whole(70, 71, 3, time + WIRE_FULL_FOR - 1, sp, 0x246);
	ok(comes_back(&w, &e), "the longest time after it, and the 40 bits of time begin anew");
	e = whole(70, 71, 3, time - 900, sp, 0x246);
	ok(comes_back(&w, &e), "the clock has stepped back");
	e = whole(70, 71, 3, time, (sp >> WIRE_SP_LOW << WIRE_SP_LOW), 0x246);
	ok(comes_back(&w, &e), "the lowest stack pointer of its window");
	e.sp += (1ull << WIRE_SP_LOW) - 8;
	ok(comes_back(&w, &e), "the highest");
	for (unsigned i = 0; i < 64; i++) {
		e = whole(70, 71, 3, time, sp, (0x246 & ~WIRE_ARITHMETIC) | flags_of(i));
		bad += !comes_back(&w, &e);
	}
	is(bad, 0, "all 64 states of the arithmetic flags");
	e = a;
	e.site_type = WIRE_SITE_MASK - 1;
	ok(comes_back(&w, &e), "the last site");
	expander__free(&w);
}

static void test_whose(void)
{
	struct wire_event a = whole(70, 71, 0, 1000, 0x7000, 2),
			  b = whole(80, WIRE_TID_MASK, 4095, 2000, 0xffffc90000012348, 0x202),
			  c = whole(70, 71, 1, 3000, 0x17000000000, 6), e;
	struct wire_compact s = short_of(&a);
	struct expander w = {0};

	ok(!complete(&w, &s, &e), "the first one of a thread is missing");
	note_full(&w, &a, 0);
	note_full(&w, &b, 0);
	note_full(&w, &c, 0);
	ok(comes_back(&w, &a) && comes_back(&w, &b) && comes_back(&w, &c),
	   "of each thread, on each CPU");
	s = short_of(&(struct wire_event){.tid = 71, .cpu = 2});
	ok(!complete(&w, &s, &e), "but not on another CPU");
	a.pid = 90;
	a.time = 9000;
	note_full(&w, &a, 0);
	ok(comes_back(&w, &a), "a number that is used again: the last one counts");
	expander__free(&w);
}

static void test_memory(void)
{
	struct wire_event e, young = whole(1, 1, 0, 1ull << 50, 0x7000, 2);
	struct expander w = {0};

	note_full(&w, &young, 0);
	for (uint32_t tid = 2; tid < 1000000; tid++) {
		e = whole(1, tid, 0, (uint64_t)tid << 20, 0x7000, 2);
		note_full(&w, &e, e.time);
	}
	ok(w.by_place.len < 200000, "of a million threads the old ones are forgotten: %zu are left",
	   w.by_place.len);
	ok(comes_back(&w, &young), "the young ones are not");
	e = whole(1, 999990, 0, ((uint64_t)999990 << 20) + WIRE_FULL_FOR - 1, 0x7000, 2);
	ok(comes_back(&w, &e), "nor one of which a record may still come");
	expander__free(&w);
}

int main(void)
{
	test_fields();
	test_whose();
	test_memory();
	return tap__done();
}
