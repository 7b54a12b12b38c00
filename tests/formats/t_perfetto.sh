#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F perfetto: protoc decodes it, and its events are those of -F json: times, nesting, names, arguments.
. "$(dirname "$0")/../e2e/lib.sh"
needs recorded cmd:python3 cmd:protoc

HERE=$ROOT/tests/formats
# unpack FILE: prints what protoc makes of it; a field that perfetto.proto doesn't have would be a number.
unpack() { gzip -dc <"$1" | protoc -I "$ROOT/src/output/timeline" --decode=perfetto.protos.Trace perfetto.proto; }

# events FILE: its events without the last one, the summary
events() {
	unpack "$1" >"$T/decoded" && python3 "$HERE/perfetto.py" packets <"$T/decoded" | grep -v '^bbtrace .* summary '
}

# both NAME ARG... -- CMD: records (tests/recorded/NAME.bbt), and compares the two formats
both() {
	local name=$1
	shift
	recorded "$name" user "$@"
	"$BBTRACE" report -q "$T/trace" -F json >"$T/json"
	"$BBTRACE" report -q "$T/trace" -F perfetto >"$T/perfetto"
	python3 "$HERE/perfetto.py" json <"$T/json" >"$T/wanted"
	events "$T/perfetto" >"$T/events"
	isnt "$(wc -l <"$T/wanted")" 0 "$name: there are events"
	same "$T/events" "$T/wanted" "$name: events are those of JSON, in time, depth, name and arguments"
}

program fib -O1
both fib-main "$T/fib" fib main -- "$T/fib"
is "$(grep -c '^ *process_name: "fib"' "$T/decoded") $(grep -c '^ *thread_name: "fib"' "$T/decoded")" '1 1' \
	'the process and its thread have their name'
is "$(grep -c '^ *name: "fib"' "$T/decoded")" 1 'a name is told once'
program loops -O1
both loops-all "$T/loops" '*' -- "$T/loops"
program switch -O1
both switch-all "$T/switch" '*' -- "$T/switch"
program threads -O1 -pthread
both threads "$T/threads" collatz worker -- "$T/threads"
program longjmp -O1
both longjmp "$T/longjmp" '*' -- "$T/longjmp"
program except -O1
both except "$T/except" '*' -- "$T/except"
# a child's calls that its parent began are no slices of the child's
starts() { awk '$4 ~ /^(entry|branch|task)$/ { $3 = "-"; print }' "$1"; }
program forks -O1
recorded forks user "$T/forks" '*' -f -- "$T/forks"
"$BBTRACE" report -q "$T/trace" -F json | python3 "$HERE/perfetto.py" json >"$T/wanted"
"$BBTRACE" report -q "$T/trace" -F perfetto -o "$T/perfetto"
events "$T/perfetto" >"$T/events"
is "$(starts "$T/events")" "$(starts "$T/wanted")" 'forks: each process has a track, with all of its entries and branches'
is "$(grep -c '^ *process_name: "forks"' "$T/decoded")" "$(cut -d' ' -f1 "$T/wanted" | sort -u | grep -c .)" 'forks: each process has its name'

# ---- hostile, cut, small ----
name=$'we"ird \\ \xff\x01 name'
cp "$T/fib" "$T/$name"
recorded hostile user "$T/$name" fib -- "$T/$name"
bb report "$T/trace" -F perfetto -o "$T/perfetto"
! is_root || bb user "$T/$name" fib -F perfetto -o "$T/perfetto" -- "$T/$name"
isnt "$(events "$T/perfetto")" '' 'a hostile name stays within its string'
recorded fib-l7 user "$T/fib" fib -l 7 -- "$T/fib"
bb report "$T/trace" -F perfetto -o "$T/perfetto"
! is_root || bb user "$T/fib" fib -l 7 -F perfetto -o "$T/perfetto" -- "$T/fib"
is "$(events "$T/perfetto" | grep -c .)" 7 'a trace cut off by -l is whole'
program million -O1
recorded million user "$T/million" '*' --engine inline -- "$T/million"
"$BBTRACE" report -q "$T/trace" -F chrome -o "$T/chrome"
bb report "$T/trace" -F perfetto -o "$T/perfetto"
size=$(stat -c %s "$T/perfetto") count=$(summary events)
ok $((size > count * 4)) "an event takes at most 4 bytes ($size bytes for $count events)"
ok $((size * 30 > $(stat -c %s "$T/chrome"))) 'that is a thirtieth of chrome at most'

# ---- SQL ----
tp=$(command -v trace_processor_shell || command -v trace_processor)
query() {
	echo "$1;" >"$T/query" && "$tp" -q "$T/query" "$T/perfetto" 2>"$T/err" | tail -n +2 | tr -d '"'
}
if [[ $tp ]]; then
	both fib-main "$T/fib" fib main -- "$T/fib"
	is "$(query "select count(*) from slice where category = 'function'")" "$(json "$T/json" '$e->{event} eq "entry"')" \
		'trace_processor has all calls'
	is "$(query "select count(*) from slice where category = 'branch'")" "$(json "$T/json" '$e->{event} eq "branch"')" \
		'trace_processor has all branches'
	is "$(query "select sum(dur) from slice where category = 'function'")" \
		"$(json_lines "$T/json" '$e->{duration_ns}' | awk '{ n += $1 } END { print n }')" 'trace_processor has the durations'
	is "$(query "select sum(value) from stats where severity in ('error', 'data_loss')")" 0 'trace_processor finds no error'
else
	skip 'trace_processor reads it' 'not installed'
fi
done_testing
