/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64 and i386: the front header of this folder, which only src/arch/x86 includes. No file calls
 * one that comes later here:
 * - raw.c, forms.c: what Zydis and the table of forms say of an instruction.
 * - apx.c: lengths of instructions that Zydis doesn't know. Only decode.c knows these.
 * - decode.c with plain.c, sp.c and uprobe.c; detail.c, access.c, test.c, use.c with fault.c,
 *   execution.c, format.c, condition.c, link.c: its views, which are members of struct arch.
 * - copy: code that is emitted for copies, and what their threads do.
 * - x86.c, i386.c: the two rows of src/arch/arch.c.
 *
 * It uses Zydis and src/arch only, and gives arch_x86_64 and arch_i386. Its most important
 * functions are x86__raw(), x86__operands() and x86__form().
 */
#ifndef BBTRACE_ARCH_X86_X86_H
#define BBTRACE_ARCH_X86_X86_H

#include <Zydis/Zydis.h>
#include "arch/arch.h"
#include "forms.h"

enum x86_reg {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_R13,
	X86_R14,
	X86_R15,
	X86_RIP,
	X86_FLAGS
};
#define X86_GENERAL 16 /* the number of general registers, the first ones */
extern const char *const x86_reg_names[X86_FLAGS + 1];
/*
 * i386 has the numbers of x86-64, except for those of r8 to r13: these are the words after the
 * return address at an entry, which are its arguments if it has as many. r14 and r15 have no
 * counterpart.
 */
#define I386_ARGS 6
extern const char *const i386_reg_names[X86_FLAGS + 1];

#define X86_ENDBR_SIZE 4
extern const uint8_t x86_endbr64[X86_ENDBR_SIZE];

/* insn.cond of a LOOP: which one (in the low two bits), and whether the counter has 32 bits (prefix
 * 67). Of a JCC it is the condition code, below 0x10. */
enum x86_loop { X86_LOOPNE = 0x10, X86_LOOPE, X86_LOOP, X86_JRCXZ, X86_LOOP_ADDR32 = 0x80 };

/* System V ABI, AMD64 supplement, figure 3.4 */
#define X86_CALLER_SAVED                                                                           \
	(1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX | 1u << X86_RSI | 1u << X86_RDI |           \
	 1u << X86_R8 | 1u << X86_R9 | 1u << X86_R10 | 1u << X86_R11)

/* An instruction as Zydis decodes it, the context that decoding its operands needs, and what the
 * table says of it. */
struct x86_raw {
	ZydisDecoderContext context;
	ZydisDecodedInstruction z;
	struct x86_form form;
};
#define X86_REPEATS (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)

/* forms.c */
void x86__form(const ZydisDecodedInstruction *z, struct x86_form *out);
uint32_t x86__byte(uint8_t byte); /* enum x86_byte */
/* enum x86_setter of a mnemonic's text. */
uint8_t x86__setter(const char *mnemonic, size_t len);

extern const struct arch arch_x86_64, arch_i386;

/* ---- raw.c: what all others use ---- */

/* What a processor executes: code of 64 bits, or of 32. */
enum x86_mode { X86_64, X86_32 };
int x86__raw(enum x86_mode mode, const uint8_t *bytes, size_t len, struct x86_raw *raw);

static inline bool x86__is32(const ZydisDecodedInstruction *z)
{
	return z->machine_mode != ZYDIS_MACHINE_MODE_LONG_64;
}

/* The size of a general register, in bits. */
static inline unsigned x86__width(const ZydisDecodedInstruction *z)
{
	return x86__is32(z) ? 32 : 64;
}

/* Returns true if its operands are whole registers. */
static inline bool x86__is_whole(const ZydisDecodedInstruction *z)
{
	return x86__is32(z) ? z->operand_width == 32 : z->raw.rex.W;
}

/* Decodes the operands, hidden ones included. Returns their number, 0 on failure. */
unsigned x86__operands(const struct x86_raw *raw, ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT]);
/* In a block of registers, by number, enum x86_reg. */
struct user_regs_struct;
unsigned long long *x86__general(struct user_regs_struct *r, uint8_t reg);
/* The number of the 64-bit register that contains reg; REG_NONE: not a general register. */
uint8_t x86__gpr(ZydisRegister reg);
/* The general registers that are written, in whole or in part, a bit each. */
uint32_t x86__written(const ZydisDecodedOperand *ops, unsigned n);
static inline bool x86__is_high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}
/* The memory operand of ModRM and SIB; size is left 0. False: the operand is a register, whose
 * number is in base. */
