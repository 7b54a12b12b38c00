// The same in C++: an object says how long is recorded.
#include <bbtrace.h>
#include <unistd.h>

struct recorded {
	recorded() { BBTRACE_START(); }
	~recorded() { BBTRACE_STOP(); }
};

namespace shop {
__attribute__((noinline)) int price(int article, int n)
{
	return n > 10 ? 90 * n : article == 7 ? 0 : 100 * n;
}
}

int main()
{
	int sum = shop::price(1, 1);
	{
		recorded here;

		usleep(3000000);
		BBTRACE_MARK("large", 20);
		sum += shop::price(2, 20);
	}
	return sum == shop::price(3, 3);
}
