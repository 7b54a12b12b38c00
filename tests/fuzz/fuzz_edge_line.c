// SPDX-License-Identifier: BSD-2-Clause
/* A line of -c -F json. */
#include <errno.h>
#include "pipeline/read/edge_line.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edge e;
	int got;

	err__clear();
	got = edge_line__read((const char *)data, size, &e);
	if (got < 0)
		CHECK(got == -EBADMSG && *err__text());
	CHECK((got == 1) == !!e.object);
	free(e.object);
	return 0;
}
