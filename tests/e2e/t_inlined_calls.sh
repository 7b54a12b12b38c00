#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline -p PID, of a program whose threads all wait in system calls. Each is interrupted, some are made to map
# memory, and each call then returns what it would have: whatever the kernel restarts it by, its time included. There are so
# many threads that more than one of them has to map memory for logs: the 17th, the 33rd and the 65th.
# shellcheck disable=SC2154 # lib.sh sets background
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

program waiting -pthread
# The main thread, too, sleeps.
all_wait() { grep -q waits "$T/bg.out" && ! grep -h '^State:' "/proc/$background/task/"*/status | grep -qv sleeping; }
for kind in futex timed sleep read poll select pause lock receive; do
	rm -f "$T/until"
	background "$T/waiting" "$kind" 70 "$T/until"
	wait_for "$PATIENCE" all_wait
	failed=0
	for use in "-o $T/trace" '-c' '-F summary'; do
		# shellcheck disable=SC2086 # options
		bb user "$T/waiting:*" -p "$background" --engine inline -f -t 0.01 $use
		[[ $status == 0 ]] || { failed=$((failed + 1)) && diag "$kind, $use: status $status: $(tail -n 3 "$T/err")"; }
		rm -f "$T/trace"
	done
	: >"$T/until"
	wait "$background"
	is "$? $failed $(tr '\n' ' ' <"$T/bg.out")" '0 0 waits right ' "$kind: 70 calls return what they have to"
done
done_testing
