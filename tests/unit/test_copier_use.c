// SPDX-License-Identifier: BSD-2-Clause
/*
 * What instructions read and write, by executing them: the results must not depend on registers and
 * flags that are said not to be read, nor on what was in those that are said to be written. What is
 * said not to fault must not, even with all exceptions of SSE unmasked.
 */
#include "harmless.h"
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include <Zydis/Zydis.h>
#include <link.h>
#include "copier_fixture.h"

#define DATA_SIZE     4096
/* Bytes before and behind the data that nobody may access: bt reaches 2^29. */
#define AROUND	      (544ul << 20)
#define COUNT_MASK    7 /* of repetitions */
#define LONGEST	      15

static unsigned rounds = 4; /* of each instruction; MATRIX=whole: 8 */
static const struct arch *x86;
static const struct arch_copier *copier;
static ZydisDecoder decoder;
static uint8_t *code, *data;
static uint8_t data_before[DATA_SIZE];
static bool has_avx, has_avx512;
static volatile bool had_fault;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	regs[REG_RIP] = (uintptr_t)machine_exit;
	regs[REG_RSP] = (uintptr_t)data; /* see stack_pointer() */
	had_fault = true;
}

static void catch_faults(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
	stack_t alt = {.ss_sp = map_pages(65536, PROT_READ | PROT_WRITE), .ss_size = 65536};
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&alt, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, NULL);
}

/* ---- the property ---- */

struct subject {
	const uint8_t *bytes;
	size_t len;
	struct reg_use use;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
};

struct result {
	struct machine m;
	uint8_t fp[512], data[DATA_SIZE];
	bool faulted;
};

/* What the machine's state doesn't hold is the same before each execution. */
static void reset_vectors(void)
{
	if (has_avx)
		__asm__ volatile("vzeroall" ::
					 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
					   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
					   "xmm13", "xmm14", "xmm15");
	if (has_avx512) /* each mask: the lowest 16 elements */
		__asm__ volatile(
			".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
			"vpxord %%zmm\\n, %%zmm\\n, %%zmm\\n\n"
			".endr\n"
			".irp n, 0, 1, 2, 3, 4, 5, 6, 7\n"
			"kxnorw %%k\\n, %%k\\n, %%k\\n\n"
			".endr" ::
				: "memory");
}

static void execute(const struct machine *in, struct result *out)
{
	had_fault = false;
	memcpy(data, data_before, DATA_SIZE);
	reset_vectors();
	machine__run(code, in, &out->m);
	memcpy(out->fp, machine_fp_out, sizeof(out->fp));
	memset(out->fp + 6, 0, 18); /* opcode and address of the last x87 instruction */
	memset(out->fp + FP_REGISTERS + FP_SIZE, 0, sizeof(out->fp) - FP_REGISTERS - FP_SIZE);
	memcpy(out->data, data, DATA_SIZE);
	out->faulted = had_fault;
}

/* Registers have some low bits only, now and then: shift counts, zero. */
static uint64_t random_value(void)
{
	uint64_t v = random64();

	switch (v >> 60) {
	case 0:
		return 0;
	case 1:
		return v & 63;
	case 2:
		return (uint32_t)v;
	case 3:
		return -1;
	default:
		return random64();
	}
}

/* Hypervisors that run the kernel in user mode can't return to a stack pointer that is no address.
 */
static uint64_t stack_pointer(void)
{
	return random_value() & ((1ull << 47) - 1);
}

static void randomize(struct machine *m)
{
	machine__randomize(m);
	for (int i = 0; i < GENERAL; i++)
		m->r[i] = i == RSP ? stack_pointer() : random_value();
}

static uint64_t *find_register(struct machine *m, ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15
		       ? &m->r[reg - ZYDIS_REGISTER_RAX]
		       : NULL;
}

