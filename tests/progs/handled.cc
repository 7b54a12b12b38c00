// SPDX-License-Identifier: BSD-2-Clause
/* C++: functions that return out of a handler and in no other way, and what stands behind the calls
 * of them; one that throws on whatever it catches, and does not return at all. */
#include "prog.h"

static int cleaned;

struct guard {
	int n;
	~guard()
	{
		cleaned += touch(n);
	}
};

EXTERN [[noreturn]] NOINLINE void raise_one(int n)
{
	if (touch(n) & 1)
		throw n;
	throw "even";
}

/* which exception is it: the way of every library that maps them to numbers */
EXTERN NOINLINE int which(int n)
{
	try {
		throw;
	} catch (int value) {
		return value + touch(n);
	} catch (const char *text) {
		return text[0];
	}
}

EXTERN NOINLINE int mapped(int n)
{
	int r;

	try {
		raise_one(n);
	} catch (...) {
		r = which(n);
		if (touch(r) > 100)
			r -= 100;
		else
			r += 3;
	}
	return r;
}

/* by a call whose callee returns only so itself; with something to clean up on the way */
EXTERN NOINLINE int twice(int n)
{
	guard g = {n};

	try {
		guard inner = {1};

		raise_one(n);
	} catch (int) {
		int r = mapped(n + 1);

		for (int i = 0; i < touch(2); i++)
			r += mapped(n + i);
		throw r;
	} catch (const char *) {
		throw mapped(n);
	}
}

static void count_down(int *n)
{
	if (!touch((*n)--))
		throw 1;
}

/* an endless loop around a call through a pointer */
EXTERN NOINLINE int endless(int n, void (*volatile *step)(int *))
{
	try {
		for (;;)
			(*step)(&n);
	} catch (int one) {
		return n + one;
	}
}

EXTERN NOINLINE void passes_on(int n)
{
	guard g = {n};

	try {
		raise_one(n);
	} catch (int value) {
		throw value + touch(1);
	}
}

EXTERN NOINLINE int calls_all(int n)
{
	void (*volatile step)(int *) = count_down;
	int sum = mapped(n);

	if (touch(sum) & 1)
		sum++;
	sum += endless(n, &step);
	if (touch(sum) & 2)
		sum += 5;
	try {
		sum += twice(n);
		sum += touch(1000);
	} catch (int value) {
		sum += value;
	}
	try {
		passes_on(n);
		sum += touch(1000);
	} catch (int value) {
		sum += value;
	} catch (const char *) {
		sum += touch(7);
	}
	return sum;
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 2; i++)
		sum = sum * 3 + calls_all(i);
	printf("%d %d\n", sum, cleaned);
	return 0;
}
