// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: the table of instruction forms. A row is for a class of instructions (Zydis'
 * category), for a mnemonic, for a place in the opcode maps, or for a byte as the kernel sees it.
 * It has only what Zydis doesn't know, or what would take an operand's decoding to learn. An
 * instruction has the properties of its class, its mnemonic and its place together, minus those
 * that one of them lacks.
 */
#include "x86.h"

struct row {
	uint32_t has;	/* enum x86_property */
	uint8_t op;	/* enum x86_op */
	uint8_t sets;	/* enum x86_setter */
	uint8_t flow;	/* enum flow; 0: as its class */
	uint8_t branch; /* enum branch_kind */
	uint32_t lacks; /* properties */
};

#define OPERANDS X86_OPERANDS
#define SAFE	 X86_SAFE
#define SLOW	 X86_SLOW
#define LOADS	 X86_PLAIN | X86_READS
#define STORES	 X86_PLAIN | X86_WRITES
#define CHANGES	 X86_PLAIN | X86_READS | X86_WRITES
#define VECTOR	 X86_PLAIN | X86_VECTOR

/* ---- by Zydis' category ---- */

#define CLASS(name) [ZYDIS_CATEGORY_##name]
static const struct row classes[ZYDIS_CATEGORY_MAX_VALUE + 1] = {
	/* What user programs are made of. x87: some take hundreds of cycles, and fwait waits. */
	CLASS(ADOX_ADCX) = {OPERANDS},
	CLASS(AES) = {OPERANDS},
	CLASS(AVX) = {OPERANDS},
	CLASS(AVX2) = {OPERANDS},
	CLASS(AVX2GATHER) = {OPERANDS},
	CLASS(AVX512) = {OPERANDS},
	CLASS(BINARY) = {OPERANDS | SAFE},
	CLASS(BITBYTE) = {OPERANDS | SAFE},
	CLASS(BLEND) = {OPERANDS},
	CLASS(BMI1) = {OPERANDS},
	CLASS(BMI2) = {OPERANDS},
	CLASS(BROADCAST) = {OPERANDS},
	CLASS(CMOV) = {OPERANDS | SAFE | LOADS, X86_MOVE_IF},
	CLASS(COMPRESS) = {OPERANDS},
	CLASS(COND_BR) = {OPERANDS | SAFE, 0, 0, FLOW_BRANCH, BRANCH_JCC},
	CLASS(CONFLICT) = {OPERANDS},
	CLASS(CONVERT) = {OPERANDS | SAFE},
	CLASS(DATAXFER) = {OPERANDS | SAFE},
	CLASS(EXPAND) = {OPERANDS},
	CLASS(FCMOV) = {OPERANDS},
	CLASS(FLAGOP) = {OPERANDS},
	CLASS(GATHER) = {OPERANDS},
	CLASS(GFNI) = {OPERANDS},
	CLASS(IFMA) = {OPERANDS},
	CLASS(KMASK) = {OPERANDS},
	CLASS(LOGICAL) = {OPERANDS | SAFE},
	CLASS(LOGICAL_FP) = {OPERANDS | SAFE},
	CLASS(LZCNT) = {OPERANDS},
	CLASS(MISC) = {OPERANDS},
	CLASS(MMX) = {OPERANDS},
	CLASS(NOP) = {OPERANDS | X86_ONLY_NAMES},
	CLASS(PCLMULQDQ) = {OPERANDS},
	CLASS(POP) = {OPERANDS},
	CLASS(PREFETCH) = {OPERANDS | X86_ONLY_NAMES},
	CLASS(PUSH) = {OPERANDS},
	CLASS(ROTATE) = {OPERANDS | SAFE},
	CLASS(SCATTER) = {OPERANDS},
	CLASS(SEMAPHORE) = {OPERANDS | SAFE},
	CLASS(SETCC) = {OPERANDS | SAFE | STORES, X86_SET_IF},
	CLASS(SHA) = {OPERANDS},
	CLASS(SHIFT) = {OPERANDS | SAFE},
	CLASS(SSE) = {OPERANDS | SAFE},
	CLASS(STRINGOP) = {OPERANDS},
	CLASS(STTNI) = {OPERANDS},
	CLASS(VAES) = {OPERANDS},
	CLASS(VFMA) = {OPERANDS},
	CLASS(VPCLMULQDQ) = {OPERANDS},
	CLASS(WIDENOP) = {OPERANDS | X86_ONLY_NAMES},
	CLASS(X87_ALU) = {OPERANDS | SLOW},
	CLASS(XSAVE) = {OPERANDS | SLOW | X86_STATE},
	CLASS(XSAVEOPT) = {OPERANDS | SLOW | X86_STATE},

	/* What enters the kernel, waits, or is rare. */
	CLASS(CLFLUSHOPT) = {SLOW},
	CLASS(CLWB) = {SLOW},
	CLASS(ENQCMD) = {SLOW},
	CLASS(HRESET) = {SLOW},
	CLASS(INTERRUPT) = {SLOW | X86_ENTERS_KERNEL},
	CLASS(IO) = {SLOW},
	CLASS(IOSTRINGOP) = {SLOW},
	CLASS(MOVDIR) = {SLOW},
	CLASS(PADLOCK) = {SLOW},
	CLASS(PCONFIG) = {SLOW},
	CLASS(PREFETCHWT1) = {X86_ONLY_NAMES},
	CLASS(RDPRU) = {SLOW},
	CLASS(RDRAND) = {SLOW},
	CLASS(RDSEED) = {SLOW},
	CLASS(SERIALIZE) = {SLOW},
	CLASS(SGX) = {SLOW},
	CLASS(SYSCALL) = {SLOW | X86_ENTERS_KERNEL},
	CLASS(SYSRET) = {SLOW},
	CLASS(SYSTEM) = {SLOW},
	CLASS(UINTR) = {SLOW},
	CLASS(UNCOND_BR) = {SAFE},
	CLASS(VTX) = {SLOW},
	CLASS(WAITPKG) = {SLOW},
};

