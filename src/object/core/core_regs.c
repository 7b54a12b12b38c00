// SPDX-License-Identifier: BSD-2-Clause
/*
 * The registers of a core dump's threads, in the notes that the kernel and gcore write (struct
 * elf_prstatus), and what the dump has of memory. Runs in the sandbox. A thread's note is written
 * over, in memory, to walk its stack from another frame on.
 */
#include <gelf.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core_regs.h"

static const uint8_t x86_64[] = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0};
static const uint8_t i386[] = {6, 1, 2, 0, 15, 5, 3, 4};
static const uint8_t same[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
			       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* In struct sigcontext of arch/x86/include/uapi/asm/sigcontext.h */
static const uint8_t x86_64_saved[] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7};

/* pid, regs: offsets in the note, in bytes. place: by DWARF number, the register's index in regs.
 * link: the register that has the return address of a call; 0: a call pushes it. context: where the
 * registers are that a signal saved, from the stack pointer at the return of its handler on; 0: not
 * known; saved: their indices there. */
static const struct core_machine {
	uint16_t machine;
	uint8_t class, word, pid, regs, pc, sp, link, n;
	const uint8_t *place;
	uint8_t context, saved_pc;
	const uint8_t *saved;
} machines[] = {
	{EM_X86_64, ELFCLASS64, 8, 32, 112, 16, 7, 0, 16, x86_64, 40, 16, x86_64_saved},
	{EM_386, ELFCLASS32, 4, 24, 72, 12, 4, 0, 8, i386, 0, 0, NULL},
	{EM_AARCH64, ELFCLASS64, 8, 32, 112, 32, 31, 30, 32, same, 0, 0, NULL},
	{EM_RISCV, ELFCLASS64, 8, 32, 112, 0, 2, 1, 32, same, 0, 0, NULL},
};

static const struct core_machine *find_machine(Elf *elf)
{
	const struct core_machine *m;
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return NULL;
	for (m = machines; m < machines + ARRAY_SIZE(machines); m++)
		if (m->machine == header.e_machine && m->class == header.e_ident[EI_CLASS])
			return m;
	return NULL;
}

/* ---- notes ---- */

static size_t note_size(const struct core_machine *m)
{
	return m->regs + max_of((size_t)m->n, m->pc + 1u) * m->word;
}

static void take_note(struct core_regs *r, const GElf_Nhdr *h, const char *name, char *desc)
{
	struct core_status s = {.desc = desc};

	if (h->n_type != NT_PRSTATUS || h->n_namesz < 4 || memcmp(name, "CORE", 4) != 0 ||
	    h->n_descsz < note_size(r->machine))
		return;
	memcpy(&s.tid, desc + r->machine->pid, sizeof(s.tid));
	vec__push(&r->all, s);
}

