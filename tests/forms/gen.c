// SPDX-License-Identifier: BSD-2-Clause
/*
 * gen TABLE [STRIDE [tcg]]: every form of an instruction that Zydis knows, each in a function
 * f_BYTES that runs it and returns: assembler on stdout, the table for run.c in TABLE. With STRIDE
 * only every STRIDEth, and those that are known to be hard. A form is an opcode of a map, with or
 * without a prefix, with operands in registers or relative to the instruction pointer. Registers
 * and vvvv are those that the kernel's riprel_analyze() has to avoid.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static ZydisDecoder decoder;
static FILE *table;
static unsigned seen, stride = 1;
static bool tcg;

struct bytes {
	unsigned char b[32];
	unsigned len;
};

static void put(struct bytes *o, int byte)
{
	if (byte >= 0)
		o->b[o->len++] = byte;
}

static bool decode(const struct bytes *o, ZydisDecodedInstruction *z)
{
	ZydisDecoderContext context;

	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, o->b, 15, z));
}

/* What differs from run to run, or from CPU to CPU, untraced as well. */
static bool is_fickle(ZydisMnemonic m)
{
	static const ZydisMnemonic fickle[] = {
		ZYDIS_MNEMONIC_RDTSC,  ZYDIS_MNEMONIC_RDTSCP, ZYDIS_MNEMONIC_RDRAND,
		ZYDIS_MNEMONIC_RDSEED, ZYDIS_MNEMONIC_RDPID,  ZYDIS_MNEMONIC_CPUID,
		ZYDIS_MNEMONIC_RDPRU,  ZYDIS_MNEMONIC_RDPMC,  ZYDIS_MNEMONIC_SGDT,
		ZYDIS_MNEMONIC_SIDT,   ZYDIS_MNEMONIC_SLDT,   ZYDIS_MNEMONIC_STR,
	};

	for (size_t i = 0; i < COUNT(fickle); i++)
		if (fickle[i] == m)
			return true;
	return false;
}

/*
 * QEMU 10, as an emulator: vroundss and vroundsd end it (target/i386/tcg/emit.c.inc, gen_VROUNDSS()
 * asserts); a memory operand of 0f c7, but for cmpxchg8b's, is where the instruction before had
 * one; REX.R chooses a segment register that isn't there.
 */
static bool is_wrong_in_qemu(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_VROUNDSS:
	case ZYDIS_MNEMONIC_VROUNDSD:
		return z->raw.vex.L;
	case ZYDIS_MNEMONIC_MOV:
		return z->opcode == 0x8c && z->raw.rex.R;
	default:
		return z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->opcode == 0xc7 &&
		       z->raw.modrm.mod != 3 && z->raw.modrm.reg != 1;
	}
}

/* What the kernel has, or had, to treat as a case of its own. */
static bool is_hard(const ZydisDecodedInstruction *z)
{
	static const unsigned char vector[] = {0x57, 0x61, 0x77, 0x7a, 0x8e, 0x90,
					       0x9d, 0xc2, 0xeb, 0xef, 0xf2};
	/* not popf: where it sets the trap flag, what comes next traps elsewhere under a probe */
	static const unsigned char one[] = {0x50, 0x54, 0x8e, 0x8f, 0x90, 0x9c, 0xc2, 0xc3,
					    0xe0, 0xe1, 0xe2, 0xe3, 0xe8, 0xe9, 0xff};
	static const unsigned char two[] = {0x01, 0x05, 0x1e, 0x44};

	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		return z->length < 9 && memchr(vector, z->opcode, sizeof(vector));
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || z->raw.rex.offset)
		return false;
	if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return memchr(one, z->opcode, sizeof(one));
	return z->opcode_map == ZYDIS_OPCODE_MAP_0F && memchr(two, z->opcode, sizeof(two));
}

static void write_bytes(const unsigned char *b, unsigned from, unsigned to)
{
	for (; from < to; from++)
		printf("\t.byte 0x%02x\n", b[from]);
}

/* A relative branch goes one byte on: past a nop. Behind all else stands the ret at once, which
 * would show if it ran out of line. */
static void write_form(const struct bytes *o, const ZydisDecodedInstruction *z)
{
	bool has_modrm = z->attributes & ZYDIS_ATTRIB_HAS_MODRM;
	bool riprel = has_modrm && !z->raw.modrm.mod && z->raw.modrm.rm == 5;
	char name[40] = "f_";

	for (unsigned i = 0; i < z->length; i++)
		sprintf(name + 2 + 2 * i, "%02x", o->b[i]);
	printf("\t.p2align 4\n\t.globl %s\n\t.type %s, @function\n%s:\n", name, name, name);
	write_bytes(o->b, 0, riprel ? z->raw.disp.offset : z->length);
	if (riprel) {
		printf("\t.long data - (%s + %u)\n", name, z->length);
		write_bytes(o->b, z->raw.disp.offset + 4, z->length);
	}
	if (z->meta.branch_type && !has_modrm)
		puts("\tnop");
	printf("\tret\n\t.size %s, . - %s\n", name, name);
	fprintf(table, "\t.quad %s, 1f\n\t.pushsection .rodata\n1:\t.asciz \"%s\"\n\t.popsection\n",
		name, name);
}

