// SPDX-License-Identifier: BSD-2-Clause
/*
 * The libdwfl session of an object: finds and opens a separate debug file (by build-id or
 * .gnu_debuglink) and the small symbol table of .gnu_debugdata. The network is never asked.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <elfutils/libdwfl.h>
#include "elf_file.h"

/* ---- .gnu_debuglink: GDB manual, "Debugging Information in Separate Files" ---- */

static bool has_crc(int fd, uint32_t want)
{
	autofree uint8_t *buffer = xmalloc(1u << 20);
	uLong crc = crc32(0, NULL, 0);
	ssize_t n;
	off_t at = 0;

	while ((n = pread(fd, buffer, 1u << 20, at)) > 0) {
		crc = crc32(crc, buffer, n);
		at += n;
	}
	return n == 0 && crc == want;
}

/* Takes path over. */
static int open_checked(char *path, uint32_t crc, char **found)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (!crc || has_crc(fd, crc))) {
		*found = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -1;
}

/* Besides the object, in .debug there, and under the debug folder of the root that it was found in:
 * a container's. */
static int find_link(const struct object *o, const char *link, uint32_t crc, char **found)
{
	int fd = -1, root = 0, len = strrchr(o->path, '/') ? strrchr(o->path, '/') - o->path : 0;
	const char *folder = o->path;

	sscanf(o->open_path, "/proc/%*d/root%n", &root);
	if (strchr(link, '/'))
		return -1; /* GDB: a file name without folders */
	fd = open_checked(xasprintf("%.*s%.*s/%s", root, o->open_path, len, folder, link), crc,
			  found);
	if (fd < 0)
		fd = open_checked(
			xasprintf("%.*s%.*s/.debug/%s", root, o->open_path, len, folder, link), crc,
			found);
	if (fd < 0)
		fd = open_checked(xasprintf("%.*s/usr/lib/debug%.*s/%s", root, o->open_path, len,
					    folder, link),
				  crc, found);
	return fd;
}

static int find_build_id(const struct object *o, char **found)
{
	char id[2 * sizeof(o->build_id) + 1] = "";
	int root = 0;
	size_t i;

	sscanf(o->open_path, "/proc/%*d/root%n", &root);
	for (i = 0; i < o->build_id_len; i++)
		sprintf(id + 2 * i, "%02x", o->build_id[i]);
	if (!root || o->build_id_len < 2)
		return -1;
	return open_checked(xasprintf("%.*s/usr/lib/debug/.build-id/%.2s/%s.debug", root,
				      o->open_path, id, id + 2),
			    0, found);
}

/*
 * Not dwfl_standard_find_debuginfo(): it loads libdebuginfod, and with it an HTTP client, whenever
 * a file isn't found. A debug file of another build is told by its build-id, which libdwfl
 * compares.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **found)
{
	const struct object *o = *userdata;
	int fd = dwfl_build_id_find_debuginfo(module, userdata, name, base, file, link, crc, found);

	if (fd < 0 && o)
		fd = find_build_id(o, found);
	return fd >= 0 || !o || !link ? fd : find_link(o, link, crc, found);
}

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **found, Elf **elf)
{
	return -1; /* the file is given */
}

/* libdwfl looks for build-ids in this list of ours; a container's debug folder comes after it. */
static char default_path[] = ":.debug:/usr/lib/debug";
static char *debuginfo_path = default_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debuginfo_path,
};

struct Dwfl_Module *debug__module(const struct object *o)
{
	struct elf_file *f = elf__of(o);
	void **userdata;
	int fd;

	if (!f)
		return NULL;
	if (f->dwfl_tried)
		return f->module;
	f->dwfl_tried = true;
	f->dwfl = dwfl_begin(&callbacks);
	if (!f->dwfl)
		return NULL;
	fd = dup(f->fd);
	dwfl_report_begin(f->dwfl);
	f->module = dwfl_report_elf(f->dwfl, o->path, o->open_path, fd, 0, true);
	if (!f->module && fd >= 0)
		close(fd);
	if (f->module && dwfl_module_info(f->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		*userdata = (void *)o;
	dwfl_report_end(f->dwfl, NULL, NULL);
	return f->module;
}

void debug__end(struct elf_file *f)
{
	if (f->dwfl)
		dwfl_end(f->dwfl);
	f->dwfl = NULL;
	f->module = NULL;
}
