/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs are executed natively with random registers, flags and stacks, in all states of the ring;
 * then everything is checked: the record, the ring, and that nothing else has changed.
 */
#ifndef LOG_FIXTURE_H
#define LOG_FIXTURE_H

#include "copier_fixture.h"

#define STACK_SIZE 8192
#define AROUND	   256 /* bytes above the stack pointer that are checked */
#define RED_ZONE   128
#define FLAGS_REG  17
#define TRAP_FLAG  0x100ull

static const struct arch_copier *copier;
static uint8_t *code;
static uint8_t *stack;
static bool had_fault;
static bool untimed; /* the time stamp counter may not be read */

/* As in Go programs: little room below the stack pointer, and records tell whose they are. */
static bool small_stack;
static struct log_goroutine goroutine;

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

static unsigned steps;

static void on_step(int sig)
{
	steps++;
}

static void catch_faults(void)
{
	stack_t alt = {.ss_sp = map_pages(65536, PROT_READ | PROT_WRITE), .ss_size = 65536};
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&alt, NULL);
	sigaction(SIGTRAP, &(struct sigaction){.sa_handler = on_step, .sa_flags = SA_ONSTACK},
		  NULL);
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
	bool stepped;
};

static uintptr_t place(const struct code_buffer *c, bool cold, uint32_t offset)
{
	return (uintptr_t)code + (cold ? c->hot.bytes.len : 0) + offset;
}

static void place_log(const struct trial *t)
{
	struct code_buffer c = {.small_stack = small_stack, .goroutine = goroutine};

	copier->log_begin(&c);
	copier->log(&c, &t->point, &t->options);
	put_exit(&c.hot);
	place_code(&c, code);
	if (untimed)
		untime_code(&c, copier, code);
	nfaults = 0;
	for (size_t i = 0; i < c.faults.len; i++)
		fault_ranges[nfaults++] = (struct fault_range){
			place(&c, c.faults.data[i].cold, c.faults.data[i].start),
			place(&c, c.faults.data[i].cold, c.faults.data[i].end),
			label_at(&c, c.faults.data[i].resume, code)};
	code_buffer__free(&c);
}

static void run_log_at(struct trial *t, uint8_t *sp)
{
	memcpy(sp - RED_ZONE, t->stack, sizeof(t->stack));
	t->sp = t->in.r[RSP];
	had_fault = false;
	t->tsc = __builtin_ia32_rdtsc();
	t->in.flags |= t->stepped ? TRAP_FLAG : 0;
	machine__run(code, &t->in, &t->out);
	t->in.flags &= ~TRAP_FLAG;
	t->out.flags &= ~TRAP_FLAG;
}

static inline void run_log(struct trial *t)
{
	run_log_at(t, stack + STACK_SIZE / 2);
}

/* Returns what was changed and should not have been; NULL: nothing. */
static const char *harm(const struct trial *t)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
	size_t zone = small_stack ? copier->small_zone : RED_ZONE;

	for (int i = 0; i < GENERAL; i++)
		if (t->in.r[i] != t->out.r[i] && !(t->point.dead >> i & 1 && i != RSP))
			return names[i];
	if ((t->in.flags ^ t->out.flags) & ~(t->point.flags_dead ? (uint64_t)ARITHMETIC : 0))
		return "flags";
	if (memcmp((uint8_t *)t->sp - zone, t->stack + RED_ZONE - zone, zone))
		return "red zone";
	if (memcmp((uint8_t *)t->sp, t->stack + RED_ZONE, AROUND))
		return "stack";
	return NULL;
}

/* ---- what the record should be ---- */

static const char *wrong_time(const struct trial *t, uint64_t time)
{
	if (untimed)
		return time ? "time" : NULL;
	return time < t->tsc || time > __builtin_ia32_rdtsc() ? "time" : NULL;
}

static uint64_t top(const struct trial *t)
{
	uint64_t word;

	memcpy(&word, t->stack + RED_ZONE, 8);
	return word;
}

static struct log_ring *ring;

/* The frames that may be read: of the thread's own stack up to its end, else in the same page, or,
 * where that has just begun, in the one below. */
