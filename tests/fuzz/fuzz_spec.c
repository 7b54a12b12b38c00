// SPDX-License-Identifier: BSD-2-Clause
/* FUNC on the command line. fuzz_elf and fuzz_kernel resolve it in an object. */
#include "fuzz.h"
#include "resolve/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	bool kernel = input__number(&in, 1) & 1;
	autofree char *text = input__text(&in);
	struct spec s;

	err__clear();
	if (spec__parse(text, kernel, &s)) {
		CHECK(*err__text());
		return 0;
	}
	CHECK(!strcmp(s.text, text));
	CHECK(s.name || s.kind == SPEC_OFFSET || s.kind == SPEC_RANGE);
	CHECK(s.kind != SPEC_RANGE || (s.len && s.start <= UINT64_MAX - s.len));
	CHECK((s.kind != SPEC_LINE && s.kind != SPEC_PLACE) || s.start);
	spec__free(&s);
	return 0;
}
