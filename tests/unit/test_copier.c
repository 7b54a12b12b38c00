// SPDX-License-Identifier: BSD-2-Clause
/* The log that copied functions write: executed natively, with random registers. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include "copier_fixture.h"

#define STACK_SIZE 8192
#define AROUND	   256 /* bytes above the stack pointer that are checked */
#define RED_ZONE   128

static const struct arch_copier *copier;
static uint8_t *code;
static uint8_t *stack;
static bool had_fault;

struct fault_range {
	uintptr_t start, end, resume;
} fault_ranges[8];
static unsigned nfaults;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	for (unsigned i = 0; i < nfaults; i++)
		if ((uintptr_t)*ip >= fault_ranges[i].start &&
		    (uintptr_t)*ip < fault_ranges[i].end) {
			*ip = fault_ranges[i].resume;
			had_fault = true;
			return;
		}
	signal(sig, SIG_DFL);
}

static void catch_faults(void)
{
	stack_t alt = {.ss_sp = map_pages(65536, PROT_READ | PROT_WRITE), .ss_size = 65536};
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&alt, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

/* What is to be logged, and the state. */
struct trial {
	struct log_point point;
	struct log_options options;
	struct operand operand;
	struct machine in, out;
	uint64_t sp, running;
	uint8_t stack[RED_ZONE + AROUND];
	uint64_t tsc;
};

static void place_log(const struct trial *t)
{
	struct code_buffer c = {0};

	copier->log_begin(&c);
	copier->log(&c, &t->point, &t->options);
	put_exit(&c.hot);
	place_code(&c, code);
	nfaults = 0;
	for (size_t i = 0; i < c.faults.len; i++)
		fault_ranges[nfaults++] =
			(struct fault_range){(uintptr_t)code + c.faults.data[i].start,
					     (uintptr_t)code + c.faults.data[i].end,
					     label_at(&c, c.faults.data[i].resume, code)};
	code_buffer__free(&c);
}

static void run_log(struct trial *t)
{
	uint8_t *low = stack + STACK_SIZE / 2 - RED_ZONE;

	for (size_t i = 0; i < sizeof(t->stack); i += 8) {
		uint64_t word = random64();

		memcpy(t->stack + i, &word, 8);
	}
	memcpy(low, t->stack, sizeof(t->stack));
	t->sp = t->in.r[RSP] = (uintptr_t)low + RED_ZONE;
	had_fault = false;
	t->tsc = __builtin_ia32_rdtsc();
	machine__run(code, &t->in, &t->out);
}

/* Returns what was changed and should not have been; NULL: nothing. */
static const char *harm(const struct trial *t)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

	for (int i = 0; i < GENERAL; i++)
		if (t->in.r[i] != t->out.r[i] && !(t->point.dead >> i & 1 && i != RSP))
			return names[i];
	if ((t->in.flags ^ t->out.flags) & ~(t->point.flags_dead ? (uint64_t)ARITHMETIC : 0))
		return "flags";
	if (memcmp((uint8_t *)t->sp - RED_ZONE, t->stack, RED_ZONE))
		return "red zone";
	if (memcmp((uint8_t *)t->sp, t->stack + RED_ZONE, AROUND))
		return "stack";
	return NULL;
}

/* ---- what the record should be ---- */

static const char *wrong_time(const struct trial *t, uint64_t time)
{
	return time < t->tsc || time > __builtin_ia32_rdtsc() ? "time" : NULL;
}

static uint64_t top(const struct trial *t)
{
	uint64_t word;

	memcpy(&word, t->stack + RED_ZONE, 8);
	return word;
}

static const char *wrong_entry(const struct trial *t, const uint64_t *w, uint64_t target,
			       unsigned *words)
{
	bool leaves = t->point.is_ret || t->point.operand;
	unsigned n = 4;

	if (wrong_time(t, w[1]))
		return "time";
	if (w[2] != top(t))
		return "return address";
	if (w[3] != t->point.vaddr)
		return "address";
	if (leaves && w[n++] != (t->point.is_ret ? top(t) : target))
		return "target";
	if (leaves && w[n++] != t->in.r[RAX])
		return "return register";
	for (unsigned i = 0; i < 18; i++) {
		uint64_t want = i < GENERAL ? t->in.r[i] : i == 16 ? t->point.vaddr : t->in.flags;

		if (t->options.regs >> i & 1 && w[n++] != want)
			return i < GENERAL ? "register" : "rip or flags";
	}
	*words = n;
	return NULL;
}