/* ---- by mnemonic ---- */

#define FORM(name) [ZYDIS_MNEMONIC_##name]
static const struct row forms[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	/* ---- branches ---- */

	FORM(JCXZ) = {.flow = FLOW_BRANCH, .branch = BRANCH_LOOP},
	FORM(JECXZ) = {.flow = FLOW_BRANCH, .branch = BRANCH_LOOP},
	FORM(JRCXZ) = {.flow = FLOW_BRANCH, .branch = BRANCH_LOOP},
	FORM(LOOP) = {.flow = FLOW_BRANCH, .branch = BRANCH_LOOP},
	FORM(LOOPE) = {.flow = FLOW_BRANCH, .branch = BRANCH_LOOP},
	FORM(LOOPNE) = {.flow = FLOW_BRANCH, .branch = BRANCH_LOOP},
	FORM(CALL) = {0, X86_CALL, 0, FLOW_BRANCH, BRANCH_CALL},
	FORM(JMP) = {0, X86_JUMP, 0, FLOW_BRANCH, BRANCH_JMP},
	FORM(RET) = {0, X86_RET, 0, FLOW_BRANCH, BRANCH_RET},
	FORM(IRET) = {0, X86_INTERRUPT_RETURN, 0, FLOW_UNSUPPORTED},
	FORM(IRETD) = {0, X86_INTERRUPT_RETURN, 0, FLOW_UNSUPPORTED},
	FORM(IRETQ) = {0, X86_INTERRUPT_RETURN, 0, FLOW_UNSUPPORTED},
	FORM(RSM) = {.flow = FLOW_UNSUPPORTED},
	FORM(SYSENTER) = {.flow = FLOW_UNSUPPORTED},
	FORM(SYSEXIT) = {.flow = FLOW_UNSUPPORTED},
	FORM(SYSRET) = {.flow = FLOW_UNSUPPORTED},
	FORM(UIRET) = {.flow = FLOW_UNSUPPORTED},
	FORM(XABORT) = {0, X86_ABORT, 0, FLOW_UNSUPPORTED},
	FORM(XBEGIN) = {.flow = FLOW_UNSUPPORTED, .lacks = OPERANDS},
	FORM(HLT) = {.flow = FLOW_STOP},
	FORM(UD0) = {.flow = FLOW_STOP},
	FORM(UD1) = {.flow = FLOW_STOP},
	FORM(UD2) = {X86_ENTERS_KERNEL, 0, 0, FLOW_STOP},

	/* ---- moves ---- */

	FORM(MOV) = {STORES | X86_DIRECTED, X86_MOVE},
	FORM(MOVZX) = {LOADS, X86_MOVE},
	FORM(MOVSX) = {LOADS, X86_MOVE_SIGNED},
	FORM(MOVSXD) = {LOADS, X86_MOVE_SIGNED},
	FORM(MOVNTI) = {.op = X86_STORE},
	FORM(MOVDIRI) = {.op = X86_STORE},
	FORM(MOVBE) = {.op = X86_STORE_SWAPPED},
	FORM(CDQE) = {X86_PLAIN, X86_EXTEND},
	FORM(CDQ) = {X86_PLAIN},
	FORM(CQO) = {X86_PLAIN},
	FORM(CWDE) = {X86_PLAIN},
	FORM(BSWAP) = {X86_PLAIN},
	FORM(LEA) = {X86_PLAIN | SAFE, X86_LEA},
	FORM(XCHG) = {X86_LOCKS, X86_EXCHANGE},
	FORM(XLAT) = {0, X86_TRANSLATE, .lacks = OPERANDS}, /* al is the index */
	FORM(STOSB) = {.op = X86_FILL},
	FORM(STOSW) = {.op = X86_FILL},
	FORM(STOSD) = {.op = X86_FILL},
	FORM(STOSQ) = {.op = X86_FILL},
	FORM(CLZERO) = {.op = X86_CLEAR_LINE},

	/* ---- the stack ---- */

	FORM(PUSH) = {.op = X86_PUSH},
	FORM(POP) = {.op = X86_POP},
	FORM(PUSHA) = {.op = X86_PUSH_ALL},
	FORM(PUSHAD) = {.op = X86_PUSH_ALL},
	FORM(POPA) = {.op = X86_POP_ALL},
	FORM(POPAD) = {.op = X86_POP_ALL},
	/* executed in a copy it pushes the trap flag, and popf would raise SIGTRAP */
	FORM(PUSHF) = {X86_STEPPED, X86_PUSH_FLAGS},
	FORM(PUSHFD) = {X86_STEPPED, X86_PUSH_FLAGS},
	FORM(PUSHFQ) = {X86_STEPPED, X86_PUSH_FLAGS},
	FORM(POPF) = {.op = X86_POP_FLAGS},
	FORM(POPFD) = {.op = X86_POP_FLAGS},
	FORM(POPFQ) = {.op = X86_POP_FLAGS},
	FORM(ENTER) = {0, X86_ENTER, .lacks = OPERANDS},
	FORM(LEAVE) = {.op = X86_LEAVE},

	/* ---- arithmetic ---- */

	FORM(ADD) = {CHANGES | X86_DIRECTED, X86_ADD, X86_SET_ADD},
	FORM(ADC) = {CHANGES | X86_DIRECTED, X86_ADC, X86_SET_RESULT},
	FORM(SUB) = {CHANGES | X86_DIRECTED | X86_CANCELS, X86_SUB, X86_SET_SUB},
	FORM(SBB) = {CHANGES | X86_DIRECTED | X86_CANCELS, X86_SBB, X86_SET_RESULT},
	FORM(AND) = {CHANGES | X86_DIRECTED, X86_AND, X86_SET_LOGIC},
	FORM(OR) = {CHANGES | X86_DIRECTED, X86_OR, X86_SET_LOGIC},
	FORM(XOR) = {CHANGES | X86_DIRECTED | X86_CANCELS, X86_XOR, X86_SET_LOGIC},
	FORM(CMP) = {LOADS, X86_CMP, X86_SET_COMPARE},
	FORM(TEST) = {LOADS, X86_TEST, X86_SET_TEST},
	FORM(INC) = {CHANGES, X86_INC, X86_SET_INC},
	FORM(DEC) = {CHANGES, X86_DEC, X86_SET_DEC},
	FORM(NOT) = {CHANGES, X86_NOT},
	FORM(NEG) = {CHANGES, X86_NEG, X86_SET_RESULT},
	FORM(SHL) = {CHANGES, X86_SHL, X86_SET_RESULT},
	FORM(SHR) = {CHANGES, X86_SHR, X86_SET_RESULT},
	FORM(SAR) = {CHANGES, X86_SAR, X86_SET_RESULT},
	FORM(ROL) = {CHANGES},
	FORM(ROR) = {CHANGES},
	FORM(IMUL) = {LOADS},
	FORM(MUL) = {LOADS},
	FORM(DIV) = {.lacks = SAFE},
	FORM(IDIV) = {.lacks = SAFE},
	FORM(XADD) = {.sets = X86_SET_SIGN},
	FORM(ANDN) = {.sets = X86_SET_SIGN},
	FORM(BEXTR) = {.sets = X86_SET_SIGN},
	FORM(BLSI) = {.sets = X86_SET_SIGN},
	FORM(BLSR) = {.sets = X86_SET_SIGN},
	FORM(BZHI) = {.sets = X86_SET_SIGN},
	FORM(POPCNT) = {.sets = X86_SET_SIGN},
	FORM(BT) = {LOADS | X86_BIT_STRING, 0, X86_SET_BIT},
	FORM(BTC) = {X86_BIT_STRING, 0, X86_SET_BIT_TAKE},
	FORM(BTR) = {X86_BIT_STRING, 0, X86_SET_BIT_TAKE},
	FORM(BTS) = {X86_BIT_STRING, 0, X86_SET_BIT_TAKE},
	FORM(CMPXCHG) = {0, X86_COMPARE_EXCHANGE, X86_SET_EXCHANGE},
	FORM(CMPXCHG8B) = {.op = X86_COMPARE_EXCHANGE_PAIR},
	FORM(CMPXCHG16B) = {.op = X86_COMPARE_EXCHANGE_PAIR},
	/* bsf of 0, and tzcnt, lzcnt on a processor that takes them for bsf, bsr */
	FORM(BSF) = {X86_MAY_KEEP, 0, X86_SET_SCAN},
	FORM(BSR) = {X86_MAY_KEEP, 0, X86_SET_SCAN},
	FORM(TZCNT) = {X86_MAY_KEEP},
	FORM(LZCNT) = {X86_MAY_KEEP},

	/* ---- vectors and floating point ---- */

	FORM(PTEST) = {.sets = X86_SET_VECTOR},
	FORM(VPTEST) = {.sets = X86_SET_VECTOR},
	FORM(COMISD) = {.sets = X86_SET_FLOAT},
	FORM(COMISS) = {.sets = X86_SET_FLOAT},
	FORM(UCOMISD) = {.sets = X86_SET_FLOAT},
	FORM(UCOMISS) = {.sets = X86_SET_FLOAT},
	FORM(VCOMISD) = {.sets = X86_SET_FLOAT},
	FORM(VCOMISS) = {.sets = X86_SET_FLOAT},
	FORM(VUCOMISD) = {.sets = X86_SET_FLOAT},
	FORM(VUCOMISS) = {.sets = X86_SET_FLOAT},
	FORM(FCOMI) = {.sets = X86_SET_FLOAT},
	FORM(FUCOMI) = {.sets = X86_SET_FLOAT},
	FORM(FCOMIP) = {.sets = X86_SET_FLOAT_POP},
	FORM(FUCOMIP) = {.sets = X86_SET_FLOAT_POP},
	FORM(VMASKMOVDQU) = {X86_STORES_ELSEWHERE}, /* at rdi */
	FORM(FXSAVE) = {X86_STATE},
	FORM(FXSAVE64) = {X86_STATE},

	/* ---- flags, nothing ---- */

	FORM(CLC) = {SAFE},
	FORM(CLD) = {SAFE},
	FORM(CMC) = {SAFE},
	FORM(STC) = {SAFE},
	FORM(STD) = {SAFE},
	FORM(LAHF) = {.op = X86_FLAGS_TO_AH},
	FORM(SAHF) = {.op = X86_AH_TO_FLAGS},
	FORM(NOP) = {X86_INERT | X86_KEEPS_STATE, X86_NOP},
	/* without CET they are nops */
	FORM(ENDBR32) = {X86_KEEPS_STATE},
	FORM(ENDBR64) = {X86_INERT | X86_KEEPS_STATE, X86_NOTHING},
	FORM(PAUSE) = {SAFE | SLOW, X86_NOTHING},
	FORM(RDTSC) = {.op = X86_READ_TIME},

	/* ---- what waits, or speaks with the system ---- */

	FORM(CLFLUSH) = {SLOW},
	FORM(CPUID) = {SLOW},
	FORM(LFENCE) = {SLOW},
	FORM(MFENCE) = {SLOW},
	FORM(SFENCE) = {SLOW},
	FORM(MONITOR) = {SLOW, .lacks = OPERANDS},
	FORM(MONITORX) = {SLOW, .lacks = OPERANDS},
	FORM(MWAIT) = {SLOW, .lacks = OPERANDS},
	FORM(MWAITX) = {SLOW, .lacks = OPERANDS},
	FORM(XEND) = {.lacks = OPERANDS},
	FORM(INVLPG) = {X86_ONLY_NAMES},
	FORM(RDGSBASE) = {X86_USES_GS},
	FORM(WRGSBASE) = {X86_USES_GS},
	FORM(SWAPGS) = {X86_USES_GS},
	/* with a bad selector; with a 32-bit destination the high half isn't defined for all */
	FORM(LAR) = {X86_MAY_KEEP},
	FORM(LSL) = {X86_MAY_KEEP},
	/* the kernel emulates these (UMIP), and the next instruction is executed out of line, too:
	 * tests/e2e/t_forms.sh */
	FORM(SGDT) = {X86_STEPPED},
	FORM(SIDT) = {X86_STEPPED},
	FORM(SLDT) = {X86_STEPPED | X86_MAY_KEEP},
	FORM(SMSW) = {X86_STEPPED | X86_MAY_KEEP},
	FORM(STR) = {X86_STEPPED | X86_MAY_KEEP},
	FORM(SYSCALL) = {X86_STEPPED, X86_SYSTEM_CALL}, /* likewise */
	FORM(INTO) = {X86_STEPPED},
	FORM(BOUND) = {X86_STEPPED},
	/* KVM replaces one by the other: emulator_fix_hypercall() */
	FORM(VMCALL) = {X86_STEPPED},
	FORM(VMMCALL) = {X86_STEPPED},
};

