#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The trace file: its contents, through pipes, while it is written, split, armored, truncated and damaged.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:perl

# summary_of FILE FIELD: a figure of the JSON's last line.
summary_of() { tail -n 1 "$1" | sed -n 's/.*"'"$2"'":\([0-9]*\).*/\1/p'; }
# report FILE [OPTION...]: as bb, for report.
report() { bb report "$@"; }

source_program busy c -fno-inline <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
volatile int sink;
int leaf(int n) { if (n % 3 == 0) return n / 2; return n & 1 ? n + 1 : n; }
int work(int n) { for (int i = 0; i < n; i++) sink += leaf(i); return sink; }
int main(int argc, char **argv)
{
	for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 1); i++) {
		work(atoi(argv[1]));
		if (argc > 2)
			usleep(100000);
		if (argc > 3 && !access(argv[3], F_OK)) /* it is told to end */
			return work(atoi(argv[1])) & 0;
	}
	return 0;
}
END
record() { bb user "$T/busy" work leaf "$@"; }

# ---- a whole one ----
umask 022
record -o "$T/trace" -- "$T/busy" 300
exits 0 '-o FILE records'
is "$(stat -c %a "$T/trace")" 600 '-o FILE of a trace has mode 0600'
is "$(wc -c <"$T/out")" 0 '-o FILE shows nothing while it records'
events=$(summary events)
report "$T/trace" -F json -o "$T/json"
exits 0 'report reads what -o FILE recorded'
is "$(summary events) $(json "$T/json" '$e->{event} =~ /^(entry|branch|return)$/')" "$events $events" 'report shows all events of a trace file'
is "$(entries leaf) $(returns leaf) $(entries work) $(returns work)" '300 300 1 1' 'report shows each call of a trace file'

# ---- what it shows about itself ----
report --info "$T/trace"
exits 0 'report --info ends well'
like "$T/out" "^command +$BBTRACE user $T/busy work leaf -o $T/trace -- $T/busy 300$" 'report --info shows the command line'
like "$T/out" "^machine +Linux $(uname -r) .*$(uname -m), [0-9]+ CPUs$" 'report --info shows the machine'
like "$T/out" "^recorded +$(date +%Y)-[0-9-]+ [0-9:]{8} [+-][0-9]{4} by bbtrace $("$BBTRACE" --version | awk '{ print $NF }')$" 'report --info shows when a trace was recorded, and by which version'
like "$T/out" "^object +$(realpath "$T/busy")  build-id $(readelf -n "$T/busy" | awk '/Build ID/ { print $3 }')$" 'report --info shows the build-id'
like "$T/out" "^map +[0-9]+ 0x[0-9a-f]+-0x[0-9a-f]+ at 0x[0-9a-f]+ of $(realpath "$T/busy")$" "report --info shows the process's mappings"
like "$T/out" '^end +whole$' 'report --info shows that a trace file is whole'
report --info "$T/trace" -o "$T/info"
like "$T/info" '^records +[0-9]+, 0 lost$' 'report --info -o FILE writes to the file'

# ---- through pipes ----
"$BBTRACE" user "$T/busy" work leaf -o - -- "$T/busy" 300 2>"$T/err" | "$BBTRACE" report - -q -F json >"$T/json"
is "${PIPESTATUS[*]}" '0 0' '-o - | report -'
is "$(entries leaf) $(returns leaf)" '300 300' 'all of a trace comes through -o - | report -'
"$BBTRACE" report - -q -F json <"$T/trace" | grep -v summary >"$T/json"
is "$(entries leaf)" 300 'report - reads a file on stdin'
# what comes in while the trace continues is shown before its end
mkfifo "$T/fifo"
"$BBTRACE" user "$T/busy" work leaf -o - -- "$T/busy" 3 60000 "$T/enough" 2>"$T/err" | "$BBTRACE" report - -q -F text | cat >"$T/shown" &
reader=$!
at_end "kill $reader 2>/dev/null"
has_some() { [[ -s $T/shown ]]; }
wait_for $PATIENCE has_some && kill -0 $reader 2>/dev/null
ok $? 'report - shows what came in while the trace goes on'
touch "$T/enough"
wait $reader
"$BBTRACE" report -q "$T/trace" --head 2000 | head -n 1 >"$T/one"
is "${PIPESTATUS[0]} $(wc -l <"$T/one")" '0 1' 'a reader of report that goes away is no error'

