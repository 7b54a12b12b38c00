#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A trace without events says why, before its summary; one that waits for events of processes says that it is live.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes cmd:script

source_program prog c <<'END'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) int never(int n) { return n > 3 ? n : n + 1; }
__attribute__((noipa)) int called(int n) { return n > 3 ? n : n + 1; }
int main(int argc, char **argv)
{
	if (argc > 2)
		never(argc);
	if (argc == 1)
		return called(1) != 2;
	if (!fork())
		_exit(called(1));
	wait(NULL);
}
END

# says NAME LINE...: the last bb ended with 0, and its stderr has these lines, as regular expressions, before the summary.
says() {
	local name=$1 line n=0
	shift

	exits 0 "$name: no error"
	sed -i '/^bbtrace: so far no /d' "$T/err" # on a slow machine
	for line; do
		((n++))
		sed -n "${n}p" "$T/err" >"$T/line"
		like "$T/line" "^bbtrace: $line\$" "$name: line $n says why there is no event"
	done
	is "$(wc -l <"$T/err") $(tail -1 "$T/err" | grep -c ' 0 events')" "$((n + 1)) 1" "$name: the summary ends it"
}

# ---- nobody mapped the object ----
mkdir "$T/other"
cp "$T/prog" "$T/other/prog"
cp "$T/prog" "$T/other/name"
sed 's/argc > 2/argc > 3/' "$T/prog.c" >"$T/build.c"
"${CC:-cc}" -g -O1 -o "$T/build" "$T/build.c"
mkdir "$T/builds"
cp "$T/build" "$T/builds/prog"
bb user "$T/prog" called -- true
says 'another program' "no event: no traced process mapped $T/prog"
bb user "$T/prog" called -- "$T/other/name"
says 'a copy' "no event: no traced process mapped $T/prog" \
	"process [0-9]+ mapped $T/other/name: the same build, but another file; trace that path"
bb user "$T/prog" called -- "$T/builds/prog"
says 'another build' "no event: no traced process mapped $T/prog" \
	"process [0-9]+ mapped $T/builds/prog: the same name, but another build; trace that path"
# puts() is probed to see say() return; the other program calls it as well
source_program says c -O2 <<'END'
#include <stdio.h>
__attribute__((noipa)) int say(const char *text) { return puts(text); }
int main(int argc, char **argv) { return say(argv[0]) < 0; }
END
cp "$T/says" "$T/other/says"
bb user "$T/says" say -v -- "$T/says"
like "$T/err" 'puts.*probed to see a tail call return' "say() returns by a function that it jumps to"
bb user "$T/says" say -- "$T/other/says"
says 'only a function that it jumps to' "no event: no traced process mapped $T/says" \
	"process [0-9]+ mapped $T/other/says: the same build, but another file; trace that path"
bb user "$T/prog" called -- sh -c "'$T/prog'; true"
says "a child's program" "no event: no traced process mapped $T/prog; children are not traced without -f"
bb user "$T/prog" called -f -- sh -c "'$T/prog'; true"
is "$status $(grep -c 'no event' "$T/err")" '0 0' 'with events nothing is said'

# ---- its functions were not called ----
bb user "$T/prog" never -- "$T/prog"
says 'one function' "no event: $T/prog was mapped, but no traced thread called never"
bb user "$T/prog" "$(file_offset "$T/prog" "$(symbol "$T/prog" never)")+0x$(printf %x "$(symbol_size "$T/prog" never)")" -- "$T/prog"
says 'a range' "no event: $T/prog was mapped, but no traced thread ran the traced code"
bb trace "user:$T/prog:never" user:libc.so.6:qsort user:libc.so.6:bsearch -- "$T/prog"
says 'two objects' "no event: $T/prog was mapped, but no traced thread called never" \
	'no event: .*/libc\.so\.6 was mapped, but no traced thread called any of the 2 traced functions'
