// SPDX-License-Identifier: BSD-2-Clause
/* Coroutines of C++20: they leave in the middle and come back there, on any stack, from any caller, in another thread. */
#include <coroutine>
#include <pthread.h>
#include "prog.h"

struct task {
	struct promise_type {
		int value = 0;
		task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int n)
		{
			value = n;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			value = -1;
		}
	};
	std::coroutine_handle<promise_type> handle;
};

EXTERN NOINLINE int odd(int n)
{
	if (n == 9)
		throw n;
	return touch(n) & 1;
}

task count(int from, int to)
{
	for (int i = from; i < to; i++)
		if (odd(i))
			co_yield i;
}

task both(task a, task b)
{
	while (!a.handle.done() || !b.handle.done()) {
		if (!a.handle.done())
			a.handle.resume();
		co_yield a.handle.promise().value;
		if (!b.handle.done())
			b.handle.resume();
		co_yield b.handle.promise().value;
	}
}

EXTERN NOINLINE int pull(task *t, int times)
{
	int sum = 0;

	for (; times && !t->handle.done(); times--) {
		t->handle.resume();
		sum = sum * 3 + touch(t->handle.promise().value);
	}
	return sum;
}

static void *elsewhere(void *arg)
{
	return (void *)(long)pull((task *)arg, 3);
}

int main()
{
	task a = count(1, 7), b = count(6, 20), c = both(a, b);
	pthread_t thread;
	void *got;
	int first = pull(&c, 3), last;

	pthread_create(&thread, NULL, elsewhere, &c);
	pthread_join(thread, &got);
	last = pull(&c, 100);
	printf("%d %ld %d\n", first, (long)got, last);
	c.handle.destroy();
	b.handle.destroy();
	a.handle.destroy();
	return 0;
}
