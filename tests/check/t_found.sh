#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Functions of programs without symbols and unwinding tables: each that is found, and each probe, is at an instruction
# of the program that objdump and nm see with symbols; each entry is a symbol's; tables in the text, and pointers into them,
# lead to none.
# MATRIX=whole: more builds.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
[[ -x $BUILD/sites ]] || skip_all "needs $BUILD/sites: make $BUILD/sites"

cat >"$T/p.c" <<'END'
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

/* tables in the text that look like code, and pointers to them and into them */
extern const unsigned char table[], copied[];
__asm__(".text\n.p2align 4\ntable: .byte 0x55,0x48,0x89,0xe5,0xe8,0,0,0,0,0x5d,0xc3,0x90,0x90\n"
	".p2align 4\ncopied: .byte 0xb8,1,0,0,0,0xc3,0x31,0xc0,0xc3,0xeb,0xfe\n.p2align 4\n");
const unsigned char *const pointers[] = {table, table + 1, table + 4, table + 5, copied, copied + 1, copied + 6, copied + 9};
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static int leaf(int n) { return n > 3 ? n * 5 : n + 1; }
__attribute__((noinline)) static int choose(int n)
{
	switch (n % 9) {
	case 0: return leaf(n);
	case 1: return puts("") + n;
	case 2: return atoi("3") * n;
	case 3: return n * n;
	case 5: return leaf(n + 1) + 2;
	case 7: return printf("%d", n);
	default: return 1;
	}
}
static int (*volatile through)(int) = choose;
int main(int argc, char **argv)
{
	int v[] = {3, 1, 2}, sum = 0;
	regex_t r;

	for (int i = 0; i < 8; i++)
		sum += *pointers[i];
	qsort(v, 3, sizeof(*v), compare);
	regcomp(&r, "a*b", 0);
	printf("%d %d %d\n", v[0], through(argc + 4), sum);
	return 0;
}
END

cat >"$T/p.cc" <<'END'
#include <iostream>
#include <map>
#include <regex>
struct base { virtual int of(int n) { return n; } virtual ~base() {} };
struct derived : base { int of(int n) override { return n * 3 + 1; } };
int main(int argc, char **)
{
	std::map<std::string, int> m;
	for (int i = 0; i < argc + 3; i++)
		m[std::to_string(i)] = i;
	base *b = argc > 1 ? new base : new derived;
	std::cout << std::regex_match("axxb", std::regex("a.*b")) << m.size() << b->of(argc) << "\n";
}
END

check() { # NAME ORIGINAL STRIPPED LEAST
	"$ROOT/tests/check/found.py" "$BUILD/bbtrace" "$BUILD/sites" "$2" "$3" >"$T/said"
	local last bad found
	last=$(tail -n 1 "$T/said")
	bad=$(grep -c '^BAD' "$T/said")
	found=${last%% *}
	ok $((bad != 0 || found < $4)) "$1: $last" || diag "$(head -n 20 "$T/said")"
}

builds=('gcc -O1' 'gcc -O2 -static')
[[ ${MATRIX:-} != whole ]] || builds+=('gcc -O0' 'gcc -O2' 'gcc -O3' 'gcc -Os' 'gcc -O2 -no-pie' 'gcc -O2 -static-pie'
	'clang -O1' 'clang -O2' 'clang -O2 -static' 'g++ -O2 -static')
for build in "${builds[@]}"; do
	[[ $build == g++* ]] && source=$T/p.cc || source=$T/p.c
	# shellcheck disable=SC2086 # words
	$build -w -fno-asynchronous-unwind-tables -fno-unwind-tables -o "$T/p" "$source" || continue
	objcopy -R .eh_frame -R .eh_frame_hdr "$T/p" "$T/stripped" 2>"$T/err" && strip "$T/stripped"
	least=8
	[[ $build != *static* ]] || least=300
	check "$build" "$T/p" "$T/stripped" $least
	[[ $build != *'-static'* ]] || continue
	"$T/p" >"$T/alone"
	if [[ $EUID == 0 ]]; then
		"$BUILD/bbtrace" user "$T/stripped" '*' -o "$T/trace" -- "$T/stripped" >"$T/traced" 2>"$T/err"
		ok "$(cmp -s "$T/alone" "$T/traced"; echo $?)" "$build: traced, it prints what it does alone" || diag "$(cat "$T/err" "$T/traced")"
	fi
done
done_testing
