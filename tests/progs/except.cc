// SPDX-License-Identifier: BSD-2-Clause
/* C++: thrown through frames with and without something to clean up, caught, thrown on, caught by
 * type. */
#include "prog.h"

static int cleaned;

struct guard {
	int n;
	~guard()
	{
		cleaned += touch(n);
	}
};

EXTERN NOINLINE int thrower(int n)
{
	if (n == 0)
		throw 7;
	if (n == 1)
		throw "text";
	return n;
}

EXTERN NOINLINE int through(int n)
{
	return thrower(n) + touch(1);
}

EXTERN NOINLINE int cleanup(int n)
{
	guard g = {n + 1};

	return through(n) + touch(g.n);
}

EXTERN NOINLINE int rethrow(int n)
{
	try {
		return cleanup(n);
	} catch (int value) {
		guard g = {value};

		if (touch(value) == 7)
			throw;
		return 0;
	}
}

EXTERN NOINLINE int catcher(int n)
{
	try {
		return rethrow(n);
	} catch (int value) {
		return value;
	} catch (const char *text) {
		return text[0];
	} catch (...) {
		return -1;
	}
}

struct base {
	virtual int value(int n)
	{
		return touch(n);
	}
	virtual ~base()
	{
	}
};

struct derived : base {
	int value(int n) override
	{
		return base::value(n) + catcher(n % 3);
	}
};

NOINLINE int dispatch(base *b, int n)
{
	return b->value(n) + touch(1);
}

int main()
{
	derived d;
	base b;
	int sum = 0;

	for (int i = 0; i < 6; i++)
		sum = sum * 3 + catcher(i % 4) + dispatch(i & 1 ? &d : &b, i);
	printf("%d %d\n", sum, cleaned);
	return 0;
}
