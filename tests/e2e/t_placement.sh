#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where probes are, by the selected output, by --placement and by --profile; the steps are always the same.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

source_program loop c -I"$ROOT/tests/progs" <<'END'
#include <stdio.h>
#include "asm.h"
__attribute__((noinline)) long work(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++) {
		sum += i;
		if (sum & 0x100000)
			puts("never");
	}
	return sum;
}
/* both ways end in the same ret, and begin with an instruction that kernels simulate */
long pick(long n);
__asm__(".text\n.type pick, @function\npick: "
	ASM_OF("mov %rdi, %rax\ncmp $3, %rdi\njg 1f\nnop\nneg %rax\njmp 2f\n1: nop\ninc %rax\n2: ret\n",
	"mov x1, x0\ncmp x1, #3\nb.gt 1f\nadr x1, 1f\nneg x0, x0\nb 2f\n1: adr x1, 1b\nadd x0, x0, #1\n2: ret\n",
	"li t1, 3\nbgt a0, t1, 1f\nauipc t1, 0\nneg a0, a0\nj 2f\n1: auipc t1, 0\naddi a0, a0, 1\n2: ret\n") ".size pick, . - pick");
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 20; i++)
		sum += work(i) + pick(i);
	printf("%ld\n", sum);
	return 0;
}
END

# What is shown, without what is measured.
steps() { json_lines "$1" '$e->{event} ne "summary" && join " ", map { $_ // "" } @$e{qw(event vaddr taken value)}, $e->{to} ? $e->{to}{vaddr} : ""'; }
hits() { json "$1" 'exists $e->{ts} && $e->{event} =~ /entry|branch/'; }

# ---- the default: the cheapest that gives what is shown ----
placed() { # WANTED OPTION...
	local wanted=$1
	shift
	bb user "$T/loop" work pick -v -o "$T/o" "$@" -- "$T/loop"
	is "$(sed -n 's/^bbtrace: probes are placed.*(\(.*\))$/\1/p' "$T/err")" "$wanted" "the placement is $wanted with options '$*'"
}
# -T is about what is shown of times, not about what is recorded
for shown in '-F text' '-F text -T delta' '-F text -T none' '-F json' '-F chrome' '-F perfetto' '-F callgrind' '--record /dev/null -F summary' ''; do
	# shellcheck disable=SC2086 # words
	placed full $shown
done
for shown in '-c --depth 9' '-F summary' '-F folded' '-F svg' '-F pprof' '-F dot --depth 9' '-F html'; do
	# shellcheck disable=SC2086 # words
	placed witness $shown
done
for shown in '-c' '-c -F json' '-c --placement full' '-F dot' '-F annotate'; do
	# shellcheck disable=SC2086 # words
	placed count $shown
done
placed implied --placement implied -F json

# ---- what is not shown has no probe ----
probes() { # OPTION...
	bb user "$T/loop" work pick -o "$T/o" "$@" -- "$T/loop"
	summary probes
}
shown=$(probes -F html)
calls=$(probes -F json -e entry,return)
for format in folded folded:count svg svg:count pprof; do
	is "$(probes -F $format)" "$calls" "branches are not shown by $format: they have no probes"
	is "$(probes -F $format -e entry,branch,return)" "$shown" "$format -e branch: they have"
done
for format in annotate dot; do
	is $(($(probes -F $format --depth 9) < shown)) 1 "returns are not shown by $format: rets have no probes"
	is "$(probes -F $format --depth 9 --min-duration 1ns)" "$shown" "$format --min-duration: they have"
	is "$(probes -F $format --record "$T/whole")" "$(probes --record "$T/whole")" "$format --record: the trace file has everything"
done

# ---- the same steps ----
for placement in full implied witness; do
	bb user "$T/loop" work pick --placement $placement -F json -o "$T/$placement.json" -- "$T/loop"
	steps "$T/$placement.json" >"$T/$placement.steps"
done
is "$(grep -c branch "$T/full.steps")" "$(json "$T/full.json" '$e->{event} eq "branch"')" 'full: the steps that are compared have all branches'
same "$T/implied.steps" "$T/full.steps" 'implied shows the same steps as full'
same "$T/witness.steps" "$T/full.steps" 'witness shows the same steps as full'
is $(($(hits "$T/witness.json") < $(hits "$T/implied.json") && $(hits "$T/implied.json") < $(hits "$T/full.json"))) 1 \
	"full, implied and witness have ever fewer hits: $(hits "$T/full.json"), $(hits "$T/implied.json"), $(hits "$T/witness.json")"

