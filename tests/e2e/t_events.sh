#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Which events are shown, and with which details: -e, -r, -k, --depth, --min-duration, -l, -t.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes

program fib -O0 # frame pointers
run() { bb user "$T/fib" fib "$@" -F json -o "$T/json" -- "$T/fib"; }
count() { json "$T/json" "\$e->{event} eq '$1'"; }
counts() { echo "$status $(count entry) $(count branch) $(count return) $(summary events)"; }

# ---- -e ----
run
all=$(count branch)
is "$(counts)" "3 177 $all 177 $((354 + all))" 'entry, branch and return are shown by default'
for events in entry branch return entry,return return,branch entry,branch entry,branch,return; do
	run -e "$events"
	want="3 $([[ $events == *entry* ]] && echo 177 || echo 0) $([[ $events == *branch* ]] && echo "$all" || echo 0)"
	want+=" $([[ $events == *return* ]] && echo 177 || echo 0)"
	is "$(counts | cut -d' ' -f1-4)" "$want" "-e $events shows these events alone"
	is "$(summary events)" $(($(count entry) + $(count branch) + $(count return))) "-e $events: the summary counts what is shown"
done
run -e entry,jump
exits 2 '-e with an unknown event is wrong usage'
like "$T/err" "unknown event 'jump': use entry, branch, return or sched" '-e with an unknown event names those that there are'

# ---- -r ----
regs() { json_lines "$T/json" '$e->{event} eq "entry" && ref $e->{regs} && join ",", sort keys %{$e->{regs}}' | sort -u; }
run -l 1
is "$(regs)" r8,r9,rcx,rdi,rdx,rsi 'an entry shows the argument registers by default'
run -l 1 -r none
is "$(regs)$(json "$T/json" 'exists $e->{regs}')" 0 '-r none: no registers are shown'
run -l 1 -r rdi,rsp
is "$(regs)" rdi,rsp '-r with names shows those registers'
run -r rdi -e entry
is "$(json_lines "$T/json" '$e->{event} eq "entry" && hex $e->{regs}{rdi}' | head -3 | xargs)" '10 9 8' '-r with names shows what is in the registers'
run -l 1 -r all
is "$(regs | tr , '\n' | wc -l)" 18 '-r all shows all 18 registers'
for bad in xyz rdi,xyz; do
	run -r "$bad"
	like "$T/err" "unknown register 'xyz'" "-r $bad: the message names the unknown register"
	isnt "$status" 3 "-r $bad is refused before the program runs"
done

# ---- a table that nothing touched before the jump by it ----
program coldtable -O1 -no-pie -fno-pie
# table NAME WORDS: what the file has there
table() {
	local vaddr=$((0x$(nm "$T/coldtable" | awk -v n="$1" '$3 ~ "^" n { print $1 }')))

	readelf -lW "$T/coldtable" | awk '$1 == "LOAD" { print $2, $3, $5 }' | while read -r offset start size; do
		((vaddr >= start && vaddr < start + size)) &&
			od -An -v -tx8 -w8 -j $((offset + vaddr - start)) -N $((8 * $2)) "$T/coldtable" | sed 's/^ *0*/0x/'
	done | sort
}
mechanisms
for attach in "${MECHANISMS[@]}"; do
	bb user "$T/coldtable" through apply -f --attach "$attach" -F json -o "$T/json" -- "$T/coldtable"
	for one in 'ijmp jumped 3' 'icall called 2'; do
		read -r kind name words <<<"$one"
		json_lines "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "'$kind'" && ($e->{to} ? $e->{to}{vaddr} : "none")' |
			sort >"$T/to"
		is "$(wc -l <"$T/to") $(uniq "$T/to" | xargs)" "8 $(table "$name" "$words" | xargs)" \
			"$attach: each $kind has its target, the first one too"
	done
done

# ---- -k ----
run -k -e entry -l 3
is "$(json_lines "$T/json" '$e->{event} eq "entry" && join " ", map { $_->{symbol} } @{$e->{stack}}[0 .. $e->{depth} + 1]')" \
	$'fib main\nfib fib main\nfib fib fib main' '-k shows the callers, innermost first'
bb user "$T/fib" fib -k -e entry -l 1 -- "$T/fib"
like "$T/out" '^ +[0-9.]+ fib-[0-9]+ +> main\+0x[0-9a-f]+$|> main\+0x' '-k as text has a line a frame'

# ---- --depth ----
run --depth 3
is "$(counts | cut -d' ' -f1,2,4)" '3 7 7' '--depth 3 shows calls at depth 0, 1 and 2'
is "$(json "$T/json" 'exists $e->{depth} && $e->{depth} > 2')" 0 '--depth 3 shows nothing deeper'
run --depth 1 -e entry
is "$(counts | cut -d' ' -f1,2)" '3 1' '--depth 1 shows the outermost call alone'

