#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Source lines of programs in Rust: the src of every branch, of std's as well, is what addr2line -f -i says, and of every
# step of a trace. tests/check/src.py names what may differ.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
PATH=$PATH:$HOME/.cargo/bin
needs cmd:rustc cmd:addr2line cmd:c++filt cmd:llvm-addr2line cmd:python3

places=0
for source in tests/progs/rusty.rs docs/tasks/src/shop.rs; do
	name=${source##*/}
	for options in '-Copt-level=0' '-Copt-level=1' '-Copt-level=2' '-Copt-level=3 -Clto=fat' '-Copt-level=2 -Zdwarf-version=5'; do
		read -ra words <<<"$options"
		rm -f "$T/built" "$T/said"
		if ! rustc -g "${words[@]}" "$source" -o "$T/built" 2>"$T/cc"; then
			skip "$name $options" "$(grep -m1 '^error' "$T/cc")"
			continue
		fi
		bb list -q "$T/built" --sites -F json
		tests/check/src.py "$T/out" "$T/built" 500 >"$T/said" 2>&1
		ok $? "$name $options: $(tail -1 "$T/said")" || diag "$(cat "$T/said" "$T/err")"
		n=$(tail -1 "$T/said" | cut -d' ' -f1) && places=$((places + n))
		[[ $(id -u) == 0 ]] || continue
		bb user "$T/built" "*${name%.rs}*" -F json -l 100000 -o "$T/json" -- "$T/built"
		tests/check/src.py "$T/json" "$T/built" 5 >"$T/said" 2>&1
		ok $? "$name $options, traced: $(tail -1 "$T/said")" || diag "$(cat "$T/said" "$T/err")"
	done
done
ok $((places < 90000)) "$places places were compared"
done_testing
