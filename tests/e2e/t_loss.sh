#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A million events in a row: printed events and those counted as lost add up.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms

program million -O1
whole=1000003 # an entry, 250,000 times round with four branches, a ret, a return

lines() { grep -cE '"event":"(entry|branch|return)"' "$T/json"; }
told() { sed -n 's/.*"event":"lost".*"count":\([0-9]*\).*/\1/p' "$T/json" | awk '{ n += $1 } END { print n + 0 }'; }

# paused_on PROGRAM FUNC... -- OPTION...: as bb, but bbtrace is stopped while the program runs: what the ring doesn't hold is
# lost for sure.
paused_on() {
	local name=$1 functions=() program tracer
	shift
	while [[ $1 != -- ]]; do functions+=("$1") && shift; done
	shift
	rm -f "$T/go" "$T/err"
	mkfifo "$T/go"
	bash -c 'read -r _ <"$1"; exec "$0"' "$T/$name" "$T/go" >"$T/program.out" &
	program=$!
	"$BBTRACE" user "$T/$name" "${functions[@]}" -p $program -v "$@" >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for $PATIENCE grep -qs '^bbtrace: recording$' "$T/err"
	wait_for $PATIENCE grep -q '^State:.S' /proc/$tracer/status # it polls: the probes are switched on
	kill -STOP $tracer
	echo >"$T/go"
	wait $program
	program_status=$?
	kill -CONT $tracer
	wait $tracer
	status=$?
}
paused() {
	paused_on million spin -- "$@"
	is "$program_status $(cat "$T/program.out")" '0 0' "$*: where nobody drains the ring, the program prints what it always does"
}

# Does the summary say of its losses that they are a bound?
bounded() { grep -q ' events, at least [0-9]* lost, ' "$T/err"; }

for attach in "${MECHANISMS[@]}"; do
	bb user "$T/million" spin --attach $attach -F json -o "$T/json" -- "$T/million"
	exits 0 "$attach: a million events are traced with the default buffer"
	like <(tail -n 1 "$T/err") ' events, ' "$attach: of a million events: the summary is the last line"
	is $(($(lines) + $(summary lost))) $whole "$attach: of a million events all are shown, or those missing are counted"
	is "$(summary events) $(summary lost)" "$(lines) $(told)" "$attach: of a million events the summary counts what the lines do"

	paused --attach $attach --buffer 4K -F json -o "$T/json"
	exits 0 "$attach: a million events are traced with a buffer of 4K"
	is $(($(summary lost) > whole - 1000)) 1 "$attach: a buffer of 4K does not hold a million events"
	is $(($(lines) + $(summary lost))) $whole "$attach: a buffer of 4K: printed and lost make the whole"
	is "$(summary events) $(summary lost)" "$(lines) $(told)" "$attach: a buffer of 4K: the summary counts what the lines do"
	ok "$(bounded && echo 1 || echo 0)" "$attach: a buffer of 4K: the loss is exact where each event has a record of its own"
done

# A loss is reported where it happened: a line for it stands wherever one branch does not follow from the one before.
bb user "$T/million" spin --buffer 4K -F json -o "$T/json" -- "$T/million"
is "$status $(cat "$T/out") $(($(lines) + $(summary lost)))" "0 0 $whole" 'a buffer of 4K, drained: printed and lost make the whole'
is "$(perl -ne '
	/"event":"lost"/ and $gap = 1;
	/"event":"branch".*"vaddr":"0x([0-9a-f]+)".*"to":.*"vaddr":"0x([0-9a-f]+)"/ or next;
	$expected{$from} = $1 if defined $from && !$gap && !exists $expected{$from};
	$wrong++ if defined $from && !$gap && $expected{$from} ne $1;
	($from, $gap) = ("$1 $2", 0);
	END { print $wrong + 0 }' "$T/json")" 0 'and the losses stand where they happened'

paused --buffer 4K -F text -o "$T/text"
like "$T/text" '^ *-- [0-9]+ events lost here --$| -- [0-9]+ events lost here --$' 'text has a line for a loss in its place'
is "$(sed -n 's/.*-- \([0-9]*\) events lost here --.*/\1/p' "$T/text" | awk '{ n += $1 } END { print n }')" "$(summary lost)" \
	"the losses that text shows add up to the summary's"

