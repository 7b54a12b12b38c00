// SPDX-License-Identifier: BSD-2-Clause
/* The part of a kernel's types that relocations need: made-up BTF is cut, and libbpf reads what
 * comes out. */
#include <errno.h>
#include <bpf/btf.h>
#include "source/btf_subset.h"
#include "tap.h"

/* ---- BTF, written ---- */

static struct str types, strings;

static uint32_t name(const char *text)
{
	uint32_t at = strings.len;

	if (!*text)
		return 0;
	str__put(&strings, text, strlen(text) + 1);
	return at;
}

static void words(const uint32_t *w, size_t n)
{
	str__put(&types, (const char *)w, n * sizeof(*w));
}
#define WORDS(...)                                                                                 \
	words((const uint32_t[]){__VA_ARGS__},                                                     \
	      sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define TYPE(text, kind, vlen, ...) WORDS(name(text), BTF_KIND_##kind << 24 | (vlen), __VA_ARGS__)

/* The numbers of types are in the comments. */
static void write_types(void)
{
	str__put(&strings, "", 1);
	/* 1 */ TYPE("int", INT, 0, 4, 32);
	/* 2 */ TYPE("unrelated", STRUCT, 1, 8, name("task"), 4, 0);
	/* 3 */ TYPE("task_struct", STRUCT, 4, 64);
	WORDS(name("pid"), 1, 0, name("parent"), 4, 64, 0, 6, 128, name("comm"), 7, 256);
	/* 4 */ TYPE("", PTR, 0, 3);
	/* 5 */ TYPE("task_struct", FWD, 0, 0);
	/* 6 */ TYPE("", UNION, 1, 8, name("uid"), 8, 0);
	/* 7 */ TYPE("", ARRAY, 0, 0, 10, 1, 4);
	/* 8 */ TYPE("kuid_t", TYPEDEF, 0, 9);
	/* 9 */ TYPE("", CONST, 0, 1);
	/* 10 */ TYPE("inner", STRUCT, 1, 8, name("state"), 11, 0);
	/* 11 */ TYPE("state", ENUM, 2, 4, name("RUNS"), 0, name("SLEEPS"), 1);
	/* 12 */ TYPE("", FUNC_PROTO, 1, 1, name("arg"), 4);
	/* 13 */ TYPE("task_struct", FUNC, 0, 12);
	/* 14 */ TYPE("", PTR, 0, 12);
	/* 15 */ TYPE("wide", ENUM64, 1, 8, name("WIDE"), 1, 2);
	/* 16 */ TYPE("task_struct___old", STRUCT, 1, 4, name("old"), 17, 0);
	/* 17 */ TYPE("tag", TYPE_TAG, 0, 1);
	/* 18 */ TYPE("task_struct_", STRUCT, 0, 0);
	/* 19 */ TYPE("task", STRUCT, 0, 0);
	/* 20 */ TYPE("task_struct", DECL_TAG, 0, 3, ~0u);
	/* 21 */ TYPE("per_cpu", VAR, 0, 3, 0);
	/* 22 */ TYPE(".data", DATASEC, 1, 8, 21, 0, 8);
	/* 23 */ TYPE("real", FLOAT, 0, 8);
	/* 24 */ TYPE("end", STRUCT, 2, 16, name("real"), 23, 0, name("call"), 14, 64);
}

static struct str whole(void)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = types.len,
			       .str_off = types.len,
			       .str_len = strings.len};
	struct str all = {0};

	str__put(&all, (const char *)&h, sizeof(h));
	str__put(&all, types.data, types.len);
	str__put(&all, strings.data, strings.len);
	return all;
}

/* ---- BTF, shown ---- */

static void show_members(struct str *out, const struct btf *btf, const struct btf_type *t)
{
	for (unsigned i = 0; i < btf_vlen(t); i++)
		if (btf_is_composite(t))
			str__printf(out, " %s:%u",
				    btf__name_by_offset(btf, btf_members(t)[i].name_off),
				    btf_members(t)[i].type);
		else if (btf_is_enum(t))
			str__printf(out, " %s=%d",
				    btf__name_by_offset(btf, btf_enum(t)[i].name_off),
				    btf_enum(t)[i].val);
		else
			str__printf(out, " %s=%llx",
				    btf__name_by_offset(btf, btf_enum64(t)[i].name_off),
				    (unsigned long long)btf_enum64_value(&btf_enum64(t)[i]));
}

static void show_params(struct str *out, const struct btf *btf, const struct btf_type *t)
{
	str__printf(out, "->%u", t->type);
	for (unsigned i = 0; i < btf_vlen(t); i++)
		str__printf(out, " %s:%u", btf__name_by_offset(btf, btf_params(t)[i].name_off),
			    btf_params(t)[i].type);
}

