// SPDX-License-Identifier: BSD-2-Clause
/*
 * ARM: which registers an instruction writes, whether it sets the flags, and whether it writes
 * memory, by the encoding groups of DDI 0406, A5 and A6. The result may contain more than an
 * instruction writes, never less.
 */
#include "arch/arm/arm.h"

/* The bits of a row's form: what the instruction writes. */
enum {
	D0 = 1,	    /* the register in bits 0 to 3; T16: 0 to 2 */
	D8 = 2,	    /* bits 8 to 11; T16: 8 to 10 */
	D12 = 4,    /* bits 12 to 15 */
	D16 = 8,    /* bits 16 to 19 */
	BACK = 16,  /* bits 16 to 19, if the address is written back; T16 in LIST: 8 to 10 */
	LIST = 32,  /* one bit each, from bit 0 on */
	FLAGS = 64, /* the condition flags; a register 15 among the above stands for them, too */
	MEMORY = 128,
};
#define NOTHING 0

static const struct match a32[] = {
	/* the condition is 15: barriers, hints; NEON loads and stores; coprocessors */
	{0xff100000, 0xf4000000, D16 | MEMORY},
	{0xff100000, 0xf4100000, NOTHING}, /* pli, pld */
	{0xfe000000, 0xf4000000, D16},
	{0xfe000000, 0xf6000000, NOTHING},
	{0xfc000000, 0xf0000000, NOTHING},
	{0xfe000000, 0xf8000000, D16 | MEMORY}, /* srs */
	/* data processing */
	{0x0ff00000, 0x03000000, D12},		     /* movw */
	{0x0ff00000, 0x03400000, D12},		     /* movt */
	{0x0fb0f000, 0x0320f000, FLAGS},	     /* msr, hints */
	{0x0d900000, 0x01100000, FLAGS},	     /* tst, teq, cmp, cmn; and loads, see below */
	{0x0e100000, 0x02000000, D12},		     /* of an immediate */
	{0x0e100000, 0x02100000, D12 | FLAGS},	     /* adds and the like */
	{0x0fc000f0, 0x00000090, D16 | FLAGS},	     /* mul, mla */
	{0x0f8000f0, 0x00000090, D12 | D16 | FLAGS}, /* umaal, mls */
	{0x0f8000f0, 0x00800090, D12 | D16 | FLAGS}, /* umull and the like */
	{0x0fb000f0, 0x01000090, D12 | MEMORY},	     /* swp */
	{0x0f1000f0, 0x01100090, D12},		     /* ldrex, ldrexb */
	{0x0f1000f0, 0x01000090, D12 | MEMORY},	     /* strex */
	{0x0f900090, 0x01000010, D12 | D16 | FLAGS}, /* clz, qadd */
	{0x0f900090, 0x01000080, D12 | D16 | FLAGS}, /* smulxy */
	{0x0fb0f000, 0x0120f000, FLAGS},	     /* msr */
	{0x0f900090, 0x01000000, D12},		     /* mrs */
	{0x0e100010, 0x00000000, D12},
	{0x0e100090, 0x00000010, D12},
	{0x0e100010, 0x00100000, D12 | FLAGS},
	{0x0e100090, 0x00100010, D12 | FLAGS},
	/* memory: ldrh, ldrsb, ldrsh; strh, ldrd, strd; ldr, str */
	{0x0e100090, 0x00100090, D12 | BACK},
	{0x0e1000f0, 0x000000b0, BACK | MEMORY},
	{0x0e1000f0, 0x000000f0, BACK | MEMORY},
	{0x0e000010, 0x06000010, D12 | D16 | FLAGS}, /* media */
	{0x0c100000, 0x04100000, D12 | BACK},
	{0x0c100000, 0x04000000, BACK | MEMORY},
	{0x0e100000, 0x08100000, LIST | BACK},
	{0x0e100000, 0x08000000, BACK | MEMORY},
	{0x0fe00000, 0x0c400000, D12 | D16}, /* mrrc, vmov of two; mcrr reads */
	{0x0e100000, 0x0c100000, BACK},	     /* vldr, vldm */
	{0x0e100000, 0x0c000000, BACK | MEMORY},
	{0x0f100010, 0x0e100010, D12 | FLAGS}, /* mrc, vmrs, vmov */
	{0x0f000000, 0x0e000000, NOTHING},
};

