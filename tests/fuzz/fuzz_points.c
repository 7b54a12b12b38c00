// SPDX-License-Identifier: BSD-2-Clause
/* Points files. */
#include "fuzz.h"
#include "resolve/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	const struct points_object *o;
	const struct range *r;
	struct memory_file f;
	points_vec points = {0};

	memory_file__open(&f, &in);
	err__clear();
	if (points__read(f.path, &points))
		CHECK(*err__text() && !points.len);
	vec__each (o, &points) {
		CHECK(*o->path);
		vec__each (r, &o->ranges)
			CHECK(r->size && r->vaddr <= UINT64_MAX - r->size);
	}
	points__free(&points);
	close(f.fd);
	return 0;
}
