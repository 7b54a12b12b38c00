#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline, started and stopped over and over: programs with threads, children, signals, faults and traps compute
# right, wherever they are when their springboards go or come; while recording is stopped their code is that of their files.
# ROUNDS: how often each.
# shellcheck disable=SC2154,SC2016 # lib.sh sets status and background; Perl's variables
. "$(dirname "$0")/lib.sh"
. "$E2E/rounds.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
ROUNDS=${ROUNDS:-2}

ctl() { "$BBTRACE" ctl "$T/sock" "$@" >>"$T/ctl.out" 2>&1; }
# switch_all: starts and stops until the trace has ended; a line in $T/switches for each time that both were done
switch_all() {
	wait_for "$PATIENCE" test -S "$T/sock"
	while [[ -S $T/sock ]]; do ctl start && ctl stop && echo >>"$T/switches"; done
}

# ---- a program that runs ----
program busy -pthread
# its threads leave bbtrace a processor
background nice -n 19 "$T/busy" until "$T/until"
wait_for "$PATIENCE" has_threads "$background" 17
code=$(code_of "$background" "$T/busy")
# of all functions it takes long to read what 16 threads have logged
for uses in "busy:jump -o $T/trace" "busy:* -c -o $T/shown" "busy:* --last 100 -o $T/shown"; do
	rm -f "$T/sock"
	# shellcheck disable=SC2086 # options
	(cd "$T" && exec "$BBTRACE" user ./$uses -p "$background" --engine inline --paused --control-socket "$T/sock" 2>"$T/bb.err") &
	trace=$!
	at_end "kill $trace 2>/dev/null"
	wait_for "$PATIENCE" test -S "$T/sock"
	is "$(code_of "$background" "$T/busy")" "$code" "$uses: paused from the beginning, its code is that of the file"
	changed=0 kept=0
	for ((i = 0; i < ROUNDS; i++)); do
		ctl start || diag "$(tail -n 1 "$T/ctl.out")"
		[[ $(code_of "$background" "$T/busy") != "$code" ]] || kept=$((kept + 1))
		ctl stop || diag "$(tail -n 1 "$T/ctl.out")"
		[[ $(code_of "$background" "$T/busy") == "$code" ]] || changed=$((changed + 1))
	done
	is "$kept $changed" '0 0' "$ROUNDS times it is switched, and stopped it has its own code"
	ctl quit
	wait $trace
	is $? 0 'the trace ends well'
	is "$(code_of "$background" "$T/busy")" "$code" 'and leaves the code as it was'
	ok "$([[ $(sed -nE 's/.* ([0-9]+) events.*/\1/p' "$T/bb.err") -gt 0 ]]; echo $?)" 'something was recorded' || diag "$(cat "$T/bb.err")"
done
bb report "$T/trace" -F json -o "$T/json"
is "$status $(json "$T/json" '$e->{event} eq "start"')" "0 $ROUNDS" "the trace says when it was started"
is "$(json_lines "$T/json" '$e->{event} =~ /^(stop|start)$/ and $off = $e->{event} eq "stop", 0; $off && $e->{event} =~ /^(entry|branch|return)$/ && $e->{event}' | wc -l)" 0 \
	'and nothing of when it was not'
: >"$T/until"
wait "$background"
is "$? $(<"$T/bg.out")" '0 right' 'each thread has computed right'

# ---- programs that are interrupted, and begin others ----
program inlined -pthread
for what in signals 'mix 3'; do
	# shellcheck disable=SC2086 # arguments
	"$T/inlined" $what >"$T/plain" 2>&1
	rm -f "$T/sock" "$T/switches"
	switch_all &
	switching=$!
	# shellcheck disable=SC2016
	bb user "$T/inlined:*" --engine inline -f --paused --control-socket "$T/sock" -o "$T/trace" -- \
		bash -c 'for ((i = 0; i < 100; i++)); do
			((i < '"$ROUNDS"')) || [[ ! -s $0 ]] || break # until it was switched, too
			"$@" || exit
		done' "$T/switches" "$T/inlined" $what
	exits 0 "$what: all goes on as ever"
	rm -f "$T/sock"
	wait "$switching"
	is "$(sort -u "$T/out")" "$(<"$T/plain")" "$what: and is right, $(grep -c . "$T/out") times"
	ok "$([[ -s $T/switches ]]; echo $?)" "$what: it was switched $(wc -l <"$T/switches") times meanwhile"
done
done_testing
