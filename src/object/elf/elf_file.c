// SPDX-License-Identifier: BSD-2-Clause
/* The bytes of an ELF file: reads them by descriptor, keeps what an object's data refers to, and
 * bounds how much a hostile file can cause to be read. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "elf_file.h"

/* valid files need less than twice their size */
#define BUDGET_TIMES 8
#define BUDGET_LEAST (16ull << 20)
#define BUDGET_MOST  (2ull << 30)

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

uint8_t *elf__read_entries(const struct elf_file *f, uint64_t at, uint64_t n, size_t size)
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

struct elf_file *elf_file__new(int fd, uint64_t size)
{
	struct elf_file *f = xcalloc(1, sizeof(*f));
	uint64_t budget = BUDGET_LEAST + BUDGET_TIMES * min_of(size, OBJECT_LIMIT);

	f->fd = fd;
	f->class = elf__class(ELFCLASS64);
	/* Even an empty array has an element. */
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

struct elf_file *elf__of(const struct object *o)
{
	return o->kind == OBJECT_ELF ? o->priv : NULL;
}

void *elf__keep(struct elf_file *f, void *p)
{
	vec__push(&f->pool, p);
	return p;
}

bool elf__afford(struct elf_file *f, uint64_t bytes)
{
	if (bytes > f->budget)
		return false;
	f->budget -= bytes;
	return true;
}
