// SPDX-License-Identifier: BSD-2-Clause
/*
 * The layout of a stepped process: /proc/PID/maps, the program headers of the mapped files, the
 * requested ranges, and a cache of decoded instructions.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "step.h"

/* A mapped ELF file: enough to turn a file offset into a link-time address. */
struct image {
	char *path;
	uint64_t dev, ino;
	bool wanted; /* the object that is traced */
	bool elf;
	Elf64_Phdr load[16];
	unsigned nload;
	struct image *next;
};

#define CACHE 8192
struct cached {
	uint64_t pc;
	struct insn insn;
};

unsigned maps_generation = 1;
static struct image *images;
static struct range *ranges; /* ascending */
static size_t nranges;
static struct stat object_stat;
static char *object_path;

static const char *image__name(const struct image *image)
{
	const char *slash = strrchr(image->path, '/');

	return slash ? slash + 1 : image->path;
}

/* Of a file of 32 bits. */
static bool image__read_narrow(struct image *im, int fd)
{
	Elf32_Phdr phdr;
	Elf32_Ehdr eh;
	bool good;

	good = pread(fd, &eh, sizeof(eh), 0) == sizeof(eh) && eh.e_phentsize == sizeof(phdr);
	for (unsigned i = 0; good && i < eh.e_phnum && im->nload < 16; i++)
		if (pread(fd, &phdr, sizeof(phdr), eh.e_phoff + i * sizeof(phdr)) == sizeof(phdr) &&
		    phdr.p_type == PT_LOAD)
			im->load[im->nload++] = (Elf64_Phdr){.p_flags = phdr.p_flags,
							     .p_offset = phdr.p_offset,
							     .p_vaddr = phdr.p_vaddr,
							     .p_filesz = phdr.p_filesz};
	return good;
}

static bool has_class(int fd, unsigned char class)
{
	unsigned char ident[EI_NIDENT];

	return pread(fd, ident, sizeof(ident), 0) == sizeof(ident) &&
	       !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] == class;
}

bool image__is_narrow(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool narrow = fd >= 0 && has_class(fd, ELFCLASS32);

	if (fd >= 0)
		close(fd);
	return narrow;
}

static bool image__read(struct image *im)
{
	int fd = open(im->path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr phdr;
	Elf64_Ehdr eh;
	bool good;

	if (fd < 0)
		return false;
	if (has_class(fd, ELFCLASS32)) {
		good = image__read_narrow(im, fd);
		close(fd);
		return good;
	}
	good = pread(fd, &eh, sizeof(eh), 0) == sizeof(eh) && has_class(fd, ELFCLASS64) &&
	       eh.e_phentsize == sizeof(phdr);
	for (unsigned i = 0; good && i < eh.e_phnum && im->nload < 16; i++)
		if (pread(fd, &phdr, sizeof(phdr), eh.e_phoff + i * sizeof(phdr)) == sizeof(phdr) &&
		    phdr.p_type == PT_LOAD)
			im->load[im->nload++] = phdr;
	close(fd);
	return good;
}

/* btrfs and overlayfs show another device in maps than stat(2) does: then the path decides. */
static bool is_object(const struct image *im)
{
	if (im->ino != object_stat.st_ino)
		return false;
	return im->dev == object_stat.st_dev || !strcmp(im->path, object_path);
}

static const struct image *image__get(const char *path, uint64_t dev, uint64_t ino)
{
	struct image *im;

	for (im = images; im; im = im->next)
		if (im->dev == dev && im->ino == ino && !strcmp(im->path, path))
			return im->elf ? im : NULL;
	im = calloc(1, sizeof(*im));
	if (!im || !(im->path = strdup(path)))
		die("out of memory");
	im->dev = dev;
	im->ino = ino;
	im->elf = image__read(im);
	im->wanted = is_object(im);
	im->next = images;
	images = im;
	return im->elf ? im : NULL;
}

static void map__parse(struct map *m, const char *line)
{
	unsigned long long start, end, offset, ino;
	unsigned major, minor;
	char path[4096] = "", mode[5] = "";

	*m = (struct map){0};
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %4095[^\n]", &start, &end, mode, &offset,
		   &major, &minor, &ino, path) < 7)
		return;
	*m = (struct map){start, end, offset, makedev(major, minor), ino, mode[2] == 'x', NULL};
	if (ino && path[0] == '/')
		m->image = image__get(path, m->dev, ino);
}

static void process__refresh(struct process *p)
{
	char name[64], *line = NULL;
	size_t size = 0, cap = 0;
	FILE *f;

	if (p->generation == maps_generation)
		return;
	p->generation = maps_generation;
	free(p->maps);
	p->maps = NULL;
	p->nmaps = 0;
	for (int i = 0; i < CACHE; i++)
		p->cache[i].pc = 1;
	snprintf(name, sizeof(name), "/proc/%d/maps", p->pid);
	f = fopen(name, "re");
	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		p->maps = grow(p->maps, &cap, p->nmaps + 1, sizeof(*p->maps));
		map__parse(&p->maps[p->nmaps++], line);
	}
	free(line);
	fclose(f);
}

struct process *process__new(pid_t pid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p || !(p->cache = calloc(CACHE, sizeof(*p->cache))))
		die("out of memory");
	p->pid = pid;
	return p;
}

