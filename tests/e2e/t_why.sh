#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --why: what conditionals test, with both engines, in each placement, in trace files, of running programs; and never a value
# that is not why the branch went so, whatever other threads do to memory meanwhile.
# shellcheck disable=SC2154,SC2034,SC2016 # lib.sh sets them; Perl's variables
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'x86-64 only: of its instructions'

source_program whys c -O1 -fcf-protection=none -pthread <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
volatile int flip, stop;
volatile long sink;
/* registers and constants; the first one ends the block that the function begins with */
__attribute__((noinline)) long picks(long a, long b)
{
	if (a < b)
		sink = 1;
	__asm__ volatile("cmp $-3, %%dil; jne 1f; nop; 1:" : : "D"(a) : "cc");
	__asm__ volatile("movl %k0, %%eax; subl $5, %%eax; jb 1f; nop; 1:" : : "r"(a) : "eax", "cc");
	__asm__ volatile("movl %k0, %%eax; andl $6, %%eax; jz 1f; nop; 1:" : : "r"(a) : "eax", "cc");
	return sink;
}
__attribute__((noinline)) void polls(int n)
{
	/* until the other thread was at it often enough */
	for (int i = 0, changes = 0, last = 0; i < 20 * n && (i < n || changes < n / 10); i++) {
		int now = flip;

		changes += now != last;
		last = now;
		__asm__ volatile("cmpl $1, flip(%%rip); je 1f; nop; 1:" : : : "cc");
		__asm__ volatile("testl $2, flip(%%rip); jne 1f; nop; 1:" : : : "cc");
	}
}
static void *flips(void *unused)
{
	while (!stop)
		flip = (flip + 1) & 3;
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1 && argv[1][0] == 'f') {
		pthread_create(&t, NULL, flips, NULL);
		polls(atoi(argv[2]));
		stop = 1;
		return pthread_join(t, NULL);
	}
	if (argc > 1)
		for (long i = 0;; i++, usleep(1000))
			picks(i, 3);
	for (long i = 0; i < 4; i++)
		picks(i, 2);
	picks(-3, 2);
	return 0;
}
END

# ---- what is refused ----

refused() { # NAME REGEX ARG...
	local name=$1 regex=$2

	shift 2
	bb user "$T/whys" picks --why "$@" -- "$T/whys"
	exits 2 "$name is refused"
	like "$T/err" "$regex" "$name: the message says why"
	is "$(cat "$T/out")" '' "$name: CMD has not run"
}
refused '-c' '^bbtrace: --why .*values of each branch: use -F text, -F json or' -c
refused 'svg' '^bbtrace: --why .*use -F text, -F json or' -F svg -o "$T/x.svg"
refused '-e entry' '^bbtrace: --why .*-e must have branch' -e entry
refused '-e entry,return' '^bbtrace: --why .*-e must have branch' -e entry,return -F json
bb list --why "$T/whys"
exits 2 'list has no --why'

# ---- what is reported ----

