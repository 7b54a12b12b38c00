#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F autofdo: llvm-profdata and clang take it; its counts are those of clang's own instrumentation. Run by
# `make check-formats`.
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:clang cmd:llvm-profdata

for p in callback counted deep fib generated handler ladder loops mutual quick switch; do
	clang -w -O2 -g -fdebug-info-for-profiling -o "$T/$p" "tests/progs/$p.c" -lpthread || exit 2
	bb user "$T/$p" '*' -F autofdo -o "$T/prof" -- "$T/$p"
	llvm-profdata merge --sample --text "$T/prof" -o "$T/read" >"$T/said" 2>&1
	ok $? "$p: llvm-profdata reads it" || diag "$(cat "$T/said")"
	is "$(sort "$T/read")" "$(sort "$T/prof")" "$p: and writes the same"
	clang -w -O2 -fprofile-sample-use="$T/prof" -Wno-backend-plugin -o "$T/optimized" "tests/progs/$p.c" -lpthread >"$T/said" 2>&1
	ok $? "$p: clang takes it" || diag "$(cat "$T/said")"
	"$T/$p" >"$T/plain" 2>&1 </dev/null
	"$T/optimized" >"$T/other" 2>&1 </dev/null
	same "$T/other" "$T/plain" "$p: what it compiles does the same"

	# functions that are entered as often as their first region runs, by clang's counters
	clang -w -O0 -fprofile-instr-generate -fcoverage-mapping -o "$T/counting" "tests/progs/$p.c" -lpthread || exit 2
	LLVM_PROFILE_FILE=$T/raw "$T/counting" >"$T/other" 2>&1 </dev/null
	llvm-profdata merge "$T/raw" -o "$T/merged" && llvm-profdata show --all-functions "$T/merged" >"$T/counts"
	clang -w -O0 -g -fdebug-info-for-profiling -o "$T/$p.plain" "tests/progs/$p.c" -lpthread || exit 2
	bb user "$T/$p.plain" '*' -F autofdo -o "$T/prof" -- "$T/$p.plain"
	awk '/^  [^ ].*:$/ { name = $1; sub(/.*:/, "", name) } /^  [^ ]+:$/ { name = substr($1, 1, length($1) - 1); sub(/.*:/, "", name) }
		/Function count:/ && $3 { print name, $3 }' "$T/counts" | sort >"$T/theirs"
	sed -n 's/^\([^ :]*\):[0-9]*:\([0-9]*\)$/\1 \2/p' "$T/prof" | sort >"$T/ours"
	is "$(<"$T/ours")" "$(<"$T/theirs")" "$p: functions are entered as often as clang counts"
	isnt "$(wc -l <"$T/ours")" 0 "$p: there are some"
done
done_testing
