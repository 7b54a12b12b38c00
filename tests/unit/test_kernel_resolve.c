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
	"1580 t vfs_read\n15c0 t _RNvC3krn4idle\n15d0 t next\n15e0 t solo\n15f0 t solo.cold\n1600 t solo.cold\n2000 T _etext\n"
	"9000 t both\t[xfs_x]\n9040 t only\t[xfs_x]\n9080 r data\t[xfs_x]\n"
	"b000 t clash.isra.0\t[dm]\nb040 t only_dm\t[dm]\nb080 r data\t[dm]\n";

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
	is(resolve("plain"), 0, "a name");
	is(v.len, 1, "is one function");
	is(v.data[0].entry, 0x1000, "at its address");
	is(v.data[0].ranges.len, 1, "of one range");
	is(v.data[0].ranges.data[0].size, 0x40, "of its size");
	is(more("plain_alias"), 0, "an alias");
	is(v.len, 1, "is the same function");
	is(resolve("__x64_sys_read"), 0, "a system call");
	is(v.data[0].flags, FUNCTION_SYSCALL, "is flagged: its argument is pt_regs");
	is(resolve("fn_c"), 0, "a function behind padding");
	is(v.data[0].entry, 0x1550, "starts behind it");
	is(resolve("krn::idle"), 0, "a Rust function by its readable name");
	is_str(v.data[0].raw, "_RNvC3krn4idle", "keeps its raw one");
	is(resolve("krn::*"), 0, "a pattern, too");
	is(resolve("only"), 0, "a module's function by its name alone");
	is_str(v.data[0].object->path, "xfs_x", "in the module's object");
}

static void test_parts(void)
{
	is(resolve("split"), 0, "a function with parts");
	is(v.len, 2, "is two functions");
	is(v.data[0].ranges.len, 2, "the cold part is a further range");
	is_str(v.data[0].ranges.data[1].name, "split.cold", "under its own name");
	is_str(v.data[1].name, "split.part.0", "the other part is a function");
	is(v.data[1].ranges.data[1].vaddr, 0x1180, "with a cold part of its own");
	is(more("split.part.0"), 0, "named again");
	is(v.len, 2, "it is traced once");
	is(resolve("split.cold"), 0, "a cold part by name");
	is(v.data[0].flags, FUNCTION_RANGE, "is a range without entry");
}

static void test_variants(void)
{
	is(resolve("gone"), 0, "a name of which variants are left");
	is(v.len, 2, "is the variants");
	is_str(v.data[0].name, "gone.constprop.0", "under their names");
	is(v.data[1].ranges.len, 2, "with their cold parts");
	is(resolve("clash"), -ENOTUNIQ, "variants in two objects are not one function");
	is(resolve("dm:clash"), 0, "the module tells");
}

static void test_ambiguous(void)
{
	is(resolve("m_show"), -ENOTUNIQ, "a name of two functions");
	ok(strstr(err__text(), "0x1040") && strstr(err__text(), "0x1080"),
	   "the message lists both");
	ok(!strstr(err__text(), "MODULE:"), "a module would not tell them apart");
	is(resolve("both"), -ENOTUNIQ, "a name in the kernel and in a module");
	ok(strstr(err__text(), "0x9000 (xfs_x)"), "the message names the module");
	ok(strstr(err__text(), "MODULE:FUNC"), "and how to tell them apart");
	is(resolve("xfs-x:both"), 0, "module:name, - or _");
	is(v.data[0].entry, 0x9000, "is the module's");
	is(resolve("kernel:both"), 0, "kernel:name");
	is(v.data[0].entry, 0x1440, "is the kernel's own");
	is(resolve("0x1080"), 0, "an address");
	is_str(v.data[0].name, "m_show", "is the function there");
	is(v.len, 1, "and no other");
}

static void test_twins(void)
{
	is(resolve("0x12c0"), 0, "one of two functions of a name");
	is(v.data[0].ranges.len, 2, "has the cold part it jumps to");
	is(v.data[0].ranges.data[1].vaddr, 0x1300, "and only that");
	is(resolve("0x1280"), 0, "the other");
	is(v.data[0].ranges.len, 1, "has none that is proved");
	is(resolve("solo"), 0, "a function with two cold parts of its name");
	is(v.data[0].ranges.len, 1, "takes neither unproved");
}

static void test_globs(void)
{
	is(resolve("fn_*"), 0, "a pattern");
	is(v.len, 3, "is every function that matches");
	is(resolve("m_sho?"), 0, "a pattern takes");
	is(v.len, 2, "functions of the same name");
	is(resolve("plain*"), 0, "aliases");
	is(v.len, 1, "are one function");
	is(resolve("dm:*"), 0, "a pattern in one module");
	is(v.len, 2, "is its functions");
	is(resolve("spl*"), 0, "a pattern that matches parts");
	is(v.len, 2, "has no function twice, and cold parts as ranges");
	is(resolve("black*"), -EINVAL, "a pattern of blacklisted functions only");
	is(resolve("b*"), 0, "a pattern of more");
	is(v.len, 2, "leaves them out");
	is(resolve("zz*"), -ENOENT, "a pattern that matches none");
}

