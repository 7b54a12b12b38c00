// SPDX-License-Identifier: BSD-2-Clause
/*
 * Unpacks a core dump that a collector has compressed: by zstd, xz, lz4 or gzip. The library runs
 * in the sandbox; what it writes goes to a file without a name, whose blocks of zeros are holes.
 */
#include <errno.h>
#include <unistd.h>
#include "core_packed.h"
#include "object/debug/sandbox.h"
#include "util/scratch.h"

#define MOST	(64ull << 30) /* bytes of a dump */
#define SECONDS 900
#define BLOCK	4096

/* ---- which compression ---- */

static const struct {
	enum core_packing packing;
	uint8_t len, magic[6];
	const char *name, *tool;
} formats[] = {
	{CORE_ZSTD, 4, {0x28, 0xb5, 0x2f, 0xfd}, "zstd", "zstd -d"},
	{CORE_XZ, 6, {0xfd, '7', 'z', 'X', 'Z', 0}, "xz", "xz -d"},
	{CORE_LZ4, 4, {0x04, 0x22, 0x4d, 0x18}, "lz4", "lz4 -d"},
	{CORE_GZIP, 2, {0x1f, 0x8b}, "gzip", "gzip -d"},
};

enum core_packing core_packed__by(int fd)
{
	uint8_t start[6] = "";

	if (pread(fd, start, sizeof(start), 0) < 0)
		return CORE_PLAIN;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!memcmp(start, formats[i].magic, formats[i].len))
			return formats[i].packing;
	return CORE_PLAIN;
}

/* ---- where it is unpacked to ---- */

struct unpacked {
	int fd;
	const char *dir;
	uint64_t size;
	size_t filled; /* of block */
	uint8_t block[BLOCK];
	int err;
	bool too_large;
};

static bool is_zero(const uint8_t *p, size_t n)
{
	return !n || (!p[0] && !memcmp(p, p + 1, n - 1));
}

static bool flush(struct unpacked *u)
{
	size_t n = u->filled, done = 0;

	u->filled = 0;
	while (!is_zero(u->block, n) && done < n) {
		ssize_t wrote = pwrite(u->fd, u->block + done, n - done, (off_t)(u->size + done));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			u->err = wrote ? errno : ENOSPC;
			return false;
		}
		done += wrote;
	}
	u->size += n;
	u->too_large = u->size > MOST;
	return !u->too_large;
}

static bool take(void *ctx, const char *bytes, size_t n)
{
	struct unpacked *u = ctx;

	for (size_t i = 0, part; i < n; i += part) {
		/* The last byte is kept: it is how the stream ended. */
		if (u->filled == BLOCK && !flush(u))
			return false;
		part = min_of(n - i, BLOCK - u->filled);
		memcpy(u->block + u->filled, bytes + i, part);
		u->filled += part;
	}
	return true;
}

/* ---- the whole ---- */

static int explain(const char *path, size_t format, const struct unpacked *u)
{
	const char *tool = formats[format].tool;

	if (u->too_large)
		return err__set(
			EFBIG,
			"%s has more than %llu GiB when unpacked: unpack it (%s) and name the result",
			path, MOST >> 30, tool);
	if (u->err)
		return err__set(
			u->err,
			"can't unpack %s into %s: %s; TMPDIR names another place, or unpack "
			"it (%s) and name the result",
			path, u->dir, strerror(u->err), tool);
	return err__prefix(-EIO, "%s (compressed by %s)", path, formats[format].name);
}

static int end_status(const char *path, size_t format, char how, bool *cut)
{
	const char *name = formats[format].name;

	*cut = how == CORE_STREAM_CUT;
	if (how == CORE_STREAM_BAD)
		return err__set(ENOEXEC, "%s is damaged: %s can't decompress it", path, name);
	if (how == CORE_STREAM_LARGE)
		return err__set(
			ENOMEM,
			"%s needs more memory to decompress than bbtrace uses: unpack it (%s) and "
			"name the result",
			path, formats[format].tool);
	if (how == CORE_STREAM_ABSENT)
		return err__set(
			ENOTSUP,
			"%s is compressed by %s, which this bbtrace was built without: unpack it "
			"(%s) and name the result",
			path, name, formats[format].tool);
	return 0;
}

int core_packed__unpack(const char *path, int fd, enum core_packing packing, bool *cut)
{
	struct core_stream stream = {fd, packing};
	struct unpacked u = {.size = 0};
	struct sandbox s = {.fn = core_stream__decode,
			    .ctx = &stream,
			    .fds = &fd,
			    .nfds = 1,
			    .seconds = SECONDS,
			    .take = take,
			    .take_ctx = &u};
	autofree struct str answer = {0};
	size_t format = 0;
	char how;
	int err;

	while (formats[format].packing != packing)
		format++;
	u.fd = scratch__open(&u.dir);
	if (u.fd < 0)
		return u.fd;
	err = sandbox__run(&s, &answer);
	if (!err && !u.filled)
		err = -EIO;
	if (err) {
		close(u.fd);
		return explain(path, format, &u);
	}
	how = (char)u.block[--u.filled];
	if (!flush(&u) || ftruncate(u.fd, (off_t)u.size)) {
		u.err = u.err ? u.err : errno;
		err = explain(path, format, &u);
	} else {
		err = end_status(path, format, how, cut);
	}
	if (!err)
		return u.fd;
	close(u.fd);
	return err;
}
