// SPDX-License-Identifier: BSD-2-Clause
/* The bytes that other tracers' kprobes replaced are restored, from made-up tables of probes and
 * made-up code. */
#include <errno.h>
#include "kernel_tables.h"
#include "tap.h"

#define CODE   0x1000u
#define TABLE  0x8000u
#define NODES  0x9000u
#define DETOUR 0x20000u

/* A struct kprobe as a kernel might lay it out. */
struct probe {
	uint32_t flags, unused;
	uint64_t next, pprev;
	uint64_t addr;
	uint8_t opcode, fill[7];
	uint8_t covered[KPROBE_COVERED], more[4];
	uint64_t detour;
};
static const struct kprobe_layout layout = {
	.size = offsetof(struct probe, covered),
	.hlist = offsetof(struct probe, next),
	.addr = offsetof(struct probe, addr),
	.opcode = offsetof(struct probe, opcode),
	.flags = offsetof(struct probe, flags),
	.optimized_size = sizeof(struct probe),
	.covered = offsetof(struct probe, covered),
	.detour = offsetof(struct probe, detour),
};

static uint64_t table[64];
static struct probe probes[8];
static size_t nprobes;
static uint8_t live[0x100]; /* of two functions, f and g */

static bool in(uint64_t vaddr, size_t len, uint64_t start, size_t size)
{
	return vaddr >= start && vaddr - start <= size && len <= size - (vaddr - start);
}

static int reader(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	if (in(vaddr, len, CODE, sizeof(live)))
		memcpy(buf, live + (vaddr - CODE), len);
	else if (in(vaddr, len, TABLE, sizeof(table)))
		memcpy(buf, (char *)table + (vaddr - TABLE), len);
	else if (in(vaddr, len, NODES, nprobes * sizeof(*probes)))
		memcpy(buf, (char *)probes + (vaddr - NODES), len);
	else
		return err__set(EFAULT, "nothing at 0x%llx", (unsigned long long)vaddr);
	return 0;
}

static uint64_t node(size_t i)
{
	return NODES + i * sizeof(*probes) + layout.hlist;
}

/* One more probe at the head of a bucket. */
static struct probe *add(unsigned bucket, uint64_t addr, uint8_t opcode)
{
	struct probe *p = &probes[nprobes];

	*p = (struct probe){.addr = addr,
			    .opcode = opcode,
			    .next = table[bucket],
			    .pprev = TABLE + bucket * sizeof(*table)};
	for (size_t i = 0; i < nprobes; i++)
		if (node(i) == table[bucket])
			probes[i].pprev = node(nprobes);
	table[bucket] = node(nprobes++);
	return p;
}

static void put_jump(struct probe *p, uint64_t detour)
{
	int32_t rel = detour - p->addr - 5;
	uint8_t *code = live + (p->addr - CODE);
	size_t behind = CODE + sizeof(live) - 1 - p->addr;

	p->detour = detour;
	memcpy(p->covered, code + 1, min_of(sizeof(p->covered), behind));
	*code = 0xe9;
	memcpy(code + 1, &rel, min_of(sizeof(rel), behind));
}

static void begin(void)
{
	memset(table, 0, sizeof(table));
	nprobes = 0;
	for (size_t i = 0; i < sizeof(live); i++)
		live[i] = i;
}

struct seen {
	struct kernel_objects k;
	bool whole;
};

/* Reads the kernel with the probes in its table. list: debugfs's. */
static struct seen look(const struct kprobe_layout *l, bool after, const char *list)
{
	struct kernel_text *t = kernel_text__open("/nonexistent/kcore", reader, NULL);
	kernel_kprobe_vec found = {0};
	struct map64 proved = {0};
	struct seen s = {.whole = false};

	tables__build(&s.k,
		      "1000 T _stext\n1000 t f\n1080 t g\n1100 T _etext\n8000 d kprobe_table\n",
		      "");
	kernel_text__read(t, s.k.kernel);
	s.whole = kernel_kprobes__read(t, l, kernel__variable(s.k.kernel, KERNEL_KPROBE_TABLE),
				       after, &found);
	kernel_kprobes__undo(&found, s.k.kernel, &proved);
	kernel_probes__apply(list, &proved, s.k.kernel);
	kernel_blacklist__apply(NULL, s.k.kernel);
	kernel_text__close(t);
	vec__free(&found);
	map64__free(&proved);
	return s;
}

/* The first byte that differs from the compiler's; -1: none does. */
static int changed(const struct seen *s)
{
	const uint8_t *text = kernel_file__of(s->k.kernel)->text;

	for (size_t i = 0; i < sizeof(live); i++)
		if (text[i] != i)
			return i;
	return -1;
}

static size_t hidden(const struct seen *s)
{
	return s->k.kernel->noprobe.len;
}

static void end(struct seen *s)
{
	kernel_objects__free(&s->k);
}

