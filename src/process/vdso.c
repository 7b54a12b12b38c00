// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's own object (vDSO), of which each process has the same image: it is read from our
 * own memory. Processes of 32 bits have another one.
 */
#include <errno.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "mapped_file.h"

#define BYTES_MOST (1u << 20)

bool vdso__is_path(const char *path)
{
	return !strcmp(path, "[vdso]");
}

bool vdso__is_native(const struct object *vdso, uint64_t start, uint64_t end)
{
	const struct segment *s = vdso->segments.len ? vec__last(&vdso->segments) : NULL;
	uint64_t page = sysconf(_SC_PAGESIZE);

	return s && end > UINT32_MAX &&
	       end - start == ((s->offset + s->size + page - 1) & ~(page - 1));
}

static uint64_t own_size(uint64_t start)
{
	const struct map *m;
	map_vec maps = {0};
	uint64_t size;

	if (maps__read(getpid(), &maps))
		return 0;
	m = maps__at(&maps, start);
	size = m && m->start == start ? m->end - m->start : 0;
	maps__free(&maps);
	return size;
}

int vdso__read(struct object **out)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR), size = start ? own_size(start) : 0;
	struct found found = {.fd = -1};

	if (!size || size > BYTES_MOST)
		return err__set(ENOENT, "this process has no vDSO");
	found.fd = fd__in_memory("vdso");
	if (found.fd < 0)
		return err__set(errno, "can't make a file: %s", strerror(errno));
	if (write(found.fd, (const void *)(uintptr_t)start, size) != (ssize_t)size) {
		close(found.fd);
		return err__set(EIO, "can't copy the vDSO");
	}
	found.path = xstrdup("[vdso]");
	return object__read(&found, out);
}
