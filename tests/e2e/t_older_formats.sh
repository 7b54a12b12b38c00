#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Trace files of older formats, recorded by the last build of each, are shown as that build showed them, byte for byte.
# formatN.user.txt: each condition, the loop instructions, a fork, with call stacks; formatN.sparse.txt: with the fewest
# probes, so that branches are implied; formatN.kernel.txt: functions of a guest's kernel. formatN.*.{text,json}.gz: the
# output of the build that recorded them.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs cmd:gzip cmd:perl

# What a summary said then, it says today: fields are added to it, and what is counted by itself now was an unmatched return
# then: returns of unseen tail calls, and calls that were open at the end.
summary_holds() { # OLD NEW
	perl -I"$ROOT/tests/check" -MJson -e '
		my ($old, $new) = map { Json::parse($_) } @ARGV;
		$new->{unmatched_returns} += $new->{unseen_tail_returns} unless exists $old->{unseen_tail_returns};
		$new->{unmatched_returns} += $new->{open_calls} // 0;
		my @differ = grep { !ref $old->{$_} && ($new->{$_} // "nothing") ne $old->{$_} } keys %$old;
		print "# $_: $old->{$_} then, ", $new->{$_} // "nothing", " now\n" for @differ;
		exit(@differ > 0)' "$1" "$2"
}

for recorded in "$E2E"/format*.txt; do
	base=${recorded%.txt} name=${recorded##*/}
	gzip -dc "$base.text.gz" >"$T/text"
	gzip -dc "$base.json.gz" >"$T/json"
	# source lines are shown since then
	bb report -q --addresses --no-src -F text "$recorded"
	same "$T/out" "$T/text" "$name: report shows the text that its own build showed" || diag "$(<"$T/err")"
	bb report -q --addresses --no-src -F json "$recorded"
	head -n -1 "$T/out" >"$T/events"
	head -n -1 "$T/json" >"$T/wanted"
	same "$T/events" "$T/wanted" "$name: report shows the JSON that its own build showed" || diag "$(<"$T/err")"
	summary_holds "$(tail -n 1 "$T/json")" "$(tail -n 1 "$T/out")"
	ok $? "$name: the summary has the figures that its own build counted"
done
bb report -q "$E2E/format3.user.txt" -F json -o "$T/json"
is "$(json "$T/json" '$e->{comm} eq "forks" && ($e->{event} eq "entry") && $e->{src}[0]{file} =~ m{/forks\.c$}')" \
	"$(json "$T/json" '$e->{comm} eq "forks" && $e->{event} eq "entry"')" 'the source lines of an older file are shown'
is "$(find "$E2E" -name 'format*.txt' | wc -l)" 11 'user mode and sparse traces are there of formats 1 to 4, kernel traces of 1 to 3'
done_testing