bool x86__modrm(const ZydisDecodedInstruction *z, struct operand *out);

/* ---- apx.c: instructions that Zydis doesn't know ---- */

struct x86_apx {
	/* If older is set: an older instruction that does the same to control, rsp and rbp. Its
	 * registers are wrong if extended is set. */
	struct x86_raw raw;
	bool older, extended;
	uint8_t len;
	/* Without an older one: jmpabs, which goes to target; or what it does to rsp and rbp. */
	bool jumps;
	uint64_t target;
	uint8_t sp_effect; /* enum sp_effect */
	int32_t sp_value;
};
/* Returns -EILSEQ if it is no instruction of APX. */
int x86__apx(const uint8_t *bytes, size_t len, struct x86_apx *out);

/* ---- the views, members of struct arch ---- */

/* decode.c */
int x86__decode(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr, bool kernel,
		struct insn *out);
bool x86__is_prefix(uint8_t byte);
bool x86__might_take(const uint8_t *bytes, size_t len);
bool x86__constant(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *out);
bool i386__constant(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t *out);
void x86__each_address(const uint8_t *bytes, size_t len, uint64_t addr, taken_address_fn fn,
		       void *ctx); /* link.c */
bool x86__leads_to(const uint8_t *p, size_t len, uint64_t addr, uint64_t *target);
/* condition.c */
bool x86__taken(uint8_t kind, uint16_t cond, const uint64_t reads[2]);
bool x86__bound(uint16_t cond, bool is_taken, bool swapped, uint64_t n, uint64_t *max);
/* costs.c */
extern const struct cost_row x86_costs[], x86_virtual_costs[];
/* format.c */
bool x86__format(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr, char *out,
		 size_t size);
/* sp.c: fills in sp_effect and sp_value. */
void x86__sp(const struct x86_raw *raw, struct insn *out);
/* plain.c: fills in is_plain, loads, stores and the operand of a plain instruction; flow must be
 * set. */
void x86__plain(const struct x86_raw *raw, struct insn *out);
/* uprobe.c: fills in user_refusal, emulated, patchable and repeats; flow and kind must be set. */
void x86__uprobe(const uint8_t *bytes, const struct x86_raw *raw, struct insn *out);
uint64_t x86__uprobe_form(const uint8_t *bytes, size_t len, const struct insn *insn);
/* execution.c */
bool x86__execution(const uint8_t *bytes, size_t len, struct execution *out);
/* detail.c */
bool x86__detail(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr,
		 struct insn_detail *out);
/* access.c */
int x86__accesses(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr,
		  const struct access_state *after, struct access out[ACCESS_MOST]);
/* link.c */
/* The operand of a static probe's argument (usdt.c). */
bool x86__usdt_operand(const char **text, struct usdt_argument *out);
bool x86__plt_stub(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t entry_size,
		   struct plt_stub *out);
bool x86__go_checks_stack(const uint8_t *bytes, size_t len);
bool x86__go_grows_stack(const uint8_t *bytes, size_t len);
const char *const *x86__hwcaps(void);
void x86__machine(struct host *out);
uint64_t x86__ticks(void);
/* kernel.c */
extern const struct arch_kernel x86_kernel;
/* fault.c */
bool x86__may_fault(const struct x86_raw *raw, const ZydisDecodedOperand *ops, unsigned n);
/* copier.c, use.c */
extern const struct arch_copier x86_copier;
bool x86__use(const uint8_t *bytes, size_t len, uint64_t addr, struct reg_use *out);
enum flags_effect x86__flags_effect(enum x86_mode mode, const uint8_t *bytes, size_t len,
				    uint8_t kind, uint16_t cond);
/* condition.c: the condition code of a branch, and of loope and loopne that which they test besides
 * the counter; X86_NO_CODE if none. */
#define X86_NO_CODE 0xff
uint8_t x86__code_of(uint8_t kind, uint16_t cond);
bool x86__is_unsigned(uint8_t kind, uint16_t cond);
bool x86__proves(uint8_t kind, uint16_t cond, bool taken, const char *compare, struct str *out);
/* test.c */
bool x86__test(enum x86_mode mode, const uint8_t *bytes, size_t len, uint64_t addr,
	       struct test *out);
uint64_t x86__test_flags(const struct test *t, const uint64_t value[2], uint64_t *unknown);
/* samples.c */
#ifdef __x86_64__
extern const struct sample x86_samples[];
#endif

extern const struct arch_tracee x86_tracee; /* of this machine alone */

#endif
