#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: functions with points that are too narrow for a jump are copied: one that calls through the stack pointer
# where another call returns, one with a target of three bytes whose island is out of a short jump's reach, and
# one with a target of one byte.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes

program narrow
"$T/narrow" 200000 >"$T/plain" 2>&1
is "$(sed 's/.*, //' "$T/plain")" '0 wrong' 'untraced all is right'
bb user "$T/narrow" '*' --engine inline -v -c -F json -o "$T/json" -- "$T/narrow" 200000
is "$status $(<"$T/out")" "0 $(<"$T/plain")" 'counted, under a timer, it does the same'
! grep -q 'too narrow' "$T/err"
ok $? 'all of its functions are copied' || diag "$(grep narrow "$T/err")"
bb user "$T/narrow" '*' --engine inline -o "$T/trace" -- "$T/narrow" 20000
is "$status $(<"$T/out")" "0 $("$T/narrow" 20000)" 'recorded it does the same'

events() { # ENGINE OPTION...: what happens in them, without times and threads
	bb user "$T/narrow" through_stack choose one_byte plus_two --engine "$1" -F json -o "$T/json" "${@:2}" -- "$T/narrow" 300 still
	grep -E '"event":"(entry|branch|call|return|edge)"' "$T/json" |
		sed -E 's/"(ts|pid|tid|cpu)":[0-9]+,//g; s/,"regs":\{[^}]*\}//; s/,"value":"[^"]*"//; s/,"([a-z_]*_ns":[0-9]+|below_noise":true)//g'
}
for options in '-T none' '-c'; do
	# shellcheck disable=SC2086 # words
	events probe $options >"$T/probe"
	# shellcheck disable=SC2086
	events inline $options >"$T/inline"
	[[ $(wc -l <"$T/probe") -gt 60 ]] && cmp -s "$T/probe" "$T/inline"
	ok $? "$options: copies show the same events as probes" || diag "$(diff "$T/probe" "$T/inline" | head -n 20)"
done
done_testing
