// SPDX-License-Identifier: BSD-2-Clause
/*
 * The threads of a running process as a core dump in memory, so that their stacks are walked in the
 * sandbox like those of any core dump (src/object/core). Notes as the kernel writes them
 * (fs/binfmt_elf.c); of memory only the stacks, the headers of mapped files, for their build-ids,
 * and the kernel's own object.
 */
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <unistd.h>
#include "stack.h"

#ifndef NT_FILE
#define NT_FILE 0x46494c45
#endif

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_RISCV
#endif

#define HEADERS 8192	   /* bytes of a mapped file: its build-id is within */
#define VDSO	(1u << 20) /* the most */
#define PAGE	4096

struct image {
	const struct snapshot *s;
	bool narrow;
	size_t word;
	struct str notes;
	struct str memory;
	VEC(GElf_Phdr) segments; /* p_offset within memory */
	VEC(const struct piece *) stacks;
};

/* ---- notes ---- */

static void put_word(const struct image *im, uint64_t value, struct str *to)
{
	str__put(to, (const char *)&value, im->word);
}

static void put_zeros(struct str *to, size_t n)
{
	while (n--)
		str__putc(to, 0);
}

static void put_note(struct image *im, uint32_t type, const struct str *desc)
{
	GElf_Nhdr h = {.n_namesz = 5, .n_descsz = desc->len, .n_type = type};

	str__put(&im->notes, (const char *)&h, sizeof(h));
	str__put(&im->notes, "CORE\0\0\0", 8);
	str__put(&im->notes, desc->data ? desc->data : "", desc->len);
	put_zeros(&im->notes, -desc->len & 3);
}

/* struct user_regs_struct of i386, by register of struct thread_at; the segments are no numbers of
 * it. */
static void put_narrow_regs(const struct thread_at *t, struct str *to)
{
	static const int8_t places[] = {5,  11, 12, 13, 14, 4,	10, -1, -1,
					-1, -1, 15, 16, 17, 18, 19, 20};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint32_t value = places[i] < 0 ? 0 : t->regs[places[i]];

		str__put(to, (const char *)&value, sizeof(value));
	}
}

/* struct elf_prstatus */
static void put_status(struct image *im, const struct thread_at *t)
{
	autofree struct str d = {0};

	put_zeros(&d, im->narrow ? 24 : 32);
	str__put(&d, (const char *)&t->tid, sizeof(t->tid));
	put_zeros(&d, (im->narrow ? 72 : 112) - d.len);
	if (im->narrow)
		put_narrow_regs(t, &d);
	else
		str__put(&d, (const char *)t->regs, t->nregs * sizeof(t->regs[0]));
#if defined(__x86_64__)
	if (!im->narrow)
		put_zeros(&d, 6 * sizeof(uint64_t)); /* fs_base, gs_base, ds, es, fs, gs */
#endif
	put_zeros(&d, im->narrow ? 4 : 8); /* fpvalid */
	put_note(im, NT_PRSTATUS, &d);
}

static char *read_proc(uint32_t pid, const char *name, size_t *len)
{
	autofree char *path = xasprintf("/proc/%u/%s", pid, name);
	char *text = NULL;

	*len = 0;
	return file__read(path, 1 << 20, &text, len) ? NULL : text;
}

/* struct elf_prpsinfo */
static void put_info(struct image *im)
{
	autofree struct str d = {0};
	size_t len, pid = im->narrow ? 12 : 24;
	autofree char *line = read_proc(im->s->pid, "cmdline", &len);
	char command[80] = {0}, comm[16] = {0};

	for (size_t i = 0; i < min_of(len, sizeof(command) - 1); i++)
		command[i] = line[i] ? line[i] : ' ';
	snprintf(comm, sizeof(comm), "%s", im->s->threads.data[0].at.comm);
	put_zeros(&d, pid);
	str__put(&d, (const char *)&im->s->pid, sizeof(im->s->pid));
	put_zeros(&d, 12);
	str__put(&d, comm, sizeof(comm));
	str__put(&d, command, sizeof(command));
	put_note(im, NT_PRPSINFO, &d);
}

static void put_auxv(struct image *im)
{
	struct str d = {0};
	size_t len;

	d.data = read_proc(im->s->pid, "auxv", &len);
	d.len = len;
	put_note(im, NT_AUXV, &d);
	free(d.data);
}

static bool is_file(const struct map *m)
{
	return m->path && m->path[0] == '/';
}

static void put_files(struct image *im)
{
	autofree struct str d = {0}, names = {0};
	const struct map *m;
	uint64_t n = 0;

	vec__each (m, &im->s->maps)
		n += is_file(m);
	put_word(im, n, &d);
	put_word(im, PAGE, &d);
	vec__each (m, &im->s->maps) {
		if (!is_file(m))
			continue;
		put_word(im, m->start, &d);
		put_word(im, m->end, &d);
		put_word(im, m->offset / PAGE, &d);
		str__put(&names, m->path, strlen(m->path) + 1);
	}
	str__put(&d, names.data ? names.data : "", names.len);
	put_note(im, NT_FILE, &d);
}

/* ---- memory ---- */

static void add_segment(struct image *im, const struct map *m, uint64_t start, uint64_t end,
			const char *bytes, size_t len)
{
	GElf_Phdr *p = vec__add(&im->segments);

	if (len)
		put_zeros(&im->memory, -im->memory.len & (PAGE - 1));
	*p = (GElf_Phdr){.p_type = PT_LOAD,
			 .p_flags = PF_R | (m->write ? PF_W : 0) | (m->exec ? PF_X : 0),
			 .p_offset = im->memory.len,
			 .p_vaddr = start,
			 .p_filesz = len,
			 .p_memsz = end - start,
			 .p_align = 1};
	if (len)
		str__put(&im->memory, bytes, len);
}