static void test_addresses(void)
{
	is(resolve("0x1010"), 0, "an address inside a function");
	is(v.data[0].entry, 0x1010, "starts there");
	is(v.data[0].ranges.data[0].size, 0x30, "and goes to the function's end");
	is_str(v.data[0].name, "plain+0x10", "named after it");
	is_str(v.data[0].ranges.data[0].name, "plain", "in which it stands");
	is(v.data[0].ranges.data[0].offset, 0x10, "so far behind its start");
	is(more("0x1010"), 0, "again");
	is(v.len, 1, "is the same");
	is(resolve("0x1010:here"), 0, "with a name of one's own");
	is_str(v.data[0].name, "here", "is that");
	is_str(v.data[0].ranges.data[0].name, "here", "wherever it is shown");
	is(v.data[0].ranges.data[0].offset, 0, "and begins there");
	is(resolve("0x1000:mine"), 0, "a function under a name of one's own");
	is_str(v.data[0].name, "mine", "is that");
	is_str(v.data[0].ranges.data[0].name, "mine", "wherever it is shown");
	is(resolve("0x9040"), 0, "an address in a module");
	is_str(v.data[0].object->path, "xfs_x", "is the module's");
	is(resolve("0x8000"), -EINVAL, "an address outside");
	is(resolve("0x1548"), -EINVAL, "an address in padding");
	is(resolve("0x1ff0+0x11"), -EINVAL, "a range over the end");
	is(resolve("0x0"), -EINVAL, "address 0");
	is(resolve("0xffffffffffffffff"), -EINVAL, "the last address");
	is(resolve("0x13d0+0x8"), -EINVAL, "a range on the blacklist");
}

static bool is_part(const struct range *r, uint64_t vaddr, uint64_t size, uint64_t offset)
{
	return r->vaddr == vaddr && r->size == size && r->offset == offset;
}

/* A range is of the functions that hold it. */
static void test_ranges(void)
{
	is(resolve("0x1010+0x8"), 0, "a range");
	is(v.data[0].flags, FUNCTION_RANGE, "has no entry");
	is_str(v.data[0].name, "plain", "goes by the function that it is in");
	ok(is_part(v.data[0].ranges.data, 0x1010, 8, 0x10), "at its place there");
	is(more("0x1010+0x8"), 0, "again");
	is(more("0x1014+0x10"), 0, "and one that overlaps it");
	functions__join(&v);
	ok(v.len == 1 && v.data[0].ranges.len == 2, "are of one function");
	ok(is_part(&v.data[0].ranges.data[0], 0x1010, 4, 0x10) &&
		   is_part(&v.data[0].ranges.data[1], 0x1014, 0x10, 0x14),
	   "with no byte twice, and both starts");
	is(more("plain"), 0, "with the function itself");
	functions__join(&v);
	ok(v.len == 1 && !v.data[0].flags && v.data[0].ranges.len == 1, "it is that");
	is(resolve("0x1144+0x8"), 0, "a range in a cold part");
	is_str(v.data[0].name, "split", "is the function's");
	is_str(v.data[0].ranges.data[0].name, "split.cold", "under the part's name");
	is(v.data[0].ranges.data[0].offset, 4, "and counts from the part's start");
	is(resolve("0x14f0+0x60"), 0, "a range over several functions");
	is(v.len, 3, "is of each");
	is_str(v.data[1].name, "fn_b", "the one in the middle, too");
	ok(is_part(v.data[0].ranges.data, 0x14f0, 0x10, 0x30) &&
		   is_part(v.data[1].ranges.data, 0x1500, 0x40, 0) &&
		   is_part(v.data[2].ranges.data, 0x1540, 0x10, 0),
	   "with what it has of it");
}

static void test_refusals(void)
{
	is(resolve("blacked"), -EINVAL, "a blacklisted function");
	ok(strstr(err__text(), "blacked") && strstr(err__text(), "kprobe blacklist"),
	   "is refused by name with the reason");
	is(v.len, 0, "and not added");
	is(resolve("vfs_raed"), -ENOENT, "an unknown name");
	ok(strstr(err__text(), "did you mean vfs_read"), "suggests a close one");
	is(resolve("sys_read"), -ENOENT, "an incomplete name");
	ok(strstr(err__text(), "__x64_sys_read"), "suggests one that contains it");
	is(resolve("qqqqqqqqqqqq"), -ENOENT, "a name like none");
	ok(!strstr(err__text(), "did you mean"), "suggests nothing");
	is(resolve("nosuch:only"), -ENOENT, "an unknown module");
	is(resolve("dm:onl"), -ENOENT, "a name in another module");
	ok(!strstr(err__text(), "plain"), "suggests from that module");
	is(resolve("main.c:12"), -EINVAL, "a line");
}

int main(void)
{
	set_up();
	test_names();
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
