#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2016 # tap.sh sets T; Perl's variables
# Recording that the program switches: by bbtrace.h, functions and lines, in threads, children, a constructor and a library;
# what is recorded is what ran in between, and while it is off the program's code is its own. Marks.
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:gdb
printf '6.6\n%s\n' "$(uname -r)" | sort -VC || skip_all 'needs uprobe_multi, from Linux 6.6 on'

. "$E2E/controlled.sh"
cat >"$T/lib.c" <<'END'
#include "bbtrace.h"
void in_library(int c) { if (c == 's') BBTRACE_START(); else BBTRACE_STOP(); }
END
cc -O1 -shared -fPIC -I"$ROOT/include" -o "$T/lib.so" "$T/lib.c" || exit 2
export LIB=$T/lib.so

state() { "$BBTRACE" ctl "$T/sock" status 2>/dev/null | sed -n 's/^state: //p'; }
is_state() { [[ $(state) == "$1" ]]; }
await() { wait_for "$PATIENCE" is_state "$1"; }
# changed WHAT: is there something else now?
changed() {
	local byte

	byte=$(entry_byte)
	ok "$([[ $byte && $byte != "$original" ]]; echo $?)" "$1" || diag "${byte:-unknown}"
}

for engine in probe inline; do
# ---- START and STOP ----
app app work --engine $engine --control app -F json -e entry -o "$T/app.json" --record "$T/file"
says www
is "$(entry_byte)" "$original" "$engine: before START the code in memory is that of the file"
says sw
await running
changed "$engine: then it is not"
says wmw
says p
await stopped
is "$(entry_byte)" "$original" "$engine: and after STOP it is that of the file again"
says wwmw s
await running
says s tw fw m 'twpww'
await stopped
says w sp w 
wait_for "$PATIENCE" is_state stopped
ends "$engine: app"
# w after s may or may not have come in time
is "$(events "$T/app.json" | sed 's/^\[\]W*WM0W\[/[]WM0W[/')" '[]WM0W[]WM2W[' "$engine: what is recorded is what ran between START and STOP, of all threads"
is "$(json "$T/app.json" '$e->{event} eq "start" && $e->{since_asked_ns} > 0 && $e->{by} =~ /^BBTRACE_START\(\) of \d+$/')" 2 \
	'a start tells what asked for it, and how long ago'
is "$(json "$T/app.json" '$e->{event} eq "stop" && ($e->{by} // "") =~ m{^BBTRACE_STOP\(\) of (\d+)(/\d+)?$}')" 2 "$engine: and a stop by whom, a thread, too"
is "$(json_lines "$T/app.json" '$e->{event} eq "mark" && join " ", $e->{text}, $e->{pid} == $e->{tid}' | sort -u)" 'a literal 1' \
	'marks have their text, also if the program never read it, and their thread'
like "$T/app.err" '^bbtrace: 1 times recording was to stop before it had started' "$engine: a stretch that was too short is told"
bb report "$T/file" -F json -e entry
same "$T/out" "$T/app.json" "$engine: report shows the same"
bb report "$T/file" -F summary
like "$T/out" '^ +2  a literal = 0 to 2$' "$engine: the summary counts marks"
bb report "$T/file"
like "$T/out" '-- recording starts, [0-9.]+[a-z]+ after BBTRACE_START\(\) of [0-9]+ --' "$engine: as text: a start"
like "$T/out" '-- recording stops at BBTRACE_STOP\(\) of [0-9]+ --' "$engine: a stop"
like "$T/out" '-- mark: a literal = 2 --' "$engine: a mark"

# ---- a constructor, a library, children ----
BEFORE=s app early work --engine $engine --control app -F json -e entry -f -v -o "$T/early.json"
await running
says w fw l
wait_for "$PATIENCE" grep -qs 'markers that were mapped just now count' "$T/early.err"
says P w
await stopped
says w S
await running
says w
says 'fwp'
await stopped
says w
ends "$engine: early"
is "$(events "$T/early.json" | sed 's/M[0-9]*//g')" '[]WW[]WW[' "$engine: START before main; in a library that is loaded later; STOP in a forked child"
is "$(json_lines "$T/early.json" '$e->{event} eq "entry" && $e->{pid}' | sort -u | wc -l)" 3 "$engine: of the program and of both its children"

# ---- marks within what is traced ----
app within one --engine $engine -F json -e entry -o "$T/within.json"
says mwm
ends "$engine: within"
is "$(events "$T/within.json" | grep -o 'WM0WWM1')" 'WM0WWM1' "$engine: marks in a traced function"

# ---- functions and lines ----
app named work --engine $engine --start-on begin --stop-on controlled.c:"$(grep -n 'n += 2' "$E2E/controlled.c" | cut -d: -f1)" -c -F json -o "$T/named.json"
says www b
await running
changed "$engine: --start-on puts the probes in place"
says ww e
await stopped
is "$(entry_byte)" "$original" "$engine: --stop-on takes them away"
says wwwww b
await running
says w
ends "$engine: named"
is "$(json_lines "$T/named.json" '$e->{kind} && $e->{kind} eq "ret" && $e->{taken_count}')" 3 "$engine: --start-on and --stop-on: a function and a line; -c counts only in between"

# ---- time ----
app timed work --engine $engine --delay 1ms --for 1h -F json -e entry -o "$T/timed.json"
await running
says ww
ends "$engine: timed"
is "$(events "$T/timed.json")" '[]WW' "$engine: --delay: it begins stopped"
app for work --engine $engine --for 1ms -F json -e entry -o "$T/for.json"
wait_for "$PATIENCE" grep -qs '^bbtrace: 1 function' "$T/for.err"
says w
is "$(entry_byte)" "$original" "$engine: --for: once the trace has ended the program is its own"
ends "$engine: for"
is "$(json_lines "$T/for.json" '$e->{event} eq "stop" && $e->{by}')" 'the end of --for' "$engine: which is what stopped it"

done

# ---- who else reads them; what can't be ----
gdb -batch -ex 'info probes' "$T/app" >"$T/probes" 2>/dev/null
is "$(grep -c '^stap bbtrace  *\(start\|stop\|mark\)' "$T/probes")" 3 'gdb finds the markers'
bb user "$T/app" work --control app --paused -- true
exits 2 '--control app and --paused exclude each other'
bb user "$T/app" work --control me -- true
exits 2 'an unknown control'
bb user "$T/app" work --start-on nothing -- true
exits 1 '--start-on an unknown function'
bb user "$T/app" work --delay 0 -- true
exits 2 '--delay 0'
program loops
bb user "$T/loops" main --control app -- true
like "$T/err" 'include bbtrace.h' '--control app without a marker anywhere says what to do'
done_testing
