/* SPDX-License-Identifier: BSD-2-Clause */
/* Inline functions of a header. */
#ifndef INLINES_H
#define INLINES_H

inline int clamp(int n, int low, int high)
{
	if (n < low)
		return low;
	if (n > high)
		return high;
	return n;
}

class counter
{
      public:
	void add(int n)
	{
		if (n > 0)
			value += n;
	}
	int get() const
	{
		return value;
	}
	int unused() const
	{
		return value ? 1 : 2;
	}

      private:
	int value = 3;
};

static inline int helper(int n)
{
	while (n > 9)
		n /= 10;
	return n;
}

#endif