/* What can be executed is shown without its bytes: it is what the stacks' files have. */
static void add_unread(struct image *im, const struct map *m, uint64_t start, uint64_t end)
{
	if (start < end && m->exec)
		add_segment(im, m, start, end, NULL, 0);
}

/* Reads what is at the mapping's start: a file's headers, or the kernel's own object. Returns its
 * end. */
static uint64_t add_start(struct image *im, const struct map *m)
{
	bool vdso = m->path && !strcmp(m->path, "[vdso]");
	size_t most = vdso ? VDSO : is_file(m) && !m->offset ? HEADERS : 0;
	size_t len = min_of(m->end - m->start, (uint64_t)most);
	autofree char *bytes = len ? xmalloc(len) : NULL;

	len = len ? snapshot__memory(im->s->pid, m->start, bytes, len) : 0;
	if (len)
		add_segment(im, m, m->start, m->start + len, bytes, len);
	return m->start + len;
}

static int by_addr(const void *a, const void *b)
{
	const struct piece *const *x = a, *const *y = b;

	return (*x)->addr < (*y)->addr ? -1 : (*x)->addr > (*y)->addr;
}

/* Stacks of two threads may be in one mapping: what both have read is taken once. */
static void add_map(struct image *im, const struct map *m)
{
	const struct piece *const *p;
	uint64_t at = add_start(im, m);

	vec__each (p, &im->stacks) {
		uint64_t start = max_of((*p)->addr, at),
			 end = min_of((*p)->addr + (*p)->bytes.len, m->end);

		if ((*p)->addr < m->start || start >= end)
			continue;
		add_unread(im, m, at, start);
		add_segment(im, m, start, end, (*p)->bytes.data + (start - (*p)->addr),
			    end - start);
		at = end;
	}
	add_unread(im, m, at, m->end);
}

static void fill(struct image *im)
{
	const struct snap *t;
	const struct map *m;

	vec__each (t, &im->s->threads) {
		if (!t->settled || t->at.narrow != im->narrow)
			continue;
		put_status(im, &t->at);
		if (t->stack.bytes.len)
			vec__push(&im->stacks, &t->stack);
	}
	put_info(im);
	vec__sort(&im->stacks, by_addr);
	put_auxv(im);
	put_files(im);
	vec__each (m, &im->s->maps)
		add_map(im, m);
}

/* ---- the file ---- */

/* Sets where the notes and the memory begin. */
static bool put_headers(const struct image *im, Elf *elf, uint64_t *notes, uint64_t *memory)
{
	size_t n = im->segments.len + 1;
	int class = im->narrow ? ELFCLASS32 : ELFCLASS64;
	GElf_Ehdr eh;
	GElf_Phdr note;

	if (!gelf_newehdr(elf, class) || !gelf_newphdr(elf, n) || !gelf_getehdr(elf, &eh))
		return false;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_type = ET_CORE;
	eh.e_machine = im->narrow ? EM_386 : MACHINE;
	eh.e_version = EV_CURRENT;
	eh.e_phoff = gelf_fsize(elf, ELF_T_EHDR, 1, EV_CURRENT);
	if (!gelf_update_ehdr(elf, &eh))
		return false;
	note = (GElf_Phdr){.p_type = PT_NOTE,
			   .p_offset = eh.e_phoff + gelf_fsize(elf, ELF_T_PHDR, n, EV_CURRENT),
			   .p_filesz = im->notes.len,
			   .p_align = 4};
	*notes = note.p_offset;
	*memory = (note.p_offset + note.p_filesz + PAGE - 1) / PAGE * PAGE;
	if (!gelf_update_phdr(elf, 0, &note))
		return false;
	for (size_t i = 1; i < n; i++) {
		GElf_Phdr p = im->segments.data[i - 1];

		p.p_offset += *memory;
		if (!gelf_update_phdr(elf, i, &p))
			return false;
	}
	return elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT) && elf_update(elf, ELF_C_WRITE) >= 0;
}

static bool write_at(int fd, const struct str *s, uint64_t at)
{
	for (size_t done = 0; done < s->len;) {
		ssize_t n = pwrite(fd, s->data + done, s->len - done, at + done);

		if (n <= 0)
			return false;
		done += n;
	}
	return true;
}

static bool write_all(const struct image *im, int fd)
{
	Elf *elf;
	uint64_t notes, memory;
	bool good;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	good = elf && put_headers(im, elf, &notes, &memory);
	elf_end(elf);
	return good && write_at(fd, &im->notes, notes) && write_at(fd, &im->memory, memory);
}

int image__write(const struct snapshot *s)
{
	struct image im = {.s = s, .narrow = s->threads.data[0].at.narrow};
	int fd = memfd_create("stacks", MFD_CLOEXEC);

	if (fd < 0)
		return err__set(errno, "no memory file: %s", strerror(errno));
	im.word = im.narrow ? 4 : 8;
	fill(&im);
	if (!write_all(&im, fd)) {
		util__close(&fd);
		fd = err__set(EIO, "the stacks can't be written: %s", strerror(errno));
	}
	str__free(&im.notes);
	str__free(&im.memory);
	vec__free(&im.segments);
	vec__free(&im.stacks);
	return fd;
}
