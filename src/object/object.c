// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens and frees an ELF file: validates the headers and copies the bytes that its segments map, so
 * that later breakpoints or new versions of the file aren't seen. The other files of src/object
 * read the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "arch/arch.h"
#include "object/dwarf/dwarf.h"
#include "object/elf/elf_file.h"
#include "object/golang/gopclntab.h"
#include "object/search/search.h"
#include "object/tables/readers.h"
#include "symbols.h"

/* The first bytes of a trace file (src/file/format.h). */
#define TRACE_MAGIC                                                                                \
	"\x89"                                                                                     \
	"BBT\r\n\x1a\n"

#define IMAGE_LIMIT (2ull << 30) /* the small and medium code models end there */

/* Machines whose code can't be read, by name. */
static const struct machine {
	uint16_t machine;
	uint8_t class;
	const char *name;
} machines[] = {
	{EM_X86_64, ELFCLASS64, "x86-64"},
	{EM_X86_64, ELFCLASS32, "x32 (32-bit x86-64)"},
	{EM_386, ELFCLASS32, "i386 (32-bit x86)"},
	{EM_AARCH64, ELFCLASS64, "arm64"},
	{EM_RISCV, ELFCLASS64, "riscv64"},
	{EM_PPC64, ELFCLASS64, "ppc64"},
	{EM_S390, ELFCLASS64, "s390x"},
	{EM_MIPS, ELFCLASS64, "mips64"},
	{EM_LOONGARCH, ELFCLASS64, "loongarch64"},
	{EM_BPF, ELFCLASS64, "BPF"},
};

static int check_machine(const char *path, const Elf64_Ehdr *h)
{
	/* e_machine has the same offset in both classes; in big-endian files its bytes are
	 * swapped */
	bool big = h->e_ident[EI_DATA] == ELFDATA2MSB;
	uint16_t machine = big ? __builtin_bswap16(h->e_machine) : h->e_machine;
	const struct elf_class *class = elf__class(h->e_ident[EI_CLASS]);
	bool is64 = h->e_ident[EI_CLASS] == ELFCLASS64;
	const struct arch *arch = big ? NULL : arch__by_machine(machine);
	const struct machine *m;

	if (arch && class->ident == h->e_ident[EI_CLASS] && class->word == arch->word)
		return 0;
	for (m = machines; m < machines + ARRAY_SIZE(machines); m++)
		if (m->machine == machine && m->class == h->e_ident[EI_CLASS])
			break;
	if (m == machines + ARRAY_SIZE(machines))
		return err__set(ENOEXEC,
				"%s is for a machine that bbtrace doesn't know (ELF machine %u, "
				"%s-bit): bbtrace reads %s code, name such a file",
				path, machine, is64 ? "64" : "32", arch__names());
	return err__set(ENOEXEC, "%s is for %s: bbtrace reads %s code, name such a file", path,
			m->name, arch__names());
}

static int truncated(const char *path, const char *what)
{
	return err__set(ENOEXEC, "%s is truncated or damaged (%s): copy or build it again", path,
			what);
}

/* Messages must not quote a file that the user may not read, not even its #! line. */
static int not_elf(const char *path, const uint8_t *ident, size_t len)
{
	if (len >= 8 && !memcmp(ident, TRACE_MAGIC, 8))
		return err__set(ENOEXEC, "%s is a trace: bbtrace report %s", path, path);
	return err__set(
		ENOEXEC,
		len >= 2 && !memcmp(ident, "#!", 2)
			? "%s is a script, not an ELF file: name its interpreter, or the program that it starts"
			: "%s is not an ELF file: name a program or a shared library",
		path);
}