/* Lets memory operands be in the middle of the data. */
static void aim(const struct subject *s, struct machine *m)
{
	if (s->z.attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		m->r[RCX] &= COUNT_MASK;
	for (unsigned i = 0; i < s->z.operand_count; i++) {
		const ZydisDecodedOperandMem *o = &s->ops[i].mem;
		uint64_t *base = find_register(m, o->base), *index = find_register(m, o->index);
		uint64_t rest = (uintptr_t)data + DATA_SIZE / 2 - o->disp.value;

		if (s->ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY || !base)
			continue;
		if (index == base)
			*base = rest / (o->scale + 1);
		else
			*base = rest - (index ? *index * o->scale : 0);
	}
}

/* All that may change without the instruction's noticing it. */
static struct machine disturb(const struct subject *s, const struct machine *in)
{
	struct machine m = *in;

	for (int i = 0; i < GENERAL; i++)
		if (!(s->use.reads >> i & 1))
			m.r[i] = i == RSP ? stack_pointer() : random_value();
	if (!s->use.reads_flags)
		m.flags = 0x202 | (random64() & ARITHMETIC);
	return m;
}

static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
				    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

/* Returns what depends on what it must not depend on; NULL: nothing. */
static const char *dependence(const struct subject *s, const struct machine *ma,
			      const struct machine *mb, const struct result *a,
			      const struct result *b)
{
	uint64_t may = s->use.writes_flags ? 0 : ma->flags ^ mb->flags;

	for (int i = 0; i < GENERAL; i++) {
		uint64_t free = s->use.writes >> i & 1 ? 0 : ma->r[i] ^ mb->r[i];

		if ((a->m.r[i] ^ b->m.r[i]) & ~free)
			return names[i];
	}
	if ((a->m.flags ^ b->m.flags) & ~may)
		return "flags";
	if (memcmp(a->data, b->data, DATA_SIZE))
		return "memory";
	return memcmp(a->fp, b->fp, sizeof(a->fp)) ? "vectors" : NULL;
}

/* fxsave's image has MXCSR there: by default all exceptions are masked. */
#define MXCSR_AT      24
#define MXCSR_DEFAULT 0x1f80u

static void mask_exceptions(bool masked)
{
	uint32_t mxcsr = masked ? MXCSR_DEFAULT : 0;

	memcpy(machine_fp + MXCSR_AT, &mxcsr, sizeof(mxcsr));
}

static const char *difference(const struct subject *s, const struct machine *ma,
			      const struct machine *mb, const struct result *a,
			      const struct result *b)
{
	if (!s->use.may_fault && (a->faulted || b->faulted))
		return "may fault";
	return a->faulted != b->faulted ? "fault" : dependence(s, ma, mb, a, b);
}

/* -1: it faults always. Else whether all is well. */
static int try(const struct subject *s)
{
	unsigned runs = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct machine ma, mb;
		static struct result a, b;
		const char *what;

		randomize(&ma);
		aim(s, &ma);
		mask_exceptions(s->use.may_fault);
		for (size_t j = 0; j < FP_SIZE; j++)
			machine_fp[FP_REGISTERS + j] = random64();
		mb = disturb(s, &ma);
		execute(&ma, &a);
		execute(&mb, &b);
		if (a.faulted != b.faulted ||
		    (a.faulted &&
		     !s->use.may_fault)) { /* behind an instruction that changed rsp? */
			execute(&ma, &a);
			execute(&mb, &b);
		}
		if (a.faulted && b.faulted && s->use.may_fault)
			continue;
		runs++;
		what = difference(s, &ma, &mb, &a, &b);
		if (what) {
			printf("# %s:", what);
			for (size_t j = 0; j < s->len; j++)
				printf(" %02x", s->bytes[j]);
			printf(" reads %x writes %x\n", s->use.reads, s->use.writes);
			return 0;
		}
	}
	return runs ? 1 : -1;
}

/* ---- subjects ---- */

static unsigned decoded, safe, unsafe;

/* Of any instruction, executed or not. */
static void consider_fault(struct subject *s)
{
	struct reg_use use;

	copier->use(s->bytes, s->z.length, 0, &use);
	decoded++;
	safe += !use.may_fault;
	unsafe += !use.may_fault &&
		  (accesses_memory(&s->z, s->ops) || s->z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED);
}

static bool describe(const uint8_t *bytes, size_t len, struct subject *s)
{
	struct insn insn;

	s->bytes = bytes;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &s->z, s->ops)))
		return false;
	consider_fault(s);
	if (x86->decode(bytes, len, 0, false, &insn) || insn.flow != FLOW_NEXT ||
	    insn.enters_kernel || !can_execute(&s->z, s->ops))
		return false;
	s->len = s->z.length;
	return copier->use(bytes, s->len, 0, &s->use);
}

