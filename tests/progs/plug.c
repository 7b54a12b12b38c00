// SPDX-License-Identifier: BSD-2-Clause
/* A library to open at run time. It reaches its thread-local variable by `data16 call
 * __tls_get_addr`. */
#include "prog.h"

__thread int calls;
int plug_work(int n);

NOINLINE int plug_work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		if (touch(i) % 3)
			sum += ++calls;
	return sum;
}
