// SPDX-License-Identifier: BSD-2-Clause
/* Damaged and hostile ELF files give an error or a clean result, never a crash. Runs under the
 * sanitizers. A third of the places; MATRIX=whole: all. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include "target_fixture.h"

static const char program[] =
	"#include <stdexcept>\n#include <cstdio>\n#include <cstdlib>\n"
	"__attribute__((noinline)) int thrower(int x) { if (x > 1) throw std::runtime_error(\"x\"); return rand(); }\n"
	"int main(int c, char **v) { try { puts(v[0]); return thrower(c); } catch (std::exception &e) { return 3; } }\n";

static char *original;
static size_t size;
static unsigned opened, refused;

/* Calls everything that reads what was taken from the file. */
static void use(struct object *o)
{
	static const char *const specs[] = {"main",	"thrower", "thr*",  "thrower(int)",
					    "puts@plt", "0x1100",  "absent"};
	static unsigned uses;
	function_vec v = {0};
	struct function f;
	size_t i, avail;
	uint64_t sum = 0;
	const uint8_t *bytes;

	object__demangle(o);
	for (i = 0; i < ARRAY_SIZE(specs); i++)
		resolve(o, specs[i], &v);
	/* a sanitized process is slow to copy: tests/fuzz/fuzz_lines.c tries more */
	if (uses++ % 256 == 0)
		resolve(o, "p.cc:4", &v);
	functions__free(&v);
	for (i = 0; i < o->symbols.len; i++) {
		sum += object__extent(o, &o->symbols.data[i]);
		bytes = object__bytes(o, o->symbols.data[i].vaddr, &avail);
		sum += bytes ? bytes[0] + bytes[avail - 1] : 0;
	}
	for (i = 0; i < o->frames.len; i++)
		if (object__function_at(o, o->frames.data[i].vaddr, &f)) {
			vec__push(&v, f);
			functions__free(&v);
		}
	/* the reads must not be optimised away */
	__asm__ volatile("" ::"r"(sum));
}

static void try(const char *bytes, size_t len)
{
	struct object *o = NULL;
	int fd = open("bad", O_CREAT | O_TRUNC | O_WRONLY, 0600), err;

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len) {
		puts("Bail out! can't write");
		exit(2);
	}
	close(fd);
	err__clear();
	err = object__open("bad", &o);
	if (err) {
		if (!*err__text()) {
			puts("Bail out! an error without message");
			exit(2);
		}
		refused++;
		return;
	}
	opened++;
	use(o);
	object__free(o);
}

static void report(const char *what)
{
	ok(opened + refused > 0, "damage to %s does no harm: %u opened, %u refused", what, opened,
	   refused);
	opened = refused = 0;
}

static void truncations(void)
{
	size_t len;

	for (len = 0; len < size; len += (len < 1024 ? 13 : 257) * stride())
		try(original, len);
	report("the file's length");
}

/* Each byte of [from, to) in turn becomes 0, 0xff, and another value. */
static void flips(const char *what, size_t from, size_t to, size_t step)
{
	static const unsigned char values[] = {0, 0xff, 0x7f};
	size_t at, i;
	char kept;

	for (at = from; at < to && at < size; at += step * stride()) {
		kept = original[at];
		for (i = 0; i < sizeof(values); i++) {
			original[at] = values[i];
			try(original, size);
		}
		original[at] = kept ^ 0x10;
		try(original, size);
		original[at] = kept;
	}
	report(what);
}

static void flip_section(const char *name, size_t step)
{
	char line[4096], section[64];
	unsigned long long offset, len;
	FILE *f = tool("readelf --wide --sections p | sed 's/^ *\\[ *[0-9]*\\]//'");

	while (next(f, line))
		if (sscanf(line, " %63s %*s %*x %llx %llx", section, &offset, &len) == 3 &&
		    !strcmp(section, name)) {
			while (next(f, line))
				;
			flips(name, offset, offset + len, step);
			return;
		}
	ok(false, "p has %s", name);
}

static Elf64_Shdr *headers(size_t *n)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)original;

	*n = h->e_shnum;
	return (Elf64_Shdr *)(original + h->e_shoff);
}

