#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F bolt: llvm-bolt takes it without a stale function, and it is what a program writes that `llvm-bolt -instrument` has
# made, edge for edge. Run by `make check-formats`.
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes
bolt=/usr/lib/llvm-19/bin/llvm-bolt
[[ -x $bolt ]] || skip_all 'needs llvm-bolt'

# Programs that llvm-bolt instruments rightly: with what it leaves out (jumps through tables, code in assembler), and where
# indirect branches lead, which it doesn't tell, they would differ in its disfavour.
for p in callback counted deep fib generated handler ladder mutual quick; do
	cc -w -O2 -g -Wl,--emit-relocs -o "$T/$p" "tests/progs/$p.c" -lpthread || exit 2
	"$bolt" "$T/$p" -instrument -o "$T/instrumented" --instrumentation-file="$T/theirs" >"$T/said" 2>&1 &&
		"$T/instrumented" >/dev/null 2>&1 </dev/null
	[[ -s $T/theirs ]]
	ok $? "$p: it is instrumented" || diag "$(tail -5 "$T/said")"
	bb user "$T/$p" '*' -F bolt -o "$T/ours" -- "$T/$p"
	# those of the C runtime it doesn't instrument
	is "$(sort "$T/ours" | grep -v tm_clones)" "$(sort "$T/theirs" | grep -v tm_clones)" "$p: each edge has its count"
	isnt "$(wc -l <"$T/ours")" 0 "$p: there are some"
	"$bolt" "$T/$p" -data "$T/ours" -o "$T/optimized" -reorder-blocks=ext-tsp >"$T/said" 2>&1
	is "$? $(grep -ciE 'stale|invalid' "$T/said")" '0 0' "$p: it is taken, nothing is stale" || diag "$(cat "$T/said")"
	"$T/$p" >"$T/plain" 2>&1 </dev/null
	"$T/optimized" >"$T/moved" 2>&1 </dev/null
	same "$T/moved" "$T/plain" "$p: what it is made into does the same"
	rm -f "$T/theirs"
done
done_testing
