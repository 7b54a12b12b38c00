// SPDX-License-Identifier: BSD-2-Clause
/*
 * FILE:LINE and the lines of code, by debug information. The input is an ELF file; if it doesn't
 * start as one, it is the contents of a program's debug sections (program.h).
 */
#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct str made = {0};
	struct memory_file f;
	struct object *o;

	note__set_level(NOTE_QUIET);
	if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG)) {
		made = make_program(&in, NULL, 0);
		in = (struct input){(uint8_t *)made.data, (uint8_t *)made.data + made.len};
	}
	memory_file__open(&f, &in);
	CHECK(!made.len || !object__open(f.path, &o));
	if (made.len || !object__open(f.path, &o)) {
		look_at_debug(o);
		object__free(o);
	}
	close(f.fd);
	str__free(&made);
	return 0;
}
