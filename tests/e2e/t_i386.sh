#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# 32-bit programs under a 64-bit kernel: the same as the single-stepping reference with every placement, and counted; their
# libraries are those that the program loads, their arguments are on the stack, and they are traced by probes alone.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes "file:$BUILD/stepref" "file:$BUILD/progs/fib-32" file:/usr/i686-linux-gnu/lib/libc.so.6
"$BUILD/progs/fib-32" >/dev/null 2>&1
[[ $? == 3 ]] || skip_all 'this kernel runs no 32-bit programs'
names=(switch-32 switch-O0-32 fib-static-32 tail-all-32 except-nopie-32 handler-32)
export LIST=$ROOT/tests/progs/progs32.list

compare() { # NAME FLAGS...
	BBFLAGS="${*:2}" "$ROOT/tests/check/compare_all.sh" "$BUILD" "$1" >"$T/said" 2>&1
	ok $? "$1, ${*:2}: what was traced is what was stepped" || diag "$(cat "$T/said")"
}
for name in "${names[@]}"; do
	for placement in full implied witness; do
		compare "$name" --placement "$placement"
	done
	compare "$name" -c
done

# sum(1, -2, 3): by gdb's convention, cdecl
cat >"$T/sum.c" <<'END'
__attribute__((noinline)) int sum(int a, int b, int c) { return a + b * c; }
struct three { int v[3]; };
__attribute__((noinline)) struct three make(int n) { struct three t = {{n, sum(n, 2, 3), 7}}; return t; }
int main(void) { return make(5).v[1] + sum(1, -2, 3) == 6 ? 0 : 1; }
END
if i686-linux-gnu-gcc -O1 -static -o "$T/sum" "$T/sum.c"; then
	"$BBTRACE" user "$T/sum" sum make -F json -- "$T/sum" >"$T/json" 2>"$T/err"
	is $? 0 'its status is that of the program' || diag "$(cat "$T/err")"
	is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "sum" && join " ", @{$e->{regs}}{qw(arg0 arg1 arg2)}')" \
		$'0x5 0x2 0x3\n0x1 0xfffffffe 0x3' 'arguments are read from the stack'
	is "$(json_lines "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "sum" && $e->{value}' | xargs)" '0xb 0xfffffffb' \
		'returned values have 32 bits'
	is "$(json_lines "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "make" && "at $e->{depth}"')" 'at 0' \
		'a function that pops its argument returns'
	"$BBTRACE" user "$T/sum" sum --engine inline -- "$T/sum" >"$T/out" 2>"$T/err"
	is $? 2 'copies are refused'
	like "$T/err" "code of i386 can't be copied, only that of x86-64: use --engine probe" 'the message says so'
fi

LD_LIBRARY_PATH=/usr/i686-linux-gnu/lib "$BBTRACE" user libc.so.6 puts printf -F json -- "$BUILD/progs/fib-32" \
	>"$T/json" 2>"$T/err"
is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{object}' | sort -u)" /usr/i686-linux-gnu/lib/libc.so.6 \
	'libc.so.6 is that of the command' || diag "$(cat "$T/err")"
"$BBTRACE" list --sites "$BUILD/progs/fib-nopie-32" 'printf@plt' >"$T/out" 2>"$T/err"
like "$T/err" 'the kernel may take this 32-bit instruction for another 64-bit one' \
	'no probe goes where the kernel may mistake the instruction: jmp *0xADDRESS'
done_testing