# ---- while it is written ----
background "$BBTRACE" user "$T/busy" work leaf -o "$T/growing" -- "$T/busy" 30 60000 "$T/grown"
some_events() {
	report "$T/growing" -F json
	[[ $status == 0 && $(summary_of "$T/out" events) -gt 0 ]]
}
wait_for $PATIENCE some_events
exits 0 'a file that is still written is read as far as it goes'
like "$T/err" 'growing: recording goes on; this is what it has so far$' 'report says of a file that is still written that recording goes on'
so_far=$(summary_of "$T/out" events)
touch "$T/grown"
wait "$background"
report "$T/growing" -F json
is "$status $(($(summary_of "$T/out" events) > so_far)) $(grep -c 'recording goes on' "$T/err")" '0 1 0' 'report shows all of a file when its recording has ended'
background "$BBTRACE" user "$T/busy" work leaf -o "$T/killed" -- "$T/busy" 30 60000 "$T/over"
written() { report "$T/killed" -F json && [[ $(summary_of "$T/out" events) -gt 100 ]]; }
wait_for $PATIENCE written
# shellcheck disable=SC2015 # the same either way
kill -9 "$background" && wait "$background" 2>/dev/null || true
touch "$T/over"
report "$T/killed" -F json
exits 1 "report of a killed recorder's file has status 1"
like "$T/err" 'killed: it has no end: the recording goes on, or was killed, or the file was cut at byte [0-9]+' "report of a killed recorder's file says that it has no end"
is "$(($(summary_of "$T/out" events) > 100))" 1 "report of a killed recorder's file shows what it wrote"

# ---- parts ----
calls=20000
bb user "$T/busy" leaf -o "$T/parts" -- "$T/busy" $calls
size=$(stat -c %s "$T/parts")
bb user "$T/busy" leaf -o "$T/parts" --max-size $((size * 2 / 3)) -- "$T/busy" $calls
exits 0 'a trace with --max-size ends well'
total=$(summary events)
is "$(stat -c %a "$T/parts" "$T/parts.1" | xargs)" '600 600' '--max-size makes two files of mode 0600'
is "$(($(stat -c %s "$T/parts.1") < size * 3 / 4 && $(stat -c %s "$T/parts") < size * 3 / 4))" 1 '--max-size bounds the size of each file'
"$BBTRACE" report -q "$T/parts.1" -F json >"$T/first" && "$BBTRACE" report -q "$T/parts" -F json >"$T/second"
ok $? '--max-size: report reads each part by itself'
dropped=$("$BBTRACE" report --info -q "$T/parts.1" | awk '/^part/ { print $2 }')
is "${dropped:-0}" 0 '--max-size: no part of two was dropped'
is $(($(summary_of "$T/first" events) + $(summary_of "$T/second" events))) "$total" '--max-size: no event is lost between the parts'
cat "$T/first" "$T/second" | grep -v '"summary"' >"$T/json"
is "$(entries leaf) $(returns leaf)" "$calls $calls" '--max-size: no event is in both parts'
is "$(json "$T/first" '$e->{kind} && $e->{kind} eq "ret" && $e->{to}{symbol} ne "work"') $(json "$T/second" '$e->{kind} && $e->{kind} eq "ret" && $e->{to}{symbol} ne "work"')" \
	'0 0' '--max-size: each part has the names that it needs'
report --info "$T/parts.1"
like "$T/out" '^end +continued in the next part$' '--max-size: the first part says that it goes on'
report --info "$T/parts"
like "$T/out" '^part +1 were written before this file$' '--max-size: the second part says that it is not the first'
record -o "$T/many" --max-size 64K -- "$T/busy" 40000
like "$T/err" "many and $T/many.1 hold the end of the trace; [0-9]+ parts before them were dropped" '--max-size: a note counts the parts that were dropped'
is "$(find "$T" -name 'many*' | wc -l)" 2 '--max-size keeps two files of many'
"$BBTRACE" report -q "$T/many" -F json >"$T/json"
is "$(json "$T/json" '$e->{event} eq "return" && exists $e->{duration_ns}')" \
	"$(json "$T/json" 'our %in; $in{$e->{tid}}{$e->{symbol}}++ if $e->{event} eq "entry"; $e->{event} eq "return" && $in{$e->{tid}}{$e->{symbol}} && $in{$e->{tid}}{$e->{symbol}}--')" \
	'a call that was entered in the part before has no duration'
