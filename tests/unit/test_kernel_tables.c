// SPDX-License-Identifier: BSD-2-Clause
/* Kernel objects made from /proc/kallsyms and /proc/modules; the tables are made up, some of them
 * hostile. */
#include <errno.h>
#include "kernel_tables.h"
#include "tap.h"

static int parse(const char *text, size_t len, kallsym_vec *v)
{
	char *copy = xmalloc(len + 1);
	int err;

	memcpy(copy, text, len);
	copy[len] = 0;
	err = kallsyms__parse(copy, len, v);
	/* the strings are of no use without the text: only counts and addresses are looked at */
	free(copy);
	return err;
}

static void test_format(void)
{
	char text[] = "ffffffff81000000 T _stext\nffffffff81000010 t foo.cold\n"
		      "ffffffffc0001000 t bar\t[xfs]\n";
	char spaced[] = "1 t .L0 \n2 t .L0 \t[m]\n";
	kallsym_vec v = {0};

	is(kallsyms__parse(text, strlen(text), &v), 0, "a table parses");
	is(v.len, 3, "each line is a symbol");
	is(v.data[0].vaddr, 0xffffffff81000000, "a symbol has its address");
	is(v.data[0].type, 'T', "a symbol has its type");
	is_str(v.data[1].name, "foo.cold", "a symbol has its name");
	ok(!v.data[1].module, "a symbol of the kernel itself has no module");
	is_str(v.data[2].name, "bar", "a symbol of a module has its name");
	is_str(v.data[2].module, "xfs", "a symbol of a module has the module without brackets");
	vec__free(&v);
	is(kallsyms__parse(spaced, strlen(spaced), &v), 0, "a name may end in a space");
	is_str(v.data[0].name, ".L0 ", "which belongs to it");
	is_str(v.data[1].module, "m", "in modules, too");
	vec__free(&v);
}

static void test_hostile(void)
{
	static const char *const bad[] = {
		"\n",
		" ",
		"ffffffff81000000",
		"ffffffff81000000 ",
		"ffffffff81000000 T",
		"ffffffff81000000 T ",
		"ffffffff81000000 T \n",
		"g T name\n",
		"-1 T name\n",
		"1ffffffff81000000 T name\n",
		"ffffffff81000000 T name\t\n",
		"ffffffff81000000 T name\t[\n",
		"ffffffff81000000 T name\t[]\n",
		"ffffffff81000000 T name\t[x\n",
		"ffffffff81000000 T name\tx]\n",
		"ffffffff81000000 T name\t[x] y\n",
		"ffffffff81000000 T name [x]\n",
		"ffffffff81000000 T name  \n",
		"ffffffff81000000  name\n",
		"ffffffff81000000 T name\r\n",
	};
	kallsym_vec v = {0};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		is(parse(bad[i], strlen(bad[i]), &v), -EPROTO,
		   "a symbol's line of bad form %zu is refused", i);
		is(v.len, 0, "of a refused table nothing is left");
	}
	is(parse("1 T a\0b\n", 8, &v), -EPROTO,
	   "a symbol's line with a NUL in the name is refused");
	is(parse("1 T a\n2 T b", 11, &v), 0, "the last line may lack its end");
	is(v.len, 2, "a last line without end counts");
	vec__free(&v);
	is(parse("1 T a\t[m]", 9, &v), 0, "a last line without end may have a module");
	vec__free(&v);
}

static void test_hidden(void)
{
	char modules[] = "xfs 4096 0 - Live 0x0000000000000000\n";
	kernel_module_vec m = {0};
	kallsym_vec v = {0};

	is(parse("0000000000000000 T a\n0000000000000000 t b\n", 42, &v), -EPERM,
	   "a table with all addresses zero is hidden");
	is(parse("0000000000000000 A a\n0000000000001000 t b\n", 42, &v), 0,
	   "a per-CPU symbol may be at 0");
	vec__free(&v);
	is(kernel_modules__parse(modules, strlen(modules), &m), -EPERM,
	   "a module's address is hidden too");
}

