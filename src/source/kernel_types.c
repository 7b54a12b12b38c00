// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/btf.h>
#include "source/btf_subset.h"
#include "source/kernel_types.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define MOST	   (256ull << 20)

/*
 * The kernel's types, read once: of 100,000 a few are needed, again and again. A child that is
 * forked later has them, too. They stay until the end.
 */
static struct {
	const char *bytes; /* NULL: not read yet */
	size_t size;
	struct btf_index *index; /* NULL: of an unknown form */
} kernel;

/* Before Linux 6.16 it can't be mapped: it is read, 4 KiB at a time. */
static int read_bytes(int fd, size_t size)
{
	char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	int err;

	if (bytes == MAP_FAILED) {
		err = fd__read(fd, KERNEL_BTF, MOST, &bytes, &size);
		if (err)
			return err;
	}
	kernel.bytes = bytes;
	kernel.size = size;
	return 0;
}

/* A container may have hidden it after an empty file or a device. */
static bool has_types(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size;
}

int kernel_types__read(void)
{
	autoclose int fd = kernel.bytes ? -1 : open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int err;

	if (kernel.bytes)
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return err__set(errno, "no " KERNEL_BTF " (%s)", strerror(errno));
	if (!has_types(&st))
		return err__set(ENOENT, "no " KERNEL_BTF " (something else is in its place)");
	err = read_bytes(fd, st.st_size);
	if (!err && btf_index__make(kernel.bytes, kernel.size, &kernel.index))
		note_verbose("%s is of an unknown form: using all of it", KERNEL_BTF);
	return err;
}

/* Appends BTF with the kernel's types of these names and what they contain (btf_subset.h); all
 * types if that can't be done. Errors: -errno, with a message. */
static int read_types(const char *const *names, size_t n, struct str *out)
{
	int err = kernel_types__read();

	if (!err && (!kernel.index || btf_index__subset(kernel.index, names, n, out)))
		str__put(out, kernel.bytes, kernel.size);
	return err;
}

int kernel_types__open(const char *const *names, size_t n, struct btf **out)
{
	autofree struct str types = {0};
	int err = read_types(names, n, &types);

	if (err)
		return err;
	*out = btf__new(types.data, types.len);
	return *out ? 0
		    : err__set(errno, "the kernel's types (BTF) are damaged: %s", strerror(errno));
}

uint32_t kernel_types__function(const char *name)
{
	return !kernel_types__read() && kernel.index ? btf_index__function(kernel.index, name) : 0;
}

/* ---- members ---- */

/* Also in a union that has no name. */
static bool has_member(const struct btf *btf, const struct btf_type *t, const char *name)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_type *of = btf__type_by_id(btf, m[i].type);

		if (m[i].name_off ? !strcmp(btf__name_by_offset(btf, m[i].name_off), name)
				  : of && btf_is_composite(of) && has_member(btf, of, name))
			return true;
	}
	return false;
}

static bool has(const struct btf *btf, const struct kernel_member *member)
{
	int id = btf__find_by_name_kind(btf, member->type, BTF_KIND_STRUCT);

	return id >= 0 && has_member(btf, btf__type_by_id(btf, id), member->name);
}

int kernel_types__have(const struct kernel_member *members, size_t n)
{
	autofree const char **names = xcalloc(n + 1, sizeof(*names));
	struct btf *btf;
	int err;

	for (size_t i = 0; i < n; i++)
		names[i] = members[i].type;
	err = kernel_types__open(names, n, &btf);
	if (err)
		return err;
	for (size_t i = 0; !err && i < n; i++)
		if (!has(btf, &members[i]))
			err = err__set(ENOTSUP, "this kernel's struct %s has no %s",
				       members[i].type, members[i].name);
	btf__free(btf);
	return err;
}

/* ---- for libbpf ---- */

struct types_file types_file__open(void)
{
	struct types_file f = {-1, ""};
	struct stat st;

	/* libbpf knows other places */
	if (access(KERNEL_BTF, R_OK) || stat(KERNEL_BTF, &st) || !has_types(&st))
		return f;
	f.fd = fd__in_memory("kernel types");
	if (f.fd >= 0)
		snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

/* Names of types that a relocation can be about; others have none, or are not the kernel's. */
static size_t names_of(const struct btf *own, const char **names)
{
	size_t n = 0;

	for (uint32_t id = 1; id < btf__type_cnt(own); id++) {
		const struct btf_type *t = btf__type_by_id(own, id);

		if (t->name_off && (btf_is_composite(t) || btf_is_any_enum(t) || btf_is_typedef(t)))
			names[n++] = btf__name_by_offset(own, t->name_off);
	}
	return n;
}

int types_file__fill(const struct types_file *f, const struct btf *own)
{
	autofree const char **names = xcalloc(btf__type_cnt(own), sizeof(*names));
	autofree struct str types = {0};
	int err;

	if (f->fd < 0)
		return 0;
	err = read_types(names, names_of(own, names), &types);
	if (err)
		return err;
	return write(f->fd, types.data, types.len) == (ssize_t)types.len
		       ? 0
		       : err__set(errno, "cannot write the kernel's types: %s", strerror(errno));
}

void types_file__close(struct types_file *f)
{
	util__close(&f->fd);
}
