// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: PLT entries, Go's stack checks, the library variants that the loader prefers, and what
 * takes the address of data.
 */
#include "x86.h"

/*
 * [endbr64] [bnd] jmp *disp(%rip): x86-64 psABI, 5.2, and .plt.sec for IBT. GNU ld writes entries
 * of 8 bytes in .plt.got without IBT and in .plt of static programs; for the latter sh_entsize is
 * 0. lld always leaves it 0.
 */
bool x86__plt_stub(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t entry_size,
		   struct plt_stub *out)
{
	uint64_t size = 16;
	size_t at = 0;
	int32_t disp;

	if (len >= X86_ENDBR_SIZE && !memcmp(bytes, x86_endbr64, X86_ENDBR_SIZE))
		at = X86_ENDBR_SIZE;
	if (at < len && bytes[at] == 0xf2)
		at++;
	if (len - at < 6 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return false;
	memcpy(&disp, bytes + at + 2, sizeof(disp));
	if (entry_size == 8 || (!entry_size && len >= 8 && !memcmp(bytes + 6, "\x66\x90", 2)))
		size = 8;
	*out = (struct plt_stub){.slot = addr + at + 6 + (int64_t)disp,
				 .size = min_of(size, (uint64_t)len)};
	return true;
}

/* cmp 0x10(%r14),%rsp; for large frames lea -N(%rsp),%r12; cmp 0x10(%r14),%r12, with N of one or
 * four bytes. */
bool x86__go_checks_stack(const uint8_t *bytes, size_t len)
{
	static const uint8_t small[] = {0x49, 0x3b, 0x66, 0x10}, large[] = {0x4d, 0x3b, 0x66, 0x10};

	if (len >= sizeof(small) && !memcmp(bytes, small, sizeof(small)))
		return true;
	for (unsigned lea = 5; lea <= 8; lea += 3)
		if (len >= lea + sizeof(large) && bytes[0] == 0x4c && bytes[1] == 0x8d &&
		    !memcmp(bytes + lea, large, sizeof(large)))
			return true;
	return false;
}

#define PROLOGUE 6 /* instructions */

/*
 * Returns true for a comparison of the stack pointer, or of a register that is this many bytes
 * below it, with the bound at 0x10 or, for code that may only run on a thread's own stack, 0x18 of
 * g: in r14, or (ABI0) loaded from the thread's memory to rcx. cmd/internal/obj/x86/obj6.go,
 * stacksplit()
 */
static bool compares_bound(const struct x86_raw *raw, const ZydisDecodedOperand *ops, bool loaded)
{
	ZydisRegister reg = ops[0].reg.value, base = ops[1].mem.base;
	int64_t at = ops[1].mem.disp.value;

	if (raw->form.op != X86_CMP || ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    ops[1].type != ZYDIS_OPERAND_TYPE_MEMORY || (at != 0x10 && at != 0x18) ||
	    ops[1].mem.index != ZYDIS_REGISTER_NONE)
		return false;
	if (base == ZYDIS_REGISTER_R14)
		return reg == ZYDIS_REGISTER_RSP || reg == ZYDIS_REGISTER_R12 ||
		       reg == ZYDIS_REGISTER_R13;
	return base == ZYDIS_REGISTER_RCX && loaded &&
	       (reg == ZYDIS_REGISTER_RSP || reg == ZYDIS_REGISTER_RAX);
}

bool x86__go_grows_stack(const uint8_t *bytes, size_t len)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	bool loaded = false;
	struct x86_raw raw;

	for (unsigned i = 0; i < PROLOGUE && !x86__raw(X86_64, bytes, len, &raw); i++) {
		if (x86__operands(&raw, ops) >= 2 && compares_bound(&raw, ops, loaded))
			return true;
		loaded |= raw.z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS;
		bytes += raw.z.length;
		len -= raw.z.length;
	}
	return false;
}

/* ---- the x86-64 levels of glibc-hwcaps ---- */

#if defined(__x86_64__)
/* clang before 18 doesn't know the names of the levels: test features that each level adds. */
#if defined(__clang__) && __clang_major__ < 18
#define HAS_V4 (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
#define HAS_V3 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
#define HAS_V2 __builtin_cpu_supports("sse4.2")
#else
#define HAS_V4 __builtin_cpu_supports("x86-64-v4")
#define HAS_V3 __builtin_cpu_supports("x86-64-v3")
#define HAS_V2 __builtin_cpu_supports("x86-64-v2")
#endif

const char *const *x86__hwcaps(void)
{
	static const char *names[4];
	size_t n = 0;

	if (names[0])
		return names;
	if (HAS_V4)
		names[n++] = "x86-64-v4";
	if (HAS_V3)
		names[n++] = "x86-64-v3";
	if (HAS_V2)
		names[n++] = "x86-64-v2";
	return names;
}
#else
const char *const *x86__hwcaps(void)
{
	static const char *const none[] = {NULL};

	return none;
}
#endif

/* ---- addresses of data ---- */

/* lea r64 with a 32-bit distance from the next instruction: REX.W, 8d, ModRM 00 reg 101 */
static bool is_lea(const uint8_t *code, size_t at)
{
	return at >= 3 && (code[at - 3] & 0xf8) == 0x48 && code[at - 2] == 0x8d &&
	       (code[at - 1] & 0xc7) == 5;
}

/* mov reg32, imm32: b8 + reg */
static bool is_mov(const uint8_t *code, size_t at)
{
	return (code[at - 1] & 0xf8) == 0xb8;
}

/* movups, movaps, movdqa, movdqu xmm, with such a distance: copies of short strings */
static bool is_movups(const uint8_t *code, size_t at)
{
	uint8_t op = at >= 3 ? code[at - 2] : 0;

	return at >= 3 && code[at - 3] == 0x0f && (op == 0x10 || op == 0x28 || op == 0x6f) &&
	       (code[at - 1] & 0xc7) == 5;
}

void x86__each_address(const uint8_t *bytes, size_t len, uint64_t addr, taken_address_fn fn,
		       void *ctx)
{
	for (size_t at = 1; at + 4 <= len; at++) {
		const uint8_t *code = bytes + at;
		uint64_t next = addr + at + 4;
		uint32_t word;

		memcpy(&word, code, sizeof(word));
		if (is_lea(bytes, at))
			fn(ctx, next - 7, next + (int32_t)word,
			   (code[-1] >> 3 & 7) | (code[-3] & 4) << 1);
		else if (is_movups(bytes, at))
			fn(ctx, next - 7, next + (int32_t)word, REG_NONE);
		else if (is_mov(bytes, at))
			fn(ctx, next - 5, word, (code[-1] & 7) | (at > 1 && code[-2] == 0x41) << 3);
	}
}
