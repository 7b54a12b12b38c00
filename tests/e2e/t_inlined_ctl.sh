#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline under bbtrace ctl: a trace that begins paused, is stopped and continues has the events and counts of one by
# probes; counts can be asked for, and reset.
# shellcheck disable=SC2154 # lib.sh and ctl.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
. "$E2E/ctl.sh"
mkfifo "$T/in" "$T/did"

# begin ENGINE OPTION...: a trace of steps, which begins when it is told to.
begin() {
	"$BBTRACE" user "$T/steps" work other --engine "$@" -o "$T/json" -- "$T/steps" <"$T/in" >"$T/did" 2>"$T/bb.err" &
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
# What differs between two runs, and between engines.
alike() {
	perl -ne 's/"(ts|pid|tid|cpu|duration_ns|net_ns|since_entry_ns|below_noise|probes|hits|tracing_ns|missed_at_most)":[^,}]*,?//g;
		print if /"event":"(entry|branch|return|stop|start|unknown)"|"symbol"/' "$1"
}

for options in '-F json -r none' '-c -F json'; do
	for engine in probe inline; do
		# shellcheck disable=SC2086
		begin $engine --paused $options
		steps 3
		does start
		steps 2
		does stop
		steps 4
		does start
		steps 1
		finish "$options, $engine"
		alike "$T/json" >"$T/$engine"
	done
	same "$T/inline" "$T/probe" "$options: what was done while it was paused or stopped is missing, as by probes"
	ok $(($(wc -l <"$T/inline") < 3)) "$options: and the rest is not"
done

begin inline -c -F json
steps 5
does counts
cp "$T/out" "$T/first"
does reset
steps 2
does counts
isnt "$(cat "$T/out")" "$(cat "$T/first")" 'counts begin again after reset'
finish 'counts'
done_testing
