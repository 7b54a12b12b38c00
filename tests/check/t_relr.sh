#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Packed relative relocations (DT_RELR), as today's C libraries have them: they say which words of the data are addresses of code.
# A word that only has such a value is none, and the same program with relocations of the older form has the same comparisons.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
BBTRACE=${BBTRACE:-$BUILD/bbtrace}
for tool in gcc python3 readelf; do
	command -v "$tool" >/dev/null || skip_all "needs $tool"
done
[[ $(uname -m) == x86_64 ]] || skip_all 'comparisons are of x86-64'

cat >"$T/p.c" <<'END'
#include <stdio.h>
#include <stdlib.h>

void *volatile kept[200];
volatile unsigned long planted[] = {0x1122334455667788};

int number(int x)
{
	if (x > 1000)
		return 1;
	if (x < -1000)
		return 2;
	return 3;
}

int chosen(int x, void *volatile *to)
{
	/* the addresses of labels, in data */
	static void *const in_data[] = {&&first, &&second};

	*to = (void *)in_data;
	goto **to;
first:
	if (x > 10)
		return 5;
second:
	return x < 20 ? 6 : 7;
}

static int (*const functions[])(int) = {number, number, number};

int main(int argc, char **argv)
{
	return functions[argc & 1](atoi(argv[0])) + chosen(argc, kept) + !!planted[0];
}
END

# comparisons FILE: by function and offset; the counts of those with and without
comparisons() {
	"$BBTRACE" list -q -F json --sites "$1" '*' | python3 -c '
import json, re, sys
for line in sys.stdin:
    s = json.loads(line)
    if s["kind"] == "jcc":
        print(s["symbol"], s["offset"], s["insn"], re.sub(r"0x[0-9a-f]+\]", "]", s.get("compare", "None")))'
}
# site FILE: the address of the first conditional of number()
site() {
	"$BBTRACE" list -q -F json --sites "$1" number | python3 -c '
import json, re, sys
print(next(int(s["vaddr"], 16) for s in map(json.loads, sys.stdin) if s["kind"] == "jcc"))'
}

gcc -O1 -fpie -pie -Wl,-z,nopack-relative-relocs "$T/p.c" -o "$T/older" 2>"$T/cc" &&
	gcc -O1 -fpie -pie -Wl,-z,pack-relative-relocs "$T/p.c" -o "$T/packed" 2>>"$T/cc" ||
	skip_all "its linker can't pack relocations: $(tail -n 1 "$T/cc")"
ok $((!$(readelf -dW "$T/packed" | grep -c '(RELR)'))) 'the relocations are packed'
ok $(($(readelf -dW "$T/older" | grep -c '(RELR)'))) "the other's are not"

# A word of the data that happens to be the address of number()'s branch.
python3 - "$T/packed" "$(site "$T/packed")" <<'END'
import struct, sys
image = open(sys.argv[1], "rb").read()
word = struct.pack("<Q", 0x1122334455667788)
assert image.count(word) == 1
open(sys.argv[1], "wb").write(image.replace(word, struct.pack("<Q", int(sys.argv[2]))))
END
comparisons "$T/older" >"$T/of_older"
comparisons "$T/packed" >"$T/of_packed"
is "$(<"$T/of_packed")" "$(<"$T/of_older")" 'the same comparisons, though data has the value of an address'
ok $((!$(grep -c '^number .* cmp' "$T/of_packed"))) 'number() has comparisons'
done_testing
