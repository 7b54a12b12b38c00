// SPDX-License-Identifier: BSD-2-Clause
/* Operators and loops over ranges: of an array, and of a list with iterators of its own; do, while,
 * goto, break and continue; switches with ranges and without default. */
#include <cstdio>

struct node {
	int value;
	node *next;
};

class iterator
{
      public:
	explicit iterator(node *at) : at(at)
	{
	}
	int &operator*() const
	{
		return at->value;
	}
	iterator &operator++()
	{
		at = at->next;
		return *this;
	}
	bool operator!=(const iterator &other) const
	{
		return at != other.at;
	}

      private:
	node *at;
};

class list
{
      public:
	~list()
	{
		while (head) {
			node *next = head->next;

			delete head;
			head = next;
		}
	}
	list &operator<<(int n)
	{
		head = new node{n, head};
		return *this;
	}
	iterator begin() const
	{
		return iterator(head);
	}
	iterator end() const
	{
		return iterator(nullptr);
	}

      private:
	node *head = nullptr;
};

enum class color { red, green, blue, none };

static int weight(color c)
{
	switch (c) {
	case color::red:
		return 1;
	case color::green:
	case color::blue:
		return 2;
	case color::none:
		break;
	}
	return 0;
}

static int walk(const list &l)
{
	int sum = 0;

	for (int &value : l) {
		if (value == 3)
			continue;
		if (value > 8)
			break;
		sum += value;
	}
	return sum;
}

static int logic(int a, int b)
{
	bool both = a > 1 && b > 1;
	bool either = a == 7 || b == 7;
	int n = 0;

	if (!(both || either))
		return -1;
	do {
		n += 3;
		if (n > 20)
			goto out;
	} while (n < a * b);
	while (true) {
		if (n-- < 2)
			break;
	}
out:
	return both ? n : either ? n + 1 : n + 2;
}

int main()
{
	static const int values[] = {1, 3, 5, 9, 2};
	list l;
	int sum = 0;

	for (int value : values) {
		l << value;
		sum += logic(value, 4) + weight(static_cast<color>(value % 4));
	}
	sum += walk(l) + logic(1, 7) + logic(7, 1);
	std::printf("%d\n", sum);
	return 0;
}
