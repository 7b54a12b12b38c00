#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F lcov of programs that clang has built without optimization is what clang's source coverage says, in C and in C++: line
# for line, function for function, condition for condition. tests/check/coverage_llvm.py names what may differ. And with
# optimization, by both compilers, strict readers and genhtml take it.
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:clang++ cmd:c++ cmd:llvm-cov cmd:llvm-profdata cmd:genhtml cmd:python3
echo 'int main(void) {}' | clang -x c -fprofile-instr-generate -fcoverage-mapping -o "$T/empty" - 2>/dev/null ||
	skip_all 'this clang has no runtime library for coverage'

# clang writes what it has counted before destructors of globals run.
cat >"$T/late.c" <<'END'
#include <stdlib.h>
#include <unistd.h>

int __llvm_profile_write_file(void);

__attribute__((destructor)) static void write_again(void)
{
	unlink(getenv("LLVM_PROFILE_FILE"));
	__llvm_profile_write_file();
}
END
clang -c -o "$T/late.o" "$T/late.c" || exit 2

# Without jcc, whose code in assembler is gcc's, and twice, which ends within main: clang doesn't see that.
programs=(progs/{altstack,callback,cold,context,counted,deep,exits,fallen,fib,generated,handler,hidden,ladder,loopinsn}.c
	progs/{loops,midjump,million,mutual,odd,quick,raise,switch,tail,tailmem,threads}.c
	cover/{classes,inlines,lambdas,ranges,statics,templates,throws}.cc)
n=0
for source in "${programs[@]}"; do
	in_part $((n++)) 0 6 || continue
	p=${source##*/} cc=clang
	[[ $p != *.cc ]] || cc=clang++
	mkdir "$T/llvm"
	(
		cd "$T/llvm" || exit
		export LLVM_PROFILE_FILE=$T/llvm/raw
		$cc -w -O0 -g -o plain "$ROOT/tests/$source" -lpthread && $cc -w -O0 -g -fprofile-instr-generate -fcoverage-mapping \
			-fprofile-update=atomic -o built "$ROOT/tests/$source" "$T/late.o" -lpthread && { ./built || true; } &&
			llvm-profdata merge -o data raw && llvm-cov export -instr-profile data built >llvm.json
	) </dev/null >"$T/llvm.out" 2>&1
	bb user "$T/llvm/plain" '*' -F lcov -o "$T/info" -- "$T/llvm/plain"
	tests/check/coverage_llvm.py "$T/llvm/llvm.json" "$T/info" "$T/llvm/plain" >"$T/said" 2>&1
	ok $? "$p: functions, lines and branches are as llvm-cov has them" || diag "$(head -20 "$T/said" "$T/llvm.out")"
	diag "$p: $(tail -1 "$T/said")"
	tests/check/lcov_info.py "$T/info" >"$T/said" 2>&1
	ok $? "$p: a strict reader finds nothing wrong" || diag "$(head -20 "$T/said")"
	rm -r "$T/llvm"
done

# lcov 2 warns without records of where functions end, which lcov 1 can't read; and always prints a summary.
genhtml_accepts() { # INFO
	genhtml --rc derive_function_end_line=0 --branch-coverage --demangle-cpp -q -o "$T/pages" "$1" >"$T/said" 2>&1 &&
		{ [[ ! -s $T/said ]] || grep -q '^ *no messages were reported$' "$T/said"; }
}

for source in "$ROOT"/tests/cover/*.cc "$ROOT"/tests/progs/{except,carried}.cc; do
	for cc in c++ clang++; do
		in_part $((n++)) 0 6 || continue
		p="$(basename "$source"), $cc -O2"
		$cc -w -O2 -g -o "$T/fast" "$source" -lpthread || exit 2
		bb user "$T/fast" '*' -F lcov -o "$T/info" -- "$T/fast"
		tests/check/lcov_info.py "$T/info" >"$T/said" 2>&1
		ok $? "$p: a strict reader finds nothing wrong" || diag "$(head -20 "$T/said")"
		rm -rf "$T/pages"
		genhtml_accepts "$T/info"
		ok $? "$p: nor does genhtml" || diag "$(cat "$T/said")"
	done
done

# names of functions
c++ -w -O0 -g -o "$T/plain" tests/cover/inlines.cc || exit 2
bb user "$T/plain" '*' -F lcov -o "$T/info" -- "$T/plain"
is "$(sed -n 's/^FNDA:\([0-9]*\),\(.*value.*\)/\2 \1/p' "$T/info" | c++filt | sort | tr '\n' ';')" \
	'(anonymous namespace)::value(int) 12;outer::(anonymous namespace)::pair::value() const 12;outer::inner::value(int) 12;' \
	'static functions of C++ have their symbols, though gcc writes no linkage names'
genhtml --demangle-cpp -q -o "$T/named" "$T/info" >"$T/said" 2>&1
cat "$T"/named/*/inlines.cc.func.html >"$T/shown"
like "$T/shown" 'outer::inner::value\(int\)' \
	'genhtml shows them as in the source'
c++ -w -O2 -g -o "$T/fast" tests/cover/inlines.cc || exit 2
bb user "$T/fast" '*' -F lcov -o "$T/info" -- "$T/fast"
is "$(sed -n 's/^FN:[0-9]*,\(value.*\)/\1/p' "$T/info" | sort | tr '\n' ' ')" 'value:19 value:34 value:9 ' \
	'those that were inlined everywhere have no symbol: their lines tell them apart'
done_testing
