// SPDX-License-Identifier: BSD-2-Clause
/* The kernel functions that a FUNC means: names, parts, variants, globs, addresses, and what is
 * refused. */
#include <errno.h>
#include "kernel_tables.h"
#include "resolve/resolve.h"
#include "tap.h"

static struct kernel_objects k;
static uint8_t code[0x1000], module_code[0x1000], other_code[0x1000];
static function_vec v;

static const char kallsyms[] =
	"1000 T _stext\n"
	"1000 T plain\n1000 T plain_alias\n"
	"1040 t m_show\n1080 t m_show\n"
	"10c0 t split\n1100 t split.part.0\n1140 t split.cold\n1180 t split.part.0.cold\n"
	"11c0 t gone.constprop.0\n1200 t gone.isra.1\n1240 t gone.isra.1.cold\n"
	"1280 t twin\n12c0 t twin\n1300 t twin.cold\n1340 t twin.cold\n"
	"1380 T __x64_sys_read\n13c0 T blacked\n1400 T blacked_too\n1440 t both\n"
	"1480 t clash.isra.0\n14c0 t fn_a\n1500 t fn_b\n1540 T __pfx_fn_c\n1550 T fn_c\n"
	"1580 t vfs_read\n15c0 t _RNvC3krn4idle\n15d0 t next\n15e0 t solo\n15f0 t solo.cold\n1600 t solo.cold\n1700 T shared\n2000 T _etext\n"
	"9000 t both\t[xfs_x]\n9040 t only\t[xfs_x]\n9080 r data\t[xfs_x]\n"
	"8000 r __ksymtab_plain\n8010 r __ksymtab_plain_alias\n8020 r __ksymtab_fn_c\n"
	"8028 r __ksymtab_shared\n8030 r __ksymtab_m_show\n8040 r __ksymtab_blacked\n8050 r __ksymtab_data\n"
	"b000 t clash.isra.0\t[dm]\nb040 t only_dm\t[dm]\nb060 T shared\t[dm]\nb070 T dm_get\t[dm]\nb080 r data\t[dm]\n";

/* A jmp rel32 at from to to. */
static void put_jmp(uint8_t *bytes, uint64_t base, uint64_t from, uint64_t to)
{
	int32_t rel = to - (from + 5);

	bytes[from - base] = 0xe9;
	memcpy(bytes + (from - base) + 1, &rel, 4);
}

static void set_up(void)
{
	memset(code, 0x90, sizeof(code));
	/* the second twin jumps to the first cold part */
	put_jmp(code, 0x1000, 0x12c8, 0x1310);
	tables__build(&k, kallsyms, "xfs_x 4096 0 - Live 0x9000\ndm 4096 0 - Live 0xb000\n");
	tables__text(k.kernel, code);
	for (size_t i = 0; i < k.nmodules; i++)
		tables__text(k.modules[i], i ? module_code : other_code);
	kernel_blacklist__apply("0x13c0-0x1440\tblacked\n", k.kernel);
}

static int more(const char *text)
{
	struct spec s;
	int err;

	if (spec__parse(text, true, &s))
		return -1;
	err__clear();
	err = kernel__resolve(k.kernel, k.modules, k.nmodules, &s, &v);
	spec__free(&s);
	return err;
}

static int resolve(const char *text)
{
	functions__free(&v);
	return more(text);
}

static void test_names(void)
{
	is(resolve("plain"), 0, "a name is resolved");
	is(v.len, 1, "a name is one function");
	is(v.data[0].entry, 0x1000, "a name's function is at its address");
	is(v.data[0].ranges.len, 1, "a name's function has one range");
	is(v.data[0].ranges.data[0].size, 0x40, "a name's function has its size");
	is(more("plain_alias"), 0, "an alias is resolved");
	is(v.len, 1, "an alias is the same function");
	is(resolve("__x64_sys_read"), 0, "a system call is resolved");
	is(v.data[0].flags, FUNCTION_SYSCALL, "a system call is flagged: its argument is pt_regs");
	is(resolve("fn_c"), 0, "a function behind padding is resolved");
	is(v.data[0].entry, 0x1550, "a function behind padding starts behind it");
	is(resolve("krn::idle"), 0, "a Rust function is resolved by its readable name");
	is_str(v.data[0].raw, "_RNvC3krn4idle", "a Rust function keeps its raw name");
	is(resolve("krn::*"), 0, "a pattern of readable Rust names is resolved");
	is(resolve("plain+0x10"), 0, "a place in a function is resolved");
	ok(v.len == 1 && v.data[0].flags & FUNCTION_RANGE &&
		   v.data[0].ranges.data[0].vaddr == 0x1010,
	   "it is a selection of the code there");
	is(resolve("plain+0x40"), -EINVAL, "a place after a function's end is none of its");
	is(resolve("only"), 0, "a module's function is resolved by its name alone");
	is_str(v.data[0].object->path, "xfs_x", "a module's function is in the module's object");
}

