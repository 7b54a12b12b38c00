#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Recursion: each call with its depth and value, however the program is linked.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program fib -O1
bb user "$T/fib" fib -F json -o "$T/json" -- "$T/fib"
exits 3 'the traced program ends with its own status'
is "$(cat "$T/out")" 55 "the traced program's output is its own"
is "$(entries fib) $(returns fib)" '177 177' 'each call of a recursion is entered and returns'
is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{depth}' | sort -n | uniq -c | xargs)" \
	'1 0 2 1 4 2 8 3 16 4 32 5 52 6 44 7 16 8 2 9' 'the depth of each'
is "$(json "$T/json" '$e->{event} eq "return" && $e->{depth} == 0 && hex($e->{value}) == 55')" 1 "the outermost call returns the program's result"
is "$(json "$T/json" '$e->{event} eq "return" && hex($e->{value}) == 1 && $e->{duration_ns} > 0')" 89 'each leaf of the recursion returns 1, and has a duration'
is "$(json "$T/json" '$e->{event} eq "entry" && !exists $e->{since_entry_ns}')" 1 'only the first entry has no entry before it'
is "$(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "call" && $e->{to}{symbol} eq "fib" && $e->{to}{offset} == 0')" \
	176 'each call from inside'
is "$(json_lines "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "ret" && $e->{depth} == 0 && $e->{to}{symbol}')" main \
	'the last ret goes to main'
is "$(summary functions) $(summary events)" '1 972' 'the line on stderr counts all events'
id=$(readelf -n "$T/fib" | awk '/Build ID/ { print $NF }')
code=$((16#$(nm -S "$T/fib" | awk '$4 == "fib" { print $2 }')))
is "$(tail -1 "$T/json" | sed -E 's/,"(hits|tracing_ns|hits_unpriced|realtime_offset_ns)":[0-9]+//g')" \
	'{"event":"summary","functions":1,"probes":'"$(summary probes)"',"skipped":0,"events":972,"lost":0,"unmatched_returns":0,"unseen_tail_returns":0,"unknown":0,"undecoded":0,"code":'"$code"',"missed_at_most":0,"host":"'"$(uname -n)"'","objects":{"object":["'"$T/fib"'"],"build_id":["'"$id"'"]}}' \
	'the last line of JSON counts all events'

bb user "$T/fib" fib -- "$T/fib"
is "$(grep -c ' fib(n=' "$T/out")" 177 'text shows each call of the recursion'
is "$(awk 'match($0, / fib\(n=/) { print RSTART }' "$T/out" | sort -nu | awk 'NR > 1 { print $1 - last } { last = $1 }' | xargs)" \
	'2 2 2 2 2 2 2 2 2' 'text indents ten levels of calls by two columns each'

for kind in '-no-pie -fno-pie' -static -static-pie '-O0 -fcf-protection'; do
	# shellcheck disable=SC2086 # flags
	program fib -O1 $kind
	bb user "$T/fib" fib main -F json -o "$T/json" -- "$T/fib"
	is "$status $(entries fib) $(returns fib) $(returns main)" '3 177 177 1' "$kind: each call of fib and main is shown, and returns"
	is "$(summary unmatched)" 0 "$kind: nothing is unmatched"
done
done_testing
