// SPDX-License-Identifier: BSD-2-Clause
/* What runs outside of main: constructors and destructors of globals, a function's statics, a
 * member's default, constructors that delegate, a conversion, arrays of objects, references to
 * temporaries. */
#include <cstdio>

static int log_of(int n)
{
	static int logged = 0;

	logged = (logged * 3 + n) % 1000;
	return logged;
}

class item
{
      public:
	item() : item(5)
	{
		log_of(1);
	}
	explicit item(int n) : n(n)
	{
		if (n > 5)
			log_of(2);
		else
			log_of(3);
	}
	~item()
	{
		if (n == 77)
			std::printf("gone\n");
	}
	operator int() const
	{
		return n;
	}

      private:
	int n;
	int more = log_of(4);
};

static item global(77);
static item globals[3];

static int once(int n)
{
	static item first(n);

	return first;
}

static item make(int n)
{
	return item(n * 2);
}

int main()
{
	item array[2];
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += once(i + 1);
	const item &temporary = make(4);
	sum += temporary + globals[1] + array[0] + global;
	std::printf("%d %d\n", sum, log_of(0));
	return 0;
}
