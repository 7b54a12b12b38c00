// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of a split unit (.dwo), which a program's skeleton names. The input is that file. What
 * opens it outside of the sandbox, and copies parts of it, is the target; libdw reads it in this
 * process (sandbox.c).
 */
#include <fcntl.h>
#include "program.h"

#define SKELETON "tests/fuzz/corpus/debug/lsplit" /* it names lsplit-a.dwo */

static char folder[] = "/tmp/bbtrace-fuzz-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const void *data, size_t size)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void remove_folder(void)
{
	unlink(path_of("lsplit-a.dwo"));
	unlink(path_of("prog"));
	rmdir(folder);
}

static void make_folder(void)
{
	autofree char *text = NULL;
	size_t len;

	CHECK(mkdtemp(folder));
	atexit(remove_folder);
	CHECK(!file__read(SKELETON, 1u << 20, &text, &len));
	write_file("prog", text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object *o;

	note__set_level(NOTE_QUIET);
	if (strstr(folder, "XXXXXX"))
		make_folder();
	write_file("lsplit-a.dwo", data, size);
	CHECK(!object__open(path_of("prog"), &o));
	look_at_debug(o);
	object__free(o);
	return 0;
}
