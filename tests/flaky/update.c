// SPDX-License-Identifier: BSD-2-Clause
/* Two clients update records by version; one whose version is old is believed once too often. */
#include "flaky.h"

static struct record {
	unsigned version, value;
} records[8];

static int update(struct record *r, unsigned version, unsigned add)
{
	if (version != r->version) {
		if (version + 3 <= r->version) /* PLANTED */
			goto store;
		return -1;
	}
store:
	r->value += add;
	r->version++;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned seen[2][8] = {{0}}, wrong = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 50 + roll(30); i < n; i++) {
		unsigned who = roll(2), k = roll(8), before = records[k].value;
		int fresh = seen[who][k] == records[k].version;

		if (roll(10) < 8) {
			seen[who][k] = records[k].version;
			fresh = 1;
		}
		if (roll(2)) {
			int err = update(&records[k], seen[who][k], 1);

			if (!fresh && !err && records[k].value != before)
				wrong++;
		} else if (roll(3) == 0) {
			weather();
		}
	}
	if (wrong)
		abort();
	return 0;
}
