// SPDX-License-Identifier: BSD-2-Clause
/* packer: the blocks of a file, packed and written by another thread, in their order, and what it
 * tells of errors. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pipeline/write/packer.h"
#include "tap.h"
#include "pack_block.h"

#define BLOCKS 300

static struct trace_block block(uint32_t number)
{
	struct trace_block b = {.type = number ? 17 : 0, .number = number};

	for (uint32_t i = 0; i < 1000 + number * 40; i++)
		str__puts(&b.raw, i % 7 ? "a" : i % 3 ? "bc" : "d");
	return b;
}

static struct str expected(uint32_t n)
{
	struct str all = {0};

	for (uint32_t i = 0; i < n; i++) {
		struct trace_block b = block(i);

		pack_block(&b, &all);
		str__free(&b.raw);
	}
	return all;
}

static struct sink temporary(char *path)
{
	struct sink s = {.name = "a file", .is_file = true};

	strcpy(path, "/tmp/test_packer.XXXXXX");
	s.fd = mkstemp(path);
	return s;
}

static int put_some(struct packer *p, uint32_t from, uint32_t to)
{
	int err = 0;

	for (uint32_t i = from; !err && i < to; i++) {
		struct trace_block b = block(i);

		err = packer__put(p, &b);
	}
	return err;
}

static bool file_is(const char *path, const struct str *bytes)
{
	autofree char *text = NULL;
	size_t len = 0;

	return !file__read(path, 1u << 30, &text, &len) && len == bytes->len &&
	       !memcmp(text, bytes->data, len);
}

static void in_order(bool threaded)
{
	const char *how = threaded ? "by a thread" : "at once";
	char path[32];
	struct sink sink = temporary(path);
	struct packer *p = packer__new(&sink, false, threaded);
	struct str half = expected(BLOCKS / 2), all = expected(BLOCKS);

	is(put_some(p, 0, BLOCKS / 2), 0, "%s: blocks are taken", how);
	is(packer__flush(p), 0, "%s: they are written", how);
	ok(file_is(path, &half), "%s: and all are in the file, in their order", how);
	is(packer__size(p), half.len, "%s: whose size is known", how);
	is(put_some(p, BLOCKS / 2, BLOCKS), 0, "%s: more are taken", how);
	is(packer__flush(p), 0, "%s: and written", how);
	packer__free(p);
	ok(file_is(path, &all), "%s: behind the others", how);
	close(sink.fd);
	unlink(path);
	str__free(&half);
	str__free(&all);
}

static void full_device(bool threaded)
{
	const char *how = threaded ? "by a thread" : "at once";
	struct sink sink = {.fd = open("/dev/full", O_WRONLY | O_CLOEXEC), .name = "the disk"};
	struct packer *p = packer__new(&sink, false, threaded);

	is(put_some(p, 0, BLOCKS), -ENOSPC, "%s: a full device is an error of a block", how);
	is_str(err__text(), "cannot write to the disk: No space left on device",
	       "%s: with its reason", how);
	err__set(0, "-");
	is(packer__flush(p), -ENOSPC, "%s: and again when it has to be written", how);
	is_str(err__text(), "cannot write to the disk: No space left on device", "%s: with that",
	       how);
	is(put_some(p, 0, 1), -ENOSPC, "%s: and for all behind it", how);
	ok(!packer__reader_gone(p), "%s: it is no reader that went", how);
	packer__free(p);
	close(sink.fd);
}

static void closed_pipe(bool threaded)
{
	const char *how = threaded ? "by a thread" : "at once";
	struct packer *p;
	struct sink sink = {.name = "stdout"};
	int ends[2];

	if (pipe(ends))
		exit(1);
	close(ends[0]);
	sink.fd = ends[1];
	p = packer__new(&sink, false, threaded);
	is(put_some(p, 0, BLOCKS), -EPIPE, "%s: a pipe whose reader went", how);
	ok(packer__reader_gone(p), "%s: that is told", how);
	packer__free(p);
	close(ends[1]);
}

static void let_go(void)
{
	char path[32];
	struct sink sink = temporary(path);
	struct packer *p = packer__new(&sink, true, true);

	is(put_some(p, 0, 3), 0, "blocks that nobody waits for");
	packer__free(p);
	ok(true, "don't keep it from ending");
	close(sink.fd);
	unlink(path);
}

int main(void)
{
	sink__ignore_signals();
	for (int threaded = 0; threaded < 2; threaded++) {
		in_order(threaded);
		full_device(threaded);
		closed_pipe(threaded);
	}
	let_go();
	return tap__done();
}
