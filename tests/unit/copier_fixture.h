/* SPDX-License-Identifier: BSD-2-Clause */
/* Executes emitted x86-64 code natively, with all registers, flags and the stack as the test says.
 */
#ifndef COPIER_FIXTURE_H
#define COPIER_FIXTURE_H

#include <asm/prctl.h>
#include <elf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "arch/arch.h"
#include "tap.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R10 = 10, R11, R12, R13, R14, R15, GENERAL };
#define ARITHMETIC 0x8d5 /* CF PF AF ZF SF OF */

struct machine {
	uint64_t r[GENERAL];
	uint64_t flags;
};

/* One thread at a time: machine_in and machine_out belong to the trampoline. */
struct machine machine_in __attribute__((used)), machine_out __attribute__((used));
uint64_t machine_host __attribute__((used)), machine_code __attribute__((used));
/* For fxrstor and fxsave: SDM volume 1, table 10-2; the x87 and xmm registers are at FP_REGISTERS.
 */
#define FP_REGISTERS 32
#define FP_SIZE	     (8 * 16 + 16 * 16)
uint8_t machine_fp[512] __attribute__((used, aligned(16)));
uint8_t machine_fp_out[512] __attribute__((used, aligned(16)));
void machine_enter(void);
extern const char machine_exit[];

__asm__(".pushsection .text\n"
	".globl machine_enter, machine_exit\n"
	"machine_enter:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, machine_host(%rip)\n"
	"	fxrstor machine_fp(%rip)\n"
	"	push 128+machine_in(%rip); popf\n"
	"	mov machine_in(%rip), %rax; mov 8+machine_in(%rip), %rcx\n"
	"	mov 16+machine_in(%rip), %rdx; mov 24+machine_in(%rip), %rbx\n"
	"	mov 32+machine_in(%rip), %rsp; mov 40+machine_in(%rip), %rbp\n"
	"	mov 48+machine_in(%rip), %rsi; mov 56+machine_in(%rip), %rdi\n"
	"	mov 64+machine_in(%rip), %r8; mov 72+machine_in(%rip), %r9\n"
	"	mov 80+machine_in(%rip), %r10; mov 88+machine_in(%rip), %r11\n"
	"	mov 96+machine_in(%rip), %r12; mov 104+machine_in(%rip), %r13\n"
	"	mov 112+machine_in(%rip), %r14; mov 120+machine_in(%rip), %r15\n"
	"	jmp *machine_code(%rip)\n"
	"machine_exit:\n"
	"	mov %rax, machine_out(%rip); mov %rcx, 8+machine_out(%rip)\n"
	"	mov %rdx, 16+machine_out(%rip); mov %rbx, 24+machine_out(%rip)\n"
	"	mov %rsp, 32+machine_out(%rip); mov %rbp, 40+machine_out(%rip)\n"
	"	mov %rsi, 48+machine_out(%rip); mov %rdi, 56+machine_out(%rip)\n"
	"	mov %r8, 64+machine_out(%rip); mov %r9, 72+machine_out(%rip)\n"
	"	mov %r10, 80+machine_out(%rip); mov %r11, 88+machine_out(%rip)\n"
	"	mov %r12, 96+machine_out(%rip); mov %r13, 104+machine_out(%rip)\n"
	"	mov %r14, 112+machine_out(%rip); mov %r15, 120+machine_out(%rip)\n"
	"	fxsave machine_fp_out(%rip)\n"
	"	mov machine_host(%rip), %rsp\n"
	"	pushf; pop 128+machine_out(%rip)\n"
	"	cld; pushf; andl $0xfffbfeff, (%rsp); popf\n" /* without AC and TF */
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	".popsection\n");

static uint64_t random_state = 0x9e3779b97f4a7c15;
static inline uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Random registers and arithmetic flags; the stack pointer is left to the caller. */
static inline void machine__randomize(struct machine *m)
{
	for (int i = 0; i < GENERAL; i++)
		m->r[i] = random64();
	m->flags = 0x202 | (random64() & ARITHMETIC);
}

/* Executes code, which ends in a jump to machine_exit. */
static inline void machine__run(const void *code, const struct machine *in, struct machine *out)
{
	machine_in = *in;
	machine_code = (uintptr_t)code;
	machine_enter();
	*out = machine_out;
}

/* Once, first. */
static inline void machine__init(void)
{
	__asm__ volatile("fxsave machine_fp(%rip)");
}

static inline void *map_pages(size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* jmp *0(%rip), to the exit */
static inline void put_exit(struct code_part *p)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
	uint64_t to = (uintptr_t)machine_exit;

	code_part__put(p, jump, sizeof(jump));
	code_part__put(p, &to, sizeof(to));
}

static inline uint64_t label_at(const struct code_buffer *c, uint64_t label, const uint8_t *to)
{
	const struct code_label *l = &c->labels.data[label];

	if (label >= c->labels.len || !l->set)
		abort();
	return (uintptr_t)to + l->offset + (l->cold ? c->hot.bytes.len : 0);
}

static inline void place_part(const struct code_buffer *c, const struct code_part *p, uint8_t *to,
			      uint8_t *start)
{
	memcpy(start, p->bytes.data, p->bytes.len);
	for (size_t i = 0; i < p->fixups.len; i++) {
		const struct code_fixup *f = &p->fixups.data[i];
		uint64_t target = f->to_label ? label_at(c, f->to, to) : f->to;
		int64_t distance = target - ((uintptr_t)start + f->at + 4 + f->following);
		int32_t low = distance;

		if (low != distance)
			abort();
		memcpy(start + f->at, &low, 4);
	}
}

/* Places the code; addresses of the original are running addresses here. */
static inline void place_code(const struct code_buffer *c, uint8_t *to)
{
	place_part(c, &c->hot, to, to);
	if (c->cold.bytes.len)
		place_part(c, &c->cold, to, to + c->hot.bytes.len);
}

/* As in a process that may not read the time stamp counter: after place_code(). */
static inline void untime_code(const struct code_buffer *c, const struct arch_copier *copier,
			       uint8_t *to)
{
	for (size_t i = 0; i < c->times.len; i++) {
		const struct code_time *t = &c->times.data[i];
		uint8_t *start = to + t->start + (t->cold ? c->hot.bytes.len : 0);
		int32_t instead =
			t->instead == NO_LABEL
				? 0
				: (int32_t)(label_at(c, t->instead, to) - (uintptr_t)start);

		copier->untime(start, t->end - t->start, instead);
	}
}

/* ---- a ring ---- */

static inline struct log_ring *ring__make(uint64_t patience)
{
	struct log_ring *r = map_pages(LOG_SLOT, PROT_READ | PROT_WRITE);

	r->base = (uintptr_t)r;
	r->cursor = r->base + LOG_RING_AT;
	r->limit = r->cursor + LOG_SEGMENT - LOG_RECORD_MAX;
	r->patience = patience;
	return r;
}

static inline void ring__use(struct log_ring *r)
{
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, r))
		abort();
}

static inline void ring__free(struct log_ring *r)
{
	munmap(r, LOG_SLOT);
}

#endif
