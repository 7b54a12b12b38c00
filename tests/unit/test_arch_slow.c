// SPDX-License-Identifier: BSD-2-Clause
/* Which instructions may wait, enter the kernel, or repeat (insn.slow), on each architecture. */
#include <elf.h>
#include "arch/arch.h"
#include "tap.h"

struct row {
	const char *bytes;
	uint8_t len;
	const char *text; /* begins what the disassembler shows; "a|b": either, by its version */
};
#define ROW(bytes, text)                                                                           \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, text                                                     \
	}

static const struct row x86_slow[] = {
	ROW("\x0f\x05", "syscall"),
	ROW("\x0f\xa2", "cpuid"),
	ROW("\x0f\x31", "rdtsc"),
	ROW("\x0f\x01\xf9", "rdtscp"),
	ROW("\x0f\xc7\xf0", "rdrand"),
	ROW("\x0f\xc7\xf8", "rdseed"),
	ROW("\xf3\x90", "pause"),
	ROW("\x0f\xae\xe8", "lfence"),
	ROW("\x0f\xae\xf0", "mfence"),
	ROW("\x0f\xae\xf8", "sfence"),
	ROW("\x0f\xae\x38", "clflush"),
	ROW("\x66\x0f\xae\x38", "clflushopt"),
	ROW("\x66\x0f\xae\x30", "clwb"),
	ROW("\xf3\xa4", "rep movsb"),
	ROW("\xf3\x48\xab", "rep stosq"),
	ROW("\xf2\xae", "repne scasb"),
	ROW("\xec", "in"),
	ROW("\x6c", "insb"),
	ROW("\xcd\x80", "int"),
	ROW("\xf0\x0f\xb1\x0e", "lock cmpxchg"),
	ROW("\xf0\x48\xff\x00", "lock inc"),
	ROW("\x87\x06", "xchg"),
	ROW("\x0f\x01\xd0", "xgetbv"),
	ROW("\x0f\xae\x21", "xsave"),
	ROW("\x0f\xc7\x21", "xsavec"),
	ROW("\x0f\x01\xc1", "vmcall"),
	ROW("\x66\x0f\xae\xf1", "tpause"),
	ROW("\x0f\x01\xc9", "mwait"),
	ROW("\x0f\x30", "wrmsr"),
	ROW("\xd9\xfe", "fsin"),
	ROW("\x9b", "fwait"),
};

static const struct row x86_quick[] = {
	ROW("\x55", "push"),
	ROW("\x48\x89\xe5", "mov"),
	ROW("\x48\x8b\x07", "mov"),
	ROW("\x64\x48\x8b\x04\x25\x28\0\0\0", "mov"),
	ROW("\x8d\x04\x37", "lea"),
	ROW("\x48\x0f\xaf\xc7", "imul"),
	ROW("\x48\xf7\xf1", "div"),
	ROW("\x87\xf7", "xchg"),
	ROW("\x0f\xb1\x0e", "cmpxchg"),
	ROW("\xa4", "movsb"),
	ROW("\x90", "nop"),
	ROW("\xf3\x0f\x1e\xfa", "endbr64"),
	ROW("\x0f\x18\x0e", "prefetch"),
	ROW("\xf3\x0f\xb8\xc0", "popcnt"),
	ROW("\xf2\x0f\x58\xc1", "addsd"),
	ROW("\xc5\xfc\x28\xc1", "vmovaps"),
	ROW("\x0f\x01\xca", "clac"),
	ROW("\x75\x10", "jne"),
	ROW("\xe8\0\0\0\0", "call"),
	ROW("\xf3\xc3", "ret"),
	ROW("\xe2\xfe", "loop"),
};

static const struct row arm64_slow[] = {
	ROW("\x01\0\0\xd4", "svc"),	   ROW("\x3f\x20\x03\xd5", "yield"),
	ROW("\x5f\x20\x03\xd5", "wfe"),	   ROW("\x7f\x20\x03\xd5", "wfi"),
	ROW("\x3f\x22\x03\xd5", "psb"),	   ROW("\xdf\x3f\x03\xd5", "isb"),
	ROW("\x9f\x3f\x03\xd5", "dsb"),	   ROW("\xbf\x3b\x03\xd5", "dmb"),
	ROW("\x40\xe0\x3b\xd5", "mrs"),	   ROW("\x20\xfc\x5f\xc8", "ldaxr"),
	ROW("\x01\x7c\x02\xc8", "stxr"),   ROW("\x20\x7c\xa0\xc8", "cas"),
	ROW("\x20\0\xe2\xf8", "ldaddal"),  ROW("\x20\x80\x20\xf8", "swp"),
	ROW("\x20\x74\x0b\xd5", "dc zva"),
};

