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

# ---- returns by return probes: the same values ----
if [[ -x $T/sum ]]; then
	"$BBTRACE" user "$T/sum" sum make --returns probe -e entry,return -F json -- "$T/sum" >"$T/json" 2>"$T/err"
	is "$(json_lines "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "sum" && $e->{value}' | xargs)" '0xb 0xfffffffb' \
		'--returns probe: returned values'
	is "$(json_lines "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "make" && "at $e->{depth}"')" 'at 0' \
		'--returns probe: a function that pops its argument returns'
fi

# ---- watchpoints: instructions are those of 32-bit code ----
cat >"$T/watched.c" <<'END'
volatile int counter;
volatile long long wide;
__attribute__((noinline)) void count(int n) { for (int i = 1; i <= n; i++) __asm__ volatile("incl (%1)" : "+m"(counter) : "a"(&counter)); }
int main(void) { int v = 41; count(3); __asm__ volatile("inc %1; movl %1, %0" : "=m"(counter), "+c"(v)); wide = 0x100000002; return 0; }
END
if i686-linux-gnu-gcc -O1 -fno-pie -no-pie -static -o "$T/watched" "$T/watched.c"; then
	"$BBTRACE" watch "$T/watched:counter" "$T/watched:wide" -F json -- "$T/watched" >"$T/json" 2>"$T/err"
	if grep -q 'has no hardware breakpoints' "$T/err"; then
		skip 'watchpoints' 'this machine has no hardware breakpoints'
	else
		is "$(json_lines "$T/json" '$e->{name} eq "counter" && hex $e->{args}{new}' | xargs)" '1 2 3 42' \
			'watch: the values that were stored'
		i686-linux-gnu-objdump -d -M intel --no-show-raw-insn "$T/watched" | awk '/<(count|main)>:/,/^$/' |
			awk '/ds:0x[0-9a-f]+(,|$)|inc .*\[eax\]/ { sub(":", "", $1); print "0x" $1 }' | sort -u >"$T/stores"
		json_lines "$T/json" '$e->{event} eq "watch" && $e->{vaddr}' | sort -u >"$T/told"
		is "$(comm -13 "$T/stores" "$T/told" | xargs)" '' 'watch: each by an instruction that objdump knows'
		is "$(json "$T/json" '$e->{name} eq "counter" && $e->{args}{insn} =~ /^inc .*\[eax\]$/')" 3 'watch: as 32-bit code' ||
			diag "$(json_lines "$T/json" '$e->{name} && $e->{args}{insn}')"
	fi
fi

# ---- static probes: words of 4 bytes, what the program prints itself ----
cat >"$T/probes.c" <<'END'
#include <stdio.h>
#include "sdt.h"
SEMAPHORE asked_semaphore;
static int table[4] = {5, -6, 7, -8};
static long long wide = 0x123456789abcll;
__attribute__((noinline)) static void forms(int i, const char *text)
{
	register int *a __asm__("eax") = table, b __asm__("ecx") = i, c __asm__("edx") = i * 50;
	register const char *d __asm__("esi") = text;
	register long long *e __asm__("edi") = &wide;

	__asm__ volatile(NOTE("forms", "asked_semaphore", "-4@(%%eax,%%ecx,4) 1@%%dl 4@%%esi -4@$-7 8@%%eax 8@(%%edi) -4@-4(%%eax,%%ecx,4)")
			 : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "m"(table), "m"(wide));
	printf("%d %u %s -7 - %lld %d\n", table[i], (unsigned char)(i * 50), text, wide, table[i - 1]);
}
int main(void)
{
	static const char *const texts[] = {"one", "two words", "three"};

	/* a BPF program can't read a page that isn't there yet */
	fprintf(stderr, "%s %s %s\n", texts[0], texts[1], texts[2]);
	for (int i = 1; i < 4; i++)
		forms(i, texts[i - 1]);
	return asked_semaphore ? 0 : 1;
}
END
if i686-linux-gnu-gcc -O1 -static -I"$ROOT/tests/progs" -o "$T/probes" "$T/probes.c"; then
	for verb in event user; do
		functions=()
		[[ $verb == event ]] || functions=("$T/probes" main --with)
		"$BBTRACE" $verb "${functions[@]}" "usdt:$T/probes:*" -k -F json -o "$T/json" -- "$T/probes" >"$T/printed" 2>"$T/err"
		is $? 0 "$verb: static probes are traced, the semaphore is set" || diag "$(cat "$T/err")"
		json_lines "$T/json" '$e->{event} eq "usdt" && join " ", map { $_ // "-" } @{$e->{args}}{qw(arg0 arg1 arg2_text arg3 arg4 arg5 arg6)}' >"$T/got"
		same "$T/got" "$T/printed" "$verb: each form of an argument; one of 8 bytes in a register is left out"
		is "$(json "$T/json" '$e->{event} eq "usdt" && ($e->{stack}[1]{symbol} // "") eq "main"')" 3 "$verb: called by main"
	done
	"$BBTRACE" user /bin/sh '*' --with "usdt:$T/probes:*" -- true >"$T/out" 2>"$T/err"
	is $? 2 'with functions of 64-bit code they are refused'
	like "$T/err" 'is for i386, the rest of this trace is for x86-64' 'the message says so'
fi

LD_LIBRARY_PATH=/usr/i686-linux-gnu/lib "$BBTRACE" user libc.so.6 puts printf -F json -- "$BUILD/progs/fib-32" \
	>"$T/json" 2>"$T/err"
is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{object}' | sort -u)" /usr/i686-linux-gnu/lib/libc.so.6 \
	'libc.so.6 is that of the command' || diag "$(cat "$T/err")"
"$BBTRACE" list --sites "$BUILD/progs/fib-nopie-32" 'printf@plt' >"$T/out" 2>"$T/err"
like "$T/err" 'the kernel may take this 32-bit instruction for another 64-bit one' \
	'no probe goes where the kernel may mistake the instruction: jmp *0xADDRESS'
done_testing
