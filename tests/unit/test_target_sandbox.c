// SPDX-License-Identifier: BSD-2-Clause
/* Code in the sandbox may crash or take unbounded memory and time: the result is an error. It can
 * open nothing and signal nobody. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "target_fixture.h"
#include "object/debug/debug.h"
#include "object/debug/sandbox.h"

static int given = -1;

static int run_fn(void (*fn)(void *ctx, struct str *answer), struct str *answer)
{
	struct sandbox s = {.fn = fn, .fds = &given, .nfds = 1, .seconds = 1};

	err__clear();
	return sandbox__run(&s, answer);
}

static void fails(void (*fn)(void *ctx, struct str *answer), const char *what)
{
	struct str answer = {0};

	ok(run_fn(fn, &answer) == -EIO && !answer.len && *err__text(), "%s", what);
}

static void put_result(struct str *answer, const char *what, bool worked)
{
	str__printf(answer, "%s%s", worked ? what : "", worked ? " " : "");
}

/* ---- what a sandbox does ---- */

static void speak(void *ctx, struct str *answer)
{
	for (int i = 0; i < 100000; i++)
		str__puts(answer, "0123456789");
}

static void crash(void *ctx, struct str *answer)
{
	raise(SIGSEGV);
	*(volatile char *)8 = 0;
}

static void leave_early(void *ctx, struct str *answer)
{
	str__puts(answer, "half");
	exit(0);
}

static void loop(void *ctx, struct str *answer)
{
	for (;;)
		__asm__ volatile("");
}

/* Nobody writes to this pipe. */
static void wait_for_ever(void *ctx, struct str *answer)
{
	char c;

	(void)!read(given, &c, 1);
}

/* Not malloc(): a sanitizer has limits of its own. */
static void take_memory(void *ctx, struct str *answer)
{
	for (int i = 0; i < 24; i++) {
		char *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		if (p == MAP_FAILED)
			sandbox__give_up();
		p[0] = 1;
	}
	str__puts(answer, "1.5 GiB");
}

static void read_truncated(void *ctx, struct str *answer)
{
	const volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, given, 0);

	str__putc(answer, p[0]);
}

static void try_everything(void *ctx, struct str *answer)
{
	struct stat st;
	char c;

	put_result(answer, "own", pread(given, &c, 1, 0) == 1 && c == 'x');
	put_result(answer, "open", open("/etc/passwd", O_RDONLY) >= 0);
	put_result(answer, "create", open("made", O_CREAT | O_WRONLY, 0600) >= 0);
	put_result(answer, "dup", dup(given) >= 0);
	put_result(answer, "stdout", !fstat(1, &st));
	put_result(answer, "unlink", !unlink("file"));
	put_result(answer, "kill", !kill(getppid(), 0));
	put_result(answer, "fork", fork() >= 0);
	put_result(answer, "exec", !execl("/bin/true", "true", NULL));
}

/* ---- tables ---- */

static bool takes(const char *bytes, size_t len)
{
	struct str s = {.data = xmalloc(len + 1), .len = len};
	struct table t = {0};
	bool good;

	memcpy(s.data, bytes, len);
	good = table__take(&t, &s, 4);
	if (good)
		ok(t.n <= len / 4 && t.len && !t.strings[t.len - 1] &&
			   t.strings + t.len == s.data + s.len,
		   "a table lies within its bytes");
	free(s.data);
	return good;
}

static void tables(void)
{
	static const char one[] = "\1\0\0\0\0\0\0\0abcdname";
	struct str answer = {0}, records = {0}, strings = {0};
	struct table t;

	str__puts(&records, "aaaabbbb");
	str__put(&strings, "x\0y", 4);
	table__put(&answer, &records, 4, &strings);
	ok(table__take(&t, &answer, 4) && t.n == 2 && !memcmp(t.records, "aaaabbbb", 8) &&
		   t.len == 5 && !strcmp(t.strings + 2, "y"),
	   "a table is taken as it was put");
	str__free(&answer), str__free(&records), str__free(&strings);
	ok(takes(one, sizeof(one)), "a table of one record is taken");
	for (size_t n = 0; n < sizeof(one); n++)
		ok(!takes(one, n), "a table cut off at %zu is refused", n);
	ok(!takes("\xff\xff\xff\xff\xff\xff\xff\xff"
		  "abcd",
		  13),
	   "a table with more records than bytes is refused");
	ok(!takes("\1\0\0\0\0\0\0\100abcdname", sizeof(one)),
	   "a table with a count that overflows is refused");
}

int main(void)
{
	struct str answer = {0};
	int ends[2];

	enter();
	tables();
	is(run_fn(speak, &answer), 0, "a query with a long answer succeeds");
	ok(answer.len == 1000000, "a long answer comes out of the sandbox whole");
	str__free(&answer);
	fails(crash, "a crash in the sandbox is an error");
	fails(leave_early, "an early exit in the sandbox is an error");
	fails(loop, "an endless loop in the sandbox is an error");
	fails(take_memory, "taking too much memory in the sandbox is an error");
	if (pipe(ends))
		return 2;
	given = ends[0];
	fails(wait_for_ever, "waiting too long in the sandbox is an error");
	write_file("file", "x");
	given = open("file", O_RDWR);
	is(run_fn(try_everything, &answer), 0,
	   "code that tries to leave the sandbox still answers");
	is_str(answer.data, "own ",
	       "code in the sandbox can read the file it was given, and do nothing else");
	str__free(&answer);
	if (ftruncate(given, 0))
		return 2;
	fails(read_truncated, "reading a truncated file in the sandbox is an error");
	ok(!access("file", F_OK) && access("made", F_OK),
	   "code in the sandbox neither removed nor created a file");
	return tap__done();
}