/* opcode, then this ModRM byte; without one: what would stand there is an immediate. */
static void form(const struct bytes *opcode, unsigned char modrm)
{
	ZydisDecodedInstruction z;
	struct bytes o = *opcode;
	unsigned at = o.len;

	memset(o.b + at, 0, sizeof(o.b) - at);
	o.b[at] = modrm;
	o.b[at + ((modrm & 0xc7) == 5 ? 5 : 1)] = 1;
	if (!decode(&o, &z))
		return;
	if (!(z.attributes & ZYDIS_ATTRIB_HAS_MODRM)) {
		o.b[at] = 1;
		o.b[at + 1] = 0;
		if (modrm != 0xc0 || !decode(&o, &z))
			return;
	}
	if (is_fickle(z.mnemonic) || (tcg && is_wrong_in_qemu(&z)) ||
	    (seen++ % stride && !is_hard(&z)))
		return;
	write_form(&o, &z);
}

/* 0f 20 … 23 have no memory operand, whatever the ModRM byte says. */
static bool is_no_opcode(unsigned map, unsigned op)
{
	static const unsigned char prefixes[] = {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65,
						 0x66, 0x67, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3};

	if (map)
		return map == 1 && (op == 0x38 || op == 0x3a || op >> 2 == 8);
	return op >> 4 == 4 || memchr(prefixes, op, sizeof(prefixes));
}

static void legacy(unsigned map, unsigned op, int prefix, int rex)
{
	static const int escape[][2] = {{-1, -1}, {0x0f, -1}, {0x0f, 0x38}, {0x0f, 0x3a}};
	struct bytes o = {0};

	if (is_no_opcode(map, op))
		return;
	put(&o, prefix);
	put(&o, rex);
	put(&o, escape[map][0]);
	put(&o, escape[map][1]);
	put(&o, op);
	for (unsigned reg = 0; reg < 8; reg++) {
		if (map >= 2 && reg != 1 && reg < 6)
			continue;
		form(&o, 0xc0 | reg << 3 | !!reg);
		form(&o, 0x05 | reg << 3);
	}
}

static void vex(unsigned map, unsigned op, unsigned p2)
{
	struct bytes three = {{0xc4, 0xe0 | map, p2, op}, 4}, two = {{0xc5, 0x80 | p2, op}, 3};
	static const unsigned regs[] = {2, 6, 7};

	for (size_t i = 0; i < COUNT(regs); i++) {
		form(&three, 0xc1 | regs[i] << 3);
		form(&three, 0x05 | regs[i] << 3);
		if (map == 1 && !(p2 & 0x80)) {
			form(&two, 0xc1 | regs[i] << 3);
			form(&two, 0x05 | regs[i] << 3);
		}
	}
}

static void evex(unsigned map, unsigned op, unsigned p2, unsigned l)
{
	struct bytes o = {{0x62, 0xf0 | map, p2 | 4, l << 5 | 8, op}, 5};

	form(&o, 0xd1);
	form(&o, 0x35);
	o.b[3] |= 1; /* with a mask register */
	form(&o, 0x15);
}

static void all_legacy(void)
{
	static const int prefix[] = {-1, 0x66, 0xf3, 0xf2}, rex[] = {-1, 0x48, 0x4d, 0x41};

	for (unsigned map = 0; map < 4; map++)
		for (unsigned op = 0; op < 256; op++)
			for (unsigned i = 0; i < 16; i++)
				if (i / 4 < 2 || (!(i % 4) && map < 2))
					legacy(map, op, prefix[i % 4], rex[i / 4]);
}

static void all_vector(void)
{
	static const unsigned vvvv[] = {15, 8, 9, 13}; /* inverted: none, rdi, rsi, rdx */

	for (unsigned i = 0; i < 3 * 256 * 8 * COUNT(vvvv); i++) {
		unsigned map = 1 + i / (256 * 32), op = i / 32 % 256, v = i % 4;
		unsigned p2 = (i / 4 % 2) << 7 | vvvv[v] << 3 | (i / 8 % 4);

		vex(map, op, p2);
		if (v == 3)
			vex(map, op, p2 | 4);
		evex(map, op, p2, 0);
		if (v == 3)
			evex(map, op, p2, 2);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2 || !(table = fopen(argv[1], "w")))
		return 2;
	if (argc > 2)
		stride = atoi(argv[2]);
	tcg = argc > 3 && !strcmp(argv[3], "tcg");
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	puts("\t.section .note.GNU-stack,\"\",@progbits\n\t.text");
	fputs("\t.data\n\t.globl forms\nforms:\n", table);
	all_legacy();
	all_vector();
	fputs("\t.quad 0, 0\n", table);
	return fclose(table) ? 2 : 0;
}
