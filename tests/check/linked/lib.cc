// SPDX-License-Identifier: BSD-2-Clause
// tests/check/t_linked.sh: copies of the same templates, and a function that nothing calls.
#include "shared.hh"

int unused(int n)
{
	stack<long> s;

	if (n > 3)
		__asm__ volatile(".fill 0x4000, 1, 0x90");
	for (int i = 0; i < n; i++)
		s.push(twice((long)i));
	return (int)s.top();
}

int from_lib(int n)
{
	stack<int> s;
	int sum = 0;

	for (int i = 0; i < n; i++)
		if (s.push(twice(i)))
			sum += s.top();
	return sum;
}
