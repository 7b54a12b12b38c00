// SPDX-License-Identifier: BSD-2-Clause
/* The prototypes of the kernel's functions by its type information (BTF). */
#include <errno.h>
#include <stdlib.h>
#include <bpf/btf.h>
#include "kernel/btf_types.h"
#include "kernel_file.h"

#define TYPE_DEPTH 64
#define WORD	   8

struct reader {
	const struct btf *btf;
	const struct type_names *wanted; /* members */
	struct types *out;
	struct map64 seen; /* BTF's number -> 1 + the type */
};

static uint32_t add_type(struct reader *r, uint32_t id, unsigned depth);

static const char *name_of(const struct reader *r, uint32_t at)
{
	return at ? btf__name_by_offset(r->btf, at) : NULL;
}

/* Without what only qualifies it. */
static const struct btf_type *peel(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (unsigned i = 0;
	     t && i < TYPE_DEPTH && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t)); i++)
		t = btf__type_by_id(btf, t->type);
	return t;
}

static uint64_t size_of(const struct btf *btf, uint32_t id)
{
	int64_t size = btf__resolve_size(btf, id);

	return size > 0 ? size : 0;
}

static void take_int(struct type *to, const struct btf_type *t, const char *name)
{
	unsigned encoding = btf_int_encoding(t);

	if (encoding & BTF_INT_BOOL)
		to->kind = TYPE_KIND_BOOL;
	else if (name && !strcmp(name, "char"))
		to->kind = TYPE_KIND_CHAR;
	else
		to->kind = encoding & BTF_INT_SIGNED ? TYPE_KIND_SIGNED : TYPE_KIND_UNSIGNED;
}

static void take_enum(struct reader *r, struct type *to, const struct btf_type *t)
{
	bool wide = btf_is_enum64(t);

	to->kind = TYPE_KIND_ENUM;
	to->first = r->out->enumerators.len;
	for (unsigned i = 0; i < btf_vlen(t); i++) {
		const char *name =
			name_of(r, wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off);
		struct type_enumerator e = {.name = types__add_name(r->out, name)};

		e.value = wide		 ? (int64_t)btf_enum64_value(&btf_enum64(t)[i])
			  : btf_kflag(t) ? btf_enum(t)[i].val
					 : (int64_t)(uint32_t)btf_enum(t)[i].val;
		if (e.name)
			vec__push(&r->out->enumerators, e);
	}
	to->n = r->out->enumerators.len - to->first;
}

/* A bit field is loaded as the word of its type that contains it. Returns false if none does. */
static bool take_bits(struct reader *r, struct type_member *to, const struct btf_type *t,
		      unsigned i)
{
	uint32_t at = btf_member_bit_offset(t, i), bits = btf_member_bitfield_size(t, i);
	uint64_t size = size_of(r->btf, btf_members(t)[i].type);

	to->offset = at / 8;
	if (!bits)
		return true;
	if (!size || size > WORD)
		return false;
	to->offset = to->offset / size * size;
	to->bit_at = at - to->offset * 8;
	to->bits = bits;
	return to->bit_at + bits <= 8 * size;
}

/* Takes the members that are asked for, and the structs without a name that may have some of
 * them. */
static void take_members(struct reader *r, uint32_t number, const struct btf_type *t,
			 unsigned depth)
{
	VEC(struct type_member) members = {0};

	for (unsigned i = 0; r->wanted->all.len && i < btf_vlen(t); i++) {
		const char *name = name_of(r, btf_members(t)[i].name_off);
		struct type_member m = {0};

		if (name && *name && !type_names__has(r->wanted, name))
			continue;
		if (!take_bits(r, &m, t, i))
			continue;
		m.name = types__add_name(r->out, name);
		m.type = add_type(r, btf_members(t)[i].type, depth + 1);
		vec__push(&members, m);
	}
	r->out->types.data[number].first = r->out->members.len;
	r->out->types.data[number].n = members.len;
	vec__append(&r->out->members, &members);
	vec__free(&members);
}

/* Nothing but integers and pointers, each aligned. Arrays are left out. */
static bool is_plain(const struct btf *btf, const struct btf_type *t, unsigned depth)
{
	if (!t || btf_is_int(t) || btf_is_ptr(t) || btf_is_any_enum(t))
		return t;
	if (!btf_is_composite(t) || depth > 8)
		return false;
	for (unsigned i = 0; i < btf_vlen(t); i++) {
		uint64_t size = size_of(btf, btf_members(t)[i].type);

		if (btf_member_bitfield_size(t, i))
			continue;
		if (!is_plain(btf, peel(btf, btf_members(t)[i].type), depth + 1) || !size ||
		    (!btf_is_composite(peel(btf, btf_members(t)[i].type)) &&
		     (size > WORD || btf_member_bit_offset(t, i) % (8 * size))))
			return false;
	}
	return true;
}

