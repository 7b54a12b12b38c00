#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: what -F summary adds up without making events (src/trace/runs/run.c) is what it counts with events, which
# --limit needs; and a trace file, which takes branches the same way, has the events that are shown otherwise.
# t_reference.sh compares these.
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

# All of the steps but when they were, and what libc mangles.
steps() { # JSON
	sed -E 's/"(ts|pid|tid|since_entry_ns|duration_ns|net_ns)":[0-9]+,?//g; s/"below_noise":true//; s/,?"regs":\{[^}]*\}//; s/,?"value":"[^"]*"//; s/,\}/}/; /"event":"summary"/d' "$1"
}
# shellcheck disable=SC2086 # options
program_steps() { setarch -R "$BBTRACE" user "$T/$name" '*' --engine inline $options "$@" -- "$T/$name" >"$T/out" 2>"$T/err" </dev/null; }

added_up() { sed -n 's/^bbtrace: \([0-9]*\) of \([0-9]*\) hits were added up.*/\1 \2/p' "$T/err"; }

all=0 quick=0 all_of_file=0 quick_of_file=0
for name in ladder loops switch tail deep mutual callback cold midjump longjmp except nestsig; do
	program $name -O1
	for options in '--placement full' '--placement witness'; do
		what="$name, $options"
		# shellcheck disable=SC2206 # options
		run=(user "$T/$name" '*' --engine inline $options -F summary -v)
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
		program_steps -F json -o "$T/json"
		steps "$T/json" >"$T/events"
		program_steps -v -o "$T/trace"
		read -r one of < <(added_up; echo 0 0)
		# with a time each they are events
		[[ $options == *full ]] || quick_of_file=$((quick_of_file + one)) all_of_file=$((all_of_file + of))
		"$BBTRACE" report "$T/trace" -F json -o "$T/json" 2>"$T/err"
		steps "$T/json" >"$T/runs"
		same "$T/runs" "$T/events" "$what: the file has the same steps"
	done
done
((quick * 4 > all))
ok $? "many hits are added up: $quick of $all"
((quick_of_file * 4 > all_of_file))
ok $? "many are for a trace file, too: $quick_of_file of $all_of_file"
done_testing