record -o - --max-size 64K -- "$T/busy" 3
exits 2 '--max-size without a file of its own is wrong usage'
record -o "$T/few" --max-size 1K -- "$T/busy" 3
exits 2 '--max-size 1K is wrong usage'
record -o "$T/shown" --record "$T/beside" --max-size 64K --armor -F text -- "$T/busy" 20000
is "$status $(find "$T" -name 'beside*' | wc -l)" '0 2' '--record takes --max-size and --armor as well'
"$BBTRACE" report -q "$T/beside" -F json >"$T/json"
is "$(json "$T/json" '$e->{event} eq "summary"')" 1 '--record with --max-size and --armor: a part is read'
record -o "$T/few" -F text --armor -- "$T/busy" 3
exits 2 '--armor without a trace file is wrong usage'
record --record - -- "$T/busy" 3
exits 2 '--record and the trace in the same place is wrong usage'

# ---- as text ----
record --armor -o "$T/armored" -- "$T/busy" 300
exits 0 'a trace with --armor ends well'
is "$(LC_ALL=C grep -vacE '^@bb[0-9A-Za-z+/=]+$' "$T/armored") $(awk 'length > 78' "$T/armored" | wc -l)" '0 0' '--armor writes short lines of letters and digits'
report "$T/armored" -F json -o "$T/json"
exits 0 'report reads armored lines'
is "$(entries leaf) $(returns leaf)" '300 300' 'report shows all of an armored trace'
report "$T/armored" -F text -o "$T/whole"
perl -e '
	my @noise = (
		sub { "\e[32m$_[0]\e[0m\r\n" },                                     # colours, CR
		sub { substr($_[0], 0, 21) . "[   12.345678] usb 1-1: new device\r\n" . substr($_[0], 21) . "\r\n" },
		sub { "login: $_[0]\n" },                                           # a prompt before it
		sub { "[    1.000000] kernel: hello\r\n\a$_[0]\0\n" },              # a bell, NUL
		sub { substr($_[0], 0, 30) . "\e[0m" . substr($_[0], 30) . "\n" },  # within
		sub { substr($_[0], 0, 40) . "[   3.3] oops" . substr($_[0], 40) . "\n" },
		sub { "$_[0]\n$_[0]\n" });                                          # twice
	while (<STDIN>) { chomp; print $noise[$. % @noise]->($_) }' <"$T/armored" >"$T/noisy"
report "$T/noisy" -F text -o "$T/out.noisy"
exits 0 'report reads armored lines among kernel messages, colours, prompts, CR and control characters'
same "$T/out.noisy" "$T/whole" 'report shows all of an armored trace whatever stands around and within'
lines=$(wc -l <"$T/armored")
# the largest blocks are those of events, and have no copy
line=$((lines * 6 / 10))
awk -v n=$line 'NR == n { $0 = substr($0, 1, 30) (substr($0, 31, 1) == "A" ? "B" : "A") substr($0, 32) } { print }' "$T/armored" >"$T/flipped"
report "$T/flipped"
exits 1 'report of a damaged armored line has status 1'
like "$T/err" "flipped: armored line $((line - 1)) is damaged or missing$" 'report names a damaged armored line by its number'
like "$T/err" 'flipped: block [0-9]* is damaged or missing: [0-9]* events are lost, between [0-9.]* s and [0-9.]* s$' \
	'what it has cost, and when that was'
sed '6,7d;12d' "$T/armored" >"$T/gaps"
report "$T/gaps" -F text
exits 0 'report of missing armored lines whose blocks have copies has status 0'
same "$T/out" "$T/whole" 'and shows all of the trace'
is "$(grep -c 'gaps: armored line' "$T/err") $(grep -c 'lines 5 to 6 are' "$T/err") $(grep -c 'line 11 is' "$T/err")" '2 1 1' 'report names each gap of armored lines'
record --armor -- "$T/busy" 3
"$BBTRACE" report - -q -F json <"$T/out" >"$T/json"
is "$status $(entries leaf)" '0 3' '--armor without -o writes to stdout'

# ---- cut anywhere ----
"$BBTRACE" user "$T/busy" work leaf -o "$T/long" -q -- "$T/busy" 40 25
"$BBTRACE" report -q "$T/long" --no-fold -F text -T rel >"$T/whole"
size=$(stat -c %s "$T/long") wrong='' some=0 files=0
for ((at = 0; at < size; at += 100)); do
	in_part $((at / 100)) || continue
	((++files))
	head -c $at "$T/long" >"$T/cut"
	report "$T/cut" --no-fold -F text
	((status == 1)) && grep -qE "cut: (cut|it has no end: .*cut) at byte $at\b|cut: the file is empty;" "$T/err" &&
		cmp -s -n "$(wc -c <"$T/out")" "$T/out" "$T/whole" || wrong+=" $at"
	[[ -s $T/out ]] && ((++some))
