#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace slow: what slow calls do that others don't, and where they wait; by both engines, of a trace file, and of functions that
# call themselves.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
unset BBTRACE_ENGINE
cd "$T" || exit 2

cat >mixed.c <<'END'
#include <stdlib.h>
#include <unistd.h>
volatile long sum;
__attribute__((noinline)) long work(int n)
{
	if (n == 57 && getenv("LEAVE"))
		_exit(3);
	if (n % 10 == 3) { /* sleeps */
		usleep(20000);
		return 1;
	}
	if (n % 7 == 2) { /* spins */
		for (long i = 0; i < 300000; i++)
			sum += i;
		return 2;
	}
	for (int i = 0; i < n % 5; i++)
		sum += i;
	return 0;
}
__attribute__((noinline)) long deep(int n)
{
	if (n == 0) /* bottom */
		return sum;
	if (n == 2) /* middle */
		usleep(5000);
	return deep(n - 1) + 1;
}
int main(int argc, char **argv)
{
	long s = 0;

	for (int i = 0; i < 100; i++)
		s += work(i);
	s += deep(4);
	return s < 0;
}
END
gcc -g -O1 -fno-optimize-sibling-calls -o mixed mixed.c || exit 2
line() { grep -n "/\* $1 \*/" mixed.c | cut -d: -f1; }
# row FUNCTION WAY: the calls of the kind with this way
row() { sed -n "/^$1:/,/^\$/p" said | grep -E "$2" | awk '{ print $1; exit }'; }

engines=(probe)
[[ $(uname -m) != x86_64 ]] || engines+=(inline)
for engine in "${engines[@]}"; do
	bb slow ./mixed work deep --engine $engine -o said -- ./mixed
	exits 0 "$engine: a command is traced"
	like said '^work: 100 calls, [0-9.ms]+, of which [0-9.ms]+ on no CPU' "$engine: all calls, and the time that they waited"
	is "$(row work "mixed\.c:$(line sleeps) work\+0x[0-9a-f]+ (not )?taken( |\$)")" 10 "$engine: those that sleep, by the branch that only they take"
	like said "mixed\.c:$(line spins) work\+0x[0-9a-f]+ (not )?taken" "$engine: and those that spin"
	like said "waited [0-9.ms]+ in [0-9]+ waits after mixed\.c:$(($(line sleeps) + 1)) work\+0x[0-9a-f]+ +(call|bl|jal|jalr|c\.jalr) +usleep" "$engine: where they wait"
	is "$(sed -n '/^work:/,/^$/p' said | awk '$2 ~ /s$/ { n += $1 } END { print n }')" 100 "$engine: the kinds add up to all calls"
	is "$(head -n 1 said | cut -d: -f1)" work "$engine: the function with most time is first"
	like said '^deep: 5 calls' "$engine: of a function that calls itself"
	is "$(sed -n '/^deep:/,/^$/p' said | grep -cE "^ +1 .*mixed\.c:$(line middle) deep\+0x[0-9a-f]+ (not )?taken\$")" 1 "$engine: the one call that sleeps"
done

LEAVE=1 bb slow ./mixed work -o said -- ./mixed
exits 3 'a function that the process ends in: the status is the command'"'s"
like said '^work: 57 calls' 'the calls before are counted'
like said '^  1 call that had not ended' 'and so is the one that never returned'

# ---- of a trace file; without times on no CPU ----
bb user ./mixed work -e entry,branch,return,sched --engine probe -o trace -- ./mixed
bb report trace -F slow -o reported
is "$(sed -n 's/^work: \([0-9]*\) calls.*on no CPU$/\1/p' reported)" 100 'a report of a trace file has them'
bb user ./mixed work -F slow -o said -- ./mixed
like said '^work: 100 calls, [0-9.ms]+$' 'without -e sched there is no time on no CPU'
unlike said 'no CPU|waited' 'and nothing is said of waits'
bb report trace nosuch -F slow
unlike "$T/out" '^work' 'nothing of what was left out'

# ---- refusals ----
bb slow
exits 2 'without a function: usage'
like "$T/err" 'no function: bbtrace slow FUNC -- CMD, or -p PID' 'it says what to write'
bb slow ./mixed nosuch -- ./mixed
isnt "$status" 0 'a function that is not there is an error'
bb slow work -p $$ -F json
exits 2 'it has no other formats'
done_testing