static const struct match t16[] = {
	{0xe000, 0x0000, D0 | FLAGS},  {0xf800, 0x2800, FLAGS},	  {0xe000, 0x2000, D8 | FLAGS},
	{0xffc0, 0x4200, FLAGS},       {0xff80, 0x4280, FLAGS},	  {0xfc00, 0x4000, D0 | FLAGS},
	{0xff00, 0x4500, FLAGS},       {0xf800, 0x4800, D8},	  {0xfe00, 0x5000, MEMORY},
	{0xfe00, 0x5200, MEMORY},      {0xfe00, 0x5400, MEMORY},  {0xf000, 0x5000, D0},
	{0xe800, 0x6000, MEMORY},      {0xe800, 0x6800, D0},	  {0xf800, 0x8000, MEMORY},
	{0xf800, 0x8800, D0},	       {0xf800, 0x9000, MEMORY},  {0xf800, 0x9800, D8},
	{0xf000, 0xa000, D8},	       {0xff00, 0xb200, D0},	  {0xff00, 0xba00, D0},
	{0xff00, 0xb600, FLAGS},       {0xff00, 0xbf00, NOTHING}, {0xf800, 0xc000, MEMORY | BACK},
	{0xf800, 0xc800, LIST | BACK},
};

static const struct match t32[] = {
	{0xfe500000, 0xe8100000, LIST | BACK},
	{0xfe500000, 0xe8000000, BACK | MEMORY},
	{0xfff00000, 0xe8400000, D8 | MEMORY},	   /* strex */
	{0xfff00000, 0xe8500000, D12},		   /* ldrex */
	{0xfff00000, 0xe8c00000, D0 | MEMORY},	   /* strexb, strexd, stl */
	{0xfff00000, 0xe8d00000, D8 | D12},	   /* ldrexb, ldrexd, lda */
	{0xfe500000, 0xe8500000, D8 | D12 | BACK}, /* ldrd */
	{0xfe500000, 0xe8400000, BACK | MEMORY},   /* strd */
	{0xfe100000, 0xea100000, D8 | FLAGS},	   /* shifted registers */
	{0xfe100000, 0xea000000, D8},
	{0xfbe08000, 0xf3a08000, FLAGS},	  /* hints, barriers */
	{0xffe0d000, 0xf3808000, FLAGS},	  /* msr */
	{0xffe0d000, 0xf3e08000, D8},		  /* mrs */
	{0xf800d000, 0xf0008000, FLAGS | MEMORY}, /* hvc, smc */
	{0xfa108000, 0xf0100000, D8 | FLAGS},	  /* immediates */
	{0xf8008000, 0xf0000000, D8},
	{0xff10f000, 0xf910f000, NOTHING}, /* pli, pld */
	{0xff70f000, 0xf810f000, NOTHING},
	{0xff70f000, 0xf830f000, NOTHING},
	{0xff100000, 0xf9000000, D16 | MEMORY}, /* NEON loads and stores */
	{0xff100800, 0xf8000800, BACK | MEMORY},
	{0xff100000, 0xf8000000, MEMORY},
	{0xfe100000, 0xf8100000, D12 | BACK},
	{0xff800000, 0xfa000000, D8 | FLAGS}, /* shifts, extensions; of a register */
	{0xff800000, 0xfa800000, D8 | FLAGS}, /* parallel additions, clz, qadd */
	{0xff800000, 0xfb000000, D8 | FLAGS}, /* mul */
	{0xff800000, 0xfb800000, D8 | D12},   /* umull, sdiv */
	{0xefe00000, 0xec400000, D12 | D16},  /* mrrc */
	{0xee100000, 0xec100000, BACK},	      /* vldr, vldm */
	{0xee100000, 0xec000000, BACK | MEMORY},
	{0xef100010, 0xee100010, D12 | FLAGS}, /* mrc, vmrs, vmov */
	{0xef000000, 0xee000000, NOTHING},
	{0xef000000, 0xef000000, NOTHING},
};

static const struct arm_writes everything = {(1u << ARM_PC) - 1, true, true};

static uint32_t bit(uint32_t word, unsigned low)
{
	return 1u << match__field(word, low, 4);
}

