// SPDX-License-Identifier: BSD-2-Clause
/* The format: Documentation/bpf/btf.rst. */
#include <errno.h>
#include <linux/btf.h>
#include "source/btf_subset.h"

/* Bytes after a struct btf_type, by kind: once, and for each of its vlen elements. */
static const struct {
	uint8_t once, each;
} sizes_after[] = {
	[BTF_KIND_INT] = {4, 0},	[BTF_KIND_PTR] = {0, 0},      [BTF_KIND_ARRAY] = {12, 0},
	[BTF_KIND_STRUCT] = {0, 12},	[BTF_KIND_UNION] = {0, 12},   [BTF_KIND_ENUM] = {0, 8},
	[BTF_KIND_FUNC_PROTO] = {0, 8}, [BTF_KIND_VAR] = {4, 0},      [BTF_KIND_DATASEC] = {0, 12},
	[BTF_KIND_DECL_TAG] = {4, 0},	[BTF_KIND_TYPE_TAG] = {0, 0}, [BTF_KIND_ENUM64] = {0, 12},
};

struct btf_index {
	const char *types, *strings;
	size_t types_len, strings_len;
	VEC(uint32_t) at;    /* by number of a type: where it is in types */
	VEC(uint32_t) named; /* the numbers of those that can be relocated */
};

struct subset {
	const struct btf_index *index;
	uint32_t *number;   /* by number of a type: that in the subset; 0: not taken */
	VEC(uint32_t) open; /* taken; what they contain isn't yet */
	struct str taken, names;
};

static const struct btf_type *type_of(const struct btf_index *index, uint32_t id)
{
	return (const struct btf_type *)(index->types + index->at.data[id]);
}

static unsigned kind_of(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

static size_t size_of(const struct btf_type *t)
{
	return sizeof(*t) + sizes_after[kind_of(t)].once +
	       (size_t)BTF_INFO_VLEN(t->info) * sizes_after[kind_of(t)].each;
}

/* ---- reading ---- */

static int find_sections(struct btf_index *s, const char *btf, size_t size)
{
	const struct btf_header *h = (const struct btf_header *)btf;
	uint64_t types, strings;

	if (size < sizeof(*h) || h->magic != BTF_MAGIC || h->version != BTF_VERSION)
		return -EINVAL;
	types = (uint64_t)h->hdr_len + h->type_off;
	strings = (uint64_t)h->hdr_len + h->str_off;
	if (types % 4 || types + h->type_len > size || strings + h->str_len > size || !h->str_len ||
	    btf[strings + h->str_len - 1])
		return -EINVAL;
	s->types = btf + types;
	s->types_len = h->type_len;
	s->strings = btf + strings;
	s->strings_len = h->str_len;
	return 0;
}

static bool can_be_relocated(const struct btf_type *t)
{
	return kind_of(t) == BTF_KIND_STRUCT || kind_of(t) == BTF_KIND_UNION ||
	       kind_of(t) == BTF_KIND_ENUM || kind_of(t) == BTF_KIND_ENUM64 ||
	       kind_of(t) == BTF_KIND_TYPEDEF || kind_of(t) == BTF_KIND_INT;
}

static int find_types(struct btf_index *s)
{
	const struct btf_type *t;

	vec__push(&s->at, 0); /* void */
	for (size_t at = 0; at < s->types_len; at += size_of(t)) {
		t = (const struct btf_type *)(s->types + at);
		if (s->types_len - at < sizeof(*t) || kind_of(t) >= ARRAY_SIZE(sizes_after) ||
		    s->types_len - at < size_of(t) || t->name_off >= s->strings_len)
			return -EINVAL;
		if (t->name_off && can_be_relocated(t))
			vec__push(&s->named, (uint32_t)s->at.len);
		vec__push(&s->at, (uint32_t)at);
	}
	return 0;
}

int btf_index__make(const void *btf, size_t size, struct btf_index **out)
{
	struct btf_index *index = xcalloc(1, sizeof(*index));
	int err = find_sections(index, btf, size);

	if (!err)
		err = find_types(index);
	if (err)
		btf_index__free(index);
	else
		*out = index;
	return err;
}

void btf_index__free(struct btf_index *index)
{
	if (!index)
		return;
	vec__free(&index->at);
	vec__free(&index->named);
	free(index);
}

uint32_t btf_index__function(const struct btf_index *index, const char *name)
{
	for (uint32_t id = 1; id < index->at.len; id++) {
		const struct btf_type *t = type_of(index, id);

		if (kind_of(t) == BTF_KIND_FUNC && !strcmp(index->strings + t->name_off, name))
			return id;
	}
	return 0;
}

/* ---- what is wanted ---- */

struct names {
	const char *const *name;
	size_t *len; /* the essential ones */
	size_t n;
	uint64_t begins[1 << 10]; /* a bit for each pair of first characters */
};

static uint64_t *beginning(struct names *names, const char *name, uint64_t *bit)
{
	unsigned pair = (uint8_t)name[0] | (*name ? (uint8_t)name[1] << 8 : 0);

	*bit = 1ull << pair % 64;
	return &names->begins[pair / 64];
}

/* As libbpf: the name without "___flavour". */
static size_t essential_len(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = len < 5 ? 0 : len - 4; i-- > 0;)
		if (name[i] != '_' && !memcmp(name + i + 1, "___", 3) && name[i + 4] != '_')
			return i + 1;
	return len;
}

static struct names *new_names(const char *const *name, size_t n)
{
	struct names *names = xcalloc(1, sizeof(*names));
	uint64_t bit;