static int resolve_exported(const char *text)
{
	struct spec s;
	int err;

	functions__free(&v);
	if (spec__parse(text, true, &s))
		return -1;
	s.exported = true;
	err__clear();
	err = kernel__resolve(k.kernel, k.modules, k.nmodules, &s, &v);
	spec__free(&s);
	return err;
}

static void test_exported(void)
{
	struct object *objects[] = {k.kernel, k.modules[0], k.modules[1]};
	CLEANUP(str__free) struct str all = {0};
	char **words;

	is(resolve_exported("*"), 0, "the kernel's exported functions are resolved");
	words = functions__words(&v, objects, 3);
	for (size_t i = 0; i < v.len; i++) {
		str__printf(&all, "%s%s", i ? " " : "", words[i] ? words[i] : "?");
		free(words[i]);
	}
	free(words);
	is_str(all.data, "plain fn_c kernel:shared dm:shared dm_get",
	       "exported functions have their name, or with their module if another one has it: "
	       "no local ones, and none that can't be traced");
	is(resolve_exported("plain_alias"), 0, "an exported alias is resolved");
	is_str(v.data[0].name, "plain_alias", "an exported alias is shown as it was asked for");
	is(resolve_exported("split"), -ENOENT, "a function that is not exported is refused");
	ok(strstr(err__text(), "leave out --exported"), "the message says what to do: %s",
	   err__text());
	is(resolve_exported("xfs_x:*"), -ENOENT, "a module that exports nothing is refused");
	is(resolve_exported("dm:*"), 0, "what a module exports is resolved");
	is(v.len, 2, "a module exports what kallsyms shows as global");
}

/* A kernel whose kallsyms has functions only. */
static void test_unknown_exports(void)
{
	struct kernel_objects whole = k;

	tables__build(&k,
		      "1000 T _stext\n1000 T plain\n2000 T _etext\n9000 T given\t[dm]\n"
		      "9080 r data\t[dm]\n",
		      "dm 4096 0 - Live 0x9000\n");
	tables__text(k.kernel, code);
	tables__text(k.modules[0], module_code);
	is(resolve_exported("plain"), -ENOTSUP, "it is refused where kallsyms doesn't tell");
	ok(strstr(err__text(), "CONFIG_KALLSYMS_ALL"), "the message says why: %s", err__text());
	is(resolve_exported("dm:given"), 0, "what a module exports is known there, too");
	functions__free(&v);
	kernel_objects__free(&k);
	k = whole;
}

static void test_parts(void)
{
	is(resolve("split"), 0, "a function with parts is resolved");
	is(v.len, 2, "a function with a part is two functions");
	is(v.data[0].ranges.len, 2, "a function's cold part is a further range of it");
	is_str(v.data[0].ranges.data[1].name, "split.cold", "a cold part's range has its own name");
	is_str(v.data[1].name, "split.part.0", "a function's other part is a function of its own");
	is(v.data[1].ranges.data[1].vaddr, 0x1180, "a part has a cold part of its own");
	is(more("split.part.0"), 0, "a part is resolved by its name");
	is(v.len, 2, "a part that was there already is traced once");
	is(resolve("split.cold"), 0, "a cold part is resolved by its name");
	is(v.data[0].flags, FUNCTION_RANGE, "a cold part by its name is a range without entry");
}

static void test_variants(void)
{
	is(resolve("gone"), 0, "a name of which only variants are left is resolved");
	is(v.len, 2, "a name of which only variants are left is all of them");
	is_str(v.data[0].name, "gone.constprop.0", "a variant goes by its own name");
	is(v.data[1].ranges.len, 2, "a variant has its cold part");
	is(resolve("clash"), -ENOTUNIQ, "a name of variants in two objects is ambiguous");
	is(resolve("dm:clash"), 0, "a name of variants in two objects is resolved by its module");
}

