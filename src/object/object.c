// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens and frees an ELF file: validates the headers and copies the bytes that its segments map, so
 * that later breakpoints or new versions of the file don't show. The other files of src/object read
 * the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "arch/arch.h"
#include "object/elf/elf_file.h"

#define IMAGE_LIMIT (2ull << 30) /* the small and medium code models end there */
/* Valid files need less than twice their size. */
#define BUDGET_TIMES 8
#define BUDGET_LEAST (16ull << 20)
#define BUDGET_MOST  (2ull << 30)

/* Whose code can't be read, by name. */
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

bool elf__read(int fd, void *buf, uint64_t len, uint64_t offset)
{
	uint8_t *p = buf;
	ssize_t n;

	while (len) {
		n = pread(fd, p, min_of(len, 1u << 30), offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n, offset += n, len -= n;
	}
	return true;
}

static int truncated(const char *path, const char *what)
{
	return err__set(ENOEXEC, "%s is truncated or damaged (%s): copy or build it again", path,
			what);
}

/* Messages must not quote a file that the user may not read, not even its #! line. */
static int not_elf(const char *path, const uint8_t *ident, size_t len)
{
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

/* n entries of a table in the file, of size bytes each; NULL: not in the file. To be freed. */
static uint8_t *read_entries(const struct elf_file *f, uint64_t at, uint64_t n, size_t size)
{
	uint8_t *entries;

	if (!n || !bytes__within(at, 0, f->size) || n > (f->size - at) / size)
		return NULL;
	entries = xmalloc(n * size);
	if (elf__read(f->fd, entries, n * size, at))
		return entries;
	free(entries);
	return NULL;
}

/* Damaged section headers don't keep a program from running. Such a file merely has no symbols
 * here. */
bool elf__read_sections(struct elf_file *f)
{
	const Elf64_Ehdr *h = &f->header;
	const size_t size = f->class->section;
	autofree uint8_t *first = NULL, *all = NULL;
	uint64_t n = h->e_shnum;
	uint32_t names = h->e_shstrndx;
	Elf64_Shdr null;

	if (!h->e_shoff)
		return true;
	if (h->e_shentsize != size || !(first = read_entries(f, h->e_shoff, 1, size)))
		return false;
	null = elf__take_section(f->class, first);
	n = n ? n : null.sh_size; /* elf(5): more than 0xff00 sections */
	names = names == SHN_XINDEX ? null.sh_link : names;
	all = read_entries(f, h->e_shoff, n, size);
	if (!all)
		return false;
	f->sections = xrealloc(f->sections, n, sizeof(*f->sections));
	for (uint64_t i = 0; i < n; i++)
		f->sections[i] = elf__take_section(f->class, all + i * size);
	f->nsections = n;
	f->section_names = elf__strings(f, names, &f->section_names_len);
	return true;
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
	all = h->e_phentsize == size ? read_entries(f, h->e_phoff, n, size) : NULL;
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
		vec__push(&o->segments, (struct segment){.vaddr = p->p_vaddr,
							 .size = p->p_filesz,
							 .offset = p->p_offset,
							 .bytes = f->image + p->p_offset,
							 .exec = p->p_flags & PF_X,
							 .write = p->p_flags & PF_W});
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

struct elf_file *elf_file__new(int fd, uint64_t size)
{
	struct elf_file *f = xcalloc(1, sizeof(*f));
	uint64_t budget = BUDGET_LEAST + BUDGET_TIMES * min_of(size, OBJECT_LIMIT);

	f->fd = fd;
	f->class = elf__class(ELFCLASS64);
	/* an empty array has an element, too */
	f->sections = xcalloc(1, sizeof(*f->sections));
	f->segments = xcalloc(1, sizeof(*f->segments));
	f->size = size;
	f->budget = min_of(budget, BUDGET_MOST);
	return f;
}

void elf_file__free(void *file)
{
	struct elf_file *f = file;
	void **p;

	if (f->fd >= 0)
		close(f->fd);
	vec__each (p, &f->pool)
		free(*p);
	vec__free(&f->pool);
	vec__free(&f->code);
	vec__free(&f->units);
	vec__free(&f->relatives);
	free(f->image);
	free(f->segments);
	free(f->sections);
	free(f);
}

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
	object__index_symbols(o);
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

int object__open(const char *path, struct object **out)
{
	struct found f = {0};

	f.fd = root__open_file(&f.root, path, OBJECT_LIMIT, NULL);
	if (f.fd == -ENODEV)
		return err__set(ENOEXEC,
				"%s is not a regular file: name a program or a shared library",
				path);
	if (f.fd < 0)
		return f.fd;
	f.path = root__shown_path(&f.root, f.fd);
	f.path = f.path ? f.path : xstrdup(path);
	return object__read(&f, out);
}

void object__free(struct object *o)
{
	char **answer;

	if (!o)
		return;
	if (o->free_priv)
		o->free_priv(o->priv);
	else
		free(o->priv);
	vec__free(&o->segments);
	vec__free(&o->kept);
	vec__free(&o->symbols);
	vec__free(&o->reach);
	vec__free(&o->frames);
	vec__free(&o->slots);
	vec__free(&o->noprobe);
	vec__free(&o->modes);
	map64__free(&o->states);
	vec__free(&o->cold_parts);
	vec__each (answer, &o->answers)
		free(*answer);
	vec__free(&o->answers);
	map64__free(&o->cold_part_of);
	rules__free(o->rules);
	inlined__free(o->inlined);
	root__close(&o->root);
	free(o->path);
	free(o->attach_path);
	free(o);
}
