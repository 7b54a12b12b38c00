#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Without a filter: every process that uses the object is traced, also those that start later, but never bbtrace
# itself.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes

build_served
private_copy "$T/served"
libc=$PRIVATE/libc.so.6
served=$PRIVATE/served

serve one "${PRIVATE_RUN[@]}"
watch_object "$served:tick" "$served:work" "$libc:rand"
like "$T/err" '^bbtrace: tracing every process but bbtrace itself; limit it with -p PID or -- CMD$' 'a note says that a system-wide trace is of every process'
serve two "${PRIVATE_RUN[@]}"
tell one 'work 4'
tell two 'work 6'
tell two 'fork 2'
child=$(sed -n 's/^child //p' "$T/two.out")
stop_watching INT
exits 0 'a system-wide trace ends well'
is "$(calls "\$e->{pid} == $pid_one")" 4 'system-wide: the calls of a process that was there before are shown'
is "$(calls "\$e->{pid} == $pid_two")" 6 'system-wide: the calls of a process that started later are shown'
is "$(calls "\$e->{pid} == $child")" 2 "system-wide: the calls of a process's child are shown"
is "$(json "$T/watch.json" '$e->{event} eq "entry" && $e->{symbol} eq "rand"')" 6 "system-wide: all processes' calls into a library are shown"
is "$(json "$T/watch.json" '$e->{event} eq "return" && $e->{symbol} eq "rand"')" 6 "system-wide: all processes' calls into a library return"

# ---- bbtrace, run with the same library that it traces ----
private_copy "$BBTRACE"
other=$PRIVATE/bbtrace
rm "$T/watch.json" # what it has is the one's before
: >"$T/err"
"${PRIVATE_RUN[@]}" user "$PRIVATE/libc.so.6" malloc -e entry -F json -o "$T/watch.json" >"$T/out" 2>"$T/err" </dev/null &
watching=$!
at_end "kill -9 $watching 2>/dev/null"
wait_for $PATIENCE grep -q 'tracing every process' "$T/err"
# another bbtrace with that library is traced as anybody is
seen() { "${PRIVATE_RUN[@]}" --version >"$T/version" && [[ -s $T/watch.json ]]; }
wait_for $PATIENCE seen
ok $? 'system-wide: another bbtrace is traced'
"${PRIVATE_RUN[@]}" list "$other" '*' >"$T/list" &
listing=$!
wait $listing
stop_watching INT
exits 0 'system-wide: the trace of a library that bbtrace uses ends well'
isnt "$(json "$T/watch.json" "\$e->{event} eq 'entry' && \$e->{pid} == $listing")" 0 'system-wide: what another bbtrace allocates is shown'
is "$(json "$T/watch.json" "exists \$e->{pid} && \$e->{pid} == $watching")" 0 'bbtrace never traces itself'
like "$T/err" ' 0 lost, ' 'system-wide: nothing of a library that bbtrace uses is lost'
done_testing