static void test_ambiguous(void)
{
	is(resolve("m_show"), -ENOTUNIQ, "a name of two functions is ambiguous");
	ok(strstr(err__text(), "0x1040") && strstr(err__text(), "0x1080"),
	   "of a name of two functions the message lists both");
	ok(!strstr(err__text(), "MODULE:"),
	   "of a name of two functions in one object no module is suggested");
	is(resolve("both"), -ENOTUNIQ, "a name in the kernel and in a module is ambiguous");
	ok(strstr(err__text(), "0x9000 (xfs_x)"),
	   "of a name in the kernel and in a module the message has the module");
	ok(strstr(err__text(), "MODULE:FUNC"),
	   "of a name in the kernel and in a module the message says how to tell them apart");
	is(resolve("xfs-x:both"), 0, "module:name is resolved, with - or _");
	is(v.data[0].entry, 0x9000, "module:name is the module's");
	is(resolve("kernel:both"), 0, "kernel:name is resolved");
	is(v.data[0].entry, 0x1440, "kernel:name is the kernel's own");
	is(resolve("0x1080"), 0, "an address is resolved");
	is_str(v.data[0].name, "m_show", "an address is the function that starts there");
	is(v.len, 1, "an address is one function");
}

static void test_twins(void)
{
	is(resolve("0x12c0"), 0, "one of two functions of a name is resolved by its address");
	is(v.data[0].ranges.len, 2,
	   "one of two functions of a name has the cold part that it jumps to");
	is(v.data[0].ranges.data[1].vaddr, 0x1300,
	   "one of two functions of a name has no other cold part");
	is(resolve("0x1280"), 0,
	   "the other one of two functions of a name is resolved by its address");
	is(v.data[0].ranges.len, 1,
	   "one of two functions of a name has no cold part that isn't proved to be its own");
	is(resolve("solo"), 0, "a function with two cold parts of its name is resolved");
	is(v.data[0].ranges.len, 1,
	   "a function with two cold parts of its name takes neither unproved");
}

static void test_globs(void)
{
	is(resolve("fn_*"), 0, "a pattern is resolved");
	is(v.len, 3, "a pattern is every function that matches");
	is(resolve("m_sho?"), 0, "a pattern that matches functions of the same name is resolved");
	is(v.len, 2, "a pattern takes functions of the same name");
	is(resolve("plain*"), 0, "a pattern that matches aliases is resolved");
	is(v.len, 1, "aliases that a pattern matches are one function");
	is(resolve("dm:*"), 0, "a pattern in one module is resolved");
	is(v.len, 4, "a pattern in one module is that module's functions");
	is(resolve("spl*"), 0, "a pattern that matches parts is resolved");
	is(v.len, 2,
	   "a pattern that matches parts has no function twice, and cold parts as ranges");
	is(resolve("black*"), -EINVAL, "a pattern of blacklisted functions only is refused");
	is(resolve("b*"), 0, "a pattern that matches blacklisted functions and others is resolved");
	is(v.len, 2, "a pattern leaves blacklisted functions out");
	is(resolve("zz*"), -ENOENT, "a pattern that matches none is refused");
}

static void test_addresses(void)
{
	is(resolve("0x1010"), 0, "an address inside a function is resolved");
	is(v.data[0].entry, 0x1010, "a function from an address inside of another starts there");
	is(v.data[0].ranges.data[0].size, 0x30,
	   "a function from an address inside of another goes to that one's end");
	is_str(v.data[0].name, "plain+0x10",
	       "a function from an address inside of another is named after that");
	is_str(v.data[0].ranges.data[0].name, "plain",
	       "the range of an address inside a function has the function's name");
	is(v.data[0].ranges.data[0].offset, 0x10,
	   "the range of an address inside a function has its offset there");
	is(more("0x1010"), 0, "an address inside a function is resolved a second time");
	is(v.len, 1, "an address inside a function that was there already is the same function");
	is(resolve("0x1010:here"), 0,
	   "an address inside a function is resolved with a name of one's own");
	is_str(v.data[0].name, "here", "an address with a name of one's own has that name");
	is_str(v.data[0].ranges.data[0].name, "here",
	       "the range of an address with a name of one's own has that name");
	is(v.data[0].ranges.data[0].offset, 0,
	   "the range of an address with a name of one's own starts at offset 0");
	is(resolve("0x1000:mine"), 0, "a function's address is resolved with a name of one's own");
	is_str(v.data[0].name, "mine", "a function with a name of one's own has that name");
	is_str(v.data[0].ranges.data[0].name, "mine",
	       "the range of a function with a name of one's own has that name");
	is(resolve("0x9040"), 0, "an address in a module is resolved");
	is_str(v.data[0].object->path, "xfs_x", "an address in a module is the module's");
	is(resolve("0x8000"), -EINVAL, "an address outside of the kernel's code is refused");
	is(resolve("0x1548"), -EINVAL, "an address in padding is refused");
	is(resolve("0x1ff0+0x11"), -EINVAL, "a range beyond the end of the code is refused");
	is(resolve("0x0"), -EINVAL, "address 0 is refused");
	is(resolve("0xffffffffffffffff"), -EINVAL, "the last address is refused");
	is(resolve("0x13d0+0x8"), -EINVAL, "a range on the blacklist is refused");
}

