// SPDX-License-Identifier: BSD-2-Clause
/* Copies one of its functions elsewhere and runs the copy, as programs that relocate themselves do.
 */
#include <signal.h>
#include <sys/mman.h>
#include "prog.h"

NOINLINE int step(int n)
{
	if (touch(n) > 3)
		return n - 1;
	return n < 0 ? 0 : n + 2;
}

int main(void)
{
	int (*copy)(int) = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return 1;
	memcpy((void *)copy, (const void *)step, 64);
	printf("%d\n", step(5));
	fflush(stdout);
	printf("%d\n", copy(5));
	return 0;
}