static int read_header(struct elf_file *f, const char *path)
{
	uint8_t start[128] = "";
	size_t n = min_of(f->size, sizeof(start));

	if (!elf__read(f->fd, start, n, 0))
		return err__set(errno ? errno : EIO, "can't read %s: %s", path,
				strerror(errno ? errno : EIO));
	if (n < SELFMAG || memcmp(start, ELFMAG, SELFMAG))
		return not_elf(path, start, n);
	if (n < sizeof(Elf32_Ehdr))
		return truncated(path, "it ends within the ELF header");
	f->class = elf__class(start[EI_CLASS]);
	elf__take_header(f->class, start, &f->header);
	if (check_machine(path, &f->header))
		return -ENOEXEC;
	if (n < f->class->header)
		return truncated(path, "it ends within the ELF header");
	if (f->header.e_ident[EI_DATA] != ELFDATA2LSB)
		return truncated(path, "its byte order is not one that ELF has");
	if (f->header.e_type == ET_REL)
		return err__set(ENOEXEC,
				"%s is an object file that isn't linked yet: name the "
				"program or library that it is linked into",
				path);
	if (f->header.e_type != ET_EXEC && f->header.e_type != ET_DYN)
		return err__set(ENOEXEC,
				"%s is neither a program nor a shared library (ELF type %u)", path,
				f->header.e_type);
	return 0;
}

static int read_segments(struct elf_file *f, const char *path)
{
	const Elf64_Ehdr *h = &f->header;
	const size_t size = f->class->segment;
	autofree uint8_t *all = NULL;
	size_t n = h->e_phnum;

	if (n == PN_XNUM && f->nsections)
		n = f->sections[0].sh_info;
	if (!h->e_phoff || !n)
		return truncated(path, "it has no program headers");
	all = h->e_phentsize == size ? elf__read_entries(f, h->e_phoff, n, size) : NULL;
	if (!all)
		return truncated(path, "its program headers are not in the file");
	f->segments = xrealloc(f->segments, n, sizeof(*f->segments));
	for (size_t i = 0; i < n; i++)
		f->segments[i] = elf__take_segment(f->class, all + i * size);
	f->nsegments = n;
	return 0;
}

static int read_image(struct elf_file *f, const char *path)
{
	const Elf64_Phdr *p;

	for (p = f->segments; p < f->segments + f->nsegments; p++) {
		if (p->p_type != PT_LOAD || !p->p_filesz)
			continue;
		if (!bytes__within(p->p_offset, p->p_filesz, f->size))
			return truncated(path, "a segment is beyond the end of the file");
		if (p->p_vaddr > UINT64_MAX - p->p_filesz || p->p_memsz < p->p_filesz)
			return truncated(path, "a segment's addresses are invalid");
		f->image_len = max_of(f->image_len, p->p_offset + p->p_filesz);
	}
	if (f->image_len > IMAGE_LIMIT)
		return err__set(EFBIG, "%s maps more than 2 GiB: too large for bbtrace", path);
	f->image = xmalloc(f->image_len + 1);
	f->image[f->image_len] = 0;
	if (!elf__read(f->fd, f->image, f->image_len, 0))
		return truncated(path, "it changed while it was read");
	return 0;
}