static bool is_part(const struct range *r, uint64_t vaddr, uint64_t size, uint64_t offset)
{
	return r->vaddr == vaddr && r->size == size && r->offset == offset;
}

/* A range is of the functions that hold it. */
static void test_ranges(void)
{
	is(resolve("0x1010+0x8"), 0, "a range is resolved");
	is(v.data[0].flags, FUNCTION_RANGE, "a range has no entry");
	is_str(v.data[0].name, "plain", "a range goes by the function that it is in");
	ok(is_part(v.data[0].ranges.data, 0x1010, 8, 0x10),
	   "a range has its offset in its function");
	is(more("0x1010+0x8"), 0, "a range is resolved a second time");
	is(more("0x1014+0x10"), 0, "a range that overlaps another is resolved");
	functions__join(&v);
	ok(v.len == 1 && v.data[0].ranges.len == 2, "ranges that overlap are of one function");
	ok(is_part(&v.data[0].ranges.data[0], 0x1010, 4, 0x10) &&
		   is_part(&v.data[0].ranges.data[1], 0x1014, 0x10, 0x14),
	   "ranges that overlap have no byte twice, and both starts");
	is(more("plain"), 0, "a function is resolved behind ranges of it");
	functions__join(&v);
	ok(v.len == 1 && !v.data[0].flags && v.data[0].ranges.len == 1,
	   "ranges are part of their function where that is traced whole");
	is(resolve("0x1144+0x8"), 0, "a range in a cold part is resolved");
	is_str(v.data[0].name, "split", "a range in a cold part is the function's");
	is_str(v.data[0].ranges.data[0].name, "split.cold",
	       "a range in a cold part has the part's name");
	is(v.data[0].ranges.data[0].offset, 4,
	   "a range in a cold part counts from the part's start");
	is(resolve("0x14f0+0x60"), 0, "a range over several functions is resolved");
	is(v.len, 3, "a range over several functions is a range of each");
	is_str(v.data[1].name, "fn_b", "a range over several functions has the one in the middle");
	ok(is_part(v.data[0].ranges.data, 0x14f0, 0x10, 0x30) &&
		   is_part(v.data[1].ranges.data, 0x1500, 0x40, 0) &&
		   is_part(v.data[2].ranges.data, 0x1540, 0x10, 0),
	   "a range over several functions has of each what it covers");
}

static void test_refusals(void)
{
	is(resolve("blacked"), -EINVAL, "a blacklisted function is refused");
	ok(strstr(err__text(), "blacked") && strstr(err__text(), "kprobe blacklist"),
	   "a blacklisted function is refused by name with the reason");
	is(v.len, 0, "a blacklisted function is not added");
	is(resolve("vfs_raed"), -ENOENT, "an unknown name is refused");
	ok(strstr(err__text(), "did you mean vfs_read"),
	   "for an unknown name a close one is suggested");
	is(resolve("sys_read"), -ENOENT, "an incomplete name is refused");
	ok(strstr(err__text(), "did you mean __x64_sys_read"),
	   "for a system call its function is suggested first");
	is(resolve("qqqqqqqqqqqq"), -ENOENT, "a name like no other is refused");
	ok(!strstr(err__text(), "did you mean"), "for a name like no other nothing is suggested");
	is(resolve("nosuch:only"), -ENOENT, "an unknown module is refused");
	is(resolve("dm:onl"), -ENOENT, "a name in a module that doesn't have it is refused");
	ok(!strstr(err__text(), "plain"),
	   "for a name in a module none of the kernel's is suggested");
	is(resolve("main.c:12"), -EINVAL, "a line is refused");
}

int main(void)
{
	set_up();
	test_names();
	test_exported();
	test_unknown_exports();
	test_parts();
	test_variants();
	test_ambiguous();
	test_twins();
	test_globs();
	test_addresses();
	test_ranges();
	test_refusals();
	functions__free(&v);
	kernel_objects__free(&k);
	return tap__done();
}
