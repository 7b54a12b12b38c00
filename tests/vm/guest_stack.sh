#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_stack.sh WAITS NARROW: where their threads are (tests/stack), and what these wait for.

. "$(dirname "$0")/guest_lib.sh"
WAITS=$1
NARROW=$2

"$WAITS" first second holder mutex reads child signals spins >"$T/said" &
pid=$!
tid() { awk -v role="$1" '$1 == role { print $2 }' "$T/said"; }
all_wait() { # by the shell alone, since there is one that spins
	local task state

	for task in /proc/$pid/task/*; do
		read -r state <"$task/stat" || return 1
		[[ ${state##*) } == S* || ${task##*/} == "$spinning" ]] || return 1
	done
}
wait_for 600 grep -q '^main ' "$T/said"
spinning=$(tid spins)
wait_for 600 all_wait
waits() { awk -v tid="$(tid "$1")" '$1 == tid && $2 == "waits" { print $3, $4, $5 }' "$T/flat"; }
frame() { awk -v tid="$(tid "$1")" -v name="$2" '$1 == tid && $2 == "frame" && $3 == name' "$T/flat" | wc -l; }

bb stack $pid -F json
exits 0 'the stacks of a process'
kill -STOP $pid # a thread that runs takes a CPU from the checks
cp "$T/out.txt" "$T/json"
# of each thread: TID waits FOR SYMBOL OWNER, TID frame SYMBOL; jq takes half a second to start
jq -r 'select(.event == "stack") | "\(.tid) waits \(.waits | "\(.for) \(.symbol // "-") \(.owner // .pid // "-")")",
	(.tid as $tid | .stack[] | "\($tid) frame \(.symbol)")' "$T/json" >"$T/flat"
is "$(cat "$T/err")" '' 'there is nothing to note'
is "$(waits first)" "mutex lock_b $(tid second)" 'a mutex, and who holds it'
is "$(waits mutex)" "mutex held $(tid holder)" 'a mutex of a thread that waits for something else'
is "$(waits spins)" 'nothing - -' 'a thread that runs'
is "$(waits main)" "thread - $(tid spins)" 'the end of a thread'
is "$(waits signals)" 'signal - -' 'a signal'
is "$(waits child)" "child - $(awk '$1 == "child" { print $3 }' "$T/said")" 'a child'
is "$(waits reads | cut -d' ' -f1)" file 'a descriptor'
for role in first second holder mutex reads child signals spins; do
	is "$(frame $role $role)" 1 "$role: its function is on its stack"
done
is "$(jq -c 'select(.event == "stacks") | .deadlock | sort' "$T/json")" \
	"$(printf '%s\n' "$(tid first)" "$(tid second)" | sort -n | jq -cs .)" 'who waits for each other'
awk '$1 == "child" { print $3 }' "$T/said" | xargs kill -KILL $pid

"$NARROW" &
pid=$!
wait_for 600 eval '[[ $(awk "{ print \$3 }" /proc/$pid/stat) == S ]]'
bb stack $pid -F json
exits 0 'the stack of a 32-bit program'
is "$(jq -r 'select(.event == "stack") | "\(.waits.for) \(.waits.number) \([.stack[] | .symbol // "-"] | .[:3] | join(" "))"' "$T/out.txt")" \
	'call 29 inner outer _start' 'each of its frames, and the system call'
kill -KILL $pid
done_testing
