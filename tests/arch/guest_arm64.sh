#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_arm64.sh PROGRAM: what is arm64's own. PROGRAM (arm64.c) says itself what it did.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. tests/vm/guest_lib.sh
program=$1

"$program" >"$T/alone"
own=(conditions registers consistent add_if authenticated below innermost probed handler main)

# By function and mnemonic, in the order of their addresses: how often each conditional went where.
sides() { # JSON
	jq -r 'select(.event == "branch" and .kind == "jcc" and (.symbol == "conditions" or .symbol == "registers")) |
		"\(.symbol) \(.offset) \(.insn) \(.taken)"' "$1" |
		awk '{ n[$1 " " sprintf("%06d", $2) " " $3, $4]++; seen[$1 " " sprintf("%06d", $2) " " $3] }
			END { for (s in seen) print s, n[s, "true"] + 0, n[s, "false"] + 0 }' | LC_ALL=C sort | cut -d ' ' -f 3-
}
grep -v '^[0-9]' "$T/alone" >"$T/told"
for placement in full implied witness; do
	bb user "$program" "${own[@]}" --placement $placement -F json -o "$T/$placement" -- "$program"
	exits 0 "$placement: the program ends, with its exclusives"
	cmp -s "$T/out.txt" "$T/alone"
	ok $? "$placement: it says what it says alone" || diag "$(diff "$T/alone" "$T/out.txt")"
	is "$(summary lost)" 0 "$placement: nothing is lost"
	is "$(sides "$T/$placement")" "$(cat "$T/told")" "$placement: each conditional went as the program says"
done
is "$(count "$T/full" '.event == "branch" and .symbol == "consistent" and .insn == "bc.eq" and .taken')" 1 'bc.eq is told, without a probe'
bb list "$program" add_if authenticated consistent --sites
grep -q 'exclusive' "$T/out.txt"
ok $? 'list tells why a loop of exclusives has no probes' || diag "$(cat "$T/out.txt")"

bb user "$program" "${own[@]}" -c -F json -o "$T/counts" -- "$program"
exits 0 'counts: the program ends'
is "$(count "$T/counts" '.symbol == "conditions" and .kind == "jcc" and .taken_count + .not_taken_count == 16')" 14 \
	'counts: each condition was tested sixteen times'
is "$(jq -r 'select(.insn == "retaa") | .taken_count' "$T/counts")" 2 'counts: an authenticating return, without a probe'

# The callers of the innermost function, through signed return addresses.
bb user "$program" innermost -e entry --stack -F json -o "$T/stack" -- "$program"
exits 0 'stacks: the program ends'
is "$(jq -r 'select(.event == "entry") | .stack[1:7][].symbol' "$T/stack" | tr '\n' ' ')" 'below below below below below main ' \
	'stacks: the callers, whose return addresses are signed'

bb event "usdt:$program:probe" -F json -o "$T/usdt" -- "$program"
exits 0 'static probes: the program ends'
is "$(jq -r 'select(.event != "summary") | (.fields // .args)[]' "$T/usdt" | sed -n 9,12p | tr '\n' ' ')" '3 2 -5 2 ' \
	'static probes: registers, a constant, memory' || diag "$(sed -n 3p "$T/usdt")"

bb watch "$program:counts" -- "$program"
exits 1 'memory is not watched'
grep -q 'in front of the access' "$T/err"
ok $? 'the reason is told' || diag "$(cat "$T/err")"

bb user "$program" below --engine inline -- "$program"
exits 0 'copies: the program ends'
grep -q "by probes instead.*can't be copied" "$T/err"
ok $? 'copies: there are none, which is told' || diag "$(cat "$T/err")"

# What perl makes of mount(2) is what the kernel's function gets.
bb kernel __arm64_sys_mount -e entry,return -F json -o "$T/mount" -- perl -e 'my @a = qw(src /nowhere tmpfs); syscall 40, @a, 77, 0'
is "$(jq -r 'select(.event == "entry") | .syscall_args[3:] | join(" ")' "$T/mount")" '0x4d 0x0' 'the arguments of a system call' ||
	diag "$(cat "$T/mount")"
is "$(jq -r 'select(.event == "return") | .value' "$T/mount")" 0xfffffffffffffffe 'its result: ENOENT'
done_testing
