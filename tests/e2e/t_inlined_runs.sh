#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: what -F summary adds up without making events (src/trace/run.c) is what it counts with events, which
# --limit needs. t_reference.sh compares the events.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

# Each function's calls, branches and share of taken ones; then the totals.
counts() { # FILE
	awk '$1 == "calls" { for (i = 1; i <= NF; i++) at[$i] = i; table = 1; next }
		table && !NF { table = 0 }
		table { print $NF, $at["calls"], $at["branches"], $at["taken"] }' "$T/out" | sort >"$1"
	sed -n 's/^bbtrace: \([0-9]* functions, .*\)/\1/p' "$T/err" >>"$1"
}

added_up() { sed -n 's/^bbtrace: \([0-9]*\) of \([0-9]*\) hits were added up.*/\1 \2/p' "$T/err"; }

all=0 quick=0
for name in ladder loops switch tail deep mutual callback cold midjump longjmp except nestsig; do
	program $name -O1
	for placement in full witness; do
		what="$name, --placement $placement"
		run=(user "$T/$name" '*' --engine inline --placement "$placement" -F summary -v)
		bb "${run[@]}" -l 1000000000 -- "$T/$name"
		was=$status
		counts "$T/events"
		is "$(added_up)" '' "$what: with --limit there are events"
		bb "${run[@]}" -- "$T/$name"
		counts "$T/runs"
		is "$status" "$was" "$what: the exit status is the same"
		same "$T/runs" "$T/events" "$what: the same counts"
		read -r one of < <(added_up; echo 0 0)
		quick=$((quick + one)) all=$((all + of))
	done
done
((quick * 4 > all))
ok $? "many hits are added up: $quick of $all"
done_testing