/* Register 15 stands for the flags, or for none. */
static struct arm_writes without_pc(struct arm_writes w)
{
	w.flags |= w.registers >> ARM_PC & 1;
	w.registers &= (1u << ARM_PC) - 1;
	return w;
}

static struct arm_writes by_fields(uint32_t word, const struct match *m, bool back)
{
	struct arm_writes out = {.flags = m->form & FLAGS, .memory = m->form & MEMORY};

	if (m->form & D0)
		out.registers |= bit(word, 0);
	if (m->form & D8)
		out.registers |= bit(word, 8);
	if (m->form & D12)
		out.registers |= bit(word, 12);
	if (m->form & D16 || (m->form & BACK && back))
		out.registers |= bit(word, 16);
	if (m->form & LIST)
		out.registers |= word & 0xffff;
	return out;
}

/* Two registers, the second one is the next: ldrd, ldrexd. */
static bool is_pair(uint32_t word)
{
	return (word & 0x0e1000f0) == 0x000000d0 || (word & 0x0ff000f0) == 0x01b00090;
}

struct arm_writes a32__writes(uint32_t word)
{
	bool before = word >> 24 & 1, write = word >> 21 & 1;
	bool block = (word & 0x0c000000) == 0x08000000 || (word & 0x0e000000) == 0x0c000000;
	const struct match *m;
	struct arm_writes out;

	if ((word & 0x0f000000) == 0x0f000000 && word >> 28 != 15)
		return (struct arm_writes){1, false, true}; /* svc */
	if (is_pair(word) && word >> 28 != 15) {
		out = (struct arm_writes){.registers = bit(word, 12) | bit(word, 12) << 1};
		if (!(word >> 24 & 1) || write)
			out.registers |= bit(word, 16);
		return without_pc(out);
	}
	m = match__find(a32, ARRAY_SIZE(a32), word);
	/* loads and stores of halves among the comparisons' encodings */
	if (m && m->form == FLAGS && !(word >> 25 & 1) && (word & 0x90) == 0x90)
		out = (struct arm_writes){bit(word, 12) | bit(word, 16), false, false};
	else if (!m)
		return everything;
	else
		out = by_fields(word, m, write || (!block && !before));
	return without_pc(out);
}

static struct arm_writes t16__writes(uint32_t word)
{
	const struct match *m = match__find(t16, ARRAY_SIZE(t16), word);
	struct arm_writes out = {0};

	if ((word & 0xff00) == 0xdf00)
		return (struct arm_writes){1, false, true}; /* svc */
	if ((word & 0xfd00) == 0x4400)			    /* add, mov of any register */
		out.registers = 1u << ((word & 7) | (word >> 4 & 8));
	else if ((word & 0xff00) == 0xb000)
		out.registers = 1u << ARM_SP;
	else if ((word & 0xfe00) == 0xb400)
		out = (struct arm_writes){1u << ARM_SP, false, true};
	else if ((word & 0xfe00) == 0xbc00)
		out.registers = (word & 0xff) | 1u << ARM_SP;
	else if (!m)
		return everything;
	else {
		out = (struct arm_writes){.flags = m->form & FLAGS, .memory = m->form & MEMORY};
		if (m->form & D0)
			out.registers |= 1u << (word & 7);
		if (m->form & (D8 | BACK))
			out.registers |= 1u << match__field(word, 8, 3);
		if (m->form & LIST)
			out.registers |= word & 0xff;
	}
	return without_pc(out);
}

struct arm_writes t32__writes(const struct arm_word *w)
{
	uint32_t word = w->word;
	const struct match *m;
	bool back = word >> 21 & 1;

	if (w->len == 2)
		return t16__writes(word);
	m = match__find(t32, ARRAY_SIZE(t32), word);
	if (!m)
		return everything;
	if (word >> 25 == 0x7c) /* one register: written back in two of the forms with 8 bits */
		back = !(word >> 23 & 1) && (word & 0x900) == 0x900 &&
		       match__field(word, 16, 4) != ARM_PC;
	if ((word & 0xfe400000) == 0xe8400000)
		back |= !(word >> 24 & 1); /* ldrd, strd: written back after the access */
	return without_pc(by_fields(word, m, back));
}
