// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: the instructions that may wait, enter the kernel or a hypervisor, or repeat. All others
 * take some ten nanoseconds at most, unless their memory is far away.
 */
#include "x86.h"

/* x87: some take hundreds of cycles, and fwait waits. */
static const bool slow_categories[ZYDIS_CATEGORY_MAX_VALUE + 1] = {
	[ZYDIS_CATEGORY_CLFLUSHOPT] = true, [ZYDIS_CATEGORY_CLWB] = true,
	[ZYDIS_CATEGORY_ENQCMD] = true,	    [ZYDIS_CATEGORY_HRESET] = true,
	[ZYDIS_CATEGORY_INTERRUPT] = true,  [ZYDIS_CATEGORY_IO] = true,
	[ZYDIS_CATEGORY_IOSTRINGOP] = true, [ZYDIS_CATEGORY_MOVDIR] = true,
	[ZYDIS_CATEGORY_PADLOCK] = true,    [ZYDIS_CATEGORY_PCONFIG] = true,
	[ZYDIS_CATEGORY_RDPRU] = true,	    [ZYDIS_CATEGORY_RDRAND] = true,
	[ZYDIS_CATEGORY_RDSEED] = true,	    [ZYDIS_CATEGORY_SERIALIZE] = true,
	[ZYDIS_CATEGORY_SGX] = true,	    [ZYDIS_CATEGORY_SYSCALL] = true,
	[ZYDIS_CATEGORY_SYSRET] = true,	    [ZYDIS_CATEGORY_SYSTEM] = true,
	[ZYDIS_CATEGORY_UINTR] = true,	    [ZYDIS_CATEGORY_VTX] = true,
	[ZYDIS_CATEGORY_WAITPKG] = true,    [ZYDIS_CATEGORY_X87_ALU] = true,
	[ZYDIS_CATEGORY_XSAVE] = true,	    [ZYDIS_CATEGORY_XSAVEOPT] = true,
};

/* In categories with other instructions. */
static bool slow_mnemonic(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_MONITOR:
	case ZYDIS_MNEMONIC_MONITORX:
	case ZYDIS_MNEMONIC_MWAIT:
	case ZYDIS_MNEMONIC_MWAITX:
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_SFENCE:
		return true;
	default:
		return false;
	}
}

/* It waits until it alone has the memory: by a prefix, or always (SDM volume 3, 9.1.2.1). */
static bool locks(const ZydisDecodedInstruction *z)
{
	return z->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	       (z->mnemonic == ZYDIS_MNEMONIC_XCHG && z->attributes & ZYDIS_ATTRIB_HAS_MODRM &&
		z->raw.modrm.mod != 3);
}

bool x86__enters_kernel(const ZydisDecodedInstruction *z)
{
	return z->meta.category == ZYDIS_CATEGORY_SYSCALL ||
	       z->meta.category == ZYDIS_CATEGORY_INTERRUPT || z->mnemonic == ZYDIS_MNEMONIC_UD2;
}

bool x86__is_slow(const ZydisDecodedInstruction *z)
{
	const ZydisInstructionAttributes repeats =
		ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;

	return slow_categories[z->meta.category] || slow_mnemonic(z->mnemonic) || locks(z) ||
	       z->attributes & repeats;
}