/* libdwfl asks for the same bytes in the same way, so that libelf returns the same copy of them. */
static void take_notes(struct core_regs *r, const GElf_Phdr *ph)
{
	Elf_Data *data = elf_getdata_rawchunk(r->elf, ph->p_offset, ph->p_filesz,
					      ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name, desc;
	GElf_Nhdr h;

	while (data && at < data->d_size && (at = gelf_getnote(data, at, &h, &name, &desc)) > 0)
		take_note(r, &h, (const char *)data->d_buf + name, (char *)data->d_buf + desc);
}

void core_regs__open(struct core_regs *r, Elf *elf)
{
	size_t segments;
	GElf_Phdr ph;

	*r = (struct core_regs){.elf = elf, .machine = find_machine(elf)};
	if (!r->machine || elf_getphdrnum(elf, &segments))
		return;
	for (size_t i = 0; i < segments && gelf_getphdr(elf, i, &ph); i++) {
		if (ph.p_type == PT_LOAD)
			vec__push(&r->segments, ph);
		else if (ph.p_type == PT_NOTE)
			take_notes(r, &ph);
	}
}

void core_regs__close(struct core_regs *r)
{
	vec__free(&r->segments);
	vec__free(&r->all);
}

/* ---- memory ---- */

static const GElf_Phdr *segment_at(const struct core_regs *r, uint64_t addr)
{
	const GElf_Phdr *p;

	vec__each (p, &r->segments)
		if (addr - p->p_vaddr < p->p_memsz)
			return p;
	return NULL;
}

bool core_regs__is_code(const struct core_regs *r, uint64_t addr)
{
	const GElf_Phdr *p = segment_at(r, addr);

	return p && p->p_flags & PF_X;
}

static bool load(const struct core_regs *r, uint64_t addr, uint64_t *value)
{
	const GElf_Phdr *p = segment_at(r, addr);
	size_t word = r->machine->word;
	Elf_Data *data;

	if (!p || addr - p->p_vaddr > p->p_filesz || p->p_filesz - (addr - p->p_vaddr) < word)
		return false;
	data = elf_getdata_rawchunk(r->elf, p->p_offset + (addr - p->p_vaddr), word, ELF_T_BYTE);
	if (!data || data->d_size != word)
		return false;
	*value = 0;
	memcpy(value, data->d_buf, word);
	return true;
}

/* ---- states ---- */

bool core_regs__sp(const struct core_regs *r, Dwfl_Frame *frame, uint64_t *sp)
{
	return r->machine && !dwfl_frame_reg(frame, r->machine->sp, sp);
}

void core_regs__of_frame(const struct core_regs *r, Dwfl_Frame *frame, struct core_state *out)
{
	*out = (struct core_state){.known = 0};
	dwfl_frame_pc(frame, &out->pc, NULL);
	for (unsigned i = 0; r->machine && i < r->machine->n; i++)
		out->known |= (uint32_t)!dwfl_frame_reg(frame, i, &out->regs[i]) << i;
}

bool core_regs__interrupted(const struct core_regs *r, uint64_t sp, struct core_state *out)
{
	const struct core_machine *m = r->machine;
	uint64_t at = sp + (m ? m->context : 0);

	*out = (struct core_state){.known = 0};
	if (!m || !m->context)
		return false;
	for (unsigned i = 0; i < m->n; i++)
		out->known |= (uint32_t)load(r, at + m->saved[i] * m->word, &out->regs[i]) << i;
	return load(r, at + m->saved_pc * m->word, &out->pc);
}

/* ---- the caller of a frame ---- */

static bool find_return(const struct core_regs *r, struct core_state *s, uint64_t *addr)
{
	const struct core_machine *m = r->machine;

	if (!(s->known >> m->sp & 1))
		return false;
	if (m->link) {
		*addr = s->regs[m->link];
		return s->known >> m->link & 1;
	}
	if (!load(r, s->regs[m->sp], addr))
		return false;
	s->regs[m->sp] += m->word;
	return true;
}

static void put(const struct core_machine *m, char *desc, unsigned place, uint64_t value)
{
	memcpy(desc + m->regs + (size_t)place * m->word, &value, m->word);
}

/* The dump is mapped privately, read-only. */
static bool unlock(char *from, size_t len)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t)from & ~(page - 1);

	return !mprotect((void *)start, (uintptr_t)from + len - start, PROT_READ | PROT_WRITE);
}

/* The note gets an address within the call, by which the rules of the caller are found. */
bool core_regs__resume(struct core_regs *r, uint32_t tid, const struct core_state *state)
{
	const struct core_machine *m = r->machine;
	const struct core_status *s;

	vec__each (s, &r->all) {
		if (s->tid != tid)
			continue;
		if (!unlock(s->desc, note_size(m)))
			return false;
		for (unsigned i = 0; i < m->n; i++)
			put(m, s->desc, m->place[i], state->regs[i]);
		put(m, s->desc, m->pc, state->pc - 1);
		return true;
	}
	return false;
}

bool core_regs__call(struct core_regs *r, uint32_t tid, struct core_state *state)
{
	uint64_t addr;

	if (!r->machine || !find_return(r, state, &addr) || !addr)
		return false;
	state->pc = addr;
	return core_regs__resume(r, tid, state);
}

/* arch/arm64/include/asm/pointer_auth.h, ptrauth_user_pac_mask(), with addresses of 48 bits */
#define SIGNED (0x7full << 48)

bool core_regs__unsigned(const struct core_regs *r, uint64_t *addr)
{
	if (!r->machine || r->machine->machine != EM_AARCH64 || !(*addr & SIGNED) ||
	    !core_regs__is_code(r, *addr & ~SIGNED))
		return false;
	*addr &= ~SIGNED;
	return true;
}
