// SPDX-License-Identifier: BSD-2-Clause
/* Lambdas: several in one function and on one line, one within another, generic ones, one that
 * never runs; a capture by reference; one that becomes a pointer. */
#include <cstdio>

template <typename F> static int apply(F f, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += f(i);
	return sum;
}

static int indirect(int (*f)(int), int n)
{
	return f ? f(n) : 0;
}

static int one(int n)
{
	auto odd = [](int i) {
		if (i % 2)
			return i;
		return 0;
	};

	return apply(odd, n);
}

static int other(int n)
{
	auto even = [n](int i) {
		if (i % 2 == 0 && i < n - 2)
			return i;
		return 1;
	};
	auto never = [](int i) { return i * 7; };

	return n > 100 ? apply(never, n) : apply(even, n);
}

int main()
{
	int calls = 0;
	auto nested = [&calls](int i) {
		auto inner = [i](int j) { return i * j; };

		calls++;
		return apply(inner, i);
	};
	auto generic = [](auto a, auto b) { return a < b ? static_cast<int>(b - a) : -1; };
	int sum = one(5) + other(7) + apply(nested, 4);

	sum += generic(1, 2) + generic(5L, 3L) + generic(1.0, 9.0);
	sum += indirect([](int i) { return i + 1; }, 4);
	std::printf("%d %d\n", sum, calls);
	return 0;
}