static const char *show(const struct str *subset)
{
	static struct str out;
	struct btf *btf = btf__new(subset->data, subset->len);

	str__clear(&out);
	str__put(&out, "", 0);
	for (uint32_t id = 1; btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		str__printf(&out, "%s%u.%u %s", id > 1 ? ", " : "", id, btf_kind(t),
			    btf__name_by_offset(btf, t->name_off));
		if (btf_is_array(t))
			str__printf(&out, "%u[%u]", btf_array(t)->type, btf_array(t)->nelems);
		else if (btf_is_composite(t) || btf_is_any_enum(t))
			show_members(&out, btf, t);
		else if (btf_is_func_proto(t))
			show_params(&out, btf, t);
		else if (!btf_is_int(t) && btf_kind(t) != BTF_KIND_FLOAT)
			str__printf(&out, "->%u", t->type);
	}
	btf__free(btf);
	return btf ? out.data : "not BTF";
}

static int subset(const char *btf, size_t len, const char *const *names, size_t n, struct str *out)
{
	struct btf_index *index;
	int err = btf_index__make(btf, len, &index);

	if (err)
		return err;
	err = btf_index__subset(index, names, n, out);
	btf_index__free(index);
	return err;
}

static void cut(const struct str *all, const char *const *names, size_t n, const char *want,
		const char *what)
{
	struct str out = {0};

	is(subset(all->data, all->len, names, n, &out), 0, "%s: it is cut", what);
	is_str(show(&out), want, "%s", what);
	str__free(&out);
}
#define CUT(all, want, what, ...)                                                                  \
	cut(all, (const char *const[]){__VA_ARGS__},                                               \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), want, what)

/* ---- damage: an error or other types, never a byte from elsewhere (AddressSanitizer) ---- */

static bool is_refused(const char *btf, size_t len)
{
	static const char *const names[] = {"task_struct", "state", "wide", "end"};
	struct str out = {0};
	char *exact = xmalloc(len);
	int err;

	memcpy(exact, btf, len);
	err = subset(exact, len, names, 4, &out);
	free(exact);
	str__free(&out);
	return err;
}

static void test_damage(const struct str *all)
{
	unsigned accepted = 0;

	for (size_t len = 0; len < all->len; len++)
		accepted += !is_refused(all->data, len);
	is(accepted, 0, "BTF that is cut short is refused");
	accepted = 0;
	for (size_t i = 0; i < all->len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			all->data[i] ^= 1 << bit;
			accepted += !is_refused(all->data, all->len);
			all->data[i] ^= 1 << bit;
		}
	ok(accepted < all->len * 8, "of damage to each bit, some is noticed");
}

static void test_functions(const struct str *all)
{
	struct btf_index *index;

	is(btf_index__make(all->data, all->len, &index), 0, "functions: it is indexed");
	is(btf_index__function(index, "task_struct"), 13, "a function, not the struct of its name");
	is(btf_index__function(index, "unrelated"), 0, "no function has that name");
	is(btf_index__function(index, ""), 0, "what has no name is no function");
	btf_index__free(index);
}

int main(void)
{
	struct str all;

	write_types();
	all = whole();
	CUT(&all, "1.6 state RUNS=0 SLEEPS=1", "an enum", "state");
	CUT(&all, "1.19 wide WIDE=200000001", "a 64-bit enum, by a flavour", "wide___mine");
	CUT(&all, "1.1 int, 2.8 kuid_t->3, 3.10 ->1", "a typedef", "kuid_t");
	CUT(&all,
	    "1.1 int, 2.4 task_struct pid:1 parent:3 :4 comm:5, 3.2 ->2, 4.5  uid:6, 5.3 8[4], "
	    "6.8 kuid_t->7, 7.10 ->1, 8.4 inner state:9, 9.6 state RUNS=0 SLEEPS=1, "
	    "10.4 task_struct___old old:11, 11.18 tag->1",
	    "a struct named_events all that is in it, and its flavour; a pointer to itself",
	    "task_struct");
	CUT(&all, "1.1 int, 2.2 ->0, 3.13 ->1 arg:2, 4.2 ->3, 5.16 real, 6.4 end real:5 call:4",
	    "the last, behind every kind; a pointer to a function, whose argument is one to what isn't taken",
	    "end");
	CUT(&all, "1.4 task_struct_, 2.4 task", "names that others begin with", "task",
	    "task_struct_");
	CUT(&all, "", "no name of the kernel's", "missing", "___x", "t", "_");
	test_functions(&all);
	test_damage(&all);
	str__free(&all);
	str__free(&types);
	str__free(&strings);
	return tap__done();
}