	names->name = name;
	names->len = xcalloc(n, sizeof(*names->len));
	names->n = n;
	for (size_t i = 0; i < n; i++) {
		names->len[i] = essential_len(name[i]);
		*beginning(names, name[i], &bit) |= bit;
	}
	return names;
}

static void free_names(struct names **names)
{
	free((*names)->len);
	free(*names);
}

/* Most of 100,000 names fail by their first two characters. */
static bool is_wanted(struct names *names, const char *name)
{
	uint64_t bit;
	size_t len;

	if (!(*beginning(names, name, &bit) & bit))
		return false;
	len = essential_len(name);
	for (size_t i = 0; i < names->n; i++)
		if (names->len[i] == len && !memcmp(names->name[i], name, len))
			return true;
	return false;
}

/* ---- what a type refers to ---- */

/* 32-bit numbers at equal distances. */
struct words {
	uint32_t *first;
	size_t distance, n;
};

static struct words contained(struct btf_type *t)
{
	switch (kind_of(t)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return (struct words){&t->type, 0, 1};
	case BTF_KIND_ARRAY: /* its elements, its index */
		return (struct words){(uint32_t *)(t + 1), 1, 2};
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (struct words){(uint32_t *)(t + 1) + 1, 3, BTF_INFO_VLEN(t->info)};
	case BTF_KIND_FUNC_PROTO: /* what it returns, its parameters */
		return (struct words){&t->type, 2, 1 + BTF_INFO_VLEN(t->info)};
	default:
		return (struct words){0};
	}
}

static struct words names_of_members(struct btf_type *t)
{
	size_t each = sizes_after[kind_of(t)].each / sizeof(uint32_t);

	return (struct words){(uint32_t *)(t + 1), each, each ? BTF_INFO_VLEN(t->info) : 0};
}

/* ---- taking ---- */

static int take(struct subset *s, uint32_t id)
{
	if (id >= s->index->at.len)
		return -EINVAL;
	if (!id || s->number[id])
		return 0;
	s->number[id] = 1;
	vec__push(&s->open, id);
	return 0;
}

static int take_wanted(struct subset *s, struct names *names)
{
	const struct btf_index *index = s->index;
	const uint32_t *id;
	int err = 0;

	vec__each (id, &index->named)
		if (!err && is_wanted(names, index->strings + type_of(index, *id)->name_off))
			err = take(s, *id);
	return err;
}

/* Only functions: what else pointers lead to isn't compared, and would be most of the kernel. */
static int take_function(struct subset *s, uint32_t id)
{
	if (id >= s->index->at.len)
		return -EINVAL;
	return id && kind_of(type_of(s->index, id)) == BTF_KIND_FUNC_PROTO ? take(s, id) : 0;
}

static int take_contained(struct subset *s)
{
	int err = 0;

	while (!err && s->open.len) {
		uint32_t id = s->open.data[--s->open.len];
		struct btf_type *t = (struct btf_type *)type_of(s->index, id);
		struct words w = contained(t);

		if (kind_of(t) == BTF_KIND_PTR)
			err = take_function(s, t->type);
		for (size_t i = 0; !err && i < w.n; i++)
			err = take(s, w.first[i * w.distance]);
	}
	return err;
}

/* ---- writing ---- */

static int copy_name(struct subset *s, uint32_t *offset)
{
	const char *name = s->index->strings + *offset;

	if (*offset >= s->index->strings_len)
		return -EINVAL;
	*offset = *name ? s->names.len : 0;
	if (*name)
		str__put(&s->names, name, strlen(name) + 1);
	return 0;
}

static int copy_type(struct subset *s, const struct btf_type *from)
{
	struct btf_type *t = (struct btf_type *)str__extend(&s->taken, size_of(from));
	struct words types, names;
	int err;

	memcpy(t, from, size_of(from));
	types = contained(t);
	names = names_of_members(t);
	for (size_t i = 0; i < types.n; i++)
		types.first[i * types.distance] = s->number[types.first[i * types.distance]];
	if (kind_of(t) == BTF_KIND_PTR) /* of what isn't taken: void */
		t->type = s->number[t->type];
	err = copy_name(s, &t->name_off);
	for (size_t i = 0; !err && i < names.n; i++)
		err = copy_name(s, &names.first[i * names.distance]);
	return err;
}

static int copy_types(struct subset *s)
{
	uint32_t taken = 0;
	int err = 0;

	str__put(&s->names, "", 1);
	for (uint32_t id = 1; id < s->index->at.len; id++)
		if (s->number[id])
			s->number[id] = ++taken;
	for (uint32_t id = 1; !err && id < s->index->at.len; id++)
		if (s->number[id])
			err = copy_type(s, type_of(s->index, id));
	return err;
}

static void write_out(const struct subset *s, struct str *out)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = s->taken.len,
			       .str_off = s->taken.len,
			       .str_len = s->names.len};

	str__put(out, (const char *)&h, sizeof(h));
	str__put(out, s->taken.data, s->taken.len);
	str__put(out, s->names.data, s->names.len);
}

static int make(struct subset *s, struct names *names)
{
	int err = take_wanted(s, names);

	if (!err)
		err = take_contained(s);
	return err ? err : copy_types(s);
}

int btf_index__subset(const struct btf_index *index, const char *const *name, size_t n,
		      struct str *out)
{
	CLEANUP(free_names) struct names *names = new_names(name, n);
	struct subset s = {.index = index, .number = xcalloc(index->at.len, sizeof(*s.number))};
	int err = make(&s, names);

	if (!err)
		write_out(&s, out);
	vec__free(&s.open);
	free(s.number);
	str__free(&s.taken);
	str__free(&s.names);
	return err;
}
