#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_riscv64.sh PROGRAM: what is riscv64's own. PROGRAM (riscv64.c) says itself what it did.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. tests/vm/guest_lib.sh
. tests/arch/guest_own.sh
program=$1

own_jit
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

own_stacks 'the callers'
own_probe
refused_here "what this machine's instructions access can't be decoded"
# ftrace's place is at its start, so the probe is after that
own_mount __riscv_sys_mount

# Each caller, though the kernel's unwinder passes over the first one at a function's start.
choose function traceable 'what opens files' do_filp_open do_file_open
bb kernel vfs_open -e entry --stack -F json -o "$T/open" -- cat /etc/passwd
is "$(jq -r 'select(.event == "entry") | .stack[1:3][].symbol' "$T/open" | sort -u | tr '\n' ' ')" "$function path_openat " 'the callers in the kernel'
done_testing
