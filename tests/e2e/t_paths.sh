#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F paths and paths:json: the paths that ran, by single steps and objdump's control flow, in each placement, by both engines,
# and of a trace file; times; what can't be asked.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes "file:$BUILD/stepref" "file:$BUILD/progs" cmd:objdump cmd:python3

check() { # NAME OBJECT [--unknown]: the paths of $T/json are those of the single steps
	"$ROOT/tests/check/paths.py" ${3:+"$3"} "$2" "$T/ranges" "$T/ref" "$T/json" >"$T/diff" 2>&1
	ok $? "$1: $(tail -n 1 "$T/diff")" || diag "$(head -n 20 "$T/diff")"
}

reference() { # OBJECT FUNCTIONS -- CMD...
	local object=$1 functions=()
	shift
	while [[ $1 != -- ]]; do functions+=("$1") && shift; done
	shift
	"$ROOT/tests/step/ranges.sh" "$object" "${functions[@]}" >"$T/ranges" &&
		"$ROOT/tests/step/again.sh" "$T/ref" "$T/ref.out" "$BUILD/stepref" --object "$object" --ranges "$T/ranges" \
			--from-entry -- "$@" 2>"$T/ref.err"
}

engines=('--placement full' '--placement implied' '--placement witness' '')
[[ $(uname -m) != x86_64 ]] || engines+=('--engine inline' '--engine inline --placement witness')

# all_ways NAME OBJECT FUNCTION... -- CMD: with each of them
all_ways() {
	local name=$1 object=$2 functions=() unknown=
	shift 2
	while [[ $1 != -- ]]; do functions+=("$1") && shift; done
	shift
	[[ $name != *' (unknown)' ]] || unknown=--unknown
	reference "$object" "${functions[@]}" -- "$@"
	for engine in "${engines[@]}"; do
		# shellcheck disable=SC2086 # words
		bb user "$object" "${functions[@]}" $engine -F paths:json -o "$T/json" -- "$@"
		check "$name, ${engine:-default}" "$object" $unknown
	done
}

# ---- programs of tests/progs ----
cd "$BUILD/progs" || exit 2
n=0
while read -r name _ object options _ _ functions; do
	[[ $object != - || ! -e $name ]] && continue
	in_part $((n++)) || continue
	mark=
	[[ $options != *u* ]] || mark=' (unknown)'
	# shellcheck disable=SC2086 # words
	all_ways "$name$mark" "./$name" $functions -- "./$name"
done < <(grep -E '^(ladder|ladder-O0|loops|loops-O0|jcc|loopinsn|switch|switch-O0|classes-O2|fib-O0|mutual|tail|tailmem|cold|threads|crowd|except-O2|longjmp|callback) ' \
	"$ROOT/tests/progs/progs.list")
cd "$ROOT" || exit 2

# ---- functions of a library ----
source_program uses c <<'END'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int order(const void *a, const void *b) { return strverscmp(a, b); }

int main(void)
{
	static const char *const names[] = {"a1", "a01", "b10", "b9", "b009", "a1.5", "c", "", "a1", "a001.07"};
	struct in_addr address;
	void *tree = NULL;
	unsigned long sum = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		tsearch(names[i], &tree, order);
		sum += a64l(names[i]) + inet_aton(names[i], &address);
	}
	for (const char *const *s = (const char *const[]){"1.2.3.4", "0x7f.1", "300.1", "1.2.3.4.5", "017.0.0.1 x", NULL}; *s; s++)
		sum += inet_aton(*s, &address);
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		tdelete(names[i], &tree, order);
	printf("%lu %s\n", sum, l64a(sum));
	return 0;
}
END
private_copy "$T/uses"
cc -g -O1 -o "$T/own" "$T/uses.c" -Wl,-rpath,"$PRIVATE"
all_ways 'of libc' "$PRIVATE/libc.so.6" strverscmp tsearch tdelete a64l l64a inet_aton -- "$T/own"

# ---- a test that can fail ----
sed '0,/"count":/s/"count":\([0-9]*\)/"count":1\1/' "$T/json" >"$T/json.wrong"
"$ROOT/tests/check/paths.py" "$PRIVATE/libc.so.6" "$T/ranges" "$T/ref" "$T/json.wrong" >"$T/diff"
is $? 1 'another count would be noticed'

# ---- a trace file ----
bb user "$PRIVATE/libc.so.6" strverscmp tsearch tdelete a64l l64a inet_aton -o "$T/trace" -- "$T/own"
bb report "$T/trace" -F paths:json -o "$T/json"
exits 0 'a trace file is shown'
check 'of a trace file' "$PRIVATE/libc.so.6"
bb report "$T/trace" a64l -F paths
like "$T/out" '^a64l: [0-9]+ of [0-9]+ paths ran' 'of one function'
unlike "$T/out" 'tsearch:' 'and of no other'

# ---- times ----
source_program sleeper c <<'END'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void work(int n)
{
	for (int i = 0; i < n; i++)
		if (i % 4 == 3)
			usleep(20000); /* slow */
		else
			usleep(1000); /* fast */
}
int main(void)
{
	work(16);
	return 0;
}
END
for engine in "${engines[@]}"; do
	# shellcheck disable=SC2086 # words
	bb user "$T/sleeper" work $engine -F paths:json -o "$T/json" -- "$T/sleeper"
	exits 0 "sleeper, ${engine:-default}"
	# between two back edges there is one sleep
	slow=$(json_lines "$T/json" '$e->{event} eq "path" && $e->{timed} && $e->{min_ns} > 18e6 ? $e->{count} : ""' |
		awk '{ n += $1 } END { print n + 0 }')
	ok $((${slow:-0} >= 3 && slow <= 5 ? 0 : 1)) "slow iterations are those that sleep long: $slow" || diag "$(<"$T/json")"
	ok $(($(json "$T/json" '$e->{event} eq "path" && $e->{begins} eq "loop" && $e->{count} > 5 && $e->{min_ns} < 15e6') == 1 ? 0 : 1)) \
		'fast ones are one path'
	is "$(json "$T/json" '$e->{event} eq "path" && $e->{timed} != $e->{count}')" 0 'all are timed'
done
bb user "$T/sleeper" work -F paths -- "$T/sleeper"
like "$T/out" '^work: 4 of [0-9]+ paths ran: 1 from the entry, 15 from a loop.s start' 'text: how many'
like "$T/out" 'sleeper.c:6 taken.*call usleep' 'and which way'

# ---- what can't be asked ----
bb user "$T/sleeper" work -e entry,return -F paths -- "$T/sleeper"
exits 2 'paths consist of branches'
like "$T/err" 'paths needs entries, branches and returns' 'which is said'
bb user "$T/sleeper" work -c -F paths -- "$T/sleeper"
like "$T/err" 'paths has counts of its own' '-c is not for it'
done_testing