/* ---- by place: opcodes of the first map, and from 0x100 on of the map 0f; legacy encoding ---- */

static const struct row places[0x200] = {
	/* mov of segment registers, and of memory without ModRM; of control and debug registers */
	[0x8c] = {.lacks = X86_PLAIN},
	[0x8e] = {.lacks = X86_PLAIN},
	[0xa0 ... 0xa3] = {.lacks = X86_PLAIN},
	[0x120 ... 0x123] = {.lacks = X86_PLAIN},
	/* SSE and MMX: SDM volume 2, table A-3. Left out: those that store past the caches, or to
	 * an address that isn't in ModRM. */
	[0x110] = {VECTOR | X86_READS},
	[0x111] = {VECTOR | X86_WRITES},
	[0x112] = {VECTOR | X86_READS},
	[0x113] = {VECTOR | X86_WRITES},
	[0x114 ... 0x116] = {VECTOR | X86_READS},
	[0x117] = {VECTOR | X86_WRITES},
	[0x128] = {VECTOR | X86_READS},
	[0x129] = {VECTOR | X86_WRITES},
	[0x12a] = {VECTOR | X86_READS},
	[0x12c ... 0x12f] = {VECTOR | X86_READS},
	[0x151 ... 0x16f] = {VECTOR | X86_READS},
	[0x17e] = {VECTOR | X86_READS | X86_WRITES}, /* movd and movq, in both directions */
	[0x17f] = {VECTOR | X86_WRITES},
	[0x1c6] = {VECTOR | X86_READS},
	[0x1d0 ... 0x1d5] = {VECTOR | X86_READS},
	[0x1d6] = {VECTOR | X86_WRITES},
	[0x1d7 ... 0x1e6] = {VECTOR | X86_READS},
	[0x1e8 ... 0x1f6] = {VECTOR | X86_READS},
	[0x1f8 ... 0x1fe] = {VECTOR | X86_READS},
};