static const struct row arm64_quick[] = {
	ROW("\x1f\x20\x03\xd5", "nop"),	    ROW("\x5f\x24\x03\xd5", "bti"),
	ROW("\x3f\x23\x03\xd5", "paciasp"), ROW("\x40\xd0\x3b\xd5", "mrs"),
	ROW("\xff\x20\x03\xd5", "xpaclri"), ROW("\xfd\x7b\xbe\xa9", "stp"),
	ROW("\x20\0\x40\xf9", "ldr"),	    ROW("\x20\x68\x62\xf8", "ldr"),
	ROW("\x20\x04\0\x91", "add"),	    ROW("\x20\x08\xc2\x9a", "udiv"),
	ROW("\xc0\x03\x5f\xd6", "ret"),	    ROW("\0\x28\x61\x1e", "fadd"),
};

static const struct row riscv_slow[] = {
	ROW("\x73\0\0\0", "ecall"),
	ROW("\x73\0\x50\x10", "wfi"),
	ROW("\x73\x25\0\xc0", "csrrs|rdcycle"),
	ROW("\x0f\0\xf0\x0f", "fence"),
	ROW("\x0f\x10\0\0", "fence.i"),
	ROW("\x2f\xa5\xb5\0", "amoadd.w"),
	ROW("\x2f\x25\x05\x10", "lr.w"),
};

static const struct row riscv_quick[] = {
	ROW("\x13\0\0\0", "nop"),	   ROW("\x33\x85\xc5\0", "add"),
	ROW("\x7d\x15", "addi|c.addi"),	   ROW("\x03\xb5\x05\0", "ld"),
	ROW("\x33\x45\xb5\x02", "div"),	   ROW("\x67\x80\0\0", "ret"),
	ROW("\x53\x75\xb5\x02", "fadd.d"),
};

static bool begins_with_one_of(const char *text, const char *names)
{
	for (; names; names = strchr(names, '|')) {
		size_t len;

		names += *names == '|';
		len = strcspn(names, "|");
		if (!strncmp(text, names, len))
			return true;
	}
	return false;
}

static void check(uint16_t machine, const struct row *rows, size_t n, bool slow)
{
	const struct arch *arch = arch__by_machine(machine);

	for (const struct row *r = rows; r < rows + n; r++) {
		const uint8_t *bytes = (const uint8_t *)r->bytes;
		struct insn insn = {0};
		char text[80] = "";

		is(arch->decode(bytes, r->len, 0x1000, false, &insn), 0, "%s, %s: it is decoded",
		   arch->name, r->text);
		is(insn.slow, slow, "%s, %s: it may %swait, enter the kernel or repeat", arch->name,
		   r->text, slow ? "" : "not ");
		if (insn.len == r->len && arch->format(bytes, r->len, 0x1000, text, sizeof(text)) &&
		    *text != '.' && strncmp(text, "hint", 4))
			ok(begins_with_one_of(text, r->text), "%s: the row means %s", arch->name,
			   text);
	}
}

/* A thread may be in the kernel behind these. */
static void check_kernel(uint16_t machine, const struct row *rows, size_t n, bool enters)
{
	const struct arch *arch = arch__by_machine(machine);

	for (const struct row *r = rows; r < rows + n; r++) {
		struct insn insn = {0};

		is(arch->decode((const uint8_t *)r->bytes, r->len, 0x1000, true, &insn), 0,
		   "%s, %s: it is decoded in the kernel", arch->name, r->text);
		is(insn.enters_kernel, enters, "%s, %s: it %s the kernel", arch->name, r->text,
		   enters ? "enters" : "doesn't enter");
	}
}

static const struct row x86_enters[] = {
	ROW("\x0f\x05", "syscall"), ROW("\x0f\x34", "sysenter"), ROW("\xcd\x80", "int"),
	ROW("\xcc", "int3"),	    ROW("\x0f\x0b", "ud2"),
};
static const struct row arm64_enters[] = {
	ROW("\x01\0\0\xd4", "svc"),
	ROW("\0\0\x20\xd4", "brk"),
};
static const struct row riscv_enters[] = {
	ROW("\x73\0\0\0", "ecall"),
	ROW("\x73\0\x10\0", "ebreak"),
};

int main(void)
{
	check_kernel(EM_X86_64, x86_enters, ARRAY_SIZE(x86_enters), true);
	check_kernel(EM_X86_64, x86_quick, ARRAY_SIZE(x86_quick), false);
	check_kernel(EM_AARCH64, arm64_enters, ARRAY_SIZE(arm64_enters), true);
	check_kernel(EM_AARCH64, arm64_quick, ARRAY_SIZE(arm64_quick), false);
	check_kernel(EM_RISCV, riscv_enters, ARRAY_SIZE(riscv_enters), true);
	check_kernel(EM_RISCV, riscv_quick, ARRAY_SIZE(riscv_quick), false);
	check(EM_X86_64, x86_slow, ARRAY_SIZE(x86_slow), true);
	check(EM_X86_64, x86_quick, ARRAY_SIZE(x86_quick), false);
	check(EM_AARCH64, arm64_slow, ARRAY_SIZE(arm64_slow), true);
	check(EM_AARCH64, arm64_quick, ARRAY_SIZE(arm64_quick), false);
	check(EM_RISCV, riscv_slow, ARRAY_SIZE(riscv_slow), true);
	check(EM_RISCV, riscv_quick, ARRAY_SIZE(riscv_quick), false);
	return tap__done();
}
