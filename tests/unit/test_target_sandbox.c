// SPDX-License-Identifier: BSD-2-Clause
/* Code in the sandbox may crash or take unbounded memory and time: the result is an error. It can
 * open nothing and signal nobody. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "target_fixture.h"
#include "object/debug.h"
#include "object/sandbox.h"

static int given = -1;

static int run_fn(void (*fn)(void *ctx, struct str *answer), struct str *answer)
{
	struct sandbox s = {.fn = fn, .fds = {given, -1, -1}, .seconds = 1};

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

/* Nobody writes there. */
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
		   "a table within its bytes");
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
	   "what was put is taken");
	str__free(&answer), str__free(&records), str__free(&strings);
	ok(takes(one, sizeof(one)), "one record");
	for (size_t n = 0; n < sizeof(one); n++)
		ok(!takes(one, n), "cut off at %zu", n);
	ok(!takes("\xff\xff\xff\xff\xff\xff\xff\xff"
		  "abcd",
		  13),
	   "a count without end");
	ok(!takes("\1\0\0\0\0\0\0\100abcdname", sizeof(one)), "a count that overflows");
}

int main(void)
{
	struct str answer = {0};
	int ends[2];

	enter();
	tables();
	is(run_fn(speak, &answer), 0, "it ends well");
	ok(answer.len == 1000000, "and all of its answer is here");
	str__free(&answer);
	fails(crash, "a crash");
	fails(leave_early, "an exit before the end");
	fails(loop, "a loop");
	fails(take_memory, "memory without end");
	if (pipe(ends))
		return 2;
	given = ends[0];
	fails(wait_for_ever, "waiting for what never comes");
	write_file("file", "x");
	given = open("file", O_RDWR);
	is(run_fn(try_everything, &answer), 0, "it tries what it can");
	is_str(answer.data, "own ", "and can read its own file alone");
	str__free(&answer);
	if (ftruncate(given, 0))
		return 2;
	fails(read_truncated, "a file that was truncated under it");
	ok(!access("file", F_OK) && access("made", F_OK), "nothing has changed");
	return tap__done();
}
