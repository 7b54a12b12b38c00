#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""classes.py SEED: prints a program with switches whose index comes from tables of bytes, as in scanners.

The tables contain a few or many more classes than their switches have cases, and the jump tables follow each other
directly. The program runs each switch with each byte and prints a sum.
"""

import random
import sys

HEAD = """#include <stdio.h>

static int touch(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

struct token { int length; unsigned char class; signed char other; unsigned short wide; };
"""

INDEX = [
    "table%d[*p]",
    "table%d[p[1]]",
    "t->class = table%d[*p]",
    "t->wide = table%d[*p]",
    "table%d[(unsigned char)(*p + t->length)]",
    "table%d[*p] & 31",
    "(unsigned char)(table%d[*p] - 1)",
]
BODIES = [
    "return touch(%d) * 3;",
    "sum ^= touch(%d);\n\t\tbreak;",
    "sum += t->length << %d %% 7;\n\t\tbreak;",
    "if (touch(%d) & 1)\n\t\t\treturn sum;\n\t\tbreak;",
    "while (p[sum & 7] > %d)\n\t\t\tsum = touch(sum + 1);\n\t\tbreak;",
    "t->length = %d;\n\t\t/* fall through */",
]


def function(r, number):
    cases = r.randint(5, 24)
    most = cases - 1 + r.choice([0, 1, 2, 3, 5, 9, 30])
    row = ", ".join(str(r.randint(0, most)) for _ in range(256))
    constant = r.choice(["static const ", "static const ", "static "])
    lines = [f"{constant}unsigned char table{number}[256] = {{{row}}};"]
    lines.append(f"__attribute__((noinline)) int f{number}(const unsigned char *p, struct token *t)\n{{")
    lines.append(f"\tint sum = t->length;\n\n\tswitch ({r.choice(INDEX) % number}) {{")
    for case in range(cases):
        if r.random() < 0.1:
            continue
        lines.append(f"\tcase {case}:\n\t\t{r.choice(BODIES) % r.randint(1, 200)}")
    lines.append("\t\tbreak;\n\tdefault:\n\t\treturn -2;" if r.random() < 0.8 else "\t\tbreak;")
    lines.append("\t}\n\treturn sum;\n}\n")
    return "\n".join(lines)


def main():
    r = random.Random(int(sys.argv[1]))
    count = r.randint(3, 9)
    print(HEAD)
    for number in range(count):
        print(function(r, number))
    print("int main(void)\n{\n\tunsigned char bytes[9] = {0};\n\tunsigned sum = 0;\n")
    print("\tfor (int i = 0; i < 256; i++) {\n\t\tstruct token t = {i, i, i, i};\n\n\t\tbytes[0] = bytes[1] = i;")
    for number in range(count):
        print(f"\t\tsum = sum * 31 + f{number}(bytes, &t);")
    print('\t}\n\tprintf("%u\\n", sum);\n\treturn 0;\n}')


main()
