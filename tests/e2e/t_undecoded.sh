#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Code that was not decoded: whenever control gets there the trace shows unknown; list, -v and the summary say how
# much it is. Code after a trap is decoded. tests/check compares the same program with the reference.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program hidden -O1
for placement in full implied witness; do
	bb user "$T/hidden" computed leaf --placement $placement -F json -o "$T/json" -- "$T/hidden"
	exits 0 "$placement: a function with undecoded bytes is traced"
	# eight calls of computed, each of which jumps there and is returned to twice; its own ret is there, too: another caller
	# of leaf may be called by it
	is "$(json "$T/json" '$e->{event} eq "unknown"')" 32 "$placement: the path is unknown behind the jump to undecoded bytes and behind each return that may be to them"
	is "$(json "$T/json" '$e->{event} eq "summary" && $e->{unknown} == 32 && $e->{undecoded} > 20 &&
		$e->{undecoded} < $e->{code}')" 1 "$placement: the summary counts unknown paths and undecoded bytes"
done
like "$T/err" ', [0-9]+ of [0-9]+ bytes not decoded$' 'the line on stderr tells the undecoded bytes'

bb user "$T/hidden" computed leaf -o "$T/trace" -- "$T/hidden"
bb report "$T/trace" -F json
is "$(json "$T/out" '$e->{event} eq "unknown"')" 32 'report of a trace file tells unknown paths'
bb user "$T/hidden" computed leaf -- "$T/hidden"
is "$(grep -c unknown "$T/out")" 32 'text tells unknown paths'
bb user "$T/hidden" leaf -- "$T/hidden"
is "$(tail -1 "$T/err" | grep -c 'not decoded')" 0 'where all is decoded the summary says nothing of undecoded bytes'

bb user "$T/hidden" computed -v -- "$T/hidden"
like "$T/err" '^bbtrace: computed: .* [1-9][0-9]* of [0-9]+ bytes not decoded' '-v tells the undecoded share of each function'
bb list "$T/hidden" computed
like "$T/out" 'computed .*\([1-9][0-9]* bytes not decoded\)' 'list tells the undecoded bytes of a function'
bb list "$T/hidden" computed -F json
first=$(objdump -d --no-show-raw-insn "$T/hidden" | awk '
	/<computed>:/ { on = 1 }
	behind && $1 ~ /^[0-9a-f]+:$/ { print $1; exit }
	on && /jmp +\*%rax/ { behind = 1 }')
is "$(json "$T/out" '$e->{undecoded}[0]{vaddr} eq "0x'"${first%:}"'"')" 1 "JSON of list says where a function's undecoded bytes are: behind the jump, as objdump sees it"

cat >"$T/breaks.c" <<'END'
#include <signal.h>
__attribute__((noinline)) int breaks(int n)
{
	__asm__ volatile("int3" : "+r"(n));
	if (n & 1)
		__asm__ volatile("" : "+r"(n));
	return n;
}
static void on_trap(int sig) { (void)sig; }
int main(int c, char **v) { (void)v; signal(SIGTRAP, on_trap); for (int i = 0; i < 6; i++) c += breaks(i); return c != 16; }
END
cc -O0 -o "$T/breaks" "$T/breaks.c"
bb user "$T/breaks" breaks -F json -o "$T/json" -- "$T/breaks"
exits 0 'a program that handles its own int3 is traced'
is "$(json "$T/json" '$e->{kind} && $e->{kind} eq "jcc"') $(returns breaks)" '6 6' 'what stands behind an int3 with a handler is traced'
is "$(json "$T/json" '$e->{event} eq "unknown"')" 0 'behind an int3 with a handler nothing is unknown'
done_testing
