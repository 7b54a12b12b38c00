// SPDX-License-Identifier: BSD-2-Clause
/* What is to be watched, as it is written, and the pieces that debug registers can watch. */
#include <errno.h>
#include "resolve/watch.h"
#include "tap.h"

static const struct row {
	const char *text, *object, *symbol;
	uint64_t offset, len;
	enum watch_access access;
	bool kernel;
} rows[] = {
	{"counter", NULL, "counter", 0, 0, WATCH_WRITE},
	{"counter:8", NULL, "counter", 0, 8, WATCH_WRITE},
	{"counter:rw", NULL, "counter", 0, 0, WATCH_ANY},
	{"counter+16:4:w", NULL, "counter", 16, 4, WATCH_WRITE},
	{"counter+0x10", NULL, "counter", 16, 0, WATCH_WRITE},
	{"main:x", NULL, "main", 0, 0, WATCH_EXEC},
	{"libc.so.6:environ:8:rw", "libc.so.6", "environ", 0, 8, WATCH_ANY},
	{"./a+b:c", "./a+b", "c", 0, 0, WATCH_WRITE},
	{"ns::value", NULL, "ns::value", 0, 0, WATCH_WRITE},
	{"lib.so:ns::value+8:1", "lib.so", "ns::value", 8, 1, WATCH_WRITE},
	{"kernel:jiffies", "kernel", "jiffies", 0, 0, WATCH_WRITE},
	{"0x404040", NULL, NULL, 0x404040, 0, WATCH_WRITE},
	{"0x404040:2:rw", NULL, NULL, 0x404040, 2, WATCH_ANY},
	{"0xffffffff81000000:x", NULL, NULL, 0xffffffff81000000, 0, WATCH_EXEC, true},
	{"mem:0x404040", NULL, NULL, 0x404040, 0, WATCH_ANY},
	{"mem:0x404040/4:w", NULL, NULL, 0x404040, 4, WATCH_WRITE},
	{"mem:0x404040/1", NULL, NULL, 0x404040, 1, WATCH_ANY},
};

static const struct {
	const char *text, *why;
} refused[] = {
	{"counter:r", "can't watch reads alone"},
	{"counter:rx", "unknown kind of access"},
	{"counter:0", "invalid length"},
	{"", "names nothing to watch"},
	{":counter", "names nothing to watch"},
	{"lib.so:", "names nothing to watch"},
	{"404040", "addresses begin with 0x"},
	{"0x11223344556677889", "no address of 64 bits"},
	{"0xffffffffffffffff:8", "beyond the end of memory"},
	{"main:4:x", "leave the length out"},
	{"mem:counter", "write mem:0xADDR"},
	{"mem:0x404040/x", "invalid length"},
};

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void test_parse(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct watch_spec s;
		int err = watch_spec__parse(r->text, &s);

		ok(!err && same(s.object, r->object) && same(s.symbol, r->symbol) &&
			   s.offset == r->offset && s.len == r->len && s.access == r->access &&
			   s.kernel_address == r->kernel,
		   "%s", r->text);
		if (!err)
			watch_spec__free(&s);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct watch_spec s;
		int err = watch_spec__parse(refused[i].text, &s);

		ok(err == -EINVAL && strstr(err__text(), refused[i].why), "'%s': %s",
		   refused[i].text, err__text());
		err__clear();
	}
}

/* Each range up to 40 bytes: the pieces are aligned, follow each other and are as few as can be. */
static void test_split(void)
{
	unsigned bad = 0, whole = 0;

	for (uint64_t addr = 0x1000; addr < 0x1010; addr++)
		for (uint64_t len = 1; len <= 40; len++) {
			struct watch_piece p[WATCH_SLOTS];
			unsigned n = watch__split(addr, len, p);
			uint64_t at = addr;

			for (unsigned i = 0; i < n; at += p[i++].len)
				bad += p[i].addr != at || p[i].addr % p[i].len ||
				       (p[i].len & (p[i].len - 1)) || p[i].len > 8;
			bad += n && at != addr + len;
			whole += n == 1;
		}
	is(bad, 0, "pieces are aligned, and all of the range");
	/* of 16 addresses: 16 of 1 byte, 8 of 2, 4 of 4, 2 of 8 */
	is(whole, 30, "what one register can watch is one piece");
	is(watch__split(0x1000, 33, (struct watch_piece[WATCH_SLOTS]){{0}}), 0,
	   "more than the registers can watch");
}

int main(void)
{
	test_parse();
	test_split();
	return tap__done();
}