static int by_segment(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int fill_segments(struct object *o, struct elf_file *f, const char *path)
{
	const struct segment *s;
	const Elf64_Phdr *p;
	bool exec = false;

	for (p = f->segments; p < f->segments + f->nsegments; p++) {
		if (p->p_type == PT_GNU_RELRO) {
			o->relro = p->p_vaddr;
			o->relro_size = p->p_memsz;
		}
		if (p->p_type != PT_LOAD || !p->p_filesz)
			continue;
		vec__push(&o->segments,
			  (struct segment){.vaddr = p->p_vaddr,
					   .size = p->p_filesz,
					   .offset = p->p_offset,
					   .bytes = f->image + p->p_offset,
					   .exec = p->p_flags & PF_X,
					   .write = p->p_flags & PF_W,
					   .plain = p->p_flags & PF_X ? xcalloc(p->p_filesz, 1)
								      : NULL});
		exec |= p->p_flags & PF_X;
	}
	vec__sort(&o->segments, by_segment);
	vec__each (s, &o->segments)
		if (s > o->segments.data && s[-1].vaddr + s[-1].size > s->vaddr)
			return truncated(path, "its segments overlap");
	if (!exec)
		return err__set(ENOEXEC,
				"%s contains no code (debug information only?): name the program "
				"or library itself",
				path);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct address_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void find_code_sections(struct elf_file *f)
{
	const Elf64_Shdr *s;

	for (s = f->sections; s < f->sections + f->nsections; s++)
		if (s->sh_flags & SHF_EXECINSTR && s->sh_flags & SHF_ALLOC && s->sh_size &&
		    s->sh_addr <= UINT64_MAX - s->sh_size)
			vec__push(&f->code,
				  (struct address_range){s->sh_addr, s->sh_addr + s->sh_size});
	vec__sort(&f->code, by_start);
}

/* ---- open and free ---- */

static int read_file(struct object *o, struct elf_file *f, const char *path)
{
	int err = read_header(f, path);
	bool sections;

	if (err)
		return err;
	sections = elf__read_sections(f);
	err = read_segments(f, path);
	if (err)
		return err;
	err = read_image(f, path);
	if (err)
		return err;
	err = fill_segments(o, f, path);
	if (!err && !sections)
		note("%s: its section headers are damaged or cut off, so its symbols can't be read",
		     path);
	return err;
}

static void read_rest(struct object *o, struct elf_file *f)
{
	o->machine = f->header.e_machine;
	o->pie = f->header.e_type == ET_DYN;
	find_code_sections(f);
	build_id__find(o, f);
	golang__find(o, f);
	frames__read(o, f);
	symbols__read(o, f);
	plt__read(o, f);
	modes__settle(o, f);
	sleds__read(o, f);
	finals__read(o, f);
	object__index_symbols(o);
	search__functions(o);
	search__find_main(o);
}

int object__read(struct found *found, struct object **out)
{
	struct object *o = xcalloc(1, sizeof(*o));
	struct elf_file *f;
	struct stat st = {0};
	int err = fstat(found->fd, &st) ? -errno : 0;

	f = elf_file__new(found->fd, st.st_size);
	o->kind = OBJECT_ELF;
	o->priv = f;
	o->free_priv = elf_file__free;
	o->path = found->path;
	o->root = found->root;
	o->attach_path = xasprintf("/proc/self/fd/%d", found->fd);
	o->dev = st.st_dev;
	o->ino = st.st_ino;
	*found = (struct found){.fd = -1};
	if (!err)
		err = read_file(o, f, o->path);
	if (err) {
		object__free(o);
		return err;
	}
	read_rest(o, f);
	*out = o;
	return 0;
}

void found__close(struct found *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	root__close(&f->root);
	*f = (struct found){.fd = -1};
}

int object__open_in(const struct root *root, const char *path, struct object **out)
{
	struct found f = {.fd = root__open_file(root, path, OBJECT_LIMIT, NULL)};
	int err;

	if (f.fd == -ENODEV)
		return err__set(ENOEXEC,
				"%s is not a regular file: name a program or a shared library",
				path);
	if (f.fd < 0)
		return f.fd;
	err = root__copy(&f.root, root);
	if (err) {
		close(f.fd);
		return err;
	}
	f.path = root__shown_path(&f.root, f.fd);
	f.path = f.path ? f.path : xstrdup(path);
	return object__read(&f, out);
}

int object__open(const char *path, struct object **out)
{
	static const struct root ours;

	return object__open_in(&ours, path, out);
}

void object__free(struct object *o)
{
	const struct unpacked_file *copy;
	const struct segment *s;
	char **answer;

	if (!o)
		return;
	if (o->free_priv)
		o->free_priv(o->priv);
	else
		free(o->priv);
	vec__each (s, &o->segments)
		free(s->plain);
	vec__free(&o->segments);
	vec__free(&o->kept);
	vec__free(&o->symbols);
	vec__free(&o->reach);
	vec__free(&o->frames);
	vec__free(&o->slots);
	vec__free(&o->noprobe);
	vec__free(&o->finals);
	vec__free(&o->modes);
	map64__free(&o->states);
	vec__free(&o->cold_parts);
	vec__each (answer, &o->answers)
		free(*answer);
	vec__free(&o->answers);
	vec__each (copy, &o->unpacked)
		util__close(&copy->fd);
	vec__free(&o->unpacked);
	map64__free(&o->cold_part_of);
	rules__free(o->rules);
	inlined__free(o->inlined);
	free(o->split_units);
	root__close(&o->root);
	free(o->path);
	free(o->attach_path);
	free(o);
}