/* ---- by byte: enum x86_byte ---- */

/*
 * Prefixes: SDM volume 2, 2.1.1. Refused are the complements of good_insns_64 and good_insns_32 of
 * arch/x86/kernel/uprobes.c, the latter for 32-bit programs (is_64bit_mm()). Mistaken are jcc, nop,
 * lcall, popf, ret, lret, call and jmp: branch_setup_xol_ops() and arch_uprobe_analyze_insn() look
 * at the byte alone; of push they also compare the length. Emulated wrongly are loopne, loope and
 * loop (the kernel tests the counter before it is decremented), ret imm16 and far ret (as ret), VEX
 * and EVEX (their opcode byte is mistaken, vpshufd's for jo).
 */
static const uint16_t bytes_of[256] = {
	[0x06] = X86_REFUSED,
	[0x07] = X86_REFUSED | X86_REFUSED_32,
	[0x0e] = X86_REFUSED,
	[0x16] = X86_REFUSED,
	[0x17] = X86_REFUSED | X86_REFUSED_32,
	[0x1e] = X86_REFUSED,
	[0x1f] = X86_REFUSED | X86_REFUSED_32,
	[0x26] = X86_PREFIX | X86_PREFIX_REFUSED,
	[0x27] = X86_REFUSED,
	[0x2e] = X86_PREFIX | X86_PREFIX_REFUSED,
	[0x2f] = X86_REFUSED,
	[0x36] = X86_PREFIX | X86_PREFIX_REFUSED,
	[0x37] = X86_REFUSED,
	[0x3e] = X86_PREFIX | X86_PREFIX_REFUSED,
	[0x3f] = X86_REFUSED,
	[0x40 ... 0x4f] = X86_REX,
	[0x60 ... 0x61] = X86_REFUSED,
	[0x62] = X86_REFUSED | X86_EMULATED_WRONGLY,
	[0x64 ... 0x65] = X86_PREFIX,
	[0x66] = X86_PREFIX | X86_PREFIX_DATA16,
	[0x67] = X86_PREFIX,
	[0x6c ... 0x6f] = X86_REFUSED | X86_REFUSED_32,
	[0x70 ... 0x7f] = X86_MISTAKEN,
	[0x82] = X86_REFUSED,
	[0x90] = X86_MISTAKEN,
	[0x9a] = X86_REFUSED | X86_MISTAKEN,
	[0x9d] = X86_MISTAKEN,
	[0xc2] = X86_MISTAKEN | X86_EMULATED_WRONGLY,
	[0xc3] = X86_MISTAKEN,
	[0xc4 ... 0xc5] = X86_EMULATED_WRONGLY,
	[0xca ... 0xcb] = X86_MISTAKEN | X86_EMULATED_WRONGLY,
	[0xcc ... 0xcf] = X86_REFUSED | X86_REFUSED_32,
	[0xd4 ... 0xd6] = X86_REFUSED,
	[0xe0 ... 0xe2] = X86_EMULATED_WRONGLY,
	[0xe4 ... 0xe7] = X86_REFUSED | X86_REFUSED_32,
	[0xe8 ... 0xe9] = X86_MISTAKEN,
	[0xea] = X86_REFUSED | X86_MISTAKEN,
	[0xeb] = X86_MISTAKEN,
	[0xec ... 0xef] = X86_REFUSED | X86_REFUSED_32,
	[0xf0] = X86_PREFIX | X86_PREFIX_REFUSED,
	[0xf1] = X86_REFUSED | X86_REFUSED_32,
	[0xf2 ... 0xf3] = X86_PREFIX | X86_PREFIX_REPEATS,
	[0xf4] = X86_REFUSED | X86_REFUSED_32,
	[0xfa ... 0xfb] = X86_REFUSED | X86_REFUSED_32,
	[0xff] = X86_MISTAKEN,
};

