// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64: which general registers an instruction writes, whether it sets the flags, and whether it
 * writes memory, by the encoding groups of DDI 0487, C4.1. The result may contain more than an
 * instruction writes, never less.
 */
#include "arch/aarch64/aarch64.h"

/* The bits of a row's form: what is written. */
enum {
	D = 1,	   /* the register in bits 0 to 4 */
	D_SP = 2,  /* in this field 31 is the stack pointer */
	T2 = 4,	   /* the register in bits 10 to 14 */
	N = 8,	   /* the base register, bits 5 to 9: the address is written back */
	S = 16,	   /* the register in bits 16 to 20 */
	PAIR = 32, /* the registers above, and the next one after each */
	FLAGS = 64,
	MEMORY = 128,
};
#define NOTHING	   0
#define EVERYTHING 0xff

static const struct match rows[] = {
	/* immediates */
	{0x1f000000, 0x10000000, D},	     /* adr, adrp */
	{0x3f800000, 0x11000000, D | D_SP},  /* add, sub */
	{0x3f800000, 0x31000000, D | FLAGS}, /* adds, subs */
	{0x1fc00000, 0x11800000, D | D_SP},  /* addg, subg */
	{0x7f800000, 0x72000000, D | FLAGS}, /* ands */
	{0x1f800000, 0x12000000, D | D_SP},  /* and, orr, eor */
	{0x1c000000, 0x10000000, D},	     /* mov, bit fields, extr, smax and the like */
	/* registers */
	{0x7f000000, 0x6a000000, D | FLAGS}, /* ands, bics */
	{0x1f000000, 0x0a000000, D},	     /* and, orr, eor */
	{0x3f000000, 0x2b000000, D | FLAGS}, /* adds, subs */
	{0x1f200000, 0x0b200000, D | D_SP},  /* add, sub of an extended register */
	{0x1fe07c00, 0x1a000400, FLAGS},     /* rmif */
	{0x1fe03c00, 0x1a000800, FLAGS},     /* setf */
	{0x3fe0fc00, 0x3a000000, D | FLAGS}, /* adcs, sbcs */
	{0x1fe0e000, 0x1a002000, D | D_SP},  /* addpt, subpt */
	{0x1fe00000, 0x1a400000, FLAGS},     /* ccmp, ccmn */
	{0xffe0fc00, 0xbac00000, D | FLAGS}, /* subps */
	{0xffe0fc00, 0x9ac01000, D | D_SP},  /* irg */
	{0x0e000000, 0x0a000000, D},
	/* exclusive, ordered, compare and swap */
	{0xbfa00000, 0x08200000, S | PAIR | MEMORY}, /* casp */
	{0x3fa00000, 0x08a00000, S | MEMORY},	     /* cas */
	{0x3fc00000, 0x08000000, S | MEMORY},	     /* stxr, stxp */
	{0x3fe00000, 0x08400000, D},		     /* ldxr */
	{0x3fe00000, 0x08600000, D | T2},	     /* ldxp */
	{0x3fc00000, 0x08800000, MEMORY},	     /* stlr */
	{0x3fc00000, 0x08c00000, D},		     /* ldar */
	/* literals */
	{0xff000000, 0xd8000000, NOTHING}, /* prfm */
	{0x3f000000, 0x18000000, D},
	{0x3f000000, 0x1c000000, NOTHING}, /* to a vector register */
	/* unscaled and ordered, memory copy, tags */
	{0x3fe00c00, 0x19000000, MEMORY},		      /* stlur */
	{0x3f200c00, 0x19000000, D},			      /* ldapur */
	{0x3b200c00, 0x19000400, D | N | S | FLAGS | MEMORY}, /* cpy, set */
	{0x3fe00c00, 0x19000800, N | MEMORY},		      /* stilp */
	{0x3fe00c00, 0x19400800, D | N | S},		      /* ldiapp */
	{0x3f200c00, 0x1d000800, MEMORY},		      /* ldapur, stlur of vectors */
	{0xff200400, 0xd9200400, N | MEMORY},		      /* stg that writes back */
	{0xff200c00, 0xd9200800, MEMORY},		      /* stg */
	{0xff200c00, 0xd9200000, D | MEMORY},		      /* ldg, stgm */
	{0xbf200000, 0x19200000, D | S | MEMORY},	      /* swpp, ldclrp, ldsetp */
	/* ld1 to ld4, st1 to st4 */
	{0xbec00000, 0x0cc00000, N},
	{0xbec00000, 0x0c800000, N | MEMORY},
	{0xbec00000, 0x0c400000, NOTHING},
	{0xbec00000, 0x0c000000, MEMORY},
	/* pairs: general loads, stores, loads of vectors; with and without writing back */
	{0x3ec00000, 0x28c00000, D | T2 | N},
	{0x3ec00000, 0x28400000, D | T2},
	{0x3ac00000, 0x28800000, N | MEMORY},
	{0x3ac00000, 0x28000000, MEMORY},
	{0x3ec00000, 0x2cc00000, N},
	{0x3ec00000, 0x2c400000, NOTHING},
	/* one register */
	{0xffc00000, 0xf9800000, NOTHING}, /* prfm */
	{0xffe00c00, 0xf8a00800, NOTHING},
	{0xffe00c00, 0xf8800000, NOTHING}, /* prfum */
	{0x3fc00000, 0x39000000, MEMORY},  /* str, the offset from 0 up */
	{0x3f000000, 0x39000000, D},	   /* ldr */
	{0x3f400000, 0x3d000000, MEMORY},  /* vectors */
	{0x3f400000, 0x3d400000, NOTHING},
	{0x3fe00400, 0x38000400, N | MEMORY}, /* str that writes back */
	{0x3f200400, 0x38000400, D | N},      /* ldr that writes back */
	{0x3fe00400, 0x38000000, MEMORY},     /* stur */
	{0x3f200400, 0x38000000, D},	      /* ldur */
	{0x3f600400, 0x3c000400, N | MEMORY}, /* vectors */
	{0x3f600400, 0x3c400400, N},
	{0x3f600400, 0x3c000000, MEMORY},
	{0x3f600400, 0x3c400000, NOTHING},
	{0x3fe00c00, 0x38200800, MEMORY}, /* str, the offset in a register */
	{0x3f200c00, 0x38200800, D},
	{0x3f600c00, 0x3c200800, MEMORY}, /* vectors */
	{0x3f600c00, 0x3c600800, NOTHING},
	{0xfffffc00, 0xf83fd000, EVERYTHING}, /* ld64b: eight registers */
	{0xffe0ec00, 0xf820a000, S | MEMORY}, /* st64bv */
	{0x3f200c00, 0x38200000, D | MEMORY}, /* ldadd, swp and other atomics */
	{0x3f200c00, 0x3c200000, MEMORY},     /* vectors */
	{0xff200c00, 0xf8200c00, D | N},      /* ldraa, ldrab that write back */
	{0xff200c00, 0xf8200400, D},
	/* vectors and floating point */
	{0x5f20fc00, 0x1e202000, FLAGS},   /* fcmp */
	{0x5f200c00, 0x1e200400, FLAGS},   /* fccmp */
	{0x5f26fc00, 0x1e220000, NOTHING}, /* scvtf, ucvtf */
	{0x5f27fc00, 0x1e270000, NOTHING}, /* fmov from a general register */
	{0x5f20fc00, 0x1e200000, D},	   /* fcvtzs and the like, fmov to a general register */
	{0x5f3e0000, 0x1e180000, D},	   /* fcvtzs, fcvtzu to fixed point */
	{0xbfe0ec00, 0x0e002c00, D},	   /* smov, umov */
	{0x0e000000, 0x0e000000, NOTHING},
	/* SVE and SME */
	{0xffa0f000, 0x04205000, D | D_SP}, /* addvl, addpl */
	{0xfffff000, 0x04bf5000, D},	    /* rdvl */
	{0xff20e000, 0x0420e000, D},	    /* cntb, incb, sqincb … */
	{0xff38c000, 0x25208000, D},	    /* cntp, firstp, lastp */
	{0xff38f800, 0x25288800, D},	    /* incp, sqincp … */
	{0xff2ee000, 0x0520a000, D},	    /* lasta, lastb, clasta, clastb */
	{0x1e000000, 0x04000000, FLAGS | MEMORY},
	{0x9e000000, 0x80000000, FLAGS | MEMORY},
	/* system */
	{0xfffff01f, 0xd503201f, NOTHING}, /* hints */
	{0xfffff01f, 0xd503301f, NOTHING}, /* barriers */
	{0xffe00000, 0xd5000000, FLAGS | MEMORY},
	{0xffe00000, 0xd5200000, D | FLAGS}, /* mrs, sysl */
	{0xffe00000, 0xd5400000, FLAGS | MEMORY},
	{0xffe00000, 0xd5600000, D | PAIR | FLAGS}, /* mrrs */
};

