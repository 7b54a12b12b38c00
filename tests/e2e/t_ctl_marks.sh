#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # ctl.sh sets program
# bbtrace ctl stop, start and mark: what is recorded in between and how it is shown, live and by report.
. "$(dirname "$0")/lib.sh"
needs root uprobes
. "$E2E/ctl.sh"
start

# events FILE: a letter each for a call, a mark, a stop, a start, an unknown path
events() {
	json_lines "$1" '{entry => "E", return => "R", mark => "M", stop => "[", start => "]", unknown => "?"}->{$e->{event}}' |
		tr -d '\n'
}

# ---- a stream of events ----
trace live -F json --record "$T/file"
steps 2
ctl "$trace" mark 'before   it'
exits 0 'mark'
steps 1
ctl "$trace" stop
exits 0 'stop'
ctl "$trace"
is "$(value state)" stopped 'status says so'
ctl "$trace" stop
exits 1 'stopped twice'
like "$T/err" 'is stopped already' 'which is said'
steps 3
ctl "$trace" mark "$(printf 'a \033[31m"b" \\')"
ctl "$trace" start
exits 0 'start'
ctl "$trace" start
exits 1 'started twice'
steps 1
ctl "$trace" mark
exits 2 'mark needs a text'
ctl "$trace" mark -- --last
ends live
is "$(events "$T/live.out")" 'ERERMER[M]?ERM' 'what happened while recording was stopped is not shown, but that it was'
is "$(json_lines "$T/live.out" '$e->{event} eq "mark" && $e->{text}' | xargs -d '\n' -n1 | sed -n l)" \
	"$(printf '%s\n' 'before   it$' 'a \033[31m"b" \\$' '--last$')" 'a mark has its text, whatever that is'
is "$(json_lines "$T/live.out" '$e->{event} =~ /^(mark|stop|start)$/ ? join " ", sort keys %$e : ""' | sort -u | xargs -d '\n' -n1)" \
	$'event text ts\nevent ts' 'marks and stops are of no thread'
is "$(json "$T/live.out" '$e->{event} eq "entry" && !exists $e->{since_entry_ns}')" 2 'the time since the last call is not told across a stop'
like "$T/live.err" ', 1 stop \([0-9]* ms\)' 'the summary has the stop'
bb report "$T/file" -F json
same "$T/out" "$T/live.out" 'report shows the same as JSON'
is "$(tail -1 "$T/err")" "$(tail -1 "$T/live.err")" 'and the same summary'
bb report "$T/file"
is "$(grep -c -- '-- recording stops --\|-- recording starts --\|-- path unknown --' "$T/out")" 3 'as text'
like "$T/out" '-- mark: a \\x1b\[31m"b"' 'text of a mark is safe on a terminal'
bb report "$T/file" -F chrome
is "$(grep -c '"s":"g"' "$T/out")" 5 'chrome: instants of the whole trace'
bb report "$T/file" -F html
is "$(sed -nE '/^"marks":/,$p' "$T/out" | head -1 | grep -oE '"(mark|stop|start)"(,"[^]]*")?' | sed -n l)" \
	"$(printf '%s\n' '"mark","before   it"$' '"stop"$' '"mark","a \\u001b[31m\\"b\\" \\\\"$' '"start"$' '"mark","--last"$')" 'html: in the timeline'
bb report "$T/file" --info
is "$(grep -c '^mark  \|^recording st' "$T/out")" 5 'report --info has them'
bb report "$T/file" -e entry --tid 1 -F json
is "$(events "$T/out")" 'M[M]M' 'filters by thread leave them'
for format in summary html folded callgrind pprof annotate dot svg; do
	bb report "$T/file" -F $format -o "$T/formatted"
	exits 0 "-F $format takes such a file"
done

# ---- a call across a stop ----
source_program outer c <<'END'
#include <stdio.h>
__attribute__((noipa)) int inner(int c)
{
	return c + 1;
}
__attribute__((noipa)) int outer(void)
{
	int c, n = 0;

	for (; (c = getchar()) != EOF && c != '.'; n += inner(c)) {
		puts("did");
		fflush(stdout);
	}
	return n;
}
int main(void)
{
	return outer() == 1;
}
END
mkfifo "$T/in2" "$T/did2"
"$T/outer" <"$T/in2" >"$T/did2" &
exec 6>"$T/in2" 7<"$T/did2"
"$BBTRACE" user "$T/outer" outer inner main -p $! -F json --record "$T/file2" >"$T/outer.out" 2>"$T/outer.err" </dev/null 6>&- 7>&- &
trace=$!
wait_for "$PATIENCE" test -e "/run/bbtrace/$trace.sock"
ctl "$trace" status
step() { printf %s "$1" >&6; read -r -t "$PATIENCE" <&7; }
step a
step b
ctl "$trace" stop
step c
ctl "$trace" start
step d
printf . >&6
wait "$trace"
is "$(json_lines "$T/outer.out" '$e->{event} eq "return" && $e->{symbol} eq "outer" ? exists $e->{duration_ns} ? "timed" : "not timed" : ""')" \
	'not timed' 'a call across a stop has no duration'
is "$(json "$T/outer.out" '$e->{event} eq "unknown"')" 1 'and its path a mark'
bb report "$T/file2" -F json
same "$T/out" "$T/outer.out" 'report shows the same'

# ---- counts ----
trace counts -c -F json
sum() { json_lines "$1" '$e->{kind} && $e->{kind} eq "jcc" && $e->{taken_count} + $e->{not_taken_count}' | awk '{ n += $1 } END { print n + 0 }'; }
steps 2
ctl "$trace" stop
steps 4
ctl "$trace" counts -F json
two=$(sum "$T/out")
ctl "$trace" start
steps 2
ctl "$trace" mark x
exits 1 'counts have no place for marks'
like "$T/err" 'this trace counts: with --record FILE, a mark names what is counted after it' 'which is said'
ends counts
is "$((two > 0)) $(sum "$T/counts.out")" "1 $((2 * two))" '-c: nothing is counted while recording is stopped'
is "$(json "$T/counts.out" '$e->{event} eq "summary" && $e->{stops} == 1')" 1 'the summary has the stop'

# ---- formats that add up; --last ----
trace summary -F summary
steps 1
ctl "$trace" stop
steps 1
ctl "$trace" start
steps 2
ends summary
is "$(awk '$NF == "work" { print $1 }' "$T/summary.out")" 3 '-F summary: the calls that were recorded'
trace last --last 3 -F json
steps 2
ctl "$trace" stop
ctl "$trace" mark here
ctl "$trace" start
steps 1
ends last
is "$(json "$T/last.out" '$e->{event} eq "mark" && $e->{text} eq "here"')" 1 '--last keeps marks'

# ---- --paused ----
trace paused --paused -F json
like "$T/paused.err" "nothing is recorded until bbtrace ctl $trace start" '--paused says what starts it'
is "$(value state)" stopped '--paused: it begins stopped'
steps 2
ctl "$trace" start
steps 1
ends paused
is "$(events "$T/paused.out")" '[]ER' '--paused: only what came after start is shown'
"$BBTRACE" user "$T/steps" work --paused --control-socket none -p "$program" >"$T/out" 2>"$T/err"
is $? 1 '--paused without a socket is refused'
like "$T/err" 'nobody can start it' 'which is said'
trace never --paused
ends never
like "$T/never.err" 'no event while recording was on' 'a trace that never started says so'
done_testing
