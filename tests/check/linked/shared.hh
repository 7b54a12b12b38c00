/* SPDX-License-Identifier: BSD-2-Clause */
/* What both files of the C++ program instantiate. */
#ifndef LINKED_SHARED_HH
#define LINKED_SHARED_HH

template <class T> struct stack {
	T items[8];
	unsigned n;

	stack() : n(0)
	{
		for (T &item : items)
			item = T();
	}
	__attribute__((noinline)) bool push(T v)
	{
		if (n == 8)
			return false;
		items[n++] = v;
		return true;
	}
	__attribute__((noinline)) T top() const
	{
		return n ? items[n - 1] : T();
	}
};

template <class T> __attribute__((noinline)) T twice(T v)
{
	if (v > T(10))
		return v;
	return v + v;
}

int from_lib(int n);
int unused(int n);
#endif