/* ---- lookups ---- */

static const struct row *place_of(const ZydisDecodedInstruction *z)
{
	static const struct row none;

	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || z->opcode_map > ZYDIS_OPCODE_MAP_0F)
		return &none;
	return &places[(z->opcode_map == ZYDIS_OPCODE_MAP_0F) << 8 | z->opcode];
}

/* rep xchg %r8,%rax, which Zydis takes for pause. */
static bool is_misread(const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_PAUSE && z->raw.rex.B;
}

void x86__form(const ZydisDecodedInstruction *z, struct x86_form *out)
{
	const struct row *class = &classes[z->meta.category], *form = &forms[z->mnemonic];
	const struct row *place = place_of(z), *flow = form->flow ? form : class;

	out->has = (class->has | form->has | place->has) &
		   ~(class->lacks | form->lacks | place->lacks);
	out->op = form->op ? form->op : class->op;
	out->sets = form->sets;
	out->flow = flow->flow;
	out->branch = flow->branch;
	if (is_misread(z)) {
		out->has &= ~X86_OPERANDS;
		out->op = X86_OTHER;
	}
}

uint32_t x86__byte(uint8_t byte)
{
	return bytes_of[byte];
}

/* Sets the mnemonics of forms that set flags in a known way. Returns their number. */
static unsigned list_setters(const uint16_t **out)
{
	static uint16_t mnemonics[ARRAY_SIZE(forms)];
	static unsigned n;

	if (!n) {
		unsigned found = 0;

		for (unsigned i = 0; i < ARRAY_SIZE(forms); i++)
			if (forms[i].sets)
				mnemonics[found++] = i;
		n = found;
	}
	*out = mnemonics;
	return n;
}

uint8_t x86__setter(const char *mnemonic, size_t len)
{
	const uint16_t *setters;
	unsigned n = list_setters(&setters);

	for (unsigned i = 0; i < n; i++) {
		const char *name = ZydisMnemonicGetString(setters[i]);

		if (strlen(name) == len && !memcmp(name, mnemonic, len))
			return forms[setters[i]].sets;
	}
	return X86_SET_NOT_KNOWN;
}
