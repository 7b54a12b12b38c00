#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Instructions of APX, which this processor need not have: the branches after them are listed; and a function whose
# bytes are no known instruction is named, with the place, which counts as skipped.
# shellcheck disable=SC2154 # lib.sh sets it
. "$(dirname "$0")/lib.sh"
needs root uprobes
cc -w -O1 -x c -o "$T/p" - <<'END' || skip_all 'no compiler'
__attribute__((naked, noinline)) int apx(int a)
{
	__asm__("test %edi, %edi\n jle 1f\n"
		".byte 0xd5, 0x18, 0x89, 0xf8\n"		/* mov %rdi, %r16 */
		".byte 0x62, 0xf4, 0x7c, 0x18, 0x01, 0xf7\n"	/* add %esi, %edi, %eax */
		".byte 0xd5, 0x10, 0x50\n"			/* push %r16 */
		"cmp $9, %edi\n jb 1f\n"
		".byte 0xd5, 0x10, 0xff, 0xd0\n"		/* call *%r16 */
		"ja 1f\n mov $1, %eax\n ret\n1: xor %eax, %eax\n ret\n");
}
__attribute__((naked, noinline)) int unknown(int a)
{
	__asm__("test %edi, %edi\n jle 1f\n .byte 0xd5, 0, 0xe8, 0\n je 1f\n1: xor %eax, %eax\n ret\n");
}
int main(int argc, char **argv) { return apx(-argc) + unknown(-argc); }
END
bb list "$T/p" apx --sites
is "$(grep -c jcc "$T/out")" 3 'each conditional branch after instructions of APX is listed' || diag "$(cat "$T/out")"
bb list "$T/p" apx --engine inline
like "$T/out" "apx .*\(no copy: " "a function with such instructions isn't copied"
bb list "$T/p" unknown
like "$T/out" 'unknown  \([0-9]+ bytes not decoded, from \+0x4 on\)' 'list says from where on bytes are not decoded'
for engine in probe inline; do
	bb user "$T/p" apx unknown --engine $engine -F json -o "$T/json" -- "$T/p"
	is "$status" 0 "$engine: the program does as alone"
	like "$T/err" '^bbtrace: unknown: [0-9]+ of [0-9]+ bytes are not decoded, from unknown\+0x4 on' "$engine: a note names the function and the place"
	like "$T/err" '\(2 skipped\)' "$engine: it counts as skipped, as does the call through r16" || diag "$(cat "$T/err")"
	is "$(grep -c '"insn":"jle"' "$T/json")" 2 "$engine: the branches before are recorded"
done
done_testing
