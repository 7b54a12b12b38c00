// SPDX-License-Identifier: BSD-2-Clause
/* The notes of a core dump, as the kernel and gcore write them (fs/binfmt_elf.c, elfcore.h). Runs
 * in the sandbox. */
#include <signal.h>
#include <elfutils/libdwfl.h>
#include "core_dump.h"
#include "object/debug/debug.h"
#include "object/debug/sandbox.h"

#ifndef NT_FILE
#define NT_FILE 0x46494c45
#endif
#ifndef NT_SIGINFO
#define NT_SIGINFO 0x53494749
#endif
#define MAPPINGS_MOST 200000

struct dump {
	Elf *elf;
	Dwfl *dwfl;
	size_t word;
	struct core_notes notes;
	struct str records, strings;
	bool has_status;
};

static uint64_t word_at(const struct dump *d, const char *p)
{
	uint64_t v = 0;

	memcpy(&v, p, d->word);
	return v;
}

static uint32_t u32_at(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- one note ---- */

/* Returns true for signals that dump core by default; gcore writes the one that stops the
 * program. */
static bool kills(int sig)
{
	return sig == SIGQUIT || sig == SIGILL || sig == SIGTRAP || sig == SIGABRT ||
	       sig == SIGFPE || sig == SIGSEGV || sig == SIGBUS || sig == SIGSYS ||
	       sig == SIGXCPU || sig == SIGXFSZ;
}

/* struct elf_prstatus: of the first thread, which dumped core */
static void take_status(struct dump *d, const char *p, size_t len)
{
	size_t pid = d->word == 8 ? 32 : 24;

	if (d->has_status || len < pid + 4)
		return;
	d->has_status = true;
	d->notes.tid = u32_at(p + pid);
	d->notes.signal = u32_at(p + 12) & 0xffff;
	if (!kills(d->notes.signal))
		d->notes.signal = 0;
}

/* struct elf_prpsinfo; if its user ID is a short, what follows is 4 bytes earlier */
static void take_info(struct dump *d, const char *p, size_t len)
{
	size_t pid = d->word == 8 ? 24 : len >= 128 ? 16 : 12;

	if (len < pid + 16 + sizeof(d->notes.comm) + sizeof(d->notes.command))
		return;
	/* The first note is a thread's status if the kernel wrote it, this one if gdb did. */
	d->notes.stopped = !d->has_status;
	d->notes.pid = u32_at(p + pid);
	memcpy(d->notes.comm, p + pid + 16, sizeof(d->notes.comm) - 1);
	memcpy(d->notes.command, p + pid + 16 + sizeof(d->notes.comm),
	       sizeof(d->notes.command) - 1);
}

static void take_siginfo(struct dump *d, const char *p, size_t len)
{
	size_t addr = d->word == 8 ? 16 : 12;
	int sig;

	if (d->notes.has_info || len < addr + d->word)
		return;
	sig = u32_at(p);
	if (!kills(sig))
		return;
	d->notes.signal = sig;
	d->notes.code = u32_at(p + 8);
	d->notes.has_info = true;
	d->notes.has_addr = d->notes.code > 0 && d->notes.code != SI_KERNEL &&
			    (sig == SIGSEGV || sig == SIGBUS);
	d->notes.addr = d->notes.has_addr ? word_at(d, p + addr) : 0;
}

static void put_build_id(struct dump *d, struct core_mapping *m)
{
	Dwfl_Module *module = dwfl_addrmodule(d->dwfl, m->start);
	const unsigned char *id;
	GElf_Addr at;
	int n = module ? dwfl_module_build_id(module, &id, &at) : 0;

	if (n <= 0 || (size_t)n > sizeof(m->build_id))
		return;
	memcpy(m->build_id, id, n);
	m->build_id_len = n;
}

/* The number of mappings, the unit of offsets, the mappings, their names. */
static void take_files(struct dump *d, const char *p, size_t len)
{
	size_t w = d->word;
	uint64_t n = len >= 2 * w ? word_at(d, p) : 0, unit = n ? word_at(d, p + w) : 0;
	const char *end = p + len, *row = p + 2 * w, *name;

	if (!n || n > MAPPINGS_MOST || d->records.len || (len - 2 * w) / (3 * w) < n)
		return;
	for (name = row + n * 3 * w; n-- && name < end; row += 3 * w) {
		const char *stop = memchr(name, 0, end - name);
		struct core_mapping m = {.start = word_at(d, row),
					 .end = word_at(d, row + w),
					 .offset = word_at(d, row + 2 * w) * unit,
					 .path = d->strings.len};

		if (!stop)
			return;
		if (!m.offset)
			put_build_id(d, &m);
		str__put(&d->strings, name, stop + 1 - name);
		str__put(&d->records, (const char *)&m, sizeof(m));
		name = stop + 1;
	}
}

/* Takes where the kernel's own object was mapped, and where the program starts. */
static void take_auxv(struct dump *d, const char *p, size_t len)
{
	for (size_t i = 0; i + 2 * d->word <= len; i += 2 * d->word)
		if (word_at(d, p + i) == AT_SYSINFO_EHDR)
			d->notes.vdso = word_at(d, p + i + d->word);
		else if (word_at(d, p + i) == AT_ENTRY)
			d->notes.entry = word_at(d, p + i + d->word);
}

static void take_note(struct dump *d, const GElf_Nhdr *h, const char *name, const char *desc)
{
	bool core = h->n_namesz >= 4 && !memcmp(name, "CORE", 4);

	if (!core)
		return;
	if (h->n_type == NT_PRSTATUS)
		take_status(d, desc, h->n_descsz);
	else if (h->n_type == NT_PRPSINFO)
		take_info(d, desc, h->n_descsz);
	else if (h->n_type == NT_SIGINFO)
		take_siginfo(d, desc, h->n_descsz);
	else if (h->n_type == NT_AUXV)
		take_auxv(d, desc, h->n_descsz);
	else if (h->n_type == NT_FILE)
		take_files(d, desc, h->n_descsz);
}

static void take_notes(struct dump *d, const GElf_Phdr *ph)
{
	Elf_Data *data = elf_getdata_rawchunk(d->elf, ph->p_offset, ph->p_filesz,
					      ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name, desc;
	GElf_Nhdr h;

	while (data && at < data->d_size && (at = gelf_getnote(data, at, &h, &name, &desc)) > 0)
		take_note(d, &h, (const char *)data->d_buf + name,
			  (const char *)data->d_buf + desc);
}

/* ---- the whole ---- */

static void find_vdso(struct dump *d, const GElf_Phdr *ph)
{
	if (!d->notes.vdso || d->notes.vdso != ph->p_vaddr || !ph->p_filesz)
		return;
	d->notes.vdso_at = ph->p_offset;
	d->notes.vdso_len = ph->p_filesz;
}

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **found, Elf **elf)
{
	return -1;
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {.find_elf = find_elf, .find_debuginfo = find_debuginfo};

static bool open_dump(struct dump *d, int fd, size_t *segments)
{
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	d->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!d->elf || !gelf_getehdr(d->elf, &header) || header.e_type != ET_CORE ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || elf_getphdrnum(d->elf, segments))
		return false;
	d->word = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	/* build-ids, by the headers of the files that were mapped */
	d->dwfl = dwfl_begin(&callbacks);
	if (!d->dwfl)
		return false;
	dwfl_report_begin(d->dwfl);
	dwfl_core_file_report(d->dwfl, d->elf, NULL);
	dwfl_report_end(d->dwfl, NULL, NULL);
	return true;
}

static void read_dump(struct dump *d, size_t segments, struct str *answer)
{
	GElf_Phdr ph;

	for (size_t i = 0; i < segments && gelf_getphdr(d->elf, i, &ph); i++) {
		if (ph.p_type == PT_NOTE)
			take_notes(d, &ph);
		if (ph.p_offset + ph.p_filesz >= ph.p_offset)
			d->notes.whole =
				max_of(d->notes.whole, (uint64_t)(ph.p_offset + ph.p_filesz));
	}
	for (size_t i = 0; i < segments && gelf_getphdr(d->elf, i, &ph); i++)
		find_vdso(d, &ph);
	str__put(answer, (const char *)&d->notes, sizeof(d->notes));
	table__put(answer, &d->records, sizeof(struct core_mapping), &d->strings);
}

void core_notes__read(void *fd, struct str *answer)
{
	struct dump d = {.elf = NULL};
	size_t segments;

	if (open_dump(&d, *(int *)fd, &segments))
		read_dump(&d, segments, answer);
	dwfl_end(d.dwfl);
	elf_end(d.elf);
	str__free(&d.records);
	str__free(&d.strings);
}
