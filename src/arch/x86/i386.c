// SPDX-License-Identifier: BSD-2-Clause
/* i386: 32-bit programs, which a 64-bit kernel runs, too. Instructions are decoded by x86.c in
 * 32-bit mode. System V ABI, Intel386 supplement: arguments are on the stack. */
#include <elf.h>
#include "x86.h"

const char *const i386_reg_names[X86_FLAGS + 1] = {
	"eax",	"ecx",	"edx",	"ebx",	"esp",	"ebp", "esi", "edi", "arg0",
	"arg1", "arg2", "arg3", "arg4", "arg5", NULL,  NULL,  "eip", "flags",
};

/* The words after the return address: bpf/arch/x86.h */
static const uint8_t args[I386_ARGS] = {X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13};

static const uint8_t syscall_args[] = {X86_RBX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_RBP};

/* Table 2.14 */
static const uint8_t dwarf_regs[] = {X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP,
				     X86_RBP, X86_RSI, X86_RDI, X86_RIP};

static int decode(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel, struct insn *out)
{
	return x86__decode(X86_32, bytes, len, addr, kernel, out);
}

static bool format(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size)
{
	return x86__format(X86_32, bytes, len, addr, out, size);
}

static bool detail(const uint8_t *bytes, size_t len, uint64_t addr, struct insn_detail *out)
{
	return x86__detail(X86_32, bytes, len, addr, out);
}

static int accesses(const uint8_t *bytes, size_t len, uint64_t addr,
		    const struct access_state *after, struct access out[ACCESS_MOST])
{
	return x86__accesses(X86_32, bytes, len, addr, after, out);
}

static bool test(const uint8_t *bytes, size_t len, uint64_t addr, struct test *out)
{
	return x86__test(X86_32, bytes, len, addr, out);
}

static enum flags_effect flags_effect(const uint8_t *bytes, size_t len, uint8_t kind, uint16_t cond)
{
	return x86__flags_effect(X86_32, bytes, len, kind, cond);
}

static bool leads_to(const uint8_t *p, size_t len, uint64_t addr, uint64_t *target)
{
	if (!x86__leads_to(p, len, addr, target))
		return false;
	*target = (uint32_t)*target;
	return true;
}

/* Returns the length of the endbr32 at the start; 0 if there is none. */
static size_t landing(const uint8_t *bytes, size_t len)
{
	static const uint8_t endbr32[] = {0xf3, 0x0f, 0x1e, 0xfb};

	return len >= sizeof(endbr32) && !memcmp(bytes, endbr32, sizeof(endbr32)) ? sizeof(endbr32)
										  : 0;
}

/*
 * mov (%esp),%reg; ret: __x86.get_pc_thunk.REG, by which position-independent code finds itself;
 * clang has mov (%esp),%eax; ret in it as well.
 */
static uint8_t loads_return(const uint8_t *p, size_t len)
{
	const size_t at = landing(p, len);

	p += at;
	len -= at;
	if (len < 4 || p[0] != 0x8b || (p[1] & 0xc7) != 0x04 || p[2] != 0x24 || p[3] != 0xc3)
		return REG_NONE;
	return p[1] >> 3 & 7;
}

/*
 * [endbr32] jmp *abs, or jmp *disp(%ebx) of position-independent code, where ebx is the address of
 * the GOT: psABI, "Procedure Linkage Table".
 */
static bool plt_stub(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t entry_size,
		     struct plt_stub *out)
{
	const size_t at = landing(bytes, len);
	uint64_t size = 16;
	uint32_t disp;

	if (len - at < 6 || bytes[at] != 0xff || (bytes[at + 1] != 0x25 && bytes[at + 1] != 0xa3))
		return false;
	memcpy(&disp, bytes + at + 2, sizeof(disp));
	if (entry_size == 8 || (!entry_size && len >= 8 && !memcmp(bytes + 6, "\x66\x90", 2)))
		size = 8;
	*out = (struct plt_stub){
		.slot = disp,
		.by_got = bytes[at + 1] == 0xa3,
		.size = min_of(size, (uint64_t)len),
	};
	return true;
}

static bool is_general(uint8_t reg)
{
	return reg == REG_NONE || reg <= X86_RDI;
}

/* The numbers of the other registers that x86-64 has are those of arguments here. */
static bool usdt_operand(const char **p, struct usdt_argument *out)
{
	return x86__usdt_operand(p, out) &&
	       (out->kind == USDT_CONSTANT ||
		((out->base == REG_IP || is_general(out->base)) && is_general(out->index)));
}

const struct arch arch_i386 = {
	.name = "i386",
	.machine = EM_386,
	.word = 4,
	.hosts = EM_X86_64,
	.ordered = true,
	.longest = 15,
	.alignment = 1,
	.decode = decode,
	.format = format,
	.detail = detail,
	.might_take = x86__might_take,
	.constant = i386__constant,
	.accesses = accesses,
	.is_prefix = x86__is_prefix,
	.leads_to = leads_to,
	.taken = x86__taken,
	.bound = x86__bound,
	.flags_effect = flags_effect,
	.proves = x86__proves,
	.is_unsigned = x86__is_unsigned,
	.test = test,
	.test_flags = x86__test_flags,
	.nregs = ARRAY_SIZE(i386_reg_names),
	.reg_names = i386_reg_names,
	.sp_reg = X86_RSP,
	.ip_reg = X86_RIP,
	.flags_reg = X86_FLAGS,
	.link_reg = REG_NONE,
	.conventions =
		{
			[CONVENTION_C] = {args, ARRAY_SIZE(args), X86_RAX},
			[CONVENTION_GO] = {NULL, 0, X86_RAX},
			[CONVENTION_SYSCALL] = {syscall_args, ARRAY_SIZE(syscall_args), X86_RAX},
		},
	.passing = {.known = true, .result_argument = true, .splits = true},
	.clobbered = 1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX,
	.call_pushes = 4,
	.callee_pops = true,
	.loads_return = loads_return,
	.dwarf = {.regs = dwarf_regs,
		  .nregs = ARRAY_SIZE(dwarf_regs),
		  .entry_reg = 4,
		  .entry_offset = 4,
		  .fp = 5,
		  .return_reg = 8,
		  .fp_at = -8,
		  .return_at = -4,
		  .cfa = 8},
	.relocations = {R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_RELATIVE, R_386_IRELATIVE},
	/* FLAG_ELF_LIBC6 */
	.loader = {"i386-linux-gnu", 0x0003, NULL},
	.usdt_operand = usdt_operand,
	.plt_stub = plt_stub,
	.plt_alignment = 8,
	.breakpoint_name = "int3",
	.uprobe_breakpoint = {{0xcc}, 1},
	.uprobe_form = x86__uprobe_form,
	.costs = x86_costs,
	.virtual_costs = x86_virtual_costs,
	.this_machine = x86__machine,
	.ticks = x86__ticks,
};
