// SPDX-License-Identifier: BSD-2-Clause
/* Where the live code is read from: a kcore, intact or damaged, or else the caller's reader. */
#include <elf.h>
#include <errno.h>
#include <unistd.h>
#include "kernel_tables.h"
#include "tap.h"

static const uint64_t base = 0x10800, size = 0x2000;
static const char missing[] = "/nonexistent/kcore";
static uint8_t memory[0x2000];
static char path[] = "/tmp/bbtrace-kcore-XXXXXX";

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr loads[2];
};

static struct image good_core(void)
{
	struct image c = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
			   .e_phoff = sizeof(c.header),
			   .e_phentsize = sizeof(c.loads[0]),
			   .e_phnum = 2},
		.loads = {{.p_type = PT_NOTE, .p_vaddr = base, .p_filesz = size},
			  {.p_type = PT_LOAD, .p_vaddr = base - 0x100, .p_filesz = size + 0x100}},
	};

	c.loads[1].p_offset = sizeof(c);
	return c;
}

static void write_core(const struct image *c, size_t head)
{
	FILE *f = fopen(path, "w");

	fwrite(c, head, 1, f);
	if (head == sizeof(*c)) {
		fwrite((char[0x100]){0}, 0x100, 1, f);
		fwrite(memory, sizeof(memory), 1, f);
	}
	fclose(f);
}

/* Reads memory[] but for the pages of which the bit is set in *ctx. */
static int reader(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	unsigned bad = *(unsigned *)ctx;

	if (vaddr < base || len > size - (vaddr - base) || len > 4096 ||
	    vaddr / 4096 != (vaddr + len - 1) / 4096)
		abort();
	if (bad >> (vaddr / 4096 - base / 4096) & 1)
		return err__set(EFAULT, "no such page");
	memcpy(buf, memory + (vaddr - base), len);
	return 0;
}

static struct object *read_with(const char *kcore, kernel_read_fn fn, unsigned bad, int *err)
{
	struct kernel_text *t = kernel_text__open(kcore, fn, &bad);
	struct kernel_objects k = {0};

	tables__build(&k, "10800 T _stext\n12800 T _etext\n", "");
	free(k.modules);
	*err = kernel_text__read(t, k.kernel);
	kernel_text__close(t);
	return k.kernel;
}

static bool holds(const struct object *o, uint64_t vaddr, uint64_t len)
{
	size_t avail;
	const uint8_t *p = object__bytes(o, vaddr, &avail);

	return p && avail >= len && !memcmp(p, memory + (vaddr - base), len);
}

static void test_kcore(void)
{
	struct image c = good_core();
	struct object *o;
	int err;

	write_core(&c, sizeof(c));
	o = read_with(path, NULL, 0, &err);
	is(err, 0, "a kcore is enough");
	is(o->segments.len, 1, "the code of a kcore is one segment");
	ok(o->segments.data[0].exec && holds(o, base, size),
	   "the segment of a kcore has the live bytes");
	object__free(o);
}

static void test_reader(void)
{
	struct object *o;
	int err;

	o = read_with(missing, reader, 0, &err);
	is(err, 0, "without kcore the reader is asked, never across a page");
	is(o->segments.len, 1, "what the reader reads is one segment");
	ok(holds(o, base, size), "what the reader reads is the live bytes");
	object__free(o);

	o = read_with(missing, reader, 2, &err);
	is(err, 0, "a page that can't be read is no error");
	is(o->segments.len, 2, "a page that can't be read is a gap between two segments");
	ok(holds(o, base, 0x800) && holds(o, 0x12000, 0x800),
	   "around a page that can't be read are the live bytes");
	ok(!object__segment_at(o, 0x11000), "in a page that can't be read is nothing");
	object__free(o);

	o = read_with(missing, reader, ~0u, &err);
	is(err, -EIO, "nothing readable is an error");
	ok(strstr(err__text(), "/proc/kcore: No such file") && strstr(err__text(), "no such page"),
	   "the error where nothing is readable gives both causes");
	object__free(o);

	o = read_with(missing, NULL, 0, &err);
	is(err, -EIO, "neither kcore nor reader is an error");
	object__free(o);
}

/* Whatever a kcore says: the reader's bytes, or an error. */
static void expect_reader(const char *what)
{
	struct object *o;
	int err;

	o = read_with(path, reader, 0, &err);
	ok(!err && holds(o, base, size), "%s: the reader is asked", what);
	object__free(o);
}

static void test_damaged(void)
{
	struct image c = good_core();

	for (size_t head = 0; head < sizeof(c); head += 7) {
		write_core(&c, head);
		expect_reader("cut short");
	}
	c.header.e_phnum = 0xffff;
	write_core(&c, sizeof(c));
	expect_reader("too many segments");
	c = good_core();
	c.header.e_phoff = UINT64_MAX;
	write_core(&c, sizeof(c));
	expect_reader("headers out of reach");
	c = good_core();
	c.loads[1].p_offset = UINT64_MAX - 16;
	write_core(&c, sizeof(c));
	expect_reader("a segment out of reach");
	c = good_core();
	c.loads[1].p_offset += 0x4000;
	write_core(&c, sizeof(c));
	expect_reader("a segment past the end");
	c = good_core();
	c.loads[1].p_vaddr = 0;
	write_core(&c, sizeof(c));
	expect_reader("a segment of other addresses");
}

int main(void)
{
	close(mkstemp(path));
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = i * 7 + i / 256;
	test_kcore();
	test_reader();
	test_damaged();
	unlink(path);
	return tap__done();
}