# ---- --min-duration ----
source_program slow c <<'END'
#include <unistd.h>
__attribute__((noipa)) int nap(int us) { if (us) usleep(us); return us; }
int main(void) { for (int i = 0; i < 5; i++) nap(i == 3 ? 1000000 : 0); return 0; }
END
bb user "$T/slow" nap --min-duration 900ms -F json -o "$T/json" -- "$T/slow"
is "$status $(entries nap) $(returns nap)" '0 1 1' '--min-duration shows the one call that took so long'
is "$(json_lines "$T/json" '$e->{event} eq "entry" && hex $e->{regs}{rdi}')" 1000000 '--min-duration shows the call with the longest nap'
is "$(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "jcc"')" 1 '--min-duration shows the branches of the call that took so long'
bb user "$T/slow" nap --min-duration 1h -F json -o "$T/json" -- "$T/slow"
is "$status $(summary events)" '0 0' '--min-duration shows no call that took less'

# ---- -l ----
# The calls that have no return in a file of JSON, less those that its summary says were open or unmatched.
missing() {
	json_lines "$1" 'our $open += {qw(entry 1 return -1)}->{$e->{event}} // 0;
		$e->{event} eq "summary" && $open . " - " . (($e->{open_calls} // 0) + ($e->{ended_calls} // 0)) . " - " . $e->{unmatched_returns}'
}
for n in 1 2 7 100; do
	run -l $n --record "$T/trace"
	open=$(($(count entry) - $(count return)))
	is "$(missing "$T/json")" "$open - $open - 0" "-l $n: the calls that it cuts short are open, not unmatched"
	is "$(summary 'calls\{0,1\} still open')" $open "-l $n: the summary line says how many calls are still open"
	bb report -q -F json "$T/trace"
	is "$(missing "$T/out")" "$open - $open - 0" "-l $n: report finds the same calls open"
	run -l $n
	is "$status $(json "$T/json" '$e->{event} ne "summary"') $(summary events)" "3 $n $n" "-l $n shows as many events, and the program runs to its end"
done
run -l 1K
is "$status $(summary events)" "3 $((354 + all < 1024 ? 354 + all : 1024))" '-l 1K shows at most 1024 events'

# ---- -t ----
build_served
serve one "$T/served"
# long enough for the process to have had a turn
for seconds in 0.5 5 50 500; do
	bb user "$T/served" tick work -t $seconds -p "$pid_one"
	[[ $status != 0 || $(summary events) -gt 0 ]] && break
done
exits 0 '-t ends a trace by itself'
like "$T/err" '^bbtrace: 2 functions, ' '-t: the summary comes'
isnt "$(summary events)" 0 '-t: the trace has the events until then'
tell one 'work 1'
ok $? '-t: the process lives on when the trace has ended'
mkfifo "$T/goes_on"
printf '%s\n' '#!/bin/sh' 'exec 2>/dev/null' 'read -r word <"$1" && echo "$word" >"$1.told"' >"$T/waits" && chmod 755 "$T/waits"
# The trace is over when bbtrace ends; what it started is not.
bb user "$T/served" tick work -t 0.2 -- "$T/waits" "$T/goes_on"
exits 124 '-t: bbtrace ends, and CMD runs on'
like "$T/err" '^bbtrace: .*/waits still runs \(PID [0-9]+\), no longer traced: left alone, with status 124$' '-t: it says that CMD runs on'
echo word >"$T/goes_on"
wait_for $PATIENCE grep -q word "$T/goes_on.told" 2>/dev/null
ok $? '-t: CMD is not harmed'
# In the foreground of a terminal CMD would lose it.
script -qec "\"$BBTRACE\" user \"$T/served\" tick work -t 0.2 -- sleep 8" /dev/null </dev/null >"$T/out" 2>&1
status=$?
exits 0 "-t in a terminal: the status is CMD's once it has ended"
like "$T/out" 'sleep still runs .* and has the terminal: waiting for it' '-t in a terminal: it says that it waits'

# ---- -q, -v ----
bb user "$T/fib" fib -q -F text -o "$T/text" -- "$T/fib"
is "$status $(cat "$T/err")" '3 ' '-q writes nothing to stderr'
bb user "$T/fib" fib -v -F text -o "$T/text" -- "$T/fib"
like "$T/err" '^bbtrace: [0-9]+ probes attached by [a-z_]+ in ' '-v says what is decided'
is "$(tail -1 "$T/err" | cut -c1-20)" 'bbtrace: 1 function,' '-v: the summary is the last line'
bb user "$T/fib" nothing -q -- "$T/fib"
exits 1 '-q: an unknown function is refused'
like "$T/err" '^bbtrace: no function named nothing' '-q: an error is told all the same'
done_testing