# ---- by an earlier run ----
bb user "$T/loop" work pick -o "$T/run.trace" -- "$T/loop"
bb user "$T/loop" work pick -c -F json -o "$T/run.json" -- "$T/loop"
# with all registers: otherwise the branch to choose reports the entry, too, and stays
bb user "$T/loop" work pick --placement witness -r all -F json -o "$T/guessed.json" -- "$T/loop"
for profile in run.trace run.json; do
	bb user "$T/loop" work pick --placement witness -r all --profile "$T/$profile" -F json -o "$T/profiled.json" -- "$T/loop"
	exits 0 "--profile $profile is taken"
	steps "$T/profiled.json" >"$T/profiled.steps"
	same "$T/profiled.steps" "$T/full.steps" "--profile $profile shows the same steps as without"
	is $(($(hits "$T/profiled.json") < $(hits "$T/guessed.json"))) 1 "--profile $profile has fewer hits than a guess: $(hits "$T/profiled.json") of $(hits "$T/guessed.json")"
done
# A profile may be of another input, or wrong.
perl -pe 's/"taken_count":(\d+),"not_taken_count":(\d+)/"taken_count":$2,"not_taken_count":$1/' "$T/run.json" >"$T/wrong.json"
bb user "$T/loop" work pick --placement witness --profile "$T/wrong.json" -F json -o "$T/misled.json" -- "$T/loop"
steps "$T/misled.json" >"$T/misled.steps"
same "$T/misled.steps" "$T/full.steps" '--profile of a wrong profile shows the same steps as without'

bb user "$T/loop" work pick --profile "$T/none" -- "$T/loop"
exits 1 '--profile of a file that is not there is refused'
like "$T/err" "^bbtrace: cannot open $T/none: No such file" '--profile of a file that is not there: the message names it'
bb user "$T/loop" work pick --profile "$T/loop.c" -- "$T/loop"
exits 1 '--profile of a file that is no profile is refused'
like "$T/err" "^bbtrace: $T/loop.c is neither a trace file" '--profile of a file that is no profile: the message says what is one'
# each line that is wrong is named, with what is wrong with it
wrong_line() { # LINE MESSAGE NAME
	{ head -1 "$T/run.json" && printf '%s\n' "$1"; } >"$T/odd.json"
	bb user "$T/loop" work pick --profile "$T/odd.json" -- "$T/loop"
	exits 1 "--profile with $3 is refused"
	like "$T/err" "^bbtrace: $T/odd.json:2: $2" "--profile with $3: the message names the line"
}
wrong_line '{"event":"edge","object":"/x","vad' 'the line ends too early' 'a line that was cut'
wrong_line '{"event":"edge","object":"/x","vaddr":"0x1","taken_count":-1}' 'taken_count is not a count' 'a negative count'
wrong_line '{"event":"edge","object":"/x","vaddr":"12"}' 'vaddr is not an address' 'an address without 0x'
wrong_line '{"event":"edge","vaddr":"0x1"}' 'an edge without an object' 'an edge of nothing'
wrong_line '[1]' 'not an object' 'an array'
wrong_line "{\"a\":\"$(head -c 1100000 /dev/zero | tr '\0' x)\"}" 'longer than 1048576 bytes' 'a line without end'
# What JSON escapes in a path is a path all the same.
odd=$T/'we"ird'
cp "$T/loop" "$odd"
bb user "$odd" work pick -c -F json -o "$T/weird.json" -- "$odd"
bb user "$odd" work pick --placement witness -r all --profile "$T/weird.json" -F json -o "$T/weird.steps" -- "$odd"
is "$(hits "$T/weird.steps")" "$(hits "$T/profiled.json")" '--profile uses the counts of a path with a quote'
head -c 2000 "$T/run.trace" >"$T/cut.trace"
bb user "$T/loop" work pick --profile "$T/cut.trace" -c -- "$T/loop"
is $((status < 2)) 1 "--profile takes a trace file that was cut, or refuses it: status $status"
done_testing