void process__put(struct process *p)
{
	if (!p || --p->threads)
		return;
	free(p->maps);
	free(p->cache);
	free(p);
}

static const struct map *process__map(struct process *p, uint64_t addr)
{
	size_t low = 0, high;

	process__refresh(p);
	for (high = p->nmaps; low < high;) {
		size_t mid = (low + high) / 2;

		if (addr >= p->maps[mid].end)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->nmaps && addr >= p->maps[low].start ? &p->maps[low] : NULL;
}

/* Two segments may share a page of the file, each mapped for itself: the permission tells them
 * apart. */
static const Elf64_Phdr *map__segment(const struct map *m)
{
	const Elf64_Phdr *best = NULL;

	for (unsigned i = 0; i < m->image->nload; i++) {
		const Elf64_Phdr *ph = &m->image->load[i];

		if ((ph->p_offset & ~4095ull) <= m->offset && !(ph->p_flags & PF_X) == !m->exec)
			best = ph;
	}
	return best;
}

bool process__locate(struct process *p, uint64_t addr, const struct image **image, uint64_t *vaddr)
{
	const struct map *m = process__map(p, addr);
	const Elf64_Phdr *ph;
	uint64_t offset;

	if (!m || !m->image)
		return false;
	offset = addr - m->start + m->offset;
	ph = map__segment(m);
	if (!ph || offset >= ph->p_offset + ph->p_filesz)
		return false;
	*image = m->image;
	*vaddr = ph->p_vaddr + (offset - ph->p_offset);
	return true;
}

void process__place(struct process *p, uint64_t addr, char text[PLACE])
{
	const struct image *image;
	uint64_t vaddr;

	if (process__locate(p, addr, &image, &vaddr))
		snprintf(text, PLACE, "%s+0x%llx", image__name(image), (unsigned long long)vaddr);
	else
		snprintf(text, PLACE, "0x%llx", (unsigned long long)addr);
}

/* Memory that a file backs changes only by a system call; other code (a just-in-time compiler's) is
 * read each time. */
void process__decode(struct process *p, uint64_t pc, struct insn *insn)
{
	struct cached *c = &p->cache[(pc ^ pc >> 13) % CACHE];
	struct iovec local, remote;
	const struct map *m;
	uint8_t bytes[16];
	ssize_t n;

	process__refresh(p);
	if (c->pc == pc) {
		*insn = c->insn;
		return;
	}
	local = (struct iovec){bytes, sizeof(bytes)};
	remote = (struct iovec){(void *)pc, sizeof(bytes)};
	n = process_vm_readv(p->pid, &local, 1, &remote, 1, 0);
	if (n <= 0 && (pc & 4095) > 4096 - sizeof(bytes)) {
		remote.iov_len = 4096 - (pc & 4095);
		n = process_vm_readv(p->pid, &local, 1, &remote, 1, 0);
	}
	insn__decode(bytes, n > 0 ? n : 0, p->narrow, insn);
	insn__measure(bytes, n > 0 ? n : 0, p->narrow, insn);
	m = process__map(p, pc);
	if (n > 0 && m && m->image)
		*c = (struct cached){pc, *insn};
}

/* ---- what was asked for ---- */

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void range__add(size_t *cap, const char *name, uint64_t start, uint64_t size)
{
	unsigned function = nranges;
	bool first = true;

	for (size_t i = nranges; i--;)
		if (!strcmp(ranges[i].name, name)) {
			function = ranges[i].function;
			first = false;
		}
	ranges = grow(ranges, cap, nranges + 1, sizeof(*ranges));
	ranges[nranges++] = (struct range){strdup(name), start, size, function, first};
}

void ranges__load(const char *object, const char *file)
{
	unsigned long long start, size;
	char name[1024], line[1100];
	size_t cap = 0;
	FILE *f = fopen(file, "re");

	object_path = realpath(object, NULL);
	if (!object_path || stat(object_path, &object_stat))
		die("%s: %s", object, strerror(errno));
	if (!f)
		die("%s: %s", file, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (sscanf(line, "%1023s %llx %llx", name, &start, &size) != 3)
			die("%s: not `NAME 0xSTART 0xSIZE`: %s", file, line);
		range__add(&cap, name, start, size);
	}
	fclose(f);
	if (!nranges)
		die("%s: no range in it", file);
	qsort(ranges, nranges, sizeof(*ranges), by_start);
}

const struct range *process__range(struct process *p, uint64_t addr, uint64_t *vaddr)
{
	const struct map *m = process__map(p, addr);
	const struct image *image;

	if (!m || !m->image || !m->image->wanted || !process__locate(p, addr, &image, vaddr))
		return NULL;
	for (size_t i = nranges; i--;) /* one may lie within another: the nearest start */
		if (*vaddr >= ranges[i].start && *vaddr - ranges[i].start < ranges[i].size)
			return &ranges[i];
	return NULL;
}

const struct range *ranges__entry(uint64_t vaddr)
{
	for (size_t i = 0; i < nranges && ranges[i].start <= vaddr; i++)
		if (ranges[i].start == vaddr && ranges[i].entry)
			return &ranges[i];
	return NULL;
}

uint64_t ranges__start(unsigned function)
{
	for (size_t i = 0; i < nranges; i++)
		if (ranges[i].function == function && ranges[i].entry)
			return ranges[i].start;
	return 0;
}