# Of each conditional: offset in its function, the values, what else is said.
told() { json_lines "$1" '$e->{event} eq "branch" && $e->{kind} eq "jcc" && join " ", $e->{symbol}, $e->{insn}, $e->{taken} ? 1 : 0,
	$e->{why} ? (join("/", @{$e->{why}{values}}), $e->{why}{bits}, $e->{why}{result} ? "result" : (), $e->{why}{read_again} ? "again" : ()) : "-"'; }
# By what the program does: the first conditional is of GCC's making, either way round.
cat >"$T/want" <<'END'
jne 1 0x0/0xfd 8
jb 1 0x0/0x5 32
je 1 0x0 32 result
jne 1 0x1/0xfd 8
jb 1 0x1/0x5 32
je 1 0x0 32 result
jne 1 0x2/0xfd 8
jb 1 0x2/0x5 32
je 0 0x2 32 result
jne 1 0x3/0xfd 8
jb 1 0x3/0x5 32
je 0 0x2 32 result
jne 0 0xfd/0xfd 8
jb 0 0xfffffffd/0x5 32
je 0 0x4 32 result
END
for engine in probe inline; do
	for placement in full implied witness; do
		bb user "$T/whys" picks --why --engine $engine --placement $placement -F json -o "$T/json" -- "$T/whys"
		exits 0 "$engine, $placement: traced"
		told "$T/json" | sed -n 's/^picks //p' >"$T/told"
		if [[ $placement == witness ]]; then
			is "$(wc -l <"$T/told")" 20 "$engine, $placement: all branches are there"
			# without a probe of its own a branch has no values: those that are there are right
			is "$(grep -v -- ' -$' "$T/told" | grep -v '^j[lg]' | grep -vxFf "$T/want")" '' "$engine, $placement: no wrong values"
		else
			is "$(grep -v '^j[lg]' "$T/told")" "$(cat "$T/want")" "$engine, $placement: the values are those that the program has"
			is "$(grep -c '^j[lg].* 0x[0-9a-f]*/0x[0-9a-f]* 64$' "$T/told")" 5 "$engine, $placement: those of the branch that is also the entry's"
		fi
	done
done
bb user "$T/whys" picks --why -F text -o "$T/text" -- "$T/whys"
is "$(grep -cE 'picks\+0x[0-9a-f]+ +jne +taken -> .*cmp dil, 0xfd: 3 vs -3' "$T/text")" 1 'text has them at the end of the line'
is "$(grep -cE 'je +not taken -> .*and eax, 0x06 gave 2' "$T/text")" 2 'and results'
bb user "$T/whys" picks -F json -o "$T/json" -- "$T/whys"
is "$(json "$T/json" '$e->{why}')" 0 'nothing without --why'

# ---- trace files ----

for engine in probe inline; do
	bb user "$T/whys" picks --why --engine $engine --placement full -o "$T/$engine.btr" -- "$T/whys"
	exits 0 "$engine: recorded"
	bb report "$T/$engine.btr" -F json -o "$T/json"
	exits 0 "$engine: reported"
	is "$(told "$T/json" | sed -n 's/^picks //p' | grep -v '^j[lg]')" "$(cat "$T/want")" "$engine: the report of a trace file has them"
done
bb user "$T/whys" picks --why -o "$T/usual.btr" -- "$T/whys"
bb report "$T/usual.btr" -F json -o "$T/json"
isnt "$(json "$T/json" '$e->{why}')" 0 'a trace file has them in its usual placement'

# ---- a running program ----

background "$T/whys" running
for engine in probe inline; do
	bb user "$T/whys" picks --why --engine $engine -p "$background" -l 200 -F json -o "$T/json"
	exits 0 "$engine: a running program is traced"
	isnt "$(json "$T/json" '$e->{why}')" 0 "$engine: of a running program they are told"
	is "$(json "$T/json" '$e->{why} && $e->{insn} eq "jb" && (hex($e->{why}{values}[0]) < 5) != $e->{taken}')" 0 "$engine: and agree with what it did"
done

# ---- memory that another thread changes ----

flips() { # ENGINE ITERATIONS: sets said, of all
	bb user "$T/whys" polls --why --engine "$1" -F json -o "$T/json" -- "$T/whys" flips "$2"
	all=$(json "$T/json" '$e->{event} eq "branch" && $e->{insn} =~ /^(je|jne)$/')
	said=$(json "$T/json" '$e->{why} && $e->{why}{read_again}')
	diag "$1: $said of $all told"
}
# until some had changed meanwhile
for ((i = 0; i < 50; i++)); do
	flips probe 300
	((said == all)) || break
done
exits 0 'a program whose memory changes is traced'
is "$(json "$T/json" '$e->{why} && $e->{why}{compare} =~ /^cmp dword/ && (hex($e->{why}{values}[0]) == 1) != $e->{taken}')" 0 'no value that a comparison has not had'
is "$(json "$T/json" '$e->{why} && $e->{why}{compare} =~ /^test dword/ && ((hex($e->{why}{values}[0]) & 2) != 0) != $e->{taken}')" 0 'nor a test'
is "$(json "$T/json" '$e->{why} && $e->{why}{compare} =~ /dword ptr/ && !$e->{why}{read_again}')" 0 'each says that it was read again'
ok $((4 * said < all || said == all)) 'many are told, and not those of memory that had changed'
flips inline 50
exits 0 'the same with copies'
is "$(json "$T/json" '$e->{why} && $e->{why}{compare} =~ /^cmp dword/ && (hex($e->{why}{values}[0]) == 1) != $e->{taken}')" 0 'copies: no value that a comparison has not had'
ok $((2 * said < all || said > all)) 'copies: most are told'
done_testing