/* Sections that claim 4 GiB, the whole address space, or their neighbours' bytes. */
static void absurd_sections(void)
{
	static const uint64_t sizes[] = {0, 1, 0x100000000, UINT64_MAX, UINT64_MAX / 2};
	size_t n, i, j;
	Elf64_Shdr *s = headers(&n), kept;

	for (i = 1; i < n; i++) {
		kept = s[i];
		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			if (!in_part(i + j, 3))
				continue;
			s[i].sh_size = sizes[j];
			try(original, size);
			s[i] = kept;
			s[i].sh_offset = sizes[j];
			try(original, size);
			s[i] = kept;
			s[i].sh_addr = sizes[j];
			try(original, size);
			s[i] = kept;
			s[i].sh_entsize = sizes[j];
			try(original, size);
			s[i] = kept;
		}
		s[i].sh_link = i; /* a table of strings that names itself as its own */
		s[i].sh_type = SHT_STRTAB;
		try(original, size);
		s[i] = kept;
		s[i].sh_offset = 0;
		s[i].sh_size = size;
		try(original, size);
		s[i] = kept;
	}
	report("the sections' places, sizes and links");
}

static void absurd_segments(void)
{
	static const uint64_t values[] = {0, 0x1000, 0x100000000, UINT64_MAX, UINT64_MAX - 0xfff};
	Elf64_Ehdr *h = (Elf64_Ehdr *)original;
	Elf64_Phdr *p = (Elf64_Phdr *)(original + h->e_phoff), kept;
	size_t i, j;

	for (i = 0; i < h->e_phnum; i++) {
		kept = p[i];
		for (j = 0; j < ARRAY_SIZE(values); j++) {
			p[i].p_vaddr = values[j];
			try(original, size);
			p[i] = kept;
			p[i].p_offset = values[j];
			try(original, size);
			p[i] = kept;
			p[i].p_filesz = p[i].p_memsz = values[j];
			try(original, size);
			p[i] = kept;
		}
		p[i].p_type = PT_LOAD;
		try(original, size);
		p[i] = kept;
	}
	report("the segments' places and sizes");
}

/* 30 doublings of a name in 150 characters must not become a gigabyte. */
static void exploding_name(void)
{
	char name[2048] = "_Z1f", *p = name + 4;
	struct object *o;
	FILE *f = fopen("bomb.s", "w");
	int i;

	p += sprintf(p, "1aIiE");
	for (i = 0; i < 30; i++)
		p += i ? sprintf(p, "S%c_IS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i - 1],
				 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i - 1],
				 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i - 1])
		       : sprintf(p, "S_IS_S_E");
	fprintf(f, ".text\n.globl \"%s\"\n.type \"%s\",@function\n\"%s\": ret\n", name, name, name);
	fclose(f);
	run("gcc -shared -nostdlib -o bomb.so bomb.s");
	o = open_or_die("bomb.so");
	object__demangle(o);
	ok(symbol_named(o, name) && strlen(symbol_named(o, name)->shown) < 100000,
	   "a name that expands without end is shown in bounds");
	object__free(o);
}

/* 400 MiB of zeros stay packed. */
static void debugdata_bomb(void)
{
	char line[4096];
	unsigned long peak = 0;
	struct object *o;
	FILE *f;

	run("head -c 400M /dev/zero | xz -0 > zeros.xz && strip -o s p && "
	    "objcopy --add-section .gnu_debugdata=zeros.xz s bomb");
	o = open_or_die("bomb");
	object__free(o);
	f = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %lu kB", &peak);
	fclose(f);
	ok(peak < 700 * 1024, "a .gnu_debugdata of 400 MiB is not unpacked (peak %lu kB)", peak);
}

int main(void)
{
	note__set_level(NOTE_QUIET);
	enter();
	write_file("p.cc", program);
	run("g++ -O2 -g1 -o p p.cc");
	if (file__read("p", 1 << 20, &original, &size))
		return 2;
	truncations();
	flips("the ELF header", 0, sizeof(Elf64_Ehdr), 1);
	flips("the program headers", sizeof(Elf64_Ehdr),
	      sizeof(Elf64_Ehdr) + 13 * sizeof(Elf64_Phdr), 3);
	flips("the section headers", ((Elf64_Ehdr *)original)->e_shoff, size, 5);
	flip_section(".eh_frame", 3);
	flip_section(".eh_frame_hdr", 3);
	flip_section(".gcc_except_table", 1);
	flip_section(".dynsym", 7);
	flip_section(".gnu.version_r", 3);
	flip_section(".rela.plt", 5);
	flip_section(".plt", 5);
	flip_section(".symtab", 37);
	flip_section(".debug_info", 29);
	flip_section(".debug_line", 11);
	flip_section(".debug_abbrev", 11);
	absurd_sections();
	absurd_segments();
	exploding_name();
	debugdata_bomb();
	free(original);
	return tap__done();
}