static void take_type(struct reader *r, uint32_t number, uint32_t id, unsigned depth)
{
	const struct btf_type *t = peel(r->btf, id);
	struct type *to = &r->out->types.data[number];
	uint32_t ref;

	if (!t)
		return;
	if (btf_is_any_enum(t) || btf_is_int(t) || btf_is_composite(t) || btf_is_float(t))
		to->size = t->size;
	if (btf_is_int(t)) {
		take_int(to, t, name_of(r, t->name_off));
	} else if (btf_is_float(t)) {
		to->kind = TYPE_KIND_FLOAT;
	} else if (btf_is_any_enum(t)) {
		take_enum(r, to, t);
	} else if (btf_is_ptr(t)) {
		to->kind = TYPE_KIND_POINTER;
		to->size = WORD;
		ref = add_type(r, t->type, depth + 1);
		r->out->types.data[number].ref = ref;
	} else if (btf_is_array(t)) {
		to->kind = TYPE_KIND_ARRAY;
		to->size = size_of(r->btf, id);
		ref = add_type(r, btf_array(t)->type, depth + 1);
		r->out->types.data[number].ref = ref;
	} else if (btf_is_composite(t)) {
		to->kind = TYPE_KIND_STRUCT;
		to->plain = to->size <= PLAIN_MAX && is_plain(r->btf, t, 0);
		take_members(r, number, t, depth);
	}
}

/* Qualifiers don't count; a typedef has a name of its own. */
static uint32_t unqualified(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t;

	for (unsigned i = 0; i < TYPE_DEPTH && (t = btf__type_by_id(btf, id)) &&
			     (btf_is_mod(t) || btf_is_type_tag(t));
	     i++)
		id = t->type;
	return id;
}

static uint32_t add_type(struct reader *r, uint32_t id, unsigned depth)
{
	const struct btf_type *t;
	uint64_t *known;
	uint32_t number;

	id = unqualified(r->btf, id);
	known = map64__get(&r->seen, id);
	if (known)
		return *known - 1;
	t = id ? btf__type_by_id(r->btf, id) : NULL;
	if (!t || depth > TYPE_DEPTH || types__are_full(r->out))
		return NO_TYPE;
	number = r->out->types.len;
	vec__push(&r->out->types,
		  (struct type){.ref = NO_TYPE,
				.name = types__add_name(r->out, name_of(r, t->name_off))});
	*map64__put(&r->seen, id) = number + 1;
	take_type(r, number, id, depth);
	return number;
}

/* ---- functions ---- */

static void take_function(struct reader *r, const struct btf_type *proto, uint32_t id)
{
	struct prototype p = {.id = id, .n = btf_vlen(proto)};
	VEC(struct type_param) params = {0};

	for (unsigned i = 0; i < btf_vlen(proto); i++) {
		const struct btf_param *from = &btf_params(proto)[i];

		if (!from->type && !from->name_off) { /* "..." */
			p.n = i;
			break;
		}
		vec__push(&params,
			  (struct type_param){types__add_name(r->out, name_of(r, from->name_off)),
					      add_type(r, from->type, 0)});
	}
	p.result = add_type(r, proto->type, 0);
	p.first = r->out->params.len;
	vec__append(&r->out->params, &params);
	if (!types__are_full(r->out)) /* else it may lack some */
		vec__push(&r->out->prototypes, p);
	vec__free(&params);
}

static uint64_t key_of(const char *name)
{
	return map64__hash(name, strlen(name));
}

struct wanted {
	const struct type_query *query;
	uint32_t next; /* 1 + that of the same key */
	uint32_t proto;
	bool twice;
};

/* Finds the prototypes that functions of this name have, if there is one. */
static void find_functions(const struct btf *btf, uint32_t first, struct map64 *by_name,
			   struct wanted *all)
{
	for (uint32_t id = first; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name;
		uint64_t *slot;

		if (!btf_is_func(t))
			continue;
		name = btf__name_by_offset(btf, t->name_off);
		slot = map64__get(by_name, key_of(name));
		for (uint32_t i = slot ? *slot : 0; i; i = all[i - 1].next) {
			struct wanted *w = &all[i - 1];

			if (strcmp(w->query->name, name))
				continue;
			w->twice |= w->proto && w->proto != t->type;
			w->proto = t->type;
		}
	}
}

void btf_types__read(const struct btf *btf, uint32_t first, const struct type_query *queries,
		     size_t n, const struct type_names *members, struct types *out)
{
	struct reader r = {.btf = btf, .wanted = members, .out = out};
	autofree struct wanted *all = xcalloc(n + 1, sizeof(*all));
	struct map64 by_name = {0};

	for (size_t i = 0; i < n; i++) {
		uint64_t *slot;

		all[i].query = &queries[i];
		if (!queries[i].name || type_query__is_changed(queries[i].name))
			continue;
		slot = map64__put(&by_name, key_of(queries[i].name));
		all[i].next = *slot;
		*slot = i + 1;
	}
	find_functions(btf, first, &by_name, all);
	for (size_t i = 0; i < n; i++) {
		const struct btf_type *proto =
			all[i].proto && !all[i].twice ? btf__type_by_id(btf, all[i].proto) : NULL;

		if (proto && btf_is_func_proto(proto))
			take_function(&r, proto, all[i].query->id);
	}
	types__sort(out);
	map64__free(&by_name);
	map64__free(&r.seen);
}

void kernel__prototypes(const struct object *o, const char *btf_file,
			const struct type_query *queries, size_t n,
			const struct type_names *members, struct types *out)
{
	struct btf *base = btf_file ? btf__parse(btf_file, NULL) : btf__load_vmlinux_btf();
	struct btf *module = NULL;

	*out = (struct types){0};
	if (base && o->kind == OBJECT_MODULE)
		module = btf__load_module_btf(o->path, base);
	if (!base || (o->kind == OBJECT_MODULE && !module))
		note("%s: there is no type information (BTF): its arguments are shown as registers",
		     o->path);
	else
		btf_types__read(module ? module : base, module ? btf__type_cnt(base) : 1, queries,
				n, members, out);
	btf__free(module);
	btf__free(base);
}
