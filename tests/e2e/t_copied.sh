#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that runs a copy of its own code hits the copied breakpoints: a note names the function. The program's own
# breakpoints cause no note.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms

program copied -O1
source_program own c <<'END'
#include <signal.h>
#include <stdio.h>
__attribute__((noinline)) int step(int n) { __asm__ volatile("" : "+r"(n)); return n > 3 ? n - 1 : n; }
static void caught(int sig) { printf("caught %d\n", step(sig)); }
int main(void)
{
	signal(SIGTRAP, caught);
	__asm__ volatile("int3");
	return step(2);
}
END

"$T/copied" >"$T/plain"
is "$(cat "$T/plain")" $'4\n4' "untraced, a program's copy of its own code runs"
for attach in "${MECHANISMS[@]}"; do
	bb user "$T/copied" step --attach "$attach" -F json -o "$T/json" -- "$T/copied"
	exits 133 "$attach: traced, a program's copy of its own code gets SIGTRAP"
	like "$T/err" 'copied-[0-9]+ ran a copy of its code at 0x[0-9a-f]+, with the breakpoint of step\+0x[0-9a-f]+ in it, and got a signal 1 times' \
		"$attach: the message says which copied breakpoint brought the signal"
	bb user "$T/copied" main --attach "$attach" -F json -o "$T/json" -- "$T/copied"
	exits 0 'a function that the program does not copy can be traced'
	bb user "$T/own" step --attach "$attach" -F json -o "$T/json" -- "$T/own"
	exits 2 'a program with a breakpoint of its own ends as ever'
	same "$T/out" <("$T/own") 'a program with a breakpoint of its own prints what it always does'
	unlike "$T/err" 'copy' "a breakpoint of the program's own is not taken for a copied one"
done
done_testing
