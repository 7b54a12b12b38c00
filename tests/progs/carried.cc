// SPDX-License-Identifier: BSD-2-Clause
/* An exception that is caught in one thread and goes on in another; one thrown while another is handled, and nested
 * in it; a canceled thread that C++ sees as an exception. */
#include <cxxabi.h>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include "prog.h"

static std::exception_ptr carried;
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
	guard g = {n};

	if (n == 0)
		throw std::runtime_error("bottom");
	return thrower(n - 1) + touch(g.n);
}

EXTERN NOINLINE void *catcher(void *arg)
{
	try {
		thrower((int)(long)arg);
	} catch (...) {
		carried = std::current_exception();
	}
	return NULL;
}

EXTERN NOINLINE int go_on(int n)
{
	guard g = {n};

	if (n)
		return go_on(n - 1) + touch(1);
	std::rethrow_exception(carried);
}

EXTERN NOINLINE int nest(int n)
{
	try {
		return n ? nest(n - 1) + touch(1) : thrower(1);
	} catch (const std::exception &e) {
		guard g = {100};
		std::throw_with_nested(std::logic_error("level"));
	}
}

EXTERN NOINLINE int levels(const std::exception &e)
{
	try {
		std::rethrow_if_nested(e);
	} catch (const std::exception &inner) {
		return levels(inner) + touch(1);
	}
	return 0;
}

EXTERN NOINLINE int canceled(int n)
{
	guard g = {1000};

	if (n)
		return canceled(n - 1) + touch(1);
	try {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	} catch (abi::__forced_unwind &) {
		cleaned += touch(5);
		throw;
	}
	return 0;
}

static void *canceled_thread(void *arg)
{
	return (void *)(long)canceled((int)(long)arg);
}

int main()
{
	pthread_t thread;
	int sum = 0;
	void *got;

	pthread_create(&thread, NULL, catcher, (void *)3l);
	pthread_join(thread, NULL);
	try {
		go_on(2);
	} catch (const std::runtime_error &e) {
		sum = e.what()[0];
	}
	try {
		nest(2);
	} catch (const std::exception &e) {
		sum = sum * 10 + levels(e);
	}
	pthread_create(&thread, NULL, canceled_thread, (void *)2l);
	pthread_join(thread, &got);
	printf("%d %d %d\n", sum, cleaned, got == PTHREAD_CANCELED);
	return 0;
}
