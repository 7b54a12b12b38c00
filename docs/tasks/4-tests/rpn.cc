// SPDX-License-Identifier: BSD-2-Clause
// Evaluates expressions in reverse Polish notation.
#include <stdexcept>
#include <string>
#include <vector>

namespace rpn {

template <class T> class Stack {
	std::vector<T> values;

    public:
	void push(T value) { values.push_back(value); }

	T pop()
	{
		if (values.empty())
			throw std::runtime_error("too few operands");
		T value = values.back();
		values.pop_back();
		return value;
	}
};

int apply(char op, int a, int b)
{
	switch (op) {
	case '+':
		return a + b;
	case '*':
		return a * b;
	}
	throw std::runtime_error("no such operator");
}

int evaluate(const std::string &text)
{
	Stack<int> stack;

	for (char c : text) {
		if (c >= '0' && c <= '9') {
			stack.push(c - '0');
		} else {
			int b = stack.pop(), a = stack.pop();
			stack.push(apply(c, a, b));
		}
	}
	return stack.pop();
}

} // namespace rpn

int main(int argc, char **argv)
{
	try {
		return rpn::evaluate(argc > 1 ? argv[1] : "") < 0;
	} catch (const std::runtime_error &) {
		return 1;
	}
}
