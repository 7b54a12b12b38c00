// SPDX-License-Identifier: BSD-2-Clause
/* A small C++ program with names as they are there. */
#include <map>
#include <string>
#include <vector>

namespace shop
{
struct Cart {
	std::map<std::string, std::vector<int>> items;
	__attribute__((noinline)) void add(int price)
	{
		items["things of the house"].push_back(price);
	}
	__attribute__((noinline)) int total(const std::map<std::string, std::vector<int>> &all) const
	{
		int sum = 0;
		for (auto &item : all)
			for (int price : item.second)
				sum += price;
		return sum;
	}
};
} // namespace shop

int main()
{
	shop::Cart cart;

	for (int i = 0; i < 3; i++)
		cart.add(i * 10);
	return cart.total(cart.items) == 30 ? 0 : 1;
}
