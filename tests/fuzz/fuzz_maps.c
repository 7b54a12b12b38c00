// SPDX-License-Identifier: BSD-2-Clause
/* The text of /proc/PID/maps. */
#include "fuzz.h"
#include "resolve/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	autofree char *text = input__text(&in);
	map_vec maps = {0};
	const struct map *m;

	err__clear();
	if (maps__parse(text, &maps)) {
		CHECK(*err__text() && !maps.len);
		return 0;
	}
	vec__each (m, &maps)
		CHECK(m->start <= m->end && strlen(m->path) <= size);
	maps__free(&maps);
	return 0;
}