/* Instructions that write registers that no field names: hints of FEAT_PAuth and FEAT_CHK, and
 * calls to a higher exception level. */
static const struct implied {
	uint32_t mask, value, registers;
} implied[] = {
	{0xffffff1f, 0xd503231f, 1u << A64_LR},	    /* paciasp, autiasp … */
	{0xffffffff, 0xd50320ff, 1u << A64_LR},	    /* xpaclri */
	{0xffffff1f, 0xd503211f, 1u << 17},	    /* pacia1716 … */
	{0xffffffff, 0xd503251f, 1u << A64_X16},    /* chkfeat */
	{0xffe0001f, 0xd4000001, 1u << A64_X0},	    /* svc */
	{0xffe0001c, 0xd4000000, A64_CALLER_SAVED}, /* hvc, smc */
};

static uint32_t bit(unsigned reg, bool sp)
{
	return reg == A64_ZERO && !sp ? 0 : 1u << reg;
}

static uint32_t by_fields(uint32_t word, uint8_t form)
{
	uint32_t out = 0;

	if (form & D)
		out |= bit(aarch64__rd(word), form & D_SP);
	if (form & T2)
		out |= bit(match__field(word, 10, 5), false);
	if (form & N)
		out |= bit(aarch64__rn(word), true);
	if (form & S)
		out |= bit(aarch64__rm(word), false);
	return form & PAIR ? out | (out << 1 & ~bit(A64_SP, true)) : out;
}

struct aarch64_writes aarch64__writes(uint32_t word)
{
	const struct match *m = match__find(rows, ARRAY_SIZE(rows), word);
	struct aarch64_writes out = {UINT32_MAX, true, true};

	for (size_t i = 0; i < ARRAY_SIZE(implied); i++)
		if ((word & implied[i].mask) == implied[i].value)
			return (struct aarch64_writes){implied[i].registers, word >> 24 == 0xd4,
						       word >> 24 == 0xd4};
	if (!m || m->form == EVERYTHING)
		return out;
	out.registers = by_fields(word, m->form);
	out.flags = m->form & FLAGS;
	out.memory = m->form & MEMORY;
	return out;
}
