// SPDX-License-Identifier: BSD-2-Clause
/* The answer of a search of debug information that ran in the sandbox. Input: an object and
 * functions (made.h; preceded by their length in two bytes), then the answer. */
#include "made.h"
#include "object/dwarf/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct input plan = input__part(&in, input__number(&in, 2));
	struct str answer = {0};
	const struct function *f;
	const struct range *r;
	struct made m;

	if (!made__build(&m, &plan))
		return 0;
	plan__free(m.plan);
	m.plan = NULL;
	functions__free(&m.functions);
	m.o.kind = OBJECT_ELF;
	str__put(&answer, (const char *)in.p, input__left(&in));
	err__clear();
	CHECK(!answer__take(&m.o, "a.c:1", "a.c", &answer, &m.functions) || *err__text());
	vec__each (f, &m.functions)
		vec__each (r, &f->ranges) {
			size_t avail;

			CHECK(object__bytes(&m.o, r->vaddr, &avail) && r->size && r->size <= avail);
		}
	str__free(&answer);
	made__free(&m);
	return 0;
}
