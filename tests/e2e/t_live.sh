#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A live trace and the report of the file that was recorded at the same time are equal, byte for byte.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

# each OPTIONS...: traces with --record and each line of options, and compares. ARGS: of user; RUN: what to run.
number=0
each() {
	local options

	for options; do
		in_part $((number++)) || continue
		# shellcheck disable=SC2086 # several words
		bb user "${ARGS[@]}" --record "$T/recorded" -o "$T/live" $options -- "${RUN[@]}"
		[[ -s $T/live ]] || diag "nothing is shown: $(cat "$T/err")"
		tail -n 1 "$T/err" >"$T/live.summary"
		# shellcheck disable=SC2086
		bb report "$T/recorded" -o "$T/report" ${options/-k/}
		exits 0 "$name $options: the recording is reported"
		same "$T/report" "$T/live" "$name $options: report shows what the live trace showed"
		is "$(tail -n 1 "$T/err")" "$(<"$T/live.summary")" "$name $options: report has the summary of the live trace"
	done
}
formats=$("$BBTRACE" report --help-all | sed -n '/^formats:/,$s/^  \([^ ]*\) .*/\1/p' | grep -v '^tests') # these are of recorded traces
is "$(wc -w <<<"$formats")" 25 'the formats to compare are known'
mapfile -t each_format < <(for f in $formats; do echo "-F $f"; done)
looks=('-F text --no-fold' '-F text -T abs' '-F text -T delta' '-F text -T none' '-F text --color always' '-F text -k -r all'
	'-F json -k -r rdi,flags' '-c' '-c -F json' '--last 20' '--last 20 -F json' '-l 30 -F text' '--depth 2 -F json'
	'--min-duration 30us -F text' '-e entry,return -F text' '-e branch -F json')

# tests/progs: NAME [FUNC...]
traced() {
	name=$1
	ARGS=("$T/$name" "${@:2}")
	RUN=("$T/$name")
}
program fib -O1
traced fib fib main
each "${each_format[@]}" "${looks[@]}"
program threads -O1 -pthread
traced threads worker collatz
each "${each_format[@]}" '--last 20' '-c -F json'
program loops -O1
traced loops '*'
each '-F text' '-F text --no-fold' '-F annotate'
program except -O1
traced except '*'
each "${each_format[@]}" '-F text -k'
program killed -O1
traced killed '*'
each "${each_format[@]}"
program handler
traced handler work handler fault reader
each '-F text' '-F json' '-F chrome' '-F perfetto' '-F summary'
program longjmp -O1
traced longjmp '*'
each '-F text' '-F json' '-F chrome' '-F perfetto' '-F summary'
program forks -O1
traced forks '*' -f
each '-F text' '-F json' '-F chrome' '-F folded'
program execs -O1 -pthread
traced execs '*'
each '-F text' '-F json'
for placement in implied witness; do
	traced fib fib main --placement $placement
	each '-F text' '-F json' '-F annotate'
done
"${CC:-cc}" -g -O1 -shared -fPIC -o "$T/plug.so" tests/progs/plug.c
program loader -O1
name=dlopen ARGS=("$T/plug.so" plug_work) RUN=("$T/loader" again)
each '-F text -k' '-F json' '-F html'
name=ls ARGS=(libc.so.6 malloc free 'str*') RUN=(ls /)
each "${each_format[@]}" '-F text -k' '-c'
# what is lost is in the file, too: bbtrace is stopped while the program runs, so that its ring overflows
program million -O1
mkfifo "$T/go"
bash -c 'read -r _ <"$1"; exec "$0"' "$T/million" "$T/go" >"$T/out" &
program=$!
"$BBTRACE" user "$T/million" spin -p $program --buffer 64K -v --record "$T/recorded" -F json -o "$T/live" 2>"$T/err" </dev/null &
tracer=$!
at_end "kill -9 $program $tracer 2>/dev/null"
wait_for $PATIENCE grep -q '^bbtrace: recording$' "$T/err"
kill -STOP $tracer
echo >"$T/go"
wait $program
kill -CONT $tracer
wait $tracer
is $(($(json_lines "$T/live" '$e->{event} eq "lost" && $e->{count}' | paste -sd+) > 100000)) 1 'a ring that overflows loses events'
"$BBTRACE" report -q "$T/recorded" -F json >"$T/report"
same "$T/report" "$T/live" 'a recorded file tells the same losses as the live output, in the same places'
done_testing
