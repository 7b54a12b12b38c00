#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: handlers of signals see the program's own code, return to where they were called, may continue elsewhere
# and may be left; what a signal carries arrives; programs that are ended by one have the status that they always have.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes

program inlined -pthread
"$T/inlined" signals >"$T/plain" 2>&1
is "$(<"$T/plain")" right 'untraced all is right'
bb user "$T/inlined" '*' --engine inline -o "$T/trace" -- "$T/inlined" signals
exits 0 'its functions are traced'
is "$(<"$T/out")" right 'all is right then, too'
# a busy machine may lose events, which are counted: until a run has lost none
for _ in 1 2 3 4 5; do
	bb user "$T/inlined" '*' --engine inline -f -o "$T/trace" -- "$T/inlined" signals
	! grep -q ', 0 lost,' "$T/err" || break
done
is "$status $(<"$T/out")" '0 right' 'and with its children'
cp "$T/err" "$T/said"
bb report "$T/trace" on_tick on_fault on_jump on_value on_trap -F json -o "$T/all"
grep -F '"event":"entry"' "$T/all" >"$T/json"
for name in on_tick on_fault on_jump on_value on_trap; do
	[[ $(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "'$name'"') -gt 0 ]]
	ok $? "$name: its calls are shown"
done
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "on_fault"')" 20 'each call of one that goes on elsewhere' ||
	diag "$(cat "$T/said"; "$BBTRACE" report "$T/trace" on_fault --no-fold 2>&1 | tail -n 60)"
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "on_value"')" 8 'each call of one for queued signals'
"$T/inlined" mix 3 >"$T/plain" 2>&1
for n in 1 2 3; do
	bb user "$T/inlined" '*' --engine inline -f -o "$T/trace" -- "$T/inlined" mix 3
	is "$status $(<"$T/out")" "0 $(<"$T/plain")" "run $n: threads, children, timers and jumps: the result is the same"
done

# All signals, at random moments, each with a value; also while a library is loaded, and while they are blocked.
program storm
for seed in 1 2 3; do
	is "$("$T/storm" 2000 $seed)" right "storm $seed: untraced each signal comes once, as it was sent"
	for options in "-o $T/trace" "-c -F json -o $T/json" "--last 50 -F summary -o $T/text"; do
		# shellcheck disable=SC2086 # words
		bb user "$T/storm" '*' --engine inline $options -- "$T/storm" 2000 $seed
		is "$status $(<"$T/out")" '0 right' "storm $seed, ${options%% "$T"*}: each signal comes once, as it was sent"
	done
done
done_testing
