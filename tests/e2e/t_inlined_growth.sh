#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace ctl add and remove with --engine inline: what is added has probes, what is removed is not shown any more though its
# copy continues logging, what is added again is shown again; the events are those of a trace by probes. What another bbtrace has
# copied can't be added.
# shellcheck disable=SC2154 # lib.sh and ctl.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
mechanisms
has_mechanism uprobe_multi || skip_all 'this kernel has no uprobe_multi'
. "$E2E/ctl.sh"
mkfifo "$T/in" "$T/did"

begin() { # NAME ENGINE OPTION...
	"$BBTRACE" user "$T/steps" work --engine "$2" "${@:3}" -- "$T/steps" <"$T/in" >"$T/did" 2>"$T/bb.err" &
	trace=$!
	exec 8>"$T/in" 9<"$T/did"
	at_end "kill $trace 2>/dev/null"
	wait_for "$PATIENCE" "$BBTRACE" ctl $trace status >/dev/null 2>&1
}
finish() {
	exec 8>&-
	wait $trace
	is $? 0 "$1: the trace ends with its program"
	exec 9<&-
}
does() {
	ctl "$trace" "$@"
	exits 0 "$*"
}
# What was done, in order; a change leaves its thread uncertain.
done_of() { json_lines "$1" '$e->{event} =~ /entry|return|branch/ && "$e->{event} $e->{symbol}+" . ($e->{offset} // "") . " " . ($e->{taken} // "")'; }

for way in live file; do
	for engine in probe inline; do
		if [[ $way == live ]]; then to=(-F json -o "$T/json"); else to=(-o "$T/trace"); fi
		begin $way $engine "${to[@]}"
		steps 3
		does add other
		steps 2
		does remove work
		steps 4
		does add work
		steps 2
		does remove other
		steps 1
		finish "$way, $engine"
		[[ $way == live ]] || bb report "$T/trace" -F json -o "$T/json"
		done_of "$T/json" >"$T/$engine"
		is "$(tail -n 1 "$T/bb.err" | grep -c ' 0 lost, 0 unmatched')" 1 "$way, $engine: nothing is lost" || diag "$(cat "$T/bb.err")"
		is "$(json "$T/json" '$e->{event} eq "unknown"')" 0 "$way, $engine: nothing is unknown"
	done
	same "$T/inline" "$T/probe" "$way: the same events as by probes"
	ok $(($(wc -l <"$T/inline") < 10)) "$way: and they are many"
done
like "$T/bb.err" 'in copies, which go on logging' 'a note says that a removed function goes on logging'

# ---- another bbtrace's copies ----
begin refused probe -F json -o "$T/json"
wait_for "$PATIENCE" pgrep -P "$trace" -x steps >"$T/pid"
program=$(<"$T/pid")
"$BBTRACE" user "$T/steps" other -p "$program" --engine inline -v -o "$T/trace" >"$T/out" 2>"$T/other.err" </dev/null &
other=$!
at_end "kill $other 2>/dev/null"
wait_for "$PATIENCE" grep -qs 'has its copies' "$T/other.err"
ctl "$trace" add other
exits 1 'what another bbtrace has copied gets no probes'
like "$T/err" "process $program runs copies of functions" 'and the message says where'
steps 2
kill -INT "$other"
wait "$other"
is $? 0 'the other bbtrace ends'
does add other
steps 3
finish refused
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "work"')" 5 'the trace went on'
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "other"')" 3 'and what was added afterwards is shown'

begin counts inline -c -F json -o "$T/json"
steps 1
ctl "$trace" add other
exits 1 'counts of copies can not change'
like "$T/err" '--engine probe' 'and the message says what can'
finish counts
done_testing
