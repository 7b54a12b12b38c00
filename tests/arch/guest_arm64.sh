#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_arm64.sh PROGRAM: what is arm64's own. PROGRAM (arm64.c) says itself what it did.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. tests/vm/guest_lib.sh
. tests/arch/guest_own.sh
program=$1

own_jit
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

own_stacks 'the callers, whose return addresses are signed'
own_probe
refused_here 'in front of the access'
own_mount __arm64_sys_mount
done_testing
