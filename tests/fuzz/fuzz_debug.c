// SPDX-License-Identifier: BSD-2-Clause
/*
 * A separate debug file, which a program names by .gnu_debuglink. The input is an ELF file; if it
 * doesn't start as one, it is the contents of one's debug sections (program.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <zlib.h>
#include "program.h"

static char folder[] = "/tmp/bbtrace-fuzz-XXXXXX";

static void remove_folder(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/d", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/prog", folder);
	unlink(path);
	rmdir(folder);
}

/* Its path, until the next one is written. */
static const char *write_file(const char *name, const void *data, size_t size)
{
	static char path[64];
	int fd;

	if (strstr(folder, "XXXXXX")) {
		CHECK(mkdtemp(folder));
		atexit(remove_folder);
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	return path;
}

static void put_debug_file(const void *data, size_t size, uint8_t link[8])
{
	uint32_t crc = crc32(crc32(0, NULL, 0), data, size);

	memcpy(link, "d\0\0", 4);
	memcpy(link + 4, &crc, sizeof(crc));
	write_file("d", data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size}, nothing = {data, data};
	struct str program, debug = {0};
	struct object *o;
	uint8_t link[8];

	note__set_level(NOTE_QUIET);
	if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG)) {
		debug = make_program(&in, NULL, 0);
		put_debug_file(debug.data, debug.len, link);
	} else {
		put_debug_file(data, size, link);
	}
	program = make_program(&nothing, link, sizeof(link));
	CHECK(!object__open(write_file("prog", program.data, program.len), &o));
	look_at_debug(o);
	object__free(o);
	str__free(&program);
	str__free(&debug);
	return 0;
}
