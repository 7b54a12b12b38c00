#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Source lines: the src of every branch that list --sites shows is what addr2line -f -i says, with what was inlined: of
# programs by gcc and clang, with and without optimization, in C and C++; of all of bbtrace itself. src.py names what may differ.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
BBTRACE=${BBTRACE:-$BUILD/bbtrace}
for tool in addr2line c++filt python3 llvm-addr2line cc; do
	command -v "$tool" >/dev/null || skip_all "needs $tool"
done
PROGRAMS=(tests/progs/{inlined,switch,cold,classes}.c tests/progs/{except,carried,coroutine}.cc
	tests/cover/{inlines,lambdas,statics,templates}.cc docs/tasks/src/{config,words}.c docs/tasks/src/rpn.cc)
places=0 inlined=0

# compare NAME FILE LEAST
number=0
compare() {
	rm -f "$T/json" "$T/said"
	"$BBTRACE" list -q "$2" --sites -F json >"$T/json" && "$ROOT/tests/check/src.py" "$T/json" "$2" "$3" >"$T/said" 2>&1
	ok $? "$1: $(tail -1 "$T/said")" || diag "$(cat "$T/said" "$T/cc" 2>&1)"
	n=$(tail -1 "$T/said" | cut -d' ' -f1) && places=$((places + n))
	n=$(sed -n 's/.*, \([0-9]*\) inlined, .* different.*/\1/p' "$T/said") && inlined=$((inlined + ${n:-0}))
}

# build COMPILER SOURCE OPTION...: the program $T/built
build() {
	local cc=$1 source=$ROOT/$2
	shift 2
	rm -f "$T/built"
	if [[ $source == *.cc ]]; then
		[[ $cc == gcc ]] && set -- -fcoroutines "$@"
		cc=${cc/gcc/g++} && cc=${cc/clang/clang++} && set -- -std=c++20 "$@"
	fi
	"$cc" -w -g "$@" -I"$ROOT/tests/progs" "$source" -o "$T/built" -lpthread >"$T/cc" 2>&1
}

for cc in gcc clang; do
	if ! command -v $cc >/dev/null; then
		skip "$cc: source lines" "no $cc"
		continue
	fi
	for source in "${PROGRAMS[@]}"; do
		for options in -O0 -O1 -O2; do
			in_part $((number++)) 0 5 || continue
			build $cc "$source" $options
			compare "${source##*/} $cc $options" "$T/built" 2
		done
	done
	for source in tests/progs/{inlined,cold}.c tests/cover/templates.cc tests/progs/coroutine.cc; do
		for options in '-O2 -gdwarf-4' '-O2 -gdwarf-5' '-O3 -ffunction-sections -Wl,--gc-sections'; do
			in_part $((number++)) || continue
			read -ra words <<<"$options"
			build $cc "$source" "${words[@]}"
			compare "${source##*/} $cc $options" "$T/built" 2
		done
		in_part $((number++)) || continue
		lto=(-O2 -flto)
		[[ $cc == gcc ]] || lto+=(-fuse-ld=lld)
		if build $cc "$source" "${lto[@]}"; then
			compare "${source##*/} $cc ${lto[*]}" "$T/built" 2
		else
			skip "${source##*/} $cc ${lto[*]}" "$cc can't"
		fi
	done
done

# debug information in a file of its own
build cc tests/progs/inlined.c -O2
objcopy --only-keep-debug "$T/built" "$T/built.debug"
strip -g "$T/built"
(cd "$T" && objcopy --add-gnu-debuglink=built.debug built)
compare 'separate debug information' "$T/built" 2

# without any there is none
strip "$T/built"
rm "$T/built.debug"
"$BBTRACE" list -q "$T/built" --sites -F json >"$T/json"
is "$(grep -c '"kind"' "$T/json") $(grep -c '"src"' "$T/json")" "$(wc -l <"$T/json") 0" 'without debug information there is no src'

[[ ${MATRIX:-} != whole ]] || compare 'bbtrace itself' "$BBTRACE" 40000
"$BBTRACE" list -q "$BBTRACE" --sites --no-src -F json >"$T/json"
is "$(grep -c '"src"' "$T/json")" 0 '--no-src: no source lines'
least=2000 least_inlined=100
[[ ${MATRIX:-} != whole ]] || least=60000 least_inlined=20000
ok $((places < least)) "$places places were compared"
ok $((inlined < least_inlined)) "$inlined of them are inlined"
done_testing
