// SPDX-License-Identifier: BSD-2-Clause
/* The file of measured costs: what is read is written as the same text. */
#include <errno.h>
#include "select/costs.h"
#include "fuzz.h"

extern const struct arch arch_x86_64;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine_costs c, again;
	CLEANUP(str__free) struct str text = {0};
	int err;

	err__clear();
	err = costs_text__parse((const char *)data, size, &arch_x86_64, &c);
	if (err) {
		CHECK(err == -EBADMSG && *err__text());
		return 0;
	}
	costs_text__put(&text, &arch_x86_64, &c);
	CHECK(!costs_text__parse(text.data, text.len, &arch_x86_64, &again));
	CHECK(costs__are_of(&again, c.kernel, &c.machine));
	CHECK(!memcmp(again.rows, c.rows, sizeof(c.rows)));
	return 0;
}