static void test_breakpoints(void)
{
	static const char list[] = "1010  k  f+0x10    \n1020  k  f+0x20    [DISABLED]\n"
				   "10f0  k  g+0x70    \n";
	struct seen s;

	begin();
	add(3, CODE + 0x10, 0x10);
	add(3, CODE + 0x20, 0x20); /* disabled: not in the code */
	add(63, CODE + 0xf0, 0xf0);
	add(63, 0x77777, 0x55); /* of another object */
	live[0x10] = live[0xf0] = 0xcc;
	for (int after = 0; after < 2; after++) {
		s = look(&layout, after, list);
		ok(s.whole, "all of the table of probes is read, %s", after ? "after" : "before");
		is(changed(&s), -1, "the bytes under breakpoints are put back");
		is(hidden(&s), 0, "code under breakpoints is not hidden");
		end(&s);
	}
	s = look(&layout, true, "1010 k f+0x10\n1030 k f+0x30\n");
	is(hidden(&s), 1, "a probe that is listed but not in the table hides its function");
	ok(object__noprobe_at(s.k.kernel, CODE) && !object__noprobe_at(s.k.kernel, CODE + 0x80),
	   "a probe that is listed but not in the table hides no other function");
	end(&s);
	s = look(&layout, true, "1030 k f+0x30 [FTRACE]\n1034 k f+0x34 [GONE]\n");
	is(hidden(&s), 0, "a listed probe that changes no code hides nothing");
	end(&s);
}

static void test_wrong_byte(void)
{
	struct seen s;

	begin();
	add(0, CODE + 0x10, 0x11);
	s = look(&layout, true, NULL);
	is(hidden(&s), 1, "code that is neither a breakpoint nor the probe's byte is hidden");
	end(&s);
	begin();
	add(0, CODE + 0x10, 0xcc);
	live[0x10] = 0xcc;
	s = look(&layout, true, NULL);
	is(hidden(&s), 1, "code that was a breakpoint under the probe's breakpoint is hidden");
	end(&s);
	begin();
	add(0, CODE, 0x77)->flags = 8;
	s = look(&layout, true, NULL);
	is(hidden(&s), 0, "what is probed by ftrace isn't hidden");
	is(changed(&s), -1, "the byte of a probe by ftrace is none of the code");
	end(&s);
}

static void test_jumps(void)
{
	struct seen s;

	begin();
	add(5, CODE + 0x42, 0x42); /* disabled, under the jump */
	put_jump(add(9, CODE + 0x40, 0x40), DETOUR);
	s = look(&layout, true, "1040 k f+0x40 [OPTIMIZED]\n1042 k f+0x42\n");
	is(changed(&s), -1, "what a jump covers is put back");
	is(hidden(&s), 0, "what a jump covers hides nothing");
	end(&s);
	s = look(&layout, false, NULL);
	is(hidden(&s), 1,
	   "a jump that was seen only before the code was read hides what it covers");
	end(&s);

	live[0x40] = 0xcc;
	s = look(&layout, true, NULL);
	is(changed(&s), -1, "a jump that is being written is put back whole");
	end(&s);

	begin();
	put_jump(add(9, CODE + 0x40, 0x40), DETOUR);
	probes[0].detour += 0x40;
	s = look(&layout, true, NULL);
	is(hidden(&s), 1, "a jump to elsewhere is not the probe's, and is hidden");
	end(&s);

	begin();
	put_jump(add(9, CODE + 0xfd, 0xfd), DETOUR);
	s = look(&layout, true, NULL);
	is(hidden(&s), 1, "a jump across the end of the code is hidden");
	end(&s);
}

static void test_hostile(void)
{
	struct kprobe_layout bad = layout;
	struct seen s;

	begin();
	add(3, CODE + 0x10, 0x10);
	add(3, CODE + 0x20, 0x20);
	live[0x10] = live[0x20] = 0xcc;
	probes[0].pprev ^= 8;
	s = look(&layout, true, "1010 k f+0x10\n1020 k f+0x20\n");
	ok(!s.whole, "a list that changes while it is read is noticed");
	is(hidden(&s), 1,
	   "a probe missing in a list that changes while it is read hides its function");
	end(&s);
	probes[0].pprev ^= 8;
	probes[0].next = node(1);
	s = look(&layout, true, NULL);
	ok(!s.whole, "a list that goes in circles ends");
	end(&s);
	probes[0].next = 0x666666;
	s = look(&layout, true, NULL);
	ok(!s.whole, "a list with a pointer to nowhere ends");
	end(&s);

	bad.optimized_size = KPROBE_LAYOUT_LIMIT + 1;
	ok(!kprobe_layout__is_sane(&bad), "a layout with a struct that is too large is refused");
	bad = layout;
	bad.detour = bad.optimized_size - 4;
	ok(!kprobe_layout__is_sane(&bad),
	   "a layout with a member across the struct's end is refused");
	bad = layout;
	bad.hlist = UINT32_MAX;
	ok(!kprobe_layout__is_sane(&bad),
	   "a layout with a member far behind the struct is refused");
	bad = layout;
	bad.addr = bad.size - 7;
	s = look(&bad, true, "1010 k f+0x10\n");
	ok(!s.whole && hidden(&s) == 1, "with a layout that is refused nothing is read");
	end(&s);
}

int main(void)
{
	test_breakpoints();
	test_wrong_byte();
	test_jumps();
	test_hostile();
	return tap__done();
}