static void test_modules(void)
{
	char text[] = "xfs 1970176 0 - Live 0xffffffffc0604000\n"
		      "libcrc32c 16384 1 xfs, Live 0xffffffffc05ff000 (OE)\n"
		      "gone 16384 0 - Unloading 0xffffffffc0700000\n";
	static const char *const bad[] = {
		"xfs\n",
		"xfs 1 0 - Live\n",
		"xfs x 0 - Live 0xffffffffc0604000\n",
		"xfs 1 0 - Live ffffffffc0604000\n",
		"xfs 4096 0 - Live 0xfffffffffffff800\n",
		"xfs 1 0  Live 0xffffffffc0604000\n",
		"xfs 1 0 - Live 0xffffffffc0604000g\n",
	};
	kernel_module_vec m = {0};

	is(kernel_modules__parse(text, strlen(text), &m), 0, "a module table parses");
	is(m.len, 2, "modules that are live are in the list");
	is_str(m.data[1].name, "libcrc32c", "a module has its name");
	is(m.data[1].base, 0xffffffffc05ff000, "a module has its address");
	is(m.data[0].size, 1970176, "a module has its size");
	vec__free(&m);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		autofree char *copy = xstrdup(bad[i]);

		is(kernel_modules__parse(copy, strlen(copy), &m), -EPROTO,
		   "a module's line of bad form %zu is refused", i);
	}
}

