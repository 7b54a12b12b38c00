#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_riscv64.sh PROGRAM: what is riscv64's own. PROGRAM (riscv64.c) says itself what it did.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. tests/vm/guest_lib.sh
program=$1

"$program" >"$T/alone"
own=(conditions registers displaced plus linked minus add_if innermost below probed handler main)

# By mnemonic, in the order of their addresses: how often each conditional went where.
sides() { # JSON
	jq -r 'select(.event == "branch" and .kind == "jcc" and .symbol == "conditions") | "\(.offset) \(.insn) \(.taken)"' "$1" |
		awk '{ n[sprintf("%06d", $1) " " $2, $3]++; seen[sprintf("%06d", $1) " " $2] }
			END { for (s in seen) print s, n[s, "true"] + 0, n[s, "false"] + 0 }' | LC_ALL=C sort | cut -d ' ' -f 2-
}
targets() { # JSON KIND FUNCTION
	jq -r --arg kind "$2" --arg of "$3" 'select(.event == "branch" and .kind == $kind and .symbol == $of) |
		"\(.to.symbol)+\(.to.offset)"' "$1" | tr '\n' ' '
}
grep -v '^[0-9]' "$T/alone" >"$T/told"
for placement in full implied witness; do
	bb user "$program" "${own[@]}" --placement $placement -F json -o "$T/$placement" -- "$program"
	exits 0 "$placement: the program ends, with its lr and sc"
	cmp -s "$T/out.txt" "$T/alone"
	ok $? "$placement: it says what it says alone" || diag "$(diff "$T/alone" "$T/out.txt")"
	is "$(summary lost)" 0 "$placement: nothing is lost"
	is "$(sides "$T/$placement")" "$(cat "$T/told")" "$placement: each conditional went as the program says"
	is "$(count "$T/$placement" '.kind == "jcc" and .symbol == "registers" and .taken')" 5 "$placement: of t6 and s11, too"
	is "$(targets "$T/$placement" icall displaced)$(targets "$T/$placement" ijmp displaced)" 'plus+0 plus+0 ' \
		"$placement: a call and a jump add their displacement"
	is "$(targets "$T/$placement" call linked)$(targets "$T/$placement" ret minus)" 'minus+0 minus+0 linked+4 linked+8 ' \
		"$placement: calls by t0, and back"
	is "$(count "$T/$placement" '.event == "branch" and .symbol == "add_if" and .insn == "ret"')" 10 \
		"$placement: behind lr and sc, which have no probes, each time"
done
bb list "$program" add_if --sites
grep -q 'exclusive' "$T/out.txt"
ok $? 'list tells why a loop of lr and sc has no probes' || diag "$(cat "$T/out.txt")"

bb user "$program" "${own[@]}" -c -F json -o "$T/counts" -- "$program"
exits 0 'counts: the program ends'
is "$(count "$T/counts" '.symbol == "conditions" and .kind == "jcc" and .taken_count + .not_taken_count == 25')" 16 \
	'counts: each condition was tested 25 times'
is "$(jq -r 'select(.symbol == "handler" and .insn == "ret") | .taken_count' "$T/counts")" 1 'counts: the handler returned'

bb user "$program" innermost -e entry --stack -F json -o "$T/stack" -- "$program"
exits 0 'stacks: the program ends'
is "$(jq -r 'select(.event == "entry") | .stack[1:7][].symbol' "$T/stack" | tr '\n' ' ')" 'below below below below below main ' \
	'stacks: the callers'

bb event "usdt:$program:probe" -F json -o "$T/usdt" -- "$program"
exits 0 'static probes: the program ends'
is "$(jq -r 'select(.event != "summary") | (.fields // .args)[]' "$T/usdt" | sed -n 9,12p | tr '\n' ' ')" '3 2 -5 2 ' \
	'static probes: registers, a constant, memory' || diag "$(sed -n 3p "$T/usdt")"

bb watch "$program:counts" -- "$program"
exits 1 'memory is not watched'
grep -q "don't tell what they access" "$T/err"
ok $? 'the reason is told' || diag "$(cat "$T/err")"

bb user "$program" below --engine inline -- "$program"
exits 0 'copies: the program ends'
grep -q "by probes instead.*can't be copied" "$T/err"
ok $? 'copies: there are none, which is told' || diag "$(cat "$T/err")"

# What perl makes of mount(2) is what the kernel's function gets. ftrace's place is at its start, so the probe is behind that.
bb kernel __riscv_sys_mount -e entry,return -F json -o "$T/mount" -- perl -e 'my @a = qw(src /nowhere tmpfs); syscall 40, @a, 77, 0'
is "$(jq -r 'select(.event == "entry") | .syscall_args[3:] | join(" ")' "$T/mount")" '0x4d 0x0' 'the arguments of a system call' ||
	diag "$(cat "$T/mount")"
is "$(jq -r 'select(.event == "return") | .value' "$T/mount")" 0xfffffffffffffffe 'its result: ENOENT'

# Each caller, though the kernel's unwinder passes over the first one at a function's start.
choose function traceable 'what opens files' do_filp_open
bb kernel vfs_open -e entry --stack -F json -o "$T/open" -- cat /etc/passwd
is "$(jq -r 'select(.event == "entry") | .stack[1:3][].symbol' "$T/open" | sort -u | tr '\n' ' ')" "$function path_openat " 'the callers in the kernel'
done_testing
