#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline --last N: a flight recorder. The last branches of each thread are those that probes show; the rest was
# overwritten, and where that begins is reported. Dumps show them while the program continues.
# shellcheck disable=SC2154 # lib.sh and ctl.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
. "$E2E/ctl.sh"

# ---- the same as by probes ----
# branches FILE: the branches of the main thread, without what differs between two runs.
branches() {
	json_lines "$1" '$e->{event} eq "branch" && $e->{pid} == $e->{tid} ? join(" ", @{$e}{qw(symbol offset kind)},
		map { $e->{$_} // "" } qw(taken target target_symbol target_offset)) : ""' | tail -n "$2"
}
compare() { # NAME N ARG...
	local n=$2 name=$1
	shift 2

	"$T/$name" "$@" >"$T/plain"
	plain=$?
	for engine in probe inline; do
		setarch -R timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$T/$name" '*' --engine $engine --last "$n" -F json -o "$T/$engine" -- \
			"$T/$name" "$@" >"$T/said.$engine" 2>"$T/err"
		is $? $plain "$name, $engine: exit status"
		branches "$T/$engine" "$n" >"$T/$engine.branches"
	done
	same "$T/inline.branches" "$T/probe.branches" "$name: the last $n branches are those that probes tell"
	is "$(wc -l <"$T/inline.branches")" "$n" "$name: there are so many"
	same "$T/said.inline" "$T/said.probe" "$name: and it did what it does"
}
for name in fib loops jcc switch tail million; do
	program $name -O1
	compare $name 20
done

# ---- what runs at the end ----
source_program ends c <<'END'
#include <error.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int how, *nowhere;
__attribute__((noipa)) int check(int n) { return n > 3 ? -1 : n * 2; }
static void at_exit(void)
{
	if (check(2) > 1 && how == 4)
		*nowhere = 1;
}
__attribute__((destructor)) static void at_end(void) { check(1); }
int main(int argc, char **argv)
{
	atexit(at_exit);
	how = atoi(argv[1]);
	if (how == 1)
		error(0, 0, "a warning");
	if (check(how + 3) < 0 && how != 4)
		how == 2 ? error(2, 0, "bad") : exit(how);
	return how;
}
END
# the newest branch of main's thread
newest() { json_lines "$T/json" '$e->{event} eq "branch" && "$e->{symbol} $e->{kind} " . ($e->{to} && $e->{to}{symbol} // "")' | tail -1; }
for engine in probe inline; do
	for row in '0:main ret' '1:main call exit@plt' '2:main call error@plt' '3:main call exit@plt' '4:at_exit'; do
		bb user "$T/ends" '*' --engine $engine --last 9 -F json -o "$T/json" -- "$T/ends" "${row%%:*}"
		like <(newest) "^${row#*:}" "$engine, ${row%%:*}: the last branch is the program's own"
		if [[ $row == 4* ]]; then
			unlike "$T/err" 'after main' "$engine: a signal there: nothing is left out"
		else
			like "$T/err" '[0-9]+ branches that ran after main or exit\(\) are not shown' "$engine, ${row%%:*}: how many are left out"
		fi
	done
	bb user "$T/ends" '*' --engine $engine --last 9 --all -F json -o "$T/json" -- "$T/ends" 0
	unlike <(newest) '^main' "$engine: --all shows them"
	unlike "$T/err" 'after main' "$engine: --all: nothing is left out"
	cp "$T/ends" "$T/stripped" && strip -s "$T/stripped"
	bb user "$T/stripped" '*' --engine $engine --last 9 -F json -o "$T/json" -- "$T/stripped" 3
	like <(newest) 'call exit@plt$' "$engine: a stripped program, too"
	bb user "$T/stripped" '*' --engine $engine --last 9 -F json -o "$T/json" -- "$T/stripped" 0
	like <(newest) ' ret (__libc_start|$)' "$engine: a stripped program whose main returns"
	is "$(newest | cut -d' ' -f1)" "$(printf '0x%x' "$(symbol "$T/ends" main)")" "$engine: main's return is the last"
done

# ---- more than the ring holds ----
source_program laps c -pthread <<'END'
/* laps THREADS N: each calls odd() N times, then last() once. Without arguments: once for each number on standard
 * input, with so many, and answers when it has. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noipa)) int odd(unsigned n) { return n * 2654435761u >> 13 & 1 ? n + 1 : n ^ 3; }
__attribute__((noipa)) int last(int n) { return n > 3 ? n : -n; }
static unsigned count;
static void *run(void *arg)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += odd(i);
	return (void *)(long)(last(sum & 7) + sum);
}
int main(int argc, char **argv)
{
	pthread_t threads[64];
	int n = argc > 2 ? atoi(argv[1]) : 0;

	if (argc > 2) {
		count = atoi(argv[2]);
		for (int i = 0; i < n; i++)
			pthread_create(&threads[i], NULL, run, NULL);
		for (int i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
		return 0;
	}
	while (scanf("%u", &count) == 1) {
		run(NULL);
		puts("did");
		fflush(stdout);
	}
	return 0;
}
END
bb user "$T/laps" odd last run --engine inline --last 50 -F json -o "$T/json" -- "$T/laps" 5 1000000
exits 0 'threads that write much more than is kept'
is "$(json "$T/json" '$e->{event} eq "branch"')" 250 'each has its last branches'
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "last"')" 5 'up to the end'
is "$(summary lost)" 0 'nothing is lost'
is "$(json "$T/json" '$e->{event} eq "unknown"')" 0 'and nothing is missing between them'
bb user "$T/laps" odd last run --engine inline --last 100000 -F json -o "$T/json" -- "$T/laps" 1 1000000
exits 0 'more is asked for than is kept'
n=$(json "$T/json" '$e->{event} eq "branch"')
((n > 20000 && n < 100000))
ok $? 'all that is kept is shown' || diag "$n"
is "$(json "$T/json" '$e->{event} eq "unknown"')" 1 'and that there was more before'
like <(head -1 "$T/json") '"event":"unknown"' 'at the start'
bb user "$T/laps" odd last run --engine inline --last 5 -- "$T/laps" 1 1000000
like <(grep -m1 -- '->' "$T/out") 'run\+.* ret ' 'text shows the newest branch first'

# ---- while it continues ----
mkfifo "$T/in" "$T/did"
"$BBTRACE" user "$T/laps" odd last run --engine inline --last 40 -F json -o "$T/json" -- "$T/laps" <"$T/in" >"$T/did" 2>"$T/err" &
trace=$!
exec 8>"$T/in" 9<"$T/did"
at_end "kill $trace 2>/dev/null"
runs() {
	echo "$1" >&8
	read -r -t "$PATIENCE" <&9
}
runs 1000000
ctl "$trace" dump -F json
exits 0 'dump'
cp "$T/out" "$T/first"
is "$(json "$T/first" '$e->{event} eq "branch"')" 40 'it has the last branches'
is "$(json "$T/first" '$e->{event} eq "entry" && $e->{symbol} eq "last"')" 1 'up to now'
ctl "$trace" dump -F json
same <(grep -v '"summary"' "$T/out") <(grep -v '"summary"' "$T/first") 'another one without events in between is the same'
runs 2
ctl "$trace" dump -F json
is "$(json "$T/out" '$e->{event} eq "entry" && $e->{symbol} eq "last"')" 2 'a few events later it has these, too'
is "$(json "$T/out" '$e->{event} eq "branch"')" 40 'and as many in all'
ctl "$trace" stop
exits 0 'stop'
runs 1000000
ctl "$trace" start
exits 0 'start'
runs 1
ctl "$trace" dump -F json
is "$(json "$T/out" '$e->{event} eq "entry" && $e->{symbol} eq "last"')" 3 'what was done while it was stopped is missing'
ok $(($(json "$T/out" '$e->{event} eq "unknown"') < 1)) 'and that something is missing is told'
# it is interrupted while the program runs
laps=$(pgrep -P $trace -x laps)
ticks() { awk '{ print $14 }' "/proc/$laps/stat"; }
began=$(ticks)
runs_for() { (($(ticks) > began + $1)); }
echo 4000000000 >&8
wait_for "$PATIENCE" runs_for 20
ok $? 'the program runs'
kill -TERM "$trace"
wait "$trace"
is "$(json "$T/json" '$e->{event} eq "branch"')" 40 'interrupted: the last branches before'
is "$(json "$T/json" '$e->{event} eq "branch" && $e->{symbol} ne "odd" && $e->{symbol} ne "run"')" 0 'which are those of its loop'
done_testing