static const struct symbol *find(const struct object *o, const char *name)
{
	const struct symbol *s;

	vec__each (s, &o->symbols)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

static void test_objects(void)
{
	struct kernel_objects k = {0};
	const struct object *dummy, *xfs;

	is(tables__build(
		   &k,
		   "0 A percpu\n1000 T _text\n1000 T _stext\n1000 T first\n1010 t __pfx_second\n"
		   "1020 t second\n1020 W second_alias\n1040 T __sched_text_start\n1040 t third\n"
		   "1080 t third.cold\n1100 T _etext\n2000 D data\n3000 T _sinittext\n"
		   "3000 t init_only\n9000 t mine\t[xfs]\n9080 r ro\t[xfs]\n9040 t other\t[xfs]\n"
		   "b000 t stray\t[xfs]\n8000 t late\t[dummy]\n7000 t prog\t[bpf]\n",
		   "xfs 8192 0 - Live 0x9000\ndummy 4096 0 - Live 0x8000\n"),
	   0, "the objects of the kernel and its modules are built");
	is(k.kernel->symbols.len, 5,
	   "the kernel's functions, without places, padding, data and init code");
	is(find(k.kernel, "first")->size, 0x10,
	   "a function ends where the next one's padding starts");
	is(find(k.kernel, "second")->size, 0x20, "a function ends at the next function");
	is(find(k.kernel, "third.cold")->size, 0x80, "the last function ends at _etext");
	ok(find(k.kernel, "second_alias") && find(k.kernel, "second_alias")->global,
	   "aliases are kept");
	ok(!find(k.kernel, "second")->global, "a static function is not global");
	is(k.nmodules, 2, "modules are objects");
	dummy = k.modules[0];
	xfs = k.modules[1];
	is_str(xfs->path, "xfs", "a module's object is named after the module");
	is(xfs->kind, OBJECT_MODULE, "a module's object is of the module kind");
	is(xfs->symbols.len, 2, "a module's object has the functions in its range");
	is(xfs->listed, 4,
	   "a module's object knows how many symbols of any kind the kernel lists of it");
	is(find(xfs, "mine")->size, 0x40, "table order does not matter");
	is(find(xfs, "other")->size, 0x40, "data ends a function");
	is_str(find(xfs, "mine")->module, "xfs", "a symbol knows its module");
	is(find(dummy, "late")->size, 0x1000, "a module's last function ends at the module's end");
	is(kernel_file__of(xfs)->end, 0x9080, "a module's code ends with its last function");
	kernel_objects__free(&k);
	is(tables__build(&k, "1000 T foo\n2000 T _etext\n", ""), -EPROTO,
	   "a table without _stext is refused");
	is(tables__build(&k, "1000 T _stext\nffffffffffffffff T _etext\n", ""), -EPROTO,
	   "a kernel of an absurd size is refused");
}

static void test_trim(void)
{
	struct kernel_objects k = {0};
	static uint8_t code[0x3000];

	tables__build(&k, "1000 T _stext\n1100 T _etext\n9000 t f\t[m]\n9ff0 t last\t[m]\n",
		      "m 12288 0 - Live 0x9000\n");
	memset(code, 0x90, sizeof(code));
	memset(code + 0x1204, 0, 0x2000 - 0x1204);
	tables__text(k.modules[0], code);
	kernel_object__trim(k.modules[0]);
	is(find(k.modules[0], "last")->size, 0x9000 + 0x120b - 0x9ff0,
	   "the last function ends in front of the filling of its page");
	is(find(k.modules[0], "f")->size, 0xff0,
	   "the other functions' ends stay where padding is cut");
	kernel_objects__free(&k);

	tables__build(&k, "1000 T _stext\n1100 T _etext\n9000 t f\t[m]\n",
		      "m 12288 0 - Live 0x9000\n");
	memset(code, 0x90, sizeof(code));
	tables__text(k.modules[0], code);
	kernel_object__trim(k.modules[0]);
	is(find(k.modules[0], "f")->size, 0x3000, "code to the last byte is left as it is");
	kernel_objects__free(&k);
}

static void test_blacklist(void)
{
	struct kernel_objects k = {0};
	const struct noprobe *n;

	tables__build(&k, "1000 T _stext\n1000 t f\n2000 T _etext\n9000 t g\t[m]\n",
		      "m 4096 0 - Live 0x9000\n");
	kernel_blacklist__apply("0x1100-0x1200\tb\n0x1010-0x1020\ta\n0x1180-0x1300\tc\n0x0-0x8\tz\n"
				"rubbish\n0x9010-0x9020\tm [m]\n0x5000-0x4000\tq\n0x1ff0-0x8000",
				k.kernel);
	is(k.kernel->noprobe.len, 3, "the list's ranges in the kernel, those that overlap as one");
	n = object__noprobe_at(k.kernel, 0x12ff);
	ok(n && n->vaddr == 0x1100 && n->size == 0x200,
	   "ranges of the blacklist that overlap are merged");
	ok(n && !strcmp(n->reason, "on the kernel's kprobe blacklist"),
	   "a range of the blacklist has its reason");
	ok(!object__noprobe_at(k.kernel, 0x1020),
	   "the end of a range of the blacklist is exclusive");
	kernel_blacklist__apply(NULL, k.modules[0]);
	is(k.modules[0]->noprobe.len, 0, "without a list nothing is on the blacklist");
	kernel_objects__free(&k);
}

#define FORMAT(fields)                                                                             \
	"name: sys_enter_x\nID: 798\nformat:\n"                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n" fields                        \
	"\nprint fmt: \"dev_name: 0x%08lx\", ((unsigned long)(REC->dev_name))\n"
#define FIELD(type, name) "\tfield:" type name ";\toffset:16;\tsize:8;\tsigned:0;\n"

static void test_syscalls(void)
{
	static const char mount[] = FORMAT(
		FIELD("char * ", "dev_name") FIELD("char * ", "dir_name") FIELD("char * ", "type")
			FIELD("unsigned long ", "flags") FIELD("void * ", "data"));
	static const char young[] = FORMAT(
		FIELD("const char * ", "filename") FIELD("int ", "flags") FIELD("umode_t ", "mode")
			FIELD("__data_loc char[] ", "__filename_val"));

	is(kernel_syscall__count(mount), 5, "mount has five arguments");
	is(kernel_syscall__count(young), 3, "what a pointer leads to is no argument");
	is(kernel_syscall__count(FORMAT("")), 0, "a system call without arguments has none");
	is(kernel_syscall__count(FORMAT(FIELD("int ", "a") FIELD("int ", "b") FIELD("int ", "c")
						FIELD("int ", "d") FIELD("int ", "e")
							FIELD("int ", "f") FIELD("int ", "g"))),
	   -1, "a system call with seven arguments is refused");
	is(kernel_syscall__count("name: sched_switch\n\tfield:int a;\n"), -1,
	   "a tracepoint of something else has no arguments of a system call");
	is(kernel_syscall__flags("__x64_sys_mount"), FUNCTION_SYSCALL,
	   "a system call's wrapper is marked as a system call");
	is(kernel_syscall__flags("__ia32_sys_dup2"), FUNCTION_SYSCALL | FUNCTION_SYSCALL32,
	   "a 32-bit system call's wrapper is marked as one");
	is(kernel_syscall__flags("do_sys_openat2"), 0,
	   "the function that a system call's wrapper calls is not marked as one");
}

static void test_build_id(void)
{
	static const uint8_t notes[] = "\x04\0\0\0\x06\0\0\0\x06\0\0\0Xen\0linux\0\0\0"
				       "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0abcdefghijklmnopqrst";
	struct object o = {0};

	ok(kernel_notes__build_id(notes, sizeof(notes) - 1, &o), "a build-id behind another note");
	is(o.build_id_len, 20, "a build-id has its length");
	ok(!memcmp(o.build_id, "abcdefghijklmnopqrst", 20), "a build-id has its bytes");
	for (size_t len = 0; len < sizeof(notes) - 1; len++) {
		uint8_t *cut = xmalloc(len);

		memcpy(cut, notes, len);
		if (kernel_notes__build_id(cut, len, &o))
			ok(0, "a note cut to %zu bytes has no build-id", len);
		free(cut);
	}
	ok(1, "a note cut short at any byte has no build-id");
	ok(!kernel_notes__build_id((const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU",
				   16, &o),
	   "a note of absurd lengths has no build-id");
}

int main(void)
{
	test_format();
	test_hostile();
	test_hidden();
	test_modules();
	test_objects();
	test_trim();
	test_blacklist();
	test_syscalls();
	test_build_id();
	return tap__done();
}
