// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_text: the code in memory, as patched by alternatives, static keys and return thunks. It is
 * read from /proc/kcore, an ELF core of the running kernel, or through the caller's reader if kcore
 * is missing or locked.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "kernel_file.h"

#define CHUNK	  4096u
#define MAX_LOADS 1024u

struct kernel_text {
	int fd;	 /* -1: no kcore */
	int why; /* errno of the failure with it */
	Elf64_Phdr *loads;
	size_t nloads;
	kernel_read_fn fn;
	void *ctx;
};

/* ---- /proc/kcore ---- */

static bool read_exactly(int fd, void *buf, size_t len, uint64_t offset)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));

		if (n <= 0)
			return false;
		done += n;
	}
	return true;
}

static int read_loads(struct kernel_text *t)
{
	Elf64_Ehdr h;

	if (!read_exactly(t->fd, &h, sizeof(h), 0))
		return EIO;
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_phentsize != sizeof(*t->loads) ||
	    h.e_phnum > MAX_LOADS || h.e_phoff > INT32_MAX)
		return ENOEXEC;
	t->loads = xcalloc(h.e_phnum, sizeof(*t->loads));
	t->nloads = h.e_phnum;
	return read_exactly(t->fd, t->loads, h.e_phnum * sizeof(*t->loads), h.e_phoff) ? 0 : EIO;
}

struct kernel_text *kernel_text__open(const char *kcore, kernel_read_fn fn, void *ctx)
{
	struct kernel_text *t = xcalloc(1, sizeof(*t));

	t->fn = fn;
	t->ctx = ctx;
	t->fd = open(kcore, O_RDONLY | O_CLOEXEC);
	t->why = t->fd < 0 ? errno : read_loads(t);
	if (t->why)
		note_verbose("%s: %s", kcore, strerror(t->why));
	if (t->why && t->fd >= 0) {
		close(t->fd);
		t->fd = -1;
	}
	return t;
}

void kernel_text__close(struct kernel_text *t)
{
	if (t->fd >= 0)
		close(t->fd);
	free(t->loads);
	free(t);
}

static bool read_kcore(const struct kernel_text *t, uint64_t vaddr, void *buf, size_t len)
{
	for (size_t i = 0; t->fd >= 0 && i < t->nloads; i++) {
		const Elf64_Phdr *p = &t->loads[i];
		uint64_t at = vaddr - p->p_vaddr;

		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr && at < p->p_filesz &&
		    len <= p->p_filesz - at && p->p_offset <= INT64_MAX - at &&
		    read_exactly(t->fd, buf, len, p->p_offset + at))
			return true;
	}
	return false;
}

bool kernel_text__peek(const struct kernel_text *t, uint64_t vaddr, void *buf, size_t len)
{
	return read_kcore(t, vaddr, buf, len) || (t->fn && !t->fn(t->ctx, vaddr, buf, len));
}

/* ---- segments ---- */

static void add_segment(struct object *o, uint64_t vaddr, uint64_t size, const uint8_t *bytes)
{
	struct segment *last = o->segments.len ? vec__last(&o->segments) : NULL;

	if (last && last->vaddr + last->size == vaddr)
		last->size += size;
	else
		vec__push(&o->segments,
			  (struct segment){
				  .vaddr = vaddr, .size = size, .bytes = bytes, .exec = true});
}

static int unreadable(const struct kernel_text *t, const struct object *o)
{
	const char *why = strerror(t->why ? t->why : EIO);

	if (t->fn)
		return err__set(EIO, "cannot read the code of %s: /proc/kcore: %s; with BPF: %s",
				o->path, why, err__text());
	return err__set(EIO, "cannot read the code of %s: /proc/kcore: %s; needs root, or BPF",
			o->path, why);
}

/* Reads all at once if possible; else by pages, to skip only the unreadable ones. */
int kernel_text__read(struct kernel_text *t, struct object *o)
{
	struct kernel_file *f = kernel_file__of(o);
	uint64_t at, n;

	if (f->start == f->end)
		return 0;
	f->text = xcalloc(1, f->end - f->start);
	if (read_kcore(t, f->start, f->text, f->end - f->start)) {
		add_segment(o, f->start, f->end - f->start, f->text);
		return 0;
	}
	for (at = f->start; at < f->end; at += n) {
		n = min_of(f->end - at, CHUNK - at % CHUNK);
		if (kernel_text__peek(t, at, f->text + (at - f->start), n))
			add_segment(o, at, n, f->text + (at - f->start));
	}
	return o->segments.len ? 0 : unreadable(t, o);
}
