// SPDX-License-Identifier: BSD-2-Clause
/* Templates of functions and classes, several instances of each, one of which never runs a line
 * that another one does; a specialization; a pack of parameters. */
#include <cstdio>

template <typename T> T larger(T a, T b)
{
	if (a > b)
		return a;
	return b;
}

template <typename T, int N> class ring
{
      public:
	ring() : at(0), used(0)
	{
		for (int i = 0; i < N; i++)
			items[i] = T();
	}
	void put(T item)
	{
		items[at] = item;
		at = (at + 1) % N;
		if (used < N)
			used++;
	}
	T sum() const
	{
		T all = T();

		for (int i = 0; i < used; i++)
			all += items[i];
		return all;
	}
	bool is_full() const
	{
		return used == N;
	}

      private:
	T items[N];
	int at, used;
};

template <typename T> int kind(T)
{
	return sizeof(T) > 4 ? 2 : 1;
}

template <> int kind<char>(char c)
{
	return c == 'x' ? 3 : 4;
}

static int total()
{
	return 0;
}

template <typename First, typename... Rest> int total(First first, Rest... rest)
{
	if (first < 0)
		return total(rest...);
	return static_cast<int>(first) + total(rest...);
}

int main()
{
	ring<int, 4> ints;
	ring<double, 2> doubles;
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		ints.put(larger(i, 1));
		doubles.put(larger(i * 0.5, 9.5));
	}
	sum += larger('a', 'b') + kind(1) + kind(1L) + kind('x');
	sum += total(1, -2L, 3.5, 'c');
	if (ints.is_full())
		sum += 1000;
	if (doubles.is_full())
		sum += 10000;
	std::printf("%d %d %.1f\n", sum, ints.sum(), doubles.sum());
	return 0;
}
