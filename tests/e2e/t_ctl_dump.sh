#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154 # ctl.sh sets program
# bbtrace ctl dump: what the trace would print if it ended now, while it continues.
. "$(dirname "$0")/lib.sh"
needs root uprobes
. "$E2E/ctl.sh"
start

# ---- the last branches of each thread ----
trace last --last 5 -F json
steps 2
ctl "$trace" dump
exits 0 'dump of --last'
cp "$T/out" "$T/first"
is "$(json "$T/first" '$e->{event} eq "branch"') $(json "$T/first" '$e->{event} eq "summary"')" '5 1' \
	'it has the last branches, and the summary'
last=$(json_lines "$T/first" '$e->{ts}' | tail -1)
ctl "$trace" dump
same "$T/out" "$T/first" 'another dump without events in between is the same'
steps 1
ctl "$trace" dump -F json
is "$(json "$T/out" '$e->{event} eq "branch" && $e->{ts} > '"$last")" 5 'after more events it has those'
ctl "$trace" reset
ctl "$trace" dump
is "$(json "$T/out" '$e->{event} eq "branch"')" 0 'after reset it has none'
steps 1
ctl "$trace" dump
cp "$T/out" "$T/before"
# a client that doesn't read, and one that goes
perl -MIO::Socket::UNIX -e '
	my $s = IO::Socket::UNIX->new(Peer => "/run/bbtrace/$ARGV[0].sock") or die;
	print $s "dump\n";
	my $gone = IO::Socket::UNIX->new(Peer => "/run/bbtrace/$ARGV[0].sock") or die;
	print $gone "dump\n";
	close $gone;
	<$s>; # greeted
	sleep 60' "$trace" &
at_end "kill $! 2>/dev/null"
for _ in 1 2 3; do
	ctl "$trace" dump
	exits 0 'several dumps, one after the other'
done
same "$T/out" "$T/before" 'and they are the same'
# the reader of the trace's own output is not kept waiting by a dump that isn't read
ends last
same "$T/last.out" "$T/before" 'what the trace prints at its end is what a dump had printed'

# ---- text, newest first ----
trace text --last 3
steps 2
ctl "$trace" dump
cp "$T/out" "$T/before"
ends text
same "$T/text.out" "$T/before" 'text of --last is that of the end'

# ---- formats that add up ----
for format in summary folded:count callgrind annotate html pprof chrome; do
	options=()
	[[ $format != chrome ]] || options=(--last 5)
	[[ $format != pprof ]] || options=(-o "$T/pprof")
	trace added -F $format -e entry,branch,return --depth 9 "${options[@]}"
	steps 2
	ctl "$trace" dump
	exits 0 "-F $format: dump"
	cp "$T/out" "$T/before"
	ctl "$trace" counts -F json
	is "$(json "$T/out" '$e->{event} eq "summary" && $e->{events}')" 1 "-F $format: and the trace goes on"
	ends added
	[[ $format == pprof ]] && cp "$T/pprof" "$T/added.out"
	# the span of the trace and its command line are of the run
	for file in before added.out; do grep -avE '"(span|begin)"|^Command|time: ' "$T/$file" >"$T/$file.kept"; done
	if [[ $format == pprof ]]; then
		isnt "$(gzip -dc <"$T/before" | wc -c)" 0 '-F pprof: it is a profile'
	else
		same "$T/before.kept" "$T/added.out.kept" "-F $format: a dump is what the trace prints at its end"
	fi
done
trace counted -c -F json
steps 2
ctl "$trace" dump
cp "$T/out" "$T/before"
ends counted
same "$T/counted.out" "$T/before" '-c: a dump is what the trace prints at its end'

# ---- what has nothing to dump ----
trace stream
ctl "$trace" dump
exits 1 'a stream of events can not be dumped'
like "$T/err" 'dump is of --last N' 'which is said'
ends stream
trace record -o "$T/file"
ctl "$trace" dump
exits 1 'a trace file can not be dumped'
like "$T/err" "bbtrace report $T/file shows what the trace has so far" 'and how to read it is said'
ends record
done_testing