# A reader that doesn't read until the program has ended: what the ring can't hold waits elsewhere. A record takes 24
# bytes of it, so it holds 175,000.
mkfifo "$T/slow"
(
	exec <"$T/slow"
	wait_for $PATIENCE test -s "$T/out"
	cat >"$T/json"
) &
"$BBTRACE" user "$T/million" spin --buffer 4M -F json -o "$T/slow" -- "$T/million" >"$T/out" 2>"$T/err" </dev/null
status=$?
wait $!
exits 0 'a trace whose reader waits for the end ends well'
is $(($(lines) + $(summary lost))) $whole 'where the reader waits for the end, printed and lost make the whole'
ok $(($(summary lost) > whole - 300000)) "more than the ring holds was kept: $(summary lost) lost"

# ---- a bound says that it is one ----

# stepped PROGRAM FUNC...: how many events it has, by single-stepping.
stepped() {
	"$ROOT/tests/step/ranges.sh" "$T/$1" "${@:2}" >"$T/ranges"
	setarch -R "$ROOT/tests/step/again.sh" "$T/ref" "$T/ref.out" "$BUILD/stepref" --object "$T/$1" --ranges "$T/ranges" \
		--from-entry -- "$T/$1" 2>/dev/null
	grep -c '^[0-9]' "$T/ref"
}
# bound NAME: what is printed and lost is no more than the whole; less only where the summary, and each loss, say so.
bound() {
	local known=$(($(lines) + $(summary lost))) at_least

	bounded && at_least=1 || at_least=0
	ok $((!(known <= whole && (known == whole || at_least)))) "$1: printed and lost are the whole, or its lower bound: $known of $whole"
	isnt "$(summary lost)" 0 "$1: events are lost"
	is "$(json "$T/json" '($e->{event} eq "lost" || $e->{event} eq "summary") && !$e->{at_least} == '$at_least)" 0 \
		"$1: each count of losses says whether it is a bound"
}

if [[ -x $BUILD/stepref ]]; then
	program deep -O1
	program tail -O2
	program mutual -O1
	for one in 'deep deep' 'tail direct indirect chain down plain hidden' 'mutual is_even is_odd ackermann'; do
		read -ra words <<<"$one"
		whole=$(stepped "${words[@]}")
		for how in '--placement full' '--placement implied' '--placement witness' '--returns probe'; do
			# shellcheck disable=SC2086
			paused_on "${words[@]}" -- $how --buffer 4K -F json -o "$T/json"
			bound "$one, $how"
		done
	done
fi
whole=1000003
for placement in implied witness; do
	paused --placement $placement --buffer 4K -F json -o "$T/json"
	bound "a million, $placement"
done

# ---- and each count that a loss makes too low is marked where it stands ----
program deep -O1
paused_on deep deep -- --placement witness --buffer 4K -o "$T/trace"
marked() { # FORMAT EXPR-OF-UNMARKED WHAT...
	"$BBTRACE" report -q "$T/trace" -F "$1" ${4:-} >"$T/report" 2>"$T/report.err"
	grep -qE 'at least [0-9]+ events? lost|"at_least":true' "$T/report"
	ok $? "$1 ${4:-}: what is lost is said, as a bound"
	is "$(grep -vE 'Missing|missing' "$T/report" | grep -cE "$2")" 0 "$1 ${4:-}: $3"
}
marked text 'taken [0-9]+(,|$)|  [0-9]+$' 'each count that may be too low has a +' -c
marked json '"event":"edge".*[^e]}$' 'each edge says that it is a bound' -c
marked summary '^ *[0-9]+ |\| [0-9]+$' 'each count that may be too low has a +'
marked annotate '^ +[0-9]+ +[+]0x|: [0-9]+ calls' 'each count that may be too low has a +'
marked dot '[: ][0-9]+ (runs|calls|branches)|label=" [0-9]+ "' 'each count that may be too low has a +'
marked svg:count '[0-9] calls?' 'each count that may be too low has a +'
marked svg '[0-9] calls?' 'each count that may be too low has a +'
marked html '>[0-9]+ calls?<' 'each count in the page says that it is a bound'
for format in folded folded:count callgrind; do
	marked $format 'no such line' 'a count there is a number'
	grep -q 'every count may be too low' "$T/report"
	ok $? "$format: what is missing says that every count may be too low"
done
marked chrome 'no such line' 'it has no counts'

for size in 4K 64K 1M; do
	bb user "$T/million" spin --buffer $size -e entry,return -F json -o "$T/json" -- "$T/million"
	is "$status $(summary events) $(summary lost)" '0 2 0' "--buffer $size is enough for two events"
done
for size in 0 12 4095 2G x; do
	bb user "$T/million" spin --buffer $size -- "$T/million"
	exits 2 "--buffer $size is wrong usage"
done
done_testing
