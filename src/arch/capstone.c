// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text of instructions, by Capstone. Version 4 (Debian 12) supports AArch64, version 5 (Debian
 * 13) also RISC-V. The Makefile defines CAPSTONE, the library's file, if that is installed where
 * bbtrace is built; it is loaded when it is needed first.
 */
#include "arch/capstone.h"

#ifdef CAPSTONE
#include <elf.h>
#include <capstone/capstone.h>

static struct machine {
	uint16_t machine;
	cs_arch arch;
	int mode;
	bool tried;
	csh handle;
	cs_insn *insn; /* NULL: not opened, or unsupported by this version */
} machines[] = {
	{.machine = EM_AARCH64, .arch = CS_ARCH_ARM64, .mode = CS_MODE_LITTLE_ENDIAN},
	{.machine = EM_ARM, .arch = CS_ARCH_ARM, .mode = CS_MODE_ARM | CS_MODE_V8},
	{.machine = CAPSTONE_THUMB, .arch = CS_ARCH_ARM, .mode = CS_MODE_THUMB | CS_MODE_V8},
#if CS_API_MAJOR >= 5
	{.machine = EM_RISCV, .arch = CS_ARCH_RISCV, .mode = CS_MODE_RISCV64 | CS_MODE_RISCVC},
#endif
};

static struct {
	typeof(cs_open) *open;
	typeof(cs_malloc) *malloc;
	typeof(cs_disasm_iter) *disasm_iter;
} cs;

static bool load(void)
{
	static const char *const names[] = {"cs_open", "cs_malloc", "cs_disasm_iter"};
	void *found[ARRAY_SIZE(names)];

	if (!library__load(CAPSTONE, names, found, ARRAY_SIZE(names)))
		return false;
	cs.open = found[0];
	cs.malloc = found[1];
	cs.disasm_iter = found[2];
	return true;
}

static struct machine *find(uint16_t machine)
{
	for (struct machine *m = machines; m < machines + ARRAY_SIZE(machines); m++)
		if (m->machine == machine)
			return m;
	return NULL;
}

/* Keeps the handle open: opening takes longer than decoding an instruction. */
static bool open_once(struct machine *m)
{
	if (!m->tried && load() && cs.open(m->arch, m->mode, &m->handle) == CS_ERR_OK)
		m->insn = cs.malloc(m->handle);
	m->tried = true;
	return m->insn;
}

bool capstone__format_after(uint16_t machine, unsigned skip, const uint8_t *bytes, size_t len,
			    uint64_t addr, char *out, size_t size)
{
	struct machine *m = find(machine);

	if (!m || !open_once(m))
		return false;
	for (unsigned i = 0; i <= skip; i++)
		if (!cs.disasm_iter(m->handle, &bytes, &len, &addr, m->insn))
			return false;
	snprintf(out, size, "%s%s%s", m->insn->mnemonic, *m->insn->op_str ? " " : "",
		 m->insn->op_str);
	return true;
}
#else
bool capstone__format_after(uint16_t machine, unsigned skip, const uint8_t *bytes, size_t len,
			    uint64_t addr, char *out, size_t size)
{
	return false;
}
#endif

bool capstone__format(uint16_t machine, const uint8_t *bytes, size_t len, uint64_t addr, char *out,
		      size_t size)
{
	return capstone__format_after(machine, 0, bytes, len, addr, out, size);
}
