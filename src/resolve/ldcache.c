// SPDX-License-Identifier: BSD-2-Clause
/* Searches /etc/ld.so.cache, in the format of glibc's sysdeps/generic/dl-cache.h and
 * elf/dl-cache.c. Bounds-checked, pure. */
#include "ldcache.h"
#include "arch/arch.h"

#define MAGIC	    "glibc-ld.so.cache1.1"
#define HWCAP_NAMED (1ull << 62) /* the low half is an index into the list of hwcaps names */
#define EXT_MAGIC   0xeaa42174
#define EXT_HWCAPS  1

struct header {
	char magic[20];
	uint32_t nlibs, len_strings;
	uint8_t flags, padding[3];
	uint32_t extensions, unused[3];
};

struct entry {
	int32_t flags;
	uint32_t key, value, osversion;
	uint64_t hwcap;
};

struct extension {
	uint32_t tag, flags, offset, size;
};

struct cache {
	const struct arch *arch; /* of the programs; NULL: not known */
	const char *bytes;
	size_t len;
	struct header header;
	uint32_t hwcaps, nhwcaps; /* offset and length of the list of names */
};

const char *const *hwcaps__names(const struct arch *arch)
{
	static const char *const none[] = {NULL};

	return arch && arch->loader.hwcaps ? arch->loader.hwcaps() : none;
}

static bool within(const struct cache *c, uint64_t offset, uint64_t len)
{
	return offset <= c->len && len <= c->len - offset;
}

static const char *string_at(const struct cache *c, uint32_t offset)
{
	return offset < c->len && memchr(c->bytes + offset, 0, c->len - offset) ? c->bytes + offset
										: NULL;
}

static void find_hwcaps(struct cache *c)
{
	uint32_t head[2], i;
	struct extension e;
	uint64_t at = c->header.extensions;

	if (!at || !within(c, at, sizeof(head)))
		return;
	memcpy(head, c->bytes + at, sizeof(head));
	if (head[0] != EXT_MAGIC)
		return;
	at += sizeof(head);
	for (i = 0; i < head[1] && within(c, at, sizeof(e)); i++, at += sizeof(e)) {
		memcpy(&e, c->bytes + at, sizeof(e));
		if (e.tag != EXT_HWCAPS || !within(c, e.offset, e.size))
			continue;
		c->hwcaps = e.offset;
		c->nhwcaps = e.size / 4;
	}
}

/* Returns the rank of an entry: 0 if it is unusable on this machine, 1 if it is for every CPU,
 * higher by its hwcaps directory. */
static unsigned rank(const struct cache *c, const struct entry *e)
{
	const char *const *names = hwcaps__names(c->arch);
	const char *name;
	uint32_t offset;
	unsigned i, n = 0;

	if (!e->hwcap)
		return 1;
	if (!(e->hwcap & HWCAP_NAMED) || (uint32_t)e->hwcap >= c->nhwcaps)
		return 0;
	memcpy(&offset, c->bytes + c->hwcaps + 4 * (size_t)(uint32_t)e->hwcap, 4);
	name = string_at(c, offset);
	while (names[n])
		n++;
	for (i = 0; name && i < n; i++)
		if (!strcmp(names[i], name))
			return 1 + n - i;
	return 0;
}

static bool open_cache(struct cache *c, const struct arch *arch, const char *bytes, size_t len)
{
	/* an old-format cache may precede the new one in the same file */
	const char *start = memmem(bytes, len, MAGIC, sizeof(MAGIC) - 1);

	if (!start || len - (start - bytes) < sizeof(c->header))
		return false;
	*c = (struct cache){.arch = arch, .bytes = start, .len = len - (start - bytes)};
	memcpy(&c->header, start, sizeof(c->header));
	if (!within(c, sizeof(c->header), (uint64_t)c->header.nlibs * sizeof(struct entry)))
		return false;
	find_hwcaps(c);
	return true;
}

/* Reads entry i. Returns its soname; NULL if it is for another machine. */
static const char *read_entry(const struct cache *c, uint32_t i, struct entry *e)
{
	const int32_t flags = c->arch ? c->arch->loader.flags : 0;

	memcpy(e, c->bytes + sizeof(c->header) + i * sizeof(*e), sizeof(*e));
	return flags && e->flags == flags ? string_at(c, e->key) : NULL;
}

void ldcache__each(const struct arch *arch, const char *bytes, size_t len,
		   void (*fn)(void *ctx, const char *soname), void *ctx)
{
	const char *soname;
	struct cache c;
	struct entry e;

	if (!open_cache(&c, arch, bytes, len))
		return;
	for (uint32_t i = 0; i < c.header.nlibs; i++) {
		soname = read_entry(&c, i, &e);
		if (soname)
			fn(ctx, soname);
	}
}

const char *ldcache__find(const struct arch *arch, const char *bytes, size_t len,
			  const char *soname)
{
	const char *key, *best = NULL;
	unsigned best_rank = 0, r;
	struct cache c;
	struct entry e;
	uint32_t i;

	if (!open_cache(&c, arch, bytes, len))
		return NULL;
	for (i = 0; i < c.header.nlibs; i++) {
		key = read_entry(&c, i, &e);
		if (!key || strcmp(key, soname))
			continue;
		r = rank(&c, &e);
		if (r > best_rank && string_at(&c, e.value)) {
			best = string_at(&c, e.value);
			best_rank = r;
		}
	}
	return best;
}
