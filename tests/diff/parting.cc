// SPDX-License-Identifier: BSD-2-Clause
/* As parting.c: exceptions, virtual functions and templates. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

static int bad;
static const long rounds = 200;
static long at;
static volatile long sink;

__attribute__((noinline)) static void note(long n)
{
	sink = sink + n;
}

struct guard {
	long n;
	~guard()
	{
		note(n);
	}
};

__attribute__((noinline)) static void innermost(long i)
{
	guard g{i};

	if (i == at) // PLANTED: thrown
		throw std::runtime_error("it");
	note(1);
}

__attribute__((noinline)) static void between(long i)
{
	guard g{i + 1};

	innermost(i);
	note(2);
}

__attribute__((noinline)) static void thrown()
{
	for (long i = 0; i < rounds; i++) {
		try {
			between(i);
		} catch (const std::runtime_error &) {
			note(3);
		}
		note(4);
	}
}

struct shape {
	virtual long area() const = 0;
};

struct square : shape {
	long area() const override
	{
		note(1);
		return 4;
	}
};

struct circle : shape {
	long area() const override
	{
		note(2);
		note(3);
		return 3;
	}
};

static shape *shapes[1000];
static long next[1000];

__attribute__((noinline)) static void prep()
{
	static square s;
	static circle c;

	for (long i = 0; i < rounds; i++) {
		shapes[i] = i % 3 == 0 || i == at ? static_cast<shape *>(&c) : &s;
		next[i] = i == at ? i - 1 : i + 1;
	}
}

__attribute__((noinline)) static void virtuals()
{
	for (long i = 0; i < rounds; i++)
		note(shapes[i]->area()); // PLANTED: virtuals
}

template <typename T> __attribute__((noinline)) static T least(T a, T b)
{
	if (b < a) // PLANTED: templates
		return b;
	note(1);
	return a;
}

__attribute__((noinline)) static void templates()
{
	for (long i = 0; i < rounds; i++) {
		note(least<long>(i, next[i]));
		note(least<double>(i, i + 1) > 0);
	}
}

static const struct {
	const char *name;
	void (*run)();
} scenarios[] = {{"thrown", thrown}, {"virtuals", virtuals}, {"templates", templates}};

int main(int argc, char **argv)
{
	bad = argc > 2 && atoi(argv[2]);
	at = bad ? rounds / 2 : 1L << 40;
	if (at == rounds / 2 && rounds % 6 == 0)
		at++;
	prep();
	for (const auto &s : scenarios) {
		if (argc == 1)
			puts(s.name);
		else if (!strcmp(argv[1], s.name))
			s.run();
	}
	return 0;
}
