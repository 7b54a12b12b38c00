// SPDX-License-Identifier: BSD-2-Clause
/* Inline functions, of a header and of a class; nested namespaces, one without a name, whose
 * functions have the names of others. */
#include <cstdio>
#include "inlines.h"

namespace
{
int value(int n)
{
	return n > 2 ? n : 2;
}
} // namespace

namespace outer
{
namespace inner
{
static int value(int n)
{
	return n < 5 ? n : 5;
}

int get(int n)
{
	return value(n) + ::value(n);
}
} // namespace inner

namespace
{
struct pair {
	int first, second;
	int value() const
	{
		if (first == second)
			return 0;
		return first + second;
	}
};
} // namespace

int get(int n)
{
	pair p = {n, 4};

	return p.value();
}
} // namespace outer

int main()
{
	counter c;
	int sum = 0;

	for (int i = -3; i < 9; i++) {
		c.add(i);
		sum += clamp(i, -1, 6);
		sum += outer::get(i) * 2 + outer::inner::get(i);
	}
	std::printf("%d %d %d\n", sum, c.get(), helper(4321));
	return 0;
}
