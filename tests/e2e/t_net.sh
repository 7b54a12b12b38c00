#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Times include tracing: a line says how much, and each call has its net time, or is below the noise. Nothing is timed here:
# what a call took itself is known to be at least a sleep, and what is compared are the outputs of one run.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:perl
mechanisms

program quick -O1
names=(main choose leaf waits)
line='times include about [0-9]+ hits x [0-9.]+[mun]?s = [0-9.]+[mun]?s of tracing'

# traced FILE ARG...: a trace of the program, also recorded: its net times hold, and report shows the same. Its name: $how.
traced() {
	local file=$1
	shift
	bb user "$T/quick" "${names[@]}" "$@" -F json -o "$T/json" --record "$file" -- "$T/quick"
	exits 0 "$how: a program of quick calls is traced"
	is "$(json "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "waits" && $e->{net_ns} >= 49.5e6 && $e->{net_ns} < $e->{duration_ns}')" 1 \
		"$how: a call that waits has the wait in its net time, and its hits aren't in it"
	is "$(($(json "$T/json" '$e->{event} eq "return" && !exists $e->{net_ns} && !exists $e->{below_noise}') < 100))" 1 \
		"$how: all but the first calls have a net time, or are below the noise"
	like "$T/err" "^bbtrace: $line" "$how: a line says what part of the times is tracing"
	bb report "$file" -F json -o "$T/again"
	same "$T/again" "$T/json" "$how: report tells the same net times as the live trace"
}

for mechanism in "${MECHANISMS[@]}"; do
	for placement in full witness; do
		how="$mechanism, $placement"
		traced "$T/trace" --attach "$mechanism" --placement $placement
		is "$(summary lost)" 0 "$how: nothing is lost"
		is "$(json "$T/json" 'exists $e->{net_ns} && (exists $e->{below_noise} || $e->{event} ne "return" || $e->{net_ns} <= 0 || $e->{net_ns} > $e->{duration_ns})')" 0 \
			"$how: a net time is never 0, never more than the clock's, and never below the noise"
		[[ $placement == full ]] || continue
		is "$(json_lines "$T/json" '$e->{event} =~ /entry|branch/ ? $e->{ts} : ""' | sort -u | wc -l)" \
			"$(json_lines "$T/json" '$e->{event} eq "summary" ? $e->{hits} + ($e->{hits_unpriced} // 0) : ""')" \
			"$how: each hit is counted, with or without price"
	done
done

is "$(grep -oE 'about [0-9]+ hits' "$T/err" | tr -dc 0-9)" "$(json_lines "$T/json" '$e->{event} eq "summary" ? $e->{hits} : ""')" \
	'the line has the number of hits that JSON has'

# Without branches: from any entry, and from after any return, to the next hit there is only quick code.
for returns in ret probe; do
	how="-e entry,return --returns $returns"
	traced "$T/calls" -e entry,return --returns $returns
	is "$(json "$T/json" '$e->{event} eq "summary" && !$e->{hits_unpriced} && $e->{hits} == $e->{events}')" 1 \
		"$how: the cost of each hit is known at the end"
done
bb user "$T/quick" waits -e entry,return --returns probe -F json -o "$T/json" -- "$T/quick"
is "$(json "$T/json" 'exists $e->{net_ns} || exists $e->{below_noise}')" 0 'a call whose hits have no known cost has no net time'
like "$T/err" '^bbtrace: times include tracing: 2 hits, whose cost is not known$' 'and a line says so'

bb report "$T/trace" waits choose
like "$T/out" 'waits returns .*  [0-9.]+ms, net [0-9.]+ms$' 'text shows the net time behind the duration'
like "$T/err" "^bbtrace: in the whole trace, $line" 'of a part of a trace the line says what it is about'
bb report "$T/trace" --head 3
like "$T/err" '^bbtrace: in the part of the trace that was read, times include tracing: [23] hits' 'with --head it says of how much'
bb report "$T/trace" -F summary
like "$T/out" '^calls .* total +net +self ' 'summary has the net times in a column'
like "$T/out" "^T${line#t}" 'summary has the line, too'
unlike "$T/out" ' 0ns ' 'summary shows no time of 0'
for format in html svg folded callgrind; do
	bb report "$T/trace" -F $format -o "$T/out.$format"
	like "$T/out.$format" '[Tt]imes include:? about [0-9]+ hits x ' "$format has the line, too"
done
for options in '-q' '-F annotate' '-F dot' '-F svg:count' '-F folded:count' '-c'; do
	# shellcheck disable=SC2086 # options
	bb report "$T/trace" $options -o "$T/silent"
	unlike "$T/err" 'times include' "$options: no line where no times are shown, or no notes"
done
bb user "$T/quick" leaf -e entry,branch -T none -- "$T/quick" 20
unlike "$T/err" 'times include' 'text without times and without returns: no line'
done_testing
