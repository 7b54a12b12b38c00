#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Counts in the kernel (-c) are exact: of many threads, processes and programs, over stops, kills and intervals.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms
program counted -O1 -pthread
for library in a b; do
	echo 'int plug_work(int n) { return n + 1; }' >"$T/$library.c"
	cc -O1 -shared -fPIC -o "$T/lib$library.so" "$T/$library.c" || exit 2
done

count() { bb user "$T/counted" work apply -c -F json -o "$T/json" "$@"; }

# sites: taken/not-taken of each site in order of address, of the last set of counts
sites() {
	perl -I"$ROOT/tests/check" -MJson -e '
		my ($file) = @ARGV;
		my @last;
		open my $fh, "<", $file or die "$file: $!\n";
		while (my $line = <$fh>) {
			my $e = Json::parse($line);
			@last = () if $e->{event} eq "interval";
			push @last, $e if $e->{event} eq "edge";
		}
		my @edges = sort { hex $a->{vaddr} <=> hex $b->{vaddr} } @last;
		print join(" ", map { ($_->{taken_count} // "?") . (exists $_->{not_taken_count} ? "/$_->{not_taken_count}" : "") } @edges), "\n"
	' "$T/json"
}
last_set() { awk '/"event":"interval"/ { set = ""; next } { set = set $0 "\n" } END { printf "%s", set }' "$T/json" >"$T/last"; }
# the targets of the indirect call, with their counts
targets() {
	last_set
	json_lines "$T/last" '$e->{event} eq "edge" && $e->{kind} eq "icall" ?
		join("\n", map { ($_->{to}{symbol} // "?") . "=$_->{count}" } @{$e->{targets}}) : ""' | sort | xargs
}
# expected CALLS N APPLIES: what sites has after this many calls of work(N) and of apply
expected() { echo "$(($1 * $2 / 2))/$(($1 * $2 / 2)) $(($1 * ($2 - 1)))/$1 $1 $3 $3"; }
# wrong: how many counts are open, as the summary says
open_counts() { json_lines "$T/json" '$e->{event} eq "summary" && ($e->{cut} // 0)'; }

for attach in "${MECHANISMS[@]}"; do
	count --attach "$attach" -- "$T/counted" threads 250
	is "$(sites)" "$(expected 1000 100 1000)" "$attach: four threads on the same counters"
	is "$(targets)" 'one=500 two=500' "$attach: the targets of four threads' calls"
	is "$(open_counts)" 0 "$attach: no count is open"
	count --attach "$attach" -f -- "$T/counted" forks 6
	is "$(sites)" "$(expected 127 10 127)" "$attach: processes that fork"
	is "$(targets)" 'one=42 two=85' "$attach: the targets of processes that have ended"
done
count -- "$T/counted" births 200
is "$(sites)" "$(expected 400 100 400)" 'threads that begin and end'

# ---- programs that replace one another; with and without randomized addresses ----
objects() {
	last_set
	json_lines "$T/last" '$e->{event} eq "edge" && $e->{kind} eq "icall" ?
		join("\n", map { ($_->{to}{object} // "?") =~ s{.*/}{}r . " $_->{to}{symbol}=$_->{count}" } @{$e->{targets}}) : ""' | sort | xargs
}
for run in '' 'setarch -R'; do
	# shellcheck disable=SC2086 # two words
	count -- $run "$T/counted" execs 21 "$T/liba.so" "$T/libb.so"
	is "$(objects)" 'liba.so plug_work=11 libb.so plug_work=11' "each program's targets have their names: ${run:-as usual}"
	is "$(sites)" '0/0 0/0 0 22 22' "each program's calls are counted: ${run:-as usual}"
done

# ---- a library in another one's place ----
count -- setarch -R "$T/counted" again 20 "$T/liba.so" "$T/libb.so"
is "$(sites)" '0/0 0/0 0 20 20' 'calls of libraries that are closed are counted'
is "$(objects)" '' 'their targets have no names, since both libraries were there'
count --interval 1ms -- setarch -R "$T/counted" again 1 "$T/liba.so" "$T/libb.so"
is "$(objects)" 'liba.so plug_work=1' 'a library that stays alone has its name'

# ---- stopped and continued ----
"$BBTRACE" user "$T/counted" work apply -c -F json -o "$T/json" -- "$T/counted" threads 250 2>"$T/err" &
tracer=$!
wait_for "$PATIENCE" pgrep -P $tracer -x counted >"$T/pid"
pid=$(<"$T/pid")
for _ in 1 2 3 4 5 6 7 8; do
	kill -STOP "$pid" 2>/dev/null
	sleep 0.02
	kill -CONT "$pid" 2>/dev/null
	sleep 0.02
done
wait $tracer
is "$(sites)" "$(expected 1000 100 1000)" 'a program that is stopped and continued'

# ---- killed ----
for signal in KILL TERM; do
	rm -f "$T/done"
	"$BBTRACE" user "$T/counted" work -c -F json -o "$T/json" -- "$T/counted" on "$T/done" 2>"$T/err" &
	tracer=$!
	some_done() { [[ -s $T/done ]] && (($(od -An -td8 -N8 "$T/done") > 100)); }
	wait_for "$PATIENCE" some_done
	kill -$signal "$(pgrep -P $tracer -x counted)"
	wait $tracer
	calls=$(od -An -td8 -N8 "$T/done" | tr -d ' ')
	read -r first second ret _ < <(sites)
	ok $((ret != calls && ret != calls + 1)) "SIG$signal: $ret calls returned, the program knows of $calls"
	first=$((${first%/*} + ${first#*/})) last=$((${second%/*} + ${second#*/}))
	ok $((first - last < 0 || first - last > 1)) "SIG$signal: both branches of the loop ran as often, but for one: $first, $last"
	ok $((first < 100 * ret || first > 100 * ret + 100)) "SIG$signal: $first iterations of $ret calls"
done

# ---- signals ----
cat >"$T/signals.c" <<'END'
#include <setjmp.h>
#include <signal.h>
#include <string.h>
sigjmp_buf back;
void leave(int sig) { siglongjmp(back, sig); }
void nothing(int sig) {}
int read_it(const int *p);
int wait_for(volatile int *n);
__asm__(".globl read_it\n.type read_it,@function\nread_it: mov (%rdi),%eax\nret\n.size read_it,.-read_it\n");
int wait_for(volatile int *n) { while (++*n < 1000) if (*n == 500) raise(SIGUSR1); return 0; }
int main(int argc, char **argv)
{
	int one = 1, n = 0;
	if (!strcmp(argv[1], "leave")) signal(SIGSEGV, leave);
	if (!strcmp(argv[1], "return")) { signal(SIGUSR1, nothing); return wait_for(&n); }
	read_it(&one);
	read_it(&one);
	if (!sigsetjmp(back, 1)) read_it(0);
	return 0;
}
END
cc -O1 -g -o "$T/signals" "$T/signals.c" || exit 2
bb user "$T/signals" read_it -c -F json -o "$T/json" -- "$T/signals" die
is "$(sites)" 2 'a fault that ends the thread: its instruction was counted, what follows was not'
is "$(open_counts)" 0 'a fault that ends the thread leaves no count open'
bb user "$T/signals" read_it -c -F json -o "$T/json" -- "$T/signals" leave
is "$(open_counts)" 1 'a handler that leaves by siglongjmp: one count is open'
rets=$(sites)
ok $((rets != 2 && rets != 3)) "and off by one at most: $rets of 2"
bb user "$T/signals" wait_for -c -F json -o "$T/json" -- "$T/signals" return
is "$(open_counts)" 0 'a handler that interrupts code that is not traced leaves no count open'

# ---- attached in the middle ----
background "$T/counted" on "$T/done"
count -p $background -t 0.3
read -r first second ret _ < <(sites)
first=$((${first%/*} + ${first#*/})) last=$((${second%/*} + ${second#*/})) open=$(open_counts)
ok $((open < 1 || open > 2)) "attached in the middle, stopped in the middle: up to $open counts are open"
ok $((first - last > open || last - first > open)) "the branches of the loop differ by that at most: $first, $last"
ok $((ret - ${second#*/} > open || ${second#*/} - ret > open)) "and so do the ends of the loop and the rets: $second, $ret"
kill $background

# ---- counts now and then ----
# whole: the sum of each site's counts over all sets
whole() {
	json_lines "$T/json" '$e->{event} eq "edge" && join " ", $e->{vaddr}, $e->{taken_count} // "?", $e->{not_taken_count} // "-"' |
		awk '!($1 in taken) { address[++n] = $1 }
			{ taken[$1] += $2; not_taken[$1] = $3 == "-" ? "" : not_taken[$1] + $3 }
			END { for (i = 1; i <= n; i++) print address[i], taken[address[i]] (not_taken[address[i]] == "" ? "" : "/" not_taken[address[i]]) }' |
		sort | cut -d' ' -f2 | xargs
}
count --interval 20ms --reset -- "$T/counted" threads 250
is "$(whole)" "$(expected 1000 100 1000)" '--reset: the sum of all parts is the whole'
isnt "$(json "$T/json" '$e->{event} eq "interval"')" 0 'there were several parts'
count --interval 20ms -- "$T/counted" threads 250
is "$(sites)" "$(expected 1000 100 1000)" '--interval: the last counts are the whole'
is "$(targets)" 'one=500 two=500' '--interval: the last targets are the whole'
"$BBTRACE" user "$T/counted" work apply -c -F json -o "$T/json" -- "$T/counted" threads 250 2>"$T/err" &
tracer=$!
wait_for "$PATIENCE" pgrep -P $tracer -x counted >"$T/pid"
kill -USR1 $tracer
wait $tracer
is "$(json "$T/json" '$e->{event} eq "interval"')" 1 'SIGUSR1: the counts so far'
is "$(sites)" "$(expected 1000 100 1000)" 'SIGUSR1: and all of them at the end'

# ---- more targets than there is space for ----
bb user "$T/counted" apply -c -- "$T/counted" spread 70000
told=$(sed -n '/icall\|call /,/ret/p' "$T/out" | awk '/->|further|where to/ { sum += $1 } END { print sum }')
is "$told" 70000 'many targets: all are counted'
like "$T/out" '  *4464 -> where to is not known' 'many targets: those without space are not known'
like "$T/err" 'the targets of 4464 indirect branches are not known' 'many targets: that is said'
done_testing