done
is "$wrong" '' "a file of $size bytes cut in $files places is read up to there; the message says where"
is "$((some > 3 && some < files))" 1 'files that were cut have some or none of the events'

# ---- damaged anywhere: the checksum sees it; what is not deflated has no other ----
# flipped AT: $T/long with a bit flipped there
flipped() {
	perl -e 'my ($in, $out, $at) = @ARGV; local $/; open my $f, "<", $in; my $d = <$f>;
		substr($d, $at, 1) ^= chr(16); open my $o, ">", $out; print $o $d' "$T/long" "$T/bad" "$1"
	report "$T/bad" --no-fold -F text
	((status == 1)) && grep -qE 'bad: (damaged at byte|cut at byte|the header is damaged|not a trace file)' "$T/err" &&
		{ grep -qE 'LOST|unknown|lost' "$T/out" "$T/err" || cmp -s -n "$(wc -c <"$T/out")" "$T/out" "$T/whole"; }
}
wrong='' n=0
for at in $(seq 7 13 1400) $(seq 1401 $((size / 40)) $((size - 1))); do
	in_part $((n++)) || continue
	flipped "$at" || wrong+=" $at"
done
is "$wrong" '' 'a flipped bit anywhere in a trace file is found, and nothing wrong is shown'

# ---- what is no trace file ----
no_file() {
	report "$1"
	exits 1 "report refuses $3"
	like "$T/err" "$2" "report says why it refuses $3"
}
echo hello >"$T/text"
: >"$T/empty"
no_file "$T/text" "^bbtrace: $T/text: not a trace file of bbtrace; -o FILE records one$" 'a text'
no_file "$T/busy" "^bbtrace: $T/busy: not a trace file of bbtrace; -o FILE records one$" 'a program'
no_file "$T/empty" "^bbtrace: $T/empty: the file is empty; -o FILE records a trace$" 'an empty file'
no_file "$T/none" "^bbtrace: cannot open $T/none: No such file or directory$" 'a file that is not there'
no_file "$T" "^bbtrace: cannot read $T: Is a directory$" 'a folder'
report
exits 2 'report without a file is wrong usage'

# ---- when what was traced is gone ----
program fib -O1
"$BBTRACE" user "$T/fib" fib main -F annotate --record "$T/gone" -q -- "$T/fib" >/dev/null
"$BBTRACE" report -q "$T/gone" -F text >"$T/before"
rm "$T/fib"
"$BBTRACE" report -q "$T/gone" -F text >"$T/after"
same "$T/after" "$T/before" 'a trace of a deleted program shows the same text'
like "$T/after" ' fib\+0x[0-9a-f]+  ret  -> ' 'a trace of a deleted program shows symbols'
"$BBTRACE" report -q "$T/gone" -F annotate >"$T/after"
like "$T/after" 'fib\.c:[0-9]+' 'a trace of a deleted program names its lines'
cp /etc/hostname "$T/fib"
"$BBTRACE" report -q "$T/gone" -F text >"$T/after"
same "$T/after" "$T/before" "a trace shows the same text when another file has the program's name"
# a library that is found by dlopen, too
PROGS=$T/progs
mkdir "$PROGS"
"${CC:-cc}" -g -O1 -shared -fPIC -o "$PROGS/plug.so" tests/progs/plug.c
"${CC:-cc}" -g -O1 -o "$PROGS/loader" tests/progs/loader.c
bb user "$PROGS/plug.so" plug_work -k -o "$T/dlopen" -- "$PROGS/loader" again
exits 0 'a library that is opened several times is recorded'
"$BBTRACE" report -q "$T/dlopen" -F text >"$T/before"
rm -r "$PROGS"
"$BBTRACE" report -q "$T/dlopen" -F text >"$T/after"
same "$T/after" "$T/before" 'a trace of a deleted library and program shows the same text'
is "$(grep -c ' plug_work(' "$T/after") $(grep -c '  > use+0x[0-9a-f]* \[loader\]' "$T/after")" '3 3' 'a trace of a deleted library and program has the names of both'
report --info "$T/dlopen"
like "$T/out" '^object +/.*/loader  build-id [0-9a-f]+$' "report --info has the build-id of a traced library's caller"
done_testing
