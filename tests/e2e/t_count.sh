#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -c counts the events that would be listed; --last keeps the last branches of each thread.
. "$(dirname "$0")/lib.sh"
needs root uprobes
program fib -O1

bb user "$T/fib" fib -F json -o "$T/events" -- "$T/fib"
exits 3 'a program is traced with its branches listed'
bb user "$T/fib" fib -c -F json -o "$T/edges" -- "$T/fib"
exits 3 'the same program is traced with -c'

# the same figures from both, one line a site
json_lines "$T/events" '$e->{event} eq "branch" ? join(" ", $e->{vaddr}, !exists $e->{taken} || $e->{taken} ? "taken" : "not") : ""' |
	sort | uniq -c | awk '{print $2, $3, $1}' | sort >"$T/want"
json_lines "$T/edges" '$e->{event} eq "edge" ? join("\n", map { "$e->{vaddr} $_->[0] $_->[1]" }
	grep { $_->[1] } ["taken", $e->{taken_count}], ["not", $e->{not_taken_count} // 0]) : ""' | sort >"$T/got"
same "$T/got" "$T/want" 'edges count the branches that are listed'
is "$(json "$T/edges" '$e->{event} eq "edge" && exists $e->{not_taken_count} && $e->{kind} ne "jcc"')" 0 \
	'-c: only conditionals have a not-taken count'
is "$(json_lines "$T/edges" '$e->{kind} && $e->{kind} eq "ret" && @{$e->{targets}}')" 0 \
	'-c: where rets go is not looked at'
bb user "$T/fib" fib -c --placement full -F json -o "$T/edges" -- "$T/fib"
is "$(json_lines "$T/edges" '$e->{kind} && $e->{kind} eq "ret" ? eval { my $n = 0; $n += $_->{count} for @{$e->{targets}}; $n == $e->{taken_count} ? "sum" : "differs" } : ""')" \
	sum '--placement full: the targets of ret add up to its count'

# ---- each site, also those that are never reached ----
source_program half c -O1 <<'END'
#include <stdio.h>
__attribute__((noipa)) int check(int n)
{
	if (n > 100)
		for (int i = 0; i < n; i++)
			if (putchar('0' + i % 10) < 0)
				return 1;
	return n * 3;
}
int main(int argc, char **argv)
{
	return check(argc) != 3;
}
END
objdump -d --no-show-raw-insn "$T/half" | awk '/^[0-9a-f]+ </ { in_it = $2 == "<main>:" || $2 == "<check>:" }
	in_it && $2 ~ /^(j|call|ret)/ { sub(":", "", $1); print "0x" $1 }' | sort >"$T/want"
bb user "$T/half" main check -c -F json -o "$T/edges" -- "$T/half"
json_lines "$T/edges" '$e->{event} eq "edge" && $e->{vaddr}' | sort >"$T/got"
same "$T/got" "$T/want" '-c has each branch that objdump has'
bb user "$T/half" main check -F json -o "$T/listed" -- "$T/half"
json_lines "$T/listed" '$e->{event} eq "branch" && $e->{vaddr}' | sort -u >"$T/ran"
json_lines "$T/edges" '$e->{event} eq "edge" && $e->{taken_count} + ($e->{not_taken_count} // 0) > 0 ? $e->{vaddr} : ""' | sort >"$T/got"
same "$T/got" "$T/ran" '-c counts 0 for the branches that were not reached'
isnt "$(wc -l <"$T/ran")" "$(wc -l <"$T/want")" 'some branches of the program were not reached'
bb user "$T/half" main check -o "$T/trace" -- "$T/half"
bb report "$T/trace" check -c -F json
is "$(json_lines "$T/out" '$e->{event} eq "edge" && $e->{symbol}' | sort -u)" check 'report FUNC -c has those of FUNC'
bb user "$T/half" main check -e entry -c -F json -o "$T/edges" -- "$T/half"
is "$(json "$T/edges" '$e->{event} eq "edge"')" 0 '-c shows no counts where no branches were recorded'

bb user "$T/fib" fib -c -- "$T/fib"
like "$T/out" '^fib\+0x[0-9a-f]+  jg  taken 88, not taken 89 +fib\.c:8$' '-c as text has both counts of a conditional'
bb user "$T/fib" fib -c -F summary -- "$T/fib"
is "$(awk '$6 == "fib" { print $1, $2, $3 }' "$T/out")" "$(json_lines "$T/events" '$e->{event} =~ /^(entry|branch)$/ ? $e->{event} . (exists $e->{taken} ? $e->{taken} ? " taken" : " not" : "") : ""' |
		awk '/entry/ { calls++ } /branch/ { branches++ } / taken/ { taken++ } / not/ { not++ }
			END { t = int(taken * 1000 / (taken + not)); printf "%d %d %d.%d%%\n", calls, branches, t / 10, t % 10 }')" \
	'-c -F summary: calls, branches and the share of taken conditionals'
bb user "$T/fib" fib main -c -F summary -e entry -- "$T/fib"
is "$(awk '$2 ~ /^(function|fib|main)$/ { print $1, $2 NF }' "$T/out" | xargs)" 'calls function2 177 fib2 1 main2' \
	'-c -F summary -e entry: the calls alone'
cp "$T/out" "$T/summary"
bb user "$T/fib" fib main -c -e entry -- "$T/fib"
same "$T/out" "$T/summary" '-c -e entry: there are no edges, so that is the default'
like "$T/err" ', 2 probes' 'with one probe a function'
bb user "$T/fib" fib -c -f -- sh -c "$T/fib; $T/fib; true"
unlike "$T/err" 'execs could not be distinguished' 'nothing is said of execs where no targets are counted'
bb user "$T/fib" fib -c -F chrome -- "$T/fib"
is "${status:-}" 2 'a format with counts of its own is refused'

bb user "$T/fib" fib --last 5 -F json -o "$T/last" -- "$T/fib"
is "$(json "$T/last" '$e->{event} eq "branch"')" 5 '--last 5 keeps five branches'
strip='$e->{event} eq "branch" ? join(" ", $e->{vaddr}, $e->{to}{vaddr}) : ""'
json_lines "$T/events" "$strip" | tail -5 >"$T/want"
json_lines "$T/last" "$strip" >"$T/got"
same "$T/got" "$T/want" '--last 5 keeps the last branches, oldest first in JSON'
bb user "$T/fib" fib --last 2 -T none -- "$T/fib"
is "$(grep -c ' ret \| j[a-z]* ' "$T/out")" 2 '--last 2 as text shows two branches'
like <(sed -n '/ -> /{p;q}' "$T/out") 'main' '--last as text shows the newest branch first'
bb user "$T/fib" fib --last 0 -- "$T/fib"
exits 2 '--last 0 is wrong usage'
done_testing
