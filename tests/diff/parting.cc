// SPDX-License-Identifier: BSD-2-Clause
/* As parting.c: exceptions, virtual functions and templates. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static int bad;
static long rounds = 200, at;
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
	virtual ~shape() = default;
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

static std::vector<std::unique_ptr<shape>> shapes;

__attribute__((noinline)) static void prep_shapes()
{
	for (long i = 0; i < rounds; i++)
		if (i % 3 == 0 || i == at)
			shapes.push_back(std::make_unique<circle>());
		else
			shapes.push_back(std::make_unique<square>());
}

__attribute__((noinline)) static void virtuals()
{
	for (const auto &s : shapes)
		note(s->area()); // PLANTED: virtuals
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
		note(least<long>(i, i + 1 - 2 * (i == at)));
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
	rounds = argc > 3 ? atol(argv[3]) : rounds;
	at = bad ? rounds / 2 : 1L << 40;
	if (at == rounds / 2 && rounds % 6 == 0)
		at++;
	prep_shapes();
	for (const auto &s : scenarios) {
		if (argc == 1)
			puts(s.name);
		else if (!strcmp(argv[1], s.name))
			s.run();
	}
	return 0;
}
