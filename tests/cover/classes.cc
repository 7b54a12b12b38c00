// SPDX-License-Identifier: BSD-2-Clause
/* Classes: constructors with a base, members that are initialized, virtual functions, destructors
 * that are called by delete, static members and functions, overloads, a copy and an assignment. */
#include <cstdio>

namespace shapes
{
class shape
{
      public:
	explicit shape(int id) : id(id)
	{
		made++;
	}
	shape(const shape &other) : id(other.id + 100)
	{
		made++;
	}
	virtual ~shape()
	{
		if (id > 100)
			gone++;
	}
	virtual int area() const = 0;
	shape &operator=(const shape &other)
	{
		if (this == &other)
			return *this;
		id = other.id;
		return *this;
	}
	static int count();
	int id;

      protected:
	static int made, gone;
};

int shape::made;
int shape::gone;

int shape::count()
{
	return made * 10 + gone;
}

class square : public shape
{
      public:
	square(int id, int side) : shape(id), side(side)
	{
	}
	int area() const override
	{
		return side * side;
	}

      private:
	int side;
};

class oblong : public shape
{
      public:
	oblong(int id, int w, int h) : shape(id), w(w > 0 ? w : 1), h(h)
	{
		if (h < 0)
			this->h = -h;
	}
	~oblong() override
	{
		gone += 2;
	}
	int area() const override
	{
		return w * h;
	}
	int area(int times) const
	{
		return area() * times;
	}

      private:
	int w, h;
};
} // namespace shapes

static int measure(const shapes::shape &s)
{
	if (s.area() > 10 && s.id != 3)
		return s.area();
	return 0;
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 5; i++) {
		shapes::shape *s;

		if (i % 2)
			s = new shapes::square(i, i);
		else
			s = new shapes::oblong(i, i - 1, i - 2);
		sum += measure(*s);
		delete s;
	}
	shapes::square a(7, 2), b(a);
	shapes::oblong c(8, 3, 4);
	a = b;
	shapes::square &same = b;
	same = b;
	sum += measure(a) + c.area(2);
	std::printf("%d %d\n", sum, shapes::shape::count());
	return 0;
}