bb user "$T/prog" called -- "$T/prog" fork
says 'a forked child' "no event: ($T/prog was mapped, but no traced thread called called|the probes were hit, but only by threads that are not traced \(-- CMD\)); children are not traced without -f"

# ---- others hit the probes ----
bb user "$T/prog" called --comm nosuch -- "$T/prog"
says '--comm' 'no event: the probes were hit, but only by threads that are not traced \(-- CMD, --comm\)'
bb user "$T/prog" called --uid 65534 -f -- "$T/prog" fork
says '--uid' 'no event: the probes were hit, but only by threads that are not traced \(-- CMD, --uid\)'

# ---- recorded, and filtered ----
bb user "$T/prog" called --min-duration 1h -- "$T/prog"
says '--min-duration' 'no event is shown: the probes were hit [23] times, but --min-duration filters all of it out'
bb user "$T/prog" called --min-duration 1h -e entry,return -F json -o "$T/json" --record "$T/trace" -- "$T/prog"
says '--min-duration and -e' 'no event is shown: the probes were hit [23] times, but -e and --min-duration filter all of it out'
bb report "$T/trace"
says 'its report' 'no event is shown: the probes were hit [23] times, but -e and --min-duration filter all of it out'
bb user "$T/prog" called -o "$T/trace" -- "$T/prog"
n=$(summary events)
bb report "$T/trace" --comm nosuch
says 'a filtered report' "no event passes the filters; the trace has $n"
bb user "$T/prog" never -o "$T/trace" -- "$T/prog"
bb report "$T/trace"
says 'the report of an empty trace' 'the trace has no events'
bb user "$T/prog" never -q -- "$T/prog"
is "$status $(cat "$T/err")" '0 ' '-q says nothing'

# ---- processes that run, on a terminal ----
build_served
serve one "$T/served"
cp "$T/served" "$T/copy"
bb user "$T/copy" work -p "$pid_one" -t 0.1
says '-p' "no event: no traced process mapped $T/copy" \
	"process $pid_one \(served\) mapped $T/served: the same build, but another file; trace that path"
mv "$T/copy" "$T/served"
bb user "$T/served" work --comm served -t 0.1
sed -i '/is slowed at each hit/d' "$T/err"
says 'a file that was replaced' "no event: no process (mapped|is known to have mapped) $T/served" \
	"process $pid_one \(served\) mapped $T/served: the same build, but another file; -p $pid_one finds it"

# typed ARG...: on a terminal; it shows $T/typed.
typed() {
	: >"$T/typed"
	timeout -k 5 "$BB_TIMEOUT" script -qefc "$BBTRACE user $T/served work $*" /dev/null >"$T/typed" 2>&1 </dev/null &
	typing=$!
}
typed -p "$pid_one"
wait_for $PATIENCE grep -q 'tracing, [1-9][0-9]* probes; Ctrl-C ends' "$T/typed"
ok $? 'a trace of a process that runs says on a terminal that it is live'
kill -INT "$(pgrep -o -f "^$BBTRACE user $T/served work -p $pid_one\$")"
wait $typing
is "$? $(grep -c ' 0 events' "$T/typed")" '0 1' 'Ctrl-C ends it'
typed -p "$pid_one" -t 0.1
wait $typing
like "$T/typed" 'tracing for 0.1 s, [1-9][0-9]* probes; Ctrl-C ends' 'with -t it says how long'
typed -p "$pid_one" -t 0.1 -o "$T/file"
wait $typing
like "$T/typed" "^bbtrace: the trace is in $T/file: bbtrace report $T/file shows it" 'with -o it says how to show the trace'
typed -q -p "$pid_one" -t 0.1
wait $typing
is "$(cat "$T/typed")" '' 'with -q it says nothing'
typed -- "$T/served </dev/null"
wait $typing
unlike "$T/typed" 'Ctrl-C' 'a trace of CMD does not say that it is live'
bb user "$T/served" work -p "$pid_one" -t 0.1
unlike "$T/err" 'Ctrl-C' 'where stderr is no terminal it does not say that it is live'
done_testing
