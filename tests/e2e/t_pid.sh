#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -p: processes that run already, with all their threads, until they end.
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
is "$(armed "$pid_one" "$T/served" work)" yes 'probes are in the process while it is traced'
if "$BBTRACE" doctor | grep -q '^uprobe_multi_pid  *yes'; then
	is "$(armed "$pid_two" "$T/served" work)" no 'and not in another one'
else
	skip 'and not in another one' 'before Linux 6.10 they are in each that runs the program'
fi
tell one 'work 3'
tell two 'work 50'
tell one 'thread old 4'
tell one 'spawn young'
tell one 'thread young 5'
young=$(sed -n 's/^young //p' "$T/one.out")
stop_watching INT
exits 0 'Ctrl-C ends it with 0'
is "$(calls)" 12 'all its calls, none of another process'
is "$(calls "\$e->{tid} == $pid_one && \$e->{pid} == $pid_one")" 3 'the main thread'
is "$(calls "\$e->{tid} == $old && \$e->{pid} == $pid_one && \$e->{comm} eq 'old'")" 4 'a thread that was there before'
is "$(calls "\$e->{tid} == $young && \$e->{pid} == $pid_one && \$e->{comm} eq 'young'")" 5 'a thread born later'
is "$(json "$T/watch.json" '$e->{event} eq "return" && $e->{symbol} eq "work" && exists $e->{duration_ns}')" 12 \
	'each returned'
# a tick may have been under way when all began
like "$T/err" '^bbtrace: 2 functions, .* 0 lost, [01] unmatched returns$' 'the summary'
is "$(armed "$pid_one" "$T/served" work)" no 'the probes are gone'
tell one 'work 2'
ok $? 'the process lives on'

# ---- several ----
watch -p "$pid_one,$pid_two"
tell one 'work 2'
tell two 'work 3'
tell three 'work 50'
tell_off one quit
is $ended 7 'a process of several ends as ever'
tell two 'work 4'
kill -0 $watching 2>/dev/null
ok $? 'the trace goes on while one of them lives'
tell_off two quit
stop_watching
exits 0 'when the last one has ended: 0, by itself'
is "$(calls "\$e->{pid} == $pid_one") $(calls "\$e->{pid} == $pid_two") $(calls)" '2 7 9' 'both were traced, the third was not'

# ---- a process that is gone, one that isn't there ----
bb user "$T/served" work -p "$pid_one"
exits 1 'a process that has ended'
like "$T/err" "no such process: $pid_one" 'is named'
bb user "$T/served" work -p "$pid_three,$pid_one"
exits 1 'also among others'
done_testing
