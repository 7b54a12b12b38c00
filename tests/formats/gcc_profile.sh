#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F autofdo:gcc: gcc takes it and has the counts of it, which are those of gcc's own instrumentation. Run by
# `make check-formats`.
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:gcc cmd:gcov cmd:python3

AFDO=$ROOT/tests/formats/afdo.py
for p in callback counted deep fib generated handler ladder loops mutual quick switch; do
	gcc -w -O2 -g -fno-inline -fno-ipa-icf -fno-ipa-cp -o "$T/$p" "tests/progs/$p.c" -lpthread || exit 2
	bb user "$T/$p" '*' -F autofdo:gcc -o "$T/prof" -- "$T/$p"
	python3 "$AFDO" "$T/prof" >"$T/read" 2>"$T/said"
	ok $? "$p: it is what gcc reads, and nothing else" || diag "$(cat "$T/said")"
	gcc -O2 -g -fno-inline -fno-ipa-icf -fno-ipa-cp -fauto-profile="$T/prof" -fdump-tree-optimized="$T/dump" \
		-o "$T/optimized" "tests/progs/$p.c" -lpthread >"$T/said" 2>&1
	is "$? $(cat "$T/said")" '0 ' "$p: gcc takes it and has nothing to say"
	"$T/$p" >"$T/plain" 2>&1 </dev/null
	"$T/optimized" >"$T/other" 2>&1 </dev/null
	same "$T/other" "$T/plain" "$p: what it compiles does the same"
	# functions whose first block has a count; gcc takes both sides of a conditional in one line for as frequent as the
	# line, and adds them up
	awk '/^;; Function / { name = $3; first = 1 } /^  <bb .*\[count: [0-9]+\]/ && first { first = 0; sub(/\].*/, ""); if ($4) print name, $4 }' "$T/dump" |
		sort >"$T/theirs"
	sed -n 's/^\([^ :]*\):[0-9]*:\([1-9][0-9]*\)$/\1 \2/p' "$T/read" | sort >"$T/ours"
	is "$(join "$T/theirs" "$T/ours" | awk '$2 != $3 { print $1 }' | grep -vxE 'helper|choose')" '' "$p: functions are entered as often for gcc as for the profile"
	isnt "$(join "$T/theirs" "$T/ours" | wc -l)" 0 "$p: there are some"

	# and as often as gcov counts
	mkdir "$T/counting" && gcc -w -O0 --coverage -o "$T/counting/$p" "tests/progs/$p.c" -lpthread && "$T/counting/$p" >/dev/null 2>&1 </dev/null
	(cd "$T/counting" && gcov --json-format --stdout ./*.gcda) >"$T/json" 2>/dev/null
	python3 -c 'import json, sys
for line in sys.stdin:
    for file in json.loads(line)["files"]:
        for f in file["functions"]:
            if f["execution_count"]: print(f["name"], f["execution_count"])' <"$T/json" | sort >"$T/theirs"
	gcc -w -O0 -g -o "$T/$p.plain" "tests/progs/$p.c" -lpthread || exit 2
	bb user "$T/$p.plain" '*' -F autofdo:gcc -o "$T/prof" -- "$T/$p.plain"
	python3 "$AFDO" "$T/prof" | sed -n 's/^\([^ :]*\):[0-9]*:\([1-9][0-9]*\)$/\1 \2/p' | sort >"$T/ours"
	is "$(<"$T/ours")" "$(<"$T/theirs")" "$p: functions are entered as often as gcov counts"
	rm -rf "$T/counting"
done

# What is split off a function, to inline the rest: its counts are where the rest is, by who called it how often.
cat >"$T/parts.c" <<'END'
#include <stdio.h>
int sum[100];
static void often(int n)
{
	if (n % 4)
		return;
	for (int i = 0; i < 100; i++)
		sum[i] = sum[i] * 3 + n;
	printf("%d\n", sum[7]);
	for (int i = 1; i < 100; i++)
		sum[i] ^= sum[i - 1];
	printf("%d\n", sum[7]);
}
__attribute__((noinline)) void one(int n) { often(n); }
__attribute__((noinline)) void other(int n) { often(n + 1); }
int main(void)
{
	for (int i = 0; i < 40; i++) {
		one(i);
		if (i < 24)
			other(i);
	}
}
END
gcc -O2 -g -fno-tree-vectorize -o "$T/parts" "$T/parts.c" || exit 2
like <(nm "$T/parts") ' often\.part\.' 'a function was split'
bb user "$T/parts" '*' -F autofdo:gcc -o "$T/prof" -- "$T/parts"
python3 "$AFDO" "$T/prof" >"$T/read"
is "$(grep -c '^often:' "$T/read")" 0 'a part is no function of its own'
# the counts of the line of the first printf()
is "$(sed -nE '/^(one|other):/{s/:.*//;h;}; /^  6: /{G;s/ *6: ([0-9]+)\n(.*)/\2 \1/p;}' "$T/read" | sort)" $'one 10\nother 6' \
	'it is divided among those that called it'
done_testing
