// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_facts: the kernel's kprobe blacklist and list of kprobes (debugfs), and the build-ids in
 * the ELF notes of /sys.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "kernel_file.h"

#define LIST_LIMIT (16u << 20)

static const char blacklisted[] = "on the kernel's kprobe blacklist";

/* ---- kprobes/blacklist: "0xSTART-0xEND\tNAME" (kprobe_blacklist_seq_show() of kernel/kprobes.c)
 * ---- */

static int by_vaddr(const void *a, const void *b)
{
	const struct noprobe *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Merges ranges that nest or touch: lookups need them disjoint. */
static void merge(struct object *o)
{
	struct noprobe *p, *to = o->noprobe.data;

	vec__sort(&o->noprobe, by_vaddr);
	vec__each (p, &o->noprobe) {
		uint64_t end = p->vaddr + p->size;

		if (p == to)
			continue;
		if (p->vaddr <= to->vaddr + to->size)
			to->size = max_of(to->vaddr + to->size, end) - to->vaddr;
		else
			*++to = *p;
	}
	if (o->noprobe.len)
		o->noprobe.len = to + 1 - o->noprobe.data;
}

void kernel_blacklist__apply(const char *text, struct object *o)
{
	const struct kernel_file *f = kernel_file__of(o);
	uint64_t start, end;
	char *after;

	for (; text && *text; text = (text = strchr(text, '\n')) ? text + 1 : NULL) {
		start = strtoull(text, &after, 16);
		if (after == text || *after != '-')
			continue;
		end = strtoull(after + 1, &after, 16);
		if (*after != '\t' && *after != '\n' && *after)
			continue;
		start = max_of(start, f->start);
		end = min_of(end, f->end);
		if (start < end)
			vec__push(&o->noprobe, (struct noprobe){.vaddr = start,
								.size = end - start,
								.reason = blacklisted});
	}
	merge(o);
}

/* ---- files of debugfs ---- */

static char *read_all(int fd, size_t limit)
{
	struct str text = {0};
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0 && text.len < limit)
		str__put(&text, chunk, n);
	if (n) {
		str__free(&text);
		return NULL;
	}
	str__put(&text, "", 0);
	return text.data;
}

static char *read_debugfs(const char *path, const char *otherwise)
{
	autoclose int root = kernel_fs__open(KERNEL_DEBUGFS);
	autoclose int fd = root < 0 ? -1 : openat(root, path, O_RDONLY | O_CLOEXEC);
	const char *why = root < 0 ? err__text() : strerror(errno);
	char *text = NULL;

	if (fd >= 0)
		text = read_all(fd, LIST_LIMIT);
	if (!text)
		note_verbose("%s of debugfs can't be read (%s): %s", path,
			     fd < 0 ? why : strerror(EIO), otherwise);
	return text;
}

char *kernel_blacklist__read(void)
{
	return read_debugfs("kprobes/blacklist", "what it lists shows when attaching");
}

char *kernel_probes__read(void)
{
	return read_debugfs("kprobes/list", "another tracer's probes may hide code");
}

/* ---- build-id ---- */

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

bool kernel_notes__build_id(const uint8_t *notes, size_t len, struct object *o)
{
	const size_t head = 12;

	while (len >= head) {
		uint64_t name = u32_at(notes), desc = u32_at(notes + 4), type = u32_at(notes + 8);
		uint64_t desc_at = head + ((name + 3) & ~3ull),
			 next = desc_at + ((desc + 3) & ~3ull);

		if (desc_at + desc > len)
			return false;
		/* NT_GNU_BUILD_ID of elf.h */
		if (type == 3 && name == 4 && !memcmp(notes + head, "GNU", 4) && desc &&
		    desc <= sizeof(o->build_id)) {
			memcpy(o->build_id, notes + desc_at, desc);
			o->build_id_len = desc;
			return true;
		}
		if (next >= len)
			return false;
		notes += next;
		len -= next;
	}
	return false;
}
