#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --max-overhead: a trace that takes more of the processes' CPU time ends by itself, says which sites cost most, and leaves the
# processes alone. The program does nothing but call a probed function: nearly all of its time is tracing.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program spins -O1
tells() { # NAME
	like "$T/err" '^bbtrace: stopped: tracing took (at most )?[0-9]+ % of the traced processes. CPU time, more than --max-overhead 1$' \
		"$1: it says how much of the time tracing took"
	like "$T/err" '^bbtrace: most expensive: step(\+0x[0-9a-f]+ [a-z]+| entry) [0-9]+ hits x [0-9.]+us = [0-9]+ms \([0-9]+ %\); step' \
		"$1: it names the most expensive sites"
	like "$T/err" '^bbtrace: cheaper: --exclude step, or -e entry,return --returns probe ' "$1: it says what would cost less"
}

"$T/spins" "$T/end" &
pid=$!
bb user "$T/spins" step -p $pid --max-overhead 1 -o "$T/trace"
exits 0 'a trace of a running process that costs too much ends, with status 0'
tells 'a running process'
kill -0 $pid
ok $? 'the process runs on'
touch "$T/end"
wait $pid
is $? 3 'and ends as it does untraced'

rm "$T/end"
: >"$T/err" # of the trace before, it may say so, too
(
	for ((i = 0; i < PATIENCE; i++)); do
		grep -q '^bbtrace: stopped' "$T/err" 2>"$T/none" && break
		sleep 0.1
	done
	touch "$T/end"
) &
bb user "$T/spins" step --max-overhead 1 -F summary -- "$T/spins" "$T/end"
exits 3 'with a command its status counts, which goes on untraced'
tells 'a command'
wait

bb user "$T/spins" step --max-overhead 99 -- "$T/spins" "$T/end"
exits 3 'a program that uses little time is not judged'
unlike "$T/err" 'stopped' 'nor stopped'
# ---- copies: what they log and count, and waiting ----
if [[ $(uname -m) == x86_64 ]]; then
	for options in '' $([[ ${MATRIX:-} != whole ]] || echo '-c'); do # what counts cost takes half a minute to show
		rm "$T/end"
		"$T/spins" "$T/end" &
		pid=$!
		# shellcheck disable=SC2086
		bb user "$T/spins" step -p $pid --engine inline --max-overhead 1 $options -F summary
		exits 0 "copies${options:+, }$options: a trace that costs too much ends, with status 0"
		like "$T/err" '^bbtrace: stopped: tracing took [0-9]+ % of the traced processes. CPU time, more than --max-overhead 1$' \
			"copies${options:+, }$options: it says how much of the time tracing took"
		like "$T/err" '^bbtrace: copies cost what they log or count' "copies${options:+, }$options: and by what"
		kill -0 $pid
		ok $? "copies${options:+, }$options: the process runs on"
		touch "$T/end"
		wait $pid
		is $? 3 "copies${options:+, }$options: and ends as it does untraced"
	done
	bb user "$T/spins" step --engine inline --max-overhead 99 -- "$T/spins" "$T/end"
	exits 3 'copies: a program that uses little time is not judged'
	unlike "$T/err" 'stopped' 'nor stopped'
fi
for percent in 0 100 x 1.5; do
	bb user "$T/spins" step --max-overhead $percent -- "$T/spins" "$T/end"
	exits 2 "--max-overhead $percent is wrong usage"
done
done_testing