static struct map64 seen;
static unsigned tried, faulted, wrong;

/* Executes it if that is possible, and new. */
static void consider(const uint8_t *bytes, size_t len)
{
	struct code_part p = {0};
	struct subject s;
	uint64_t *known;

	if (!describe(bytes, len, &s))
		return;
	known = map64__put(&seen, map64__hash(bytes, s.len));
	if (*known)
		return;
	*known = 1;
	code_part__put(&p, bytes, s.len);
	put_exit(&p);
	memcpy(code, p.bytes.data, p.bytes.len);
	vec__free(&p.bytes);
	switch (try(&s)) {
	case -1:
		faulted++;
		break;
	case 0:
		wrong++;
		/* fallthrough */
	default:
		tried++;
	}
}

static int sweep_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct insn insn;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *text = (const uint8_t *)info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !strstr(info->dlpi_name, ".so"))
			continue;
		for (size_t at = 0; at + LONGEST < p->p_memsz; at += insn.len) {
			if (x86->decode(text + at, LONGEST, 0, false, &insn))
				insn.len = 1;
			else if (insn.flow == FLOW_NEXT)
				consider(text + at, insn.len);
		}
	}
	return 0;
}

static void test_libraries(void)
{
	tried = faulted = wrong = 0;
	dl_iterate_phdr(sweep_object, NULL);
	is(wrong, 0, "what instructions of libraries use");
	ok(tried > 10000, "%u encodings were executed, %u others fault", tried, faulted);
}

/* With registers and with memory. */
static void consider_opcode(const uint8_t *prefix, size_t prefix_len, unsigned map, uint8_t opcode)
{
	static const uint8_t escapes[][2] = {{0}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}};
	uint8_t b[32] = {0};
	size_t n = prefix_len, escape = map < 2 ? map : 2;

	memcpy(b, prefix, prefix_len);
	memcpy(b + n, escapes[map], escape);
	n += escape;
	b[n++] = opcode;
	for (unsigned i = 0; i < 16; i++) {
		b[n] = (i < 8 ? 0xc0 : (random64() & 3) << 6) | (i & 7) << 3 | (random64() & 7);
		for (size_t j = n + 1; j < sizeof(b); j++)
			b[j] = random64();
		consider(b, LONGEST);
	}
}

static void test_opcodes(void)
{
	static const uint8_t legacy[] = {0, 0x66, 0xf2, 0xf3}, rex[] = {0, 0x40, 0x48, 0x4d, 0x45};

	tried = faulted = wrong = 0;
	for (unsigned l = 0; l < ARRAY_SIZE(legacy) * ARRAY_SIZE(rex); l++) {
		uint8_t prefix[2], n = 0;

		if (legacy[l % 4])
			prefix[n++] = legacy[l % 4];
		if (rex[l / 4])
			prefix[n++] = rex[l / 4];
		for (unsigned op = 0; op < 4 * 256; op++)
			consider_opcode(prefix, n, op / 256, op);
	}
	is(wrong, 0, "what all opcodes use");
	ok(tried > 10000, "%u encodings were executed, %u others fault", tried, faulted);
}

/* VEX, SDM volume 2, 2.3: c4, map, W vvvv L pp */
static void test_vex(void)
{
	tried = faulted = wrong = 0;
	for (unsigned i = 0; i < 3 * 256 * 64; i++) {
		uint8_t b[LONGEST] = {0xc4};

		b[1] = (random64() & 0xe0) | (1 + i / 64 / 256);
		b[2] = random64();
		b[3] = i / 64;
		b[4] = random64();
		b[5] = random64();
		consider(b, LONGEST);
	}
	is(wrong, 0, "what vector instructions use");
	ok(!__builtin_cpu_supports("avx2") || tried > 2000,
	   "%u encodings were executed, %u others fault", tried, faulted);
}

/* ---- what isn't executed: memory, and what must stay unknown ---- */

