// SPDX-License-Identifier: BSD-2-Clause
/* What is read from ELF files agrees with nm, readelf and objdump. */
#include <elf.h>
#include <errno.h>
#include "object/dwarf/dwarf.h"
#include "target_fixture.h"

static const char program[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"__attribute__((noinline)) static int inner(int x) { return x * 3 + rand(); }\n"
	"__attribute__((noinline, cold)) void unlikely(int x) { fprintf(stderr, \"%d\", x); abort(); }\n"
	"__attribute__((noinline)) int outer(int x) { if (x > 5) unlikely(x); return inner(x) + 1; }\n"
	"int alias(int x) __attribute__((alias(\"outer\")));\n"
	"static int (*pick(void))(int) { return outer; }\n"
	"int chosen(int) __attribute__((ifunc(\"pick\")));\n"
	"int data_object = 3;\n"
	"__asm__(\".pushsection .text; .globl by_hand; by_hand: nop; 1: ret; inner_label: nop; .popsection\");\n"
	"int main(int c, char **v) { puts(\"x\"); return outer(c) + chosen(c) + (int)strlen(v[0]); }\n";

static void build(void)
{
	write_file("p.c", program);
	run("gcc -O2 -g -o pie p.c");
	run("gcc -O2 -no-pie -fcf-protection=full -Wl,-z,ibtplt -o ibt p.c");
	run("gcc -O2 -no-pie -Wl,-z,now -o now p.c");
	run("gcc -O2 -static -o static p.c");
	run("strip -o stripped pie");
	run("gcc -O2 -shared -fPIC -o lib.so p.c");
	run("objcopy --strip-section-headers pie nosections 2>/dev/null || "
	    "{ cp pie nosections; printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=nosections bs=1 seek=40 conv=notrunc 2>/dev/null; }");
}

/* The symbols are the function symbols that readelf shows, with their sizes, and PLT stubs. */
static void test_symbols(const char *path)
{
	struct object *o = open_or_die(path);
	char line[4096], type[32], bind[32], section[32], name[1024];
	unsigned long long vaddr, size;
	size_t wanted = 0, missing = 0, i;
	FILE *f = tool("readelf --wide --symbols '%s'", path);
	struct map64 seen = {0};

	while (next(f, line)) {
		if (sscanf(line, " %*d: %llx %lli %31s %31s %*s %31s %1023s", &vaddr, &size, type,
			   bind, section, name) != 6 ||
		    (strcmp(type, "FUNC") && strcmp(type, "IFUNC")) || !strcmp(section, "UND"))
			continue;
		name[strcspn(name, "@")] = 0;
		wanted++;
		*map64__put(&seen, vaddr) = 1;
		for (i = object__symbols_from(o, vaddr); i < o->symbols.len; i++)
			if (o->symbols.data[i].vaddr == vaddr &&
			    !strcmp(o->symbols.data[i].name, name) &&
			    o->symbols.data[i].size == size &&
			    (o->symbols.data[i].type == SYMBOL_IFUNC) == !strcmp(type, "IFUNC"))
				break;
		if (i >= o->symbols.len) {
			missing++;
			printf("# missing %s\n", line);
		}
	}
	ok(wanted > 5, "%s: readelf shows functions", path);
	is(missing, 0, "%s: every function that readelf shows is a symbol", path);
	missing = 0;
	for (i = 0; i < o->symbols.len; i++) {
		const struct symbol *s = &o->symbols.data[i];

		missing += s->type != SYMBOL_PLT && !map64__get(&seen, s->vaddr) &&
			   strcmp(s->name, "by_hand") && s->size;
		missing += i && s[-1].vaddr > s->vaddr;
	}
	is(missing, 0, "%s: symbols are in order, and readelf shows each of them", path);
	map64__free(&seen);
	object__free(o);
}

static void test_plt(const char *path, size_t least)
{
	struct object *o = open_or_die(path);
	char line[4096], name[1024];
	unsigned long long vaddr;
	size_t wanted = 0, missing = 0, have = 0, i;
	FILE *f = tool("objdump -d '%s' | grep '@plt>:$'", path);

	while (next(f, line)) {
		if (sscanf(line, "%llx <%1023[^>]>", &vaddr, name) != 2)
			continue;
		wanted++;
		i = object__symbols_from(o, vaddr);
		if (i < o->symbols.len && o->symbols.data[i].type == SYMBOL_PLT &&
		    (!strcmp(o->symbols.data[i].name, name) || !strncmp(name, "*ABS*", 5)))
			continue;
		missing++;
		printf("# %s, got %s\n", line,
		       i < o->symbols.len ? o->symbols.data[i].name : "nothing");
	}
	for (i = 0; i < o->symbols.len; i++)
		have += o->symbols.data[i].type == SYMBOL_PLT;
	ok(wanted >= least, "%s: objdump shows %zu PLT stubs", path, wanted);
	is(missing, 0, "%s: PLT stubs have the names that objdump gives them", path);
	is(have, wanted, "%s: there are as many PLT stubs as objdump shows", path);
	object__free(o);
}

/* A static program's stubs jump to what its IFUNC symbols choose. */
static void test_irelative(const char *path)
{
	struct object *o = open_or_die(path);
	const struct symbol *s, *resolver;
	size_t stubs = 0, bad = 0;

	vec__each (s, &o->symbols) {
		autofree char *name = xstrndup(s->name, strcspn(s->name, "@"));

		if (s->type != SYMBOL_PLT)
			continue;
		stubs++;
		resolver = symbol_named(o, name);
		bad += !resolver || resolver->type != SYMBOL_IFUNC;
	}
	ok(stubs > 3 && !bad, "%s: %zu PLT stubs have the names of IFUNCs", path, stubs);
	object__free(o);
}

static void test_segments(const char *path)
{
	struct object *o = open_or_die(path);
	char line[4096], flags[8];
	unsigned long long offset, vaddr, size;
	size_t n = 0, bad = 0;
	FILE *f = tool("readelf --wide --segments '%s'", path);

	while (next(f, line)) {
		if (sscanf(line, " LOAD %llx %llx %*x %llx %*x %3c", &offset, &vaddr, &size,
			   flags) != 4)
			continue;
		bad += n >= o->segments.len || o->segments.data[n].vaddr != vaddr ||
		       o->segments.data[n].offset != offset || o->segments.data[n].size != size ||
		       o->segments.data[n].exec != (flags[2] == 'E');
		n++;
	}
	ok(n == o->segments.len && !bad, "%s: segments are as readelf shows them", path);
	object__free(o);
}

static void test_frames(const char *path)
{
	struct object *o = open_or_die(path);
	char line[4096], *pc;
	unsigned long long start, end;
	size_t n = 0, bad = 0, fdes = 0;
	const struct frame *frame;
	FILE *f =
		tool("readelf --wide --debug-dump=frames '%s' 2>/dev/null | grep 'FDE cie='", path);

	while (next(f, line)) {
		pc = strstr(line, "pc=");
		if (!pc || sscanf(pc, "pc=%llx..%llx", &start, &end) != 2 || start == end)
			continue;
		frame = object__frame_at(o, start);
		bad += !frame || frame->vaddr != start || frame->vaddr + frame->size != end;
		n++;
	}
	vec__each (frame, &o->frames)
		fdes += !frame->found;
	ok(n > 2 && n == fdes && !bad,
	   "%s: %zu frames are as readelf shows them (%zu bad, have %zu)", path, n, bad, fdes);
	object__free(o);
}

/* A cold part is one whose first row in readelf's table has a CFA other than rsp+8. */
static void test_parts(const char *path)
{
	struct object *o = open_or_die(path);
	char line[4096], cfa[64], *pc;
	unsigned long long start = 0, at;
	size_t bad = 0, parts = 0, n = 0;
	const struct frame *frame;
	bool want = false;
	FILE *f = tool("readelf --wide --debug-dump=frames-interp '%s' 2>/dev/null", path);

	while (next(f, line)) {
		pc = strstr(line, "FDE cie=") ? strstr(line, "pc=") : NULL;
		if (pc && sscanf(pc, "pc=%llx", &start) == 1)
			want = true;
		if (!want || sscanf(line, "%llx %63s", &at, cfa) != 2 || at != start ||
		    !strchr(cfa, '+'))
			continue;
		want = false;
		frame = object__frame_at(o, start);
		bad += !frame || frame->part != (strcmp(cfa, "rsp+8") != 0);
		parts += frame && frame->part;
		n++;
	}
	ok(n && !bad, "%s: cold parts are as readelf's rows show them (%zu of %zu, %zu bad)", path,
	   parts, n, bad);
	object__free(o);
}

#define COLUMNS_MAX 24

static unsigned split(char *line, char *words[COLUMNS_MAX])
{
	unsigned n = 0;

	for (char *word = strtok(line, " \n"); word && n < COLUMNS_MAX; word = strtok(NULL, " \n"))
		words[n++] = word;
	return n;
}

/* What a row of readelf's table says of the frame pointer; fp and ret: the columns. */
static enum frame_link link_of_row(char *words[], unsigned fp, unsigned ret)
{
	if (!strcmp(words[ret], "u"))
		return FRAME_OUTERMOST;
	return !strcmp(words[1], "rbp+16") && fp && !strcmp(words[fp], "c-16") &&
			       !strcmp(words[ret], "c-8")
		       ? FRAME_POINTER
		       : FRAME_NO_POINTER;
}

/* Each row of readelf's table says whether the frame pointer leads on. */
static void test_links(const char *path, size_t least)
{
	struct object *o = open_or_die(path);
	char line[4096], *words[COLUMNS_MAX];
	size_t rows = 0, bad = 0, by_link[FRAME_OUTERMOST + 1] = {0};
	unsigned n, columns = 0, fp = 0;
	bool in_fde = false;
	FILE *f = tool("readelf --wide --debug-dump=frames-interp '%s' 2>/dev/null", path);

	while (next(f, line)) {
		enum frame_link want;
		uint64_t at;

		if (strstr(line, " CIE ") || strstr(line, " FDE ")) {
			in_fde = strstr(line, " FDE ");
			continue;
		}
		n = split(line, words);
		if (n > 1 && !strcmp(words[0], "LOC")) {
			columns = n;
			for (fp = n - 1; fp && strcmp(words[fp], "rbp"); fp--)
				;
			continue;
		}
		if (!in_fde || n != columns || n < 3 || !strcmp(words[1], "ZERO"))
			continue;
		at = strtoull(words[0], NULL, 16);
		want = link_of_row(words, fp, n - 1);
		bad += object__frame_link(o, at) != want;
		by_link[want]++;
		rows++;
	}
	ok(rows && !bad && by_link[FRAME_POINTER] >= least,
	   "%s: the frame pointer leads on where readelf's rows show it (%zu of %zu, %zu bad)",
	   path, by_link[FRAME_POINTER], rows, bad);
	object__free(o);
}

static void test_build_id(const char *path)
{
	struct object *o = open_or_die(path);
	char line[4096], id[64] = "", got[64] = "";
	FILE *f = tool("readelf --notes '%s' 2>/dev/null", path);
	size_t i;

	while (next(f, line))
		sscanf(line, " Build ID: %63s", id);
	for (i = 0; i < o->build_id_len; i++)
		sprintf(got + 2 * i, "%02x", o->build_id[i]);
	is_str(got, id, "%s: the build-id is as readelf shows it", path);
	object__free(o);
}

static void test_look_ups(void)
{
	struct object *o = open_or_die("pie");
	const struct symbol *outer = symbol_named(o, "outer"), *hand = symbol_named(o, "by_hand");
	const struct symbol *alias = symbol_named(o, "alias"), *got;
	uint64_t offset, back;
	size_t avail;

	ok(outer && hand && alias && outer->vaddr == alias->vaddr,
	   "aliases of a function are kept");
	got = object__symbol_at(o, outer->vaddr + 3);
	is_str(got ? got->name : NULL, "alias", "of aliases the first by name is shown");
	ok(!object__symbol_at(o, 0x10), "no symbol covers the ELF header");
	ok(!symbol_named(o, "inner_label") || !symbol_named(o, "inner_label")->size,
	   "a label has no size");
	ok(!symbol_named(o, "data_object"), "data is no function");
	ok(object__extent(o, hand) > 0 && object__extent(o, hand) < 64,
	   "a function without size extends to what follows it");
	ok(symbol_named(o, "chosen")->type == SYMBOL_IFUNC,
	   "an IFUNC has a type of symbol of its own");
	ok(object__vaddr_to_offset(o, outer->vaddr, &offset) &&
		   object__offset_to_vaddr(o, offset, &back) && back == outer->vaddr,
	   "a file offset and its address convert both ways");
	ok(object__bytes(o, outer->vaddr, &avail) && avail >= outer->size,
	   "a function has its bytes");
	ok(!object__bytes(o, UINT64_MAX, &avail) && !avail,
	   "the end of the address space has no bytes");
	ok(object__frame_at(o, outer->vaddr) && !object__noprobe_at(o, outer->vaddr),
	   "a function of a program has a frame and may be probed");
	ok(o->pie && o->machine == EM_X86_64 && o->ino,
	   "a PIE is known as one, with its machine and inode");
	object__free(o);
	o = open_or_die("now");
	ok(!o->pie, "a program at a fixed address is not PIE");
	object__free(o);
}

static void test_debug_file(void)
{
	struct object *o;

	run("objcopy --only-keep-debug pie pie.debug && strip -o linked pie && "
	    "objcopy --add-gnu-debuglink=pie.debug linked");
	o = open_or_die("linked");
	ok(symbol_named(o, "inner"),
	   "static functions come from the file that .gnu_debuglink names");
	object__free(o);
	run("rm pie.debug");
	o = open_or_die("stripped");
	ok(!symbol_named(o, "inner") && o->frames.len,
	   "a stripped program has no static functions, but frames");
	object__free(o);
	run("nm pie --format=posix --defined-only | awk '$2==\"t\"{print $1}' > keep && "
	    "objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=keep pie mini 2>/dev/null && "
	    "xz -f mini && cp stripped minidebug && objcopy --add-section .gnu_debugdata=mini.xz minidebug");
	o = open_or_die("minidebug");
	ok(symbol_named(o, "inner"), "static functions come from .gnu_debugdata");
	object__free(o);
	o = open_or_die("nosections");
	ok(o->frames.len > 2, "a file without section headers has frames");
	ok(o->segments.len && object__frame_at(o, o->frames.data[0].vaddr),
	   "a file without section headers has segments, and its frames are found by address");
	object__free(o);
}

static void test_replaced(void)
{
	struct object *o;
	uint8_t before[16];
	const struct symbol *s;
	size_t avail;

	run("cp pie changing");
	o = open_or_die("changing");
	s = symbol_named(o, "outer");
	memcpy(before, object__bytes(o, s->vaddr, &avail), sizeof(before));
	run("dd if=/dev/zero of=changing bs=4096 count=8 conv=notrunc 2>/dev/null");
	ok(!memcmp(before, object__bytes(o, s->vaddr, &avail), sizeof(before)),
	   "a later change of the file does not show");
	object__free(o);
}

static void refused(const char *path, int code, const char *words)
{
	struct object *o = NULL;

	is(object__open(path, &o), -code, "%s is refused", path);
	ok(strstr(err__text(), words) && strstr(err__text(), path),
	   "the message of the refusal names the file and the cause: %s", err__text());
}

static void test_refusals(void)
{
	run("printf '#!/bin/sh -e\\necho' > script; : > empty; mkdir folder; mkfifo fifo; echo text > text");
	run("gcc -c -o p.o p.c; objcopy --only-keep-debug pie only.debug");
	run("cp pie s390; printf '\\026\\0' | dd of=s390 bs=1 seek=18 conv=notrunc 2>/dev/null");
	run("cp pie i386; printf '\\1' | dd of=i386 bs=1 seek=4 conv=notrunc 2>/dev/null; "
	    "printf '\\3\\0' | dd of=i386 bs=1 seek=18 conv=notrunc 2>/dev/null");
	run("head -c 3000 pie > cut");
	refused("missing", ENOENT, "No such file");
	refused("script", ENOEXEC, "name its interpreter");
	refused("empty", ENOEXEC, "not an ELF file");
	refused("text", ENOEXEC, "not an ELF file");
	refused("folder", ENOEXEC, "not a regular file");
	refused("fifo", ENOEXEC, "not a regular file");
	refused("p.o", ENOEXEC, "isn't linked yet");
	refused("only.debug", ENOEXEC, "debug information only");
	refused("s390", ENOEXEC, "s390x");
	refused("i386", ENOEXEC, "i386");
	refused("cut", ENOEXEC, "truncated");
}

static void test_system(const char *path)
{
	if (access(path, R_OK)) {
		ok(true, "%s # SKIP not on this machine", path);
		return;
	}
	test_frames(path);
	test_parts(path);
	test_links(path, 0);
	test_plt(path, 0);
	test_segments(path);
}

int main(void)
{
	static const char *const built[] = {"pie", "ibt", "now", "static", "lib.so"};
	size_t i;

	enter();
	build();
	for (i = 0; i < ARRAY_SIZE(built); i++) {
		test_symbols(built[i]);
		if (strcmp(built[i], "static"))
			test_plt(built[i], 4);
		else
			test_irelative(built[i]);
		test_segments(built[i]);
		test_build_id(built[i]);
		test_frames(built[i]);
		test_parts(built[i]);
		test_links(built[i], strcmp(built[i], "static") ? 0 : 1);
	}
	test_frames("stripped");
	test_look_ups();
	test_debug_file();
	test_replaced();
	test_refusals();
	test_system("/lib/x86_64-linux-gnu/libc.so.6");
	test_system("/lib/x86_64-linux-gnu/libstdc++.so.6");
	test_system("/usr/bin/python3");
	return tap__done();
}