static const char *wrong_words(const struct trial *t, const uint64_t *w, uint64_t target,
			       unsigned *words)
{
	unsigned n = 1;

	if (t->point.kind == LOG_ENTRY)
		return wrong_entry(t, w, target, words);
	if (t->point.kind == LOG_RETURN) {
		if (w[n++] != top(t))
			return "target";
		if (w[n++] != t->in.r[RAX])
			return "return register";
	}
	if (t->point.kind == LOG_TARGET && w[n++] != target)
		return "target";
	if ((t->options.timed || t->point.kind == LOG_RETURN) && wrong_time(t, w[n++]))
		return "time";
	*words = n;
	return NULL;
}

static const char *wrong_record(const struct trial *t, const uint64_t *w, uint64_t target,
				unsigned *words)
{
	uint32_t id = w[0], lowered = id >> LOG_LOWERED_SHIFT & LOG_LOWERED_MASK;

	if ((id & ~(LOG_LOWERED_MASK << LOG_LOWERED_SHIFT)) !=
	    LOG_ID(t->point.kind, 0, t->point.taken, t->point.site))
		return "id";
	if ((uint32_t)(w[0] >> 32) + 8 * LOG_LOWERED(lowered) != (uint32_t)t->sp)
		return "stack pointer";
	return wrong_words(t, w, target, words);
}

/* ---- trials ---- */

static struct log_ring *ring;

/* Executes the log and checks everything. */
static const char *try(struct trial *t, uint64_t target)
{
	uint64_t before = ring->cursor;
	unsigned words = 0;
	const char *bad;

	run_log(t);
	bad = harm(t);
	if (!bad)
		bad = wrong_record(t, (const uint64_t *)before, target, &words);
	if (!bad && ring->cursor != before + 8 * words)
		bad = "cursor";
	return bad;
}

static uint32_t random_dead(unsigned mode)
{
	switch (mode) {
	case 0:
		return 0;
	case 1:
		return 0xffff;
	case 2:
		return 1u << random64() % GENERAL;
	case 3:
		return random64() & random64() & 0xffff;
	default:
		return random64() & 0xffff;
	}
}

static void rewind_ring(void)
{
	ring->cursor = ring->base + LOG_RING_AT;
	ring->limit = ring->cursor + LOG_SEGMENT - LOG_RECORD_MAX;
	ring->segments = ring->released = ring->dropped = ring->kept = 0;
}

static void prepare(struct trial *t, unsigned kind, unsigned mode)
{
	memset(t, 0, sizeof(*t));
	t->point.kind = kind;
	t->point.site = random64() & ((1 << LOG_SITE_BITS) - 1);
	t->point.taken = kind == LOG_BRANCH && random64() & 1;
	t->point.vaddr = (uintptr_t)code + random64() % 4096;
	t->point.len = 1 + random64() % 15;
	t->point.dead = random_dead(mode);
	t->point.flags_dead = random64() & 1;
	t->options.timed = random64() & 1;
	t->options.regs = random64() & 0x3ffff;
	machine__randomize(&t->in);
}

static void test_kind(unsigned kind, const char *name, bool is_ret)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < 4000; i++) {
		struct trial t;
		const char *what;

		prepare(&t, kind, i % 8);
		t.point.is_ret = is_ret;
		if (kind == LOG_TARGET) {
			t.operand = (struct operand){
				.kind = OPERAND_REG, .base = random64() % GENERAL, .size = 8};
			t.point.operand = &t.operand;
		}
		place_log(&t);
		rewind_ring();
		what = try(&t, t.operand.kind && t.operand.base != RSP
				       ? t.in.r[t.operand.base]
				       : (uintptr_t)stack + STACK_SIZE / 2);
		if (what && bad++ < 3)
			printf("# %s: wrong %s, dead %x flags %d timed %d regs %x base %d\n", name,
			       what, t.point.dead, t.point.flags_dead, t.options.timed,
			       t.options.regs, t.operand.base);
	}
	is(bad, 0, "%s: the record is right and nothing else changes", name);
}

int main(void)
{
	copier = arch__by_machine(EM_X86_64)->copier;
	code = map_pages(65536, PROT_READ | PROT_WRITE | PROT_EXEC);
	stack = map_pages(STACK_SIZE, PROT_READ | PROT_WRITE);
	__asm__ volatile("fxsave machine_fp(%rip)");
	catch_faults();
	ring = ring__make(0);
	ring__use(ring);
	test_kind(LOG_BRANCH, "branch", false);
	test_kind(LOG_TARGET, "target in a register", false);
	test_kind(LOG_RETURN, "return", false);
	test_kind(LOG_ENTRY, "entry", false);
	test_kind(LOG_ENTRY, "entry that is a ret", true);
	return tap__done();
}
#endif