#define B(reg) (1u << (reg))
enum { READS_FLAGS = 1, WRITES_FLAGS = 2, UNKNOWN = 4 };
static const struct expectation {
	const char *name;
	uint8_t bytes[12];
	uint32_t reads, writes;
	unsigned flags;
} expectations[] = {
	{"mov 8(%rdi,%rsi,4),%rax", {0x48, 0x8b, 0x44, 0xb7, 8}, B(RDI) | B(RSI), B(RAX), 0},
	{"mov 8(%rdi),%eax", {0x8b, 0x47, 8}, B(RDI), B(RAX), 0},
	{"mov 8(%rdi),%ax", {0x66, 0x8b, 0x47, 8}, B(RDI), 0, 0},
	{"mov 8(%rdi),%ah", {0x8a, 0x67, 8}, B(RDI), 0, 0},
	{"movzbl (%rdi),%ecx", {0x0f, 0xb6, 0x0f}, B(RDI), B(RCX), 0},
	{"mov %rcx,(%rdx)", {0x48, 0x89, 0x0a}, B(RCX) | B(RDX), 0, 0},
	{"lea (%rax,%rbx),%rcx", {0x48, 0x8d, 0x0c, 0x18}, B(RAX) | B(RBX), B(RCX), 0},
	{"add (%rdi),%rax", {0x48, 0x03, 0x07}, B(RDI) | B(RAX), B(RAX), WRITES_FLAGS},
	{"add %rax,(%rdi)", {0x48, 0x01, 0x07}, B(RDI) | B(RAX), 0, WRITES_FLAGS},
	{"adc %rax,(%rdi)", {0x48, 0x11, 0x07}, B(RDI) | B(RAX), 0, READS_FLAGS | WRITES_FLAGS},
	{"incl (%rdi)", {0xff, 0x07}, B(RDI), 0, 0},
	{"cmovne (%rdi),%rax", {0x48, 0x0f, 0x45, 0x07}, B(RDI) | B(RAX), 0, READS_FLAGS},
	{"sete (%rdi)", {0x0f, 0x94, 0x07}, B(RDI), 0, READS_FLAGS},
	{"shll %cl,(%rdi)", {0xd3, 0x27}, B(RDI) | B(RCX), 0, 0},
	{"shll $0,(%rdi)", {0xc1, 0x27, 0x20}, B(RDI), 0, 0},
	{"push %rbx", {0x53}, B(RBX) | B(RSP), B(RSP), 0},
	{"pop %rbx", {0x5b}, B(RSP), B(RBX) | B(RSP), 0},
	{"pushf", {0x9c}, B(RSP), B(RSP), READS_FLAGS},
	{"popf", {0x9d}, B(RSP), B(RSP), WRITES_FLAGS},
	{"leave", {0xc9}, B(RSP) | B(RBP), B(RBP) | B(RSP), 0},
	{"movsq", {0x48, 0xa5}, B(RSI) | B(RDI), B(RSI) | B(RDI), 0},
	{"rep movsq", {0xf3, 0x48, 0xa5}, B(RSI) | B(RDI) | B(RCX), 0, 0},
	{"rep stosb", {0xf3, 0xaa}, B(RAX) | B(RDI) | B(RCX), 0, 0},
	{"lods", {0x48, 0xad}, B(RSI), B(RAX), 0},
	{"scasb", {0xae}, B(RAX) | B(RDI), 0, WRITES_FLAGS},
	{"repne scasb", {0xf2, 0xae}, B(RAX) | B(RDI) | B(RCX), 0, READS_FLAGS},
	{"repe cmpsb", {0xf3, 0xa6}, B(RSI) | B(RDI) | B(RCX), 0, READS_FLAGS},
	{"movsb, addr32", {0x67, 0xa4}, B(RSI) | B(RDI), 0, 0},
	{"xlat", {0xd7}, 0, 0, UNKNOWN},
	{"lock cmpxchg %rdx,(%rdi)",
	 {0xf0, 0x48, 0x0f, 0xb1, 0x17},
	 B(RDI) | B(RDX) | B(RAX),
	 0,
	 WRITES_FLAGS},
	{"lock cmpxchg16b (%rdi)",
	 {0xf0, 0x48, 0x0f, 0xc7, 0x0f},
	 B(RDI) | B(RAX) | B(RDX) | B(RBX) | B(RCX),
	 0,
	 0},
	{"lock xadd %rax,(%rdi)",
	 {0xf0, 0x48, 0x0f, 0xc1, 0x07},
	 B(RDI) | B(RAX),
	 B(RAX),
	 WRITES_FLAGS},
	{"xchg %rax,(%rdi)", {0x48, 0x87, 0x07}, B(RDI) | B(RAX), B(RAX), 0},
	{"mulq (%rdi)", {0x48, 0xf7, 0x27}, B(RDI) | B(RAX), B(RAX) | B(RDX), 0},
	{"divq (%rdi)", {0x48, 0xf7, 0x37}, B(RDI) | B(RAX) | B(RDX), B(RAX) | B(RDX), 0},
	{"xor %eax,%eax", {0x31, 0xc0}, 0, B(RAX), WRITES_FLAGS},
	{"sbb %eax,%eax", {0x19, 0xc0}, 0, B(RAX), READS_FLAGS},
	{"xor %al,%al", {0x30, 0xc0}, B(RAX), 0, WRITES_FLAGS},
	{"nopw 0(%rax,%rax)", {0x66, 0x0f, 0x1f, 0x44, 0, 0}, 0, 0, 0},
	{"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 0, 0, 0},
	{"cpuid", {0x0f, 0xa2}, B(RAX) | B(RCX), B(RAX) | B(RCX) | B(RDX) | B(RBX), 0},
	{"xgetbv", {0x0f, 0x01, 0xd0}, B(RCX), B(RAX) | B(RDX), 0},
	{"xsave (%rdi)", {0x0f, 0xae, 0x27}, B(RAX) | B(RDX) | B(RDI), 0, 0},
	{"vpgatherdd %xmm0,(%rdi,%xmm1),%xmm2", {0xc4, 0xe2, 0x79, 0x90, 0x14, 0x0f}, B(RDI), 0, 0},
	{"maskmovdqu %xmm1,%xmm0", {0x66, 0x0f, 0xf7, 0xc1}, B(RDI), 0, 0},
	{"je", {0x74, 0}, 0, 0, READS_FLAGS},
	{"jrcxz", {0xe3, 0}, B(RCX), 0, 0},
	{"loopne", {0xe0, 0}, B(RCX), B(RCX), READS_FLAGS},
	{"call", {0xe8}, 0, 0, UNKNOWN},
	{"syscall", {0x0f, 0x05}, 0, 0, UNKNOWN},
	{"int3", {0xcc}, 0, 0, UNKNOWN},
	{"ret", {0xc3}, 0, 0, UNKNOWN},
	{"jmp *%rax", {0xff, 0xe0}, 0, 0, UNKNOWN},
	{"enter", {0xc8, 8, 0, 0}, 0, 0, UNKNOWN},
	{"monitor", {0x0f, 0x01, 0xc8}, 0, 0, UNKNOWN},
	{"rep xchg %r8,%rax", {0xf3, 0x49, 0x90}, 0, 0, UNKNOWN},
	{"no instruction", {0x06}, 0, 0, UNKNOWN},
};

static void test_expectations(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(expectations); i++) {
		const struct expectation *e = &expectations[i];
		struct reg_use use = {0};
		bool known = copier->use(e->bytes, sizeof(e->bytes), 0, &use);

		ok(known != !!(e->flags & UNKNOWN), "%s", e->name);
		if (!known || e->flags & UNKNOWN)
			continue;
		is(use.reads, e->reads, "%s: reads", e->name);
		is(use.writes, e->writes, "%s: writes", e->name);
		is(use.reads_flags, !!(e->flags & READS_FLAGS), "%s: reads flags", e->name);
		is(use.writes_flags, !!(e->flags & WRITES_FLAGS), "%s: writes flags", e->name);
	}
}

