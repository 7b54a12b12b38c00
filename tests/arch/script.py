# SPDX-License-Identifier: BSD-2-Clause
numbers = sorted(str(i * 7919 % 10007) for i in range(5000))
table = {}
for text in numbers:
    table[text[:2]] = table.get(text[:2], 0) + int(text) ** 3 % 1000003
print(sum(table.values()), list(table.items())[:5], max(numbers, key=len))