static const char *wrong_callers(const struct trial *t, const uint64_t *w, unsigned *n)
{
	uint64_t fp = t->in.r[RBP], end = ring->stack_end, count = w[(*n)++];
	bool own = t->sp >= ring->stack_start && t->sp < end;
	unsigned found = 0;

	if (!own)
		end = (t->sp | 4095) + 1;
	/* what the log has there is read as well */
	if ((fp < t->sp && fp >= t->sp - 512) || (!own && (t->sp & 4095) < 256)) {
		*n += count;
		return count <= LOG_CALLERS ? NULL : "number of callers";
	}
	while (found < LOG_CALLERS && fp >= t->sp && fp <= end - 16) {
		uint64_t frame[2];

		memcpy(frame, (const void *)fp, sizeof(frame));
		if (found++ >= count || w[(*n)++] != frame[1])
			return "caller";
		if (frame[0] <= fp)
			break;
		fp = frame[0];
	}
	return found == count ? NULL : "number of callers";
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
	for (unsigned i = 0; i <= FLAGS_REG; i++) {
		uint64_t want = i < GENERAL ? t->in.r[i] : i == 16 ? t->point.vaddr : t->in.flags;

		if (t->options.regs >> i & 1 && w[n++] != want)
			return i < GENERAL ? "register" : "rip or flags";
	}
	*words = n;
	return t->options.callers ? wrong_callers(t, w, words) : NULL;
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
	for (unsigned i = 0; i < t->point.nvalues; i++)
		if (w[n++] != t->in.r[t->point.values[i].base])
			return "value";
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

/* ---- the ring's states ---- */

enum ring_state { FRESH, TURN, DROP, DROPPING, LOST, RING_STATES };
static const char *const state_names[] = {"", " in the next segment", ", the first that is dropped",
					  ", dropped", " behind the lost ones"};

static uint64_t segment_at(unsigned n)
{
	return ring->base + LOG_RING_AT + (uint64_t)n % LOG_SEGMENTS * LOG_SEGMENT;
}

/* The segment that the record is in, or would have been. */
static unsigned last_segment;

static void set_ring(enum ring_state state)
{
	uint64_t used = LOG_SEGMENT - LOG_RECORD_MAX + random64() % (LOG_RECORD_MAX / 8) * 8;

	last_segment = state == FRESH ? random64() % 100 : 15 + random64() % 100;
	ring->segments = last_segment;
	ring->released = last_segment - (state == DROP || state == DROPPING ? 15 : random64() % 15);
	ring->cursor = segment_at(last_segment) + (state == FRESH ? 0 : used);
	ring->limit = segment_at(last_segment) + LOG_SEGMENT - LOG_RECORD_MAX;
	ring->kept = ring->dropped = 0;
	ring->beat = __builtin_ia32_rdtsc() + (1ull << 50); /* even so there is no patience */
	if (state == DROPPING || state == LOST) {
		ring->kept = ring->cursor;
		ring->dropped = 7;
		ring->limit = 0;
		ring->cursor = ring->base + LOG_SPARE_AT + random64() % 8 * 8;
	}
	memset((void *)(ring->base + LOG_RING_AT), 0, LOG_RECORD_MAX);
}

/* Where the record should be, by the state before. */
static uint64_t record_at(enum ring_state state)
{
	switch (state) {
	case FRESH:
		return segment_at(last_segment);
	case TURN:
		return segment_at(last_segment + 1);
	case LOST:
		return segment_at(last_segment + 1) + 16;
	default:
		return ring->base + LOG_SPARE_AT;
	}
}

/* The ring behind a record that ends there; end: where the cursor was. */
static const char *wrong_ring(enum ring_state state, uint64_t end, uint64_t cursor)
{
	bool drops = state == DROP || state == DROPPING, turns = state == TURN || state == LOST;
	unsigned segment = last_segment + turns;
	const uint64_t *lost = (const uint64_t *)segment_at(segment);

	if (ring->cursor != cursor)
		return "cursor";
	if (ring->segments != segment)
		return "segments";
	if (ring->limit != (drops ? 0 : segment_at(segment) + LOG_SEGMENT - LOG_RECORD_MAX))
		return "limit";
	if (ring->dropped != (state == DROP ? 1 : state == DROPPING ? 8 : 0))
		return "number of dropped ones";
	if (drops && ring->kept != end)
		return "kept cursor";
	if (turns && *(const uint64_t *)end != LOG_ID(LOG_END, 0, 0, 0))
		return "end of the segment";
	if (state == LOST && (lost[0] != LOG_ID(LOG_LOST, 0, 0, 0) || lost[1] != 7))
		return "record of the lost ones";
	return NULL;
}

/* ---- trials ---- */

/* Executes the log and checks everything. */
static const char *try_at(struct trial *t, enum ring_state state, uint64_t target, uint8_t *sp)
{
	unsigned words = 0;
	uint64_t at, end;
	const char *bad;

	place_log(t);
	set_ring(state);
	at = record_at(state);
	end = ring->limit ? ring->cursor : ring->kept;
	run_log_at(t, sp);
	bad = harm(t);
	if (!bad)
		bad = wrong_record(t, (const uint64_t *)at, target, &words);
	return bad ? bad : wrong_ring(state, end, at + 8 * words);
}

static inline const char *try(struct trial *t, enum ring_state state, uint64_t target)
{
	return try_at(t, state, target, stack + STACK_SIZE / 2);
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

static struct operand random_value(void)
{
	uint8_t reg = random64() % GENERAL;

	return (struct operand){
		.kind = OPERAND_REG, .base = reg == RSP ? RAX : reg, .index = REG_NONE};
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
	if (kind == LOG_BRANCH)
		t->point.nvalues = random64() % 3;
	for (unsigned i = 0; i < t->point.nvalues; i++)
		t->point.values[i] = random_value();
	t->options.timed = random64() & 1;
	t->options.regs = random64() & 0x3ffff;
	t->options.callers = random64() & 1;
	machine__randomize(&t->in);
	t->in.r[RSP] = (uintptr_t)stack + STACK_SIZE / 2;
	for (size_t i = 0; i < sizeof(t->stack); i += 8) {
		uint64_t word = random64();

		memcpy(t->stack + i, &word, 8);
	}
}

static void describe(const struct trial *t, const char *what)
{
	const struct operand *o = &t->operand;

	printf("# wrong %s: dead %x, flags %d, timed %d, regs %x; operand kind %d base %d index %d "
	       "scale %d seg %d addr32 %d size %d disp %x\n",
	       what, t->point.dead, t->point.flags_dead, t->options.timed, t->options.regs, o->kind,
	       o->base, o->index, o->scale, o->seg, o->addr32, o->size, o->disp);
}

static void init(void)
{
	copier = arch__by_machine(EM_X86_64)->copier;
	code = map_pages(65536, PROT_READ | PROT_WRITE | PROT_EXEC);
	stack = map_pages(STACK_SIZE, PROT_READ | PROT_WRITE);
	machine__init();
	catch_faults();
	ring = ring__make(0);
	ring__use(ring);
}

#endif
