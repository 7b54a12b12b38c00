#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -p: running processes with all their threads, until they end.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes

build_served
serve one "$T/served"
serve two "$T/served"
serve three "$T/served"
tell one 'spawn old'
old=$(sed -n 's/^old //p' "$T/one.out")

# ---- one process ----
watch -p "$pid_one"
is "$(armed "$pid_one" "$T/served" work)" yes '-p: probes are in the process while it is traced'
if "$BBTRACE" doctor | grep -q '^uprobe_multi_pid  *yes'; then
	is "$(armed "$pid_two" "$T/served" work)" no '-p: no probes are in another process'
else
	skip '-p: no probes are in another process' 'before Linux 6.10 they are in each that runs the program'
fi
tell one 'work 3'
tell two 'work 50'
tell one 'thread old 4'
tell one 'spawn young'
tell one 'thread young 5'
young=$(sed -n 's/^young //p' "$T/one.out")
stop_watching INT
exits 0 '-p: Ctrl-C ends the trace with 0'
is "$(calls)" 12 '-p: all calls of the process are shown, none of another'
is "$(calls "\$e->{tid} == $pid_one && \$e->{pid} == $pid_one")" 3 "-p: the main thread's calls are shown"
is "$(calls "\$e->{tid} == $old && \$e->{pid} == $pid_one && \$e->{comm} eq 'old'")" 4 '-p: the calls of a thread that was there before are shown'
is "$(calls "\$e->{tid} == $young && \$e->{pid} == $pid_one && \$e->{comm} eq 'young'")" 5 '-p: the calls of a thread born later are shown'
is "$(json "$T/watch.json" '$e->{event} eq "return" && $e->{symbol} eq "work" && exists $e->{duration_ns}')" 12 \
	'-p: each call returns'
# a tick may have been under way when all began, and when it ended
like "$T/err" '^bbtrace: 2 functions, .* 0 lost, [01] unmatched returns?(, 1 call still open)?$' '-p: the summary comes after Ctrl-C'
is "$(armed "$pid_one" "$T/served" work)" no '-p: the probes are gone when the trace has ended'
tell one 'work 2'
ok $? '-p: the process lives on when the trace has ended'

# ---- several ----
watch -p "$pid_one,$pid_two"
tell one 'work 2'
tell two 'work 3'
tell three 'work 50'
tell_off one quit
is $ended 7 '-p PID,PID: a traced process ends as ever'
tell two 'work 4'
kill -0 $watching 2>/dev/null
ok $? '-p PID,PID: the trace goes on while one of them lives'
tell_off two quit
stop_watching
exits 0 '-p PID,PID: the trace ends by itself, with 0, when the last one has ended'
is "$(calls "\$e->{pid} == $pid_one") $(calls "\$e->{pid} == $pid_two") $(calls)" '2 7 9' '-p PID,PID: both are traced, a third is not'

# ---- a process that is gone, one that isn't there ----
bb user "$T/served" work -p "$pid_one"
exits 1 '-p of a process that has ended is refused'
like "$T/err" "no such process: $pid_one" '-p of a process that has ended: the message names it'
bb user "$T/served" work -p "$pid_three,$pid_one"
exits 1 '-p of several of which one has ended is refused'
done_testing
