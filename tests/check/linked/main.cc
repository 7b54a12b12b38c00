// SPDX-License-Identifier: BSD-2-Clause
// tests/check/t_linked.sh: copies of templates that are equal, a namespace without a name, a function within another one.
#include <cstdio>
#include "shared.hh"

namespace
{
__attribute__((noinline)) int hidden(int n)
{
	return n > 2 ? n - 1 : n + 1;
}
} // namespace

struct base {
	virtual ~base() {}
	virtual int value(int n)
	{
		return n;
	}
};
struct derived : base {
	int value(int n) override
	{
		return n > 1 ? n * 3 : hidden(n);
	}
};

int main(int argc, char **)
{
	stack<int> s;
	stack<unsigned> t;
	derived d;
	base *volatile b = &d;
	auto add = [&](int n) { return s.push(n) && t.push(n + 1u); };

	for (int i = 0; i < 10; i++)
		if (!add(i))
			break;
	std::printf("%d %u %d\n", s.top(), t.top(), twice(argc) + (int)twice(20u));
	std::printf("%d %d\n", b->value(argc), from_lib(4));
	return 0;
}
