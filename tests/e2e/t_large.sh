#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Objects with more branches than can be traced at once: list shows them all, in bounded memory; a trace, and a graph of
# all, are refused with their size and the remedy. LARGE=all: each large object of this machine.
# shellcheck disable=SC2154 # lib.sh sets it
. "$(dirname "$0")/lib.sh"
needs cmd:as cmd:ld cmd:python3

# Three functions of 3.5 MB with 350,000 conditionals each, besides their rets.
cat >"$T/many.s" <<'E'
.macro fn name
.globl \name
.type \name,@function
\name:
.rept 350000
jne 1f
nopl 512(%rax,%rax,1)
1:
.endr
ret
.size \name,.-\name
.endm
.text
fn one
fn two
fn _start
.globl small
.type small,@function
small: ret
.size small,.-small
E
if ! as -o "$T/many.o" "$T/many.s" || ! ld -o "$T/many" "$T/many.o"; then skip_all 'as does not know x86'; fi

bb list --sites "$T/many"
exits 0 'sites are listed, however many'
is "$(wc -l <"$T/out")" 1050004 'each one'
LC_ALL=C sort -c "$T/out" 2>"$T/order"
ok $? 'in order of address' || diag "$(cat "$T/order")"
bb list -F json "$T/many"
is "$(json_lines "$T/out" '"$e->{symbol} $e->{sites} $e->{unreached}"' | xargs)" \
	'one 350001 0 two 350001 0 _start 350001 0 small 1 0' 'functions are listed with the number of their sites'
bb list --points "$T/many" two _start
is "$(grep -c '^0x' "$T/out"),$(grep -c '^# objname=' "$T/out")" '700002,1' 'a points file names the object once'
bb list -F dot "$T/many"
exits 1 'one graph of all is refused'
like "$T/err" '10.0 MB of code are too much for -F dot, which shows at most 8 MB: name fewer functions, or use -F annotate' \
	'with the size of the code and the remedy'
bb list -F dot "$T/many" small
exits 0 'a graph of one function is not'
if [[ $(id -u) == 0 ]]; then
	bb user "$T/many" '*' -- true
	exits 1 'to trace them all is refused'
	like "$T/err" '1050004 branches and entries are more than the 1048576 that can be traced at once; name fewer functions' \
		'with their number'
fi

# measure ARG...: sets $status, $lines and $megabytes, the most memory that the run had.
measure() {
	read -r status lines megabytes < <(python3 -c '
import resource, subprocess, sys
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
lines = sum(block.count(b"\n") for block in iter(lambda: run.stdout.read(1 << 20), b""))
run.wait()
print(run.returncode, lines, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)' "$BBTRACE" "$@")
}

measure list -F dot "$T/many"
((megabytes < 100))
ok $? "before any code is followed: in $megabytes MB of memory"

# node, or else what clang brings; the last one is the largest.
large=()
for path in /usr/bin/node /usr/lib/llvm-*/lib/libclang-cpp.so.[0-9]* /usr/lib/*-linux-gnu/libLLVM-[0-9]*.so.1 /usr/lib/llvm-*/lib/libLLVM.so.[0-9]*; do
	[[ -f $path && $(stat -Lc %s "$path") -gt 50000000 ]] && large+=("$(realpath "$path")")
done
[[ ${LARGE:-} == all ]] || large=("${large[@]:0:1}")
[[ ${large[*]} ]] || skip 'a large object' 'no node and no libclang-cpp of 50 MB here'
for path in "${large[@]}"; do
	measure list --sites "$path"
	is "$status" 0 "${path##*/} is listed"
	((lines > 1048576))
	ok $? "it has $lines branches"
	((megabytes <= 1024))
	ok $? "in $megabytes MB of memory, at most 1024"
done
done_testing