/* ---- what may fault ---- */

static const struct {
	const char *name;
	uint8_t bytes[12];
	bool may_fault;
} faults[] = {
	{"mov (%rdi),%eax", {0x8b, 0x07}, true},
	{"mov %eax,(%rdi)", {0x89, 0x07}, true},
	{"mov %eax,%ecx", {0x89, 0xc1}, false},
	{"lea (%rdi),%rax", {0x48, 0x8d, 0x07}, false},
	{"nopl (%rax)", {0x0f, 0x1f, 0x00}, false},
	{"prefetch of a register", {0x0f, 0x0d, 0xc2}, true},
	{"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, false},
	{"push %rbx", {0x53}, true},
	{"pop %rbx", {0x5b}, true},
	{"pushf", {0x9c}, true},
	{"leave", {0xc9}, true},
	{"call", {0xe8}, true},
	{"ret", {0xc3}, true},
	{"jmp *%rax", {0xff, 0xe0}, true},
	{"je", {0x74, 0}, false},
	{"loop", {0xe2, 0}, false},
	{"div %rcx", {0x48, 0xf7, 0xf1}, true},
	{"idiv %ecx", {0xf7, 0xf9}, true},
	{"mul %rcx", {0x48, 0xf7, 0xe1}, false},
	{"imul %ecx,%eax", {0x0f, 0xaf, 0xc1}, false},
	{"xchg %rax,%rcx", {0x48, 0x91}, false},
	{"cmpxchg %ecx,%edx", {0x0f, 0xb1, 0xca}, false},
	{"bswap %rax", {0x48, 0x0f, 0xc8}, false},
	{"cqto", {0x48, 0x99}, false},
	{"std", {0xfd}, false},
	{"cli", {0xfa}, true},
	{"hlt", {0xf4}, true},
	{"in (%dx),%al", {0xec}, true},
	{"int3", {0xcc}, true},
	{"ud2", {0x0f, 0x0b}, true},
	{"rdtsc", {0x0f, 0x31}, true},
	{"cpuid", {0x0f, 0xa2}, true},
	{"mov %eax,%ss", {0x8e, 0xd0}, true},
	{"mov %rax,%cr0", {0x0f, 0x22, 0xc0}, true},
	{"movsb", {0xa4}, true},
	{"xlat", {0xd7}, true},
	{"pxor %xmm1,%xmm0", {0x66, 0x0f, 0xef, 0xc1}, false},
	{"movaps %xmm1,%xmm0", {0x0f, 0x28, 0xc1}, false},
	{"movaps (%rdi),%xmm0", {0x0f, 0x28, 0x07}, true},
	{"movq %rax,%xmm0", {0x66, 0x48, 0x0f, 0x6e, 0xc0}, false},
	{"addsd %xmm1,%xmm0", {0xf2, 0x0f, 0x58, 0xc1}, true},
	{"cvtsi2sd %eax,%xmm0", {0xf2, 0x0f, 0x2a, 0xc0}, true},
	{"ucomisd %xmm1,%xmm0", {0x66, 0x0f, 0x2e, 0xc1}, true},
	{"pxor %mm1,%mm0", {0x0f, 0xef, 0xc1}, true},
	{"fld1", {0xd9, 0xe8}, true},
	{"tzcnt %eax,%eax", {0xf3, 0x0f, 0xbc, 0xc0}, true},
	{"vpxor %xmm1,%xmm0,%xmm0", {0xc5, 0xf9, 0xef, 0xc1}, true},
	{"no instruction", {0x06}, true},
};

static void test_faults(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct reg_use use = {0};

		copier->use(faults[i].bytes, sizeof(faults[i].bytes), 0, &use);
		is(use.may_fault, faults[i].may_fault, "%s: may fault", faults[i].name);
	}
	is(unsafe, 0, "what accesses memory, or is the kernel's, may fault");
	ok(safe > decoded / 20, "%u of %u encodings can't fault", safe, decoded);
}

int main(void)
{
	rounds = runs_whole() ? 8 : rounds;
	x86 = arch__by_machine(EM_X86_64);
	copier = x86->copier;
	has_avx = __builtin_cpu_supports("avx");
	has_avx512 = __builtin_cpu_supports("avx512f");
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	data = (uint8_t *)map_pages(2 * AROUND, PROT_NONE) + AROUND;
	mprotect(data, DATA_SIZE, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < DATA_SIZE; i++)
		data_before[i] = random64();
	code = map_pages(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	machine__init();
	catch_faults();
	test_libraries();
	test_opcodes();
	test_vex();
	test_expectations();
	test_faults();
	map64__free(&seen);
	return tap__done();
}
#endif
