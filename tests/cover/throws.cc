// SPDX-License-Identifier: BSD-2-Clause
/* Exceptions: thrown through frames with destructors, caught by type, by a base, by ..., rethrown;
 * a function whose body is a try; a handler that never runs. */
#include <cstdio>
#include <stdexcept>

static int cleaned;

struct guard {
	explicit guard(int n) : n(n)
	{
	}
	~guard()
	{
		cleaned += n;
	}
	int n;
};

static int risky(int n)
{
	guard g(n);

	if (n == 1)
		throw std::runtime_error("one");
	if (n == 2)
		throw std::out_of_range("two");
	if (n == 3)
		throw 3;
	return n;
}

static int through(int n)
{
	guard g(10);

	return risky(n) + 1;
}

static int caught(int n)
{
	try {
		return through(n);
	} catch (const std::runtime_error &e) {
		return e.what()[0];
	} catch (const std::exception &e) {
		int sum = 0;

		for (const char *p = e.what(); *p; p++)
			sum += *p;
		return sum;
	} catch (...) {
		return -1;
	}
}

static int again(int n)
{
	try {
		return risky(n);
	} catch (int value) {
		cleaned += 100;
		throw;
	} catch (const char *never) {
		return never[0];
	}
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 6; i++)
		sum = sum * 3 + caught(i);
	for (int i = 3; i < 6; i++) {
		try {
			sum += again(i);
		} catch (...) {
			sum += 7;
		}
	}
	std::printf("%d %d\n", sum, cleaned);
	return 0;
}
