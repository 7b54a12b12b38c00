#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A million events in a row: none is lost in silence. What is printed and what is told as lost make the whole.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms

program million -O1
whole=1000003 # an entry, 250,000 times round with four branches, a ret, a return

lines() { grep -cE '"event":"(entry|branch|return)"' "$T/json"; }
told() { sed -n 's/.*"event":"lost".*"count":\([0-9]*\).*/\1/p' "$T/json" | awk '{ n += $1 } END { print n + 0 }'; }

# paused OPTION...: as bb, but bbtrace is stopped while the program runs: what the ring doesn't hold is lost for sure.
paused() {
	rm -f "$T/go"
	mkfifo "$T/go"
	bash -c 'read -r _ <"$1"; exec "$0"' "$T/million" "$T/go" >"$T/program.out" &
	local program=$! tracer
	"$BBTRACE" user "$T/million" spin -p $program -v "$@" >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for $PATIENCE grep -q ' probes attached' "$T/err"
	kill -STOP $tracer
	echo >"$T/go"
	wait $program
	is "$? $(cat "$T/program.out")" '0 0' 'nobody drains the ring: the program does what it always does'
	kill -CONT $tracer
	wait $tracer
	status=$?
}

for attach in "${MECHANISMS[@]}"; do
	bb user "$T/million" spin --attach $attach -F json -o "$T/json" -- "$T/million"
	exits 0 "$attach: a million events, the default buffer"
	is $(($(lines) + $(summary lost))) $whole 'all of them, or what is missing is counted'
	is "$(summary events) $(summary lost)" "$(lines) $(told)" 'the summary says what the lines say'

	paused --attach $attach --buffer 4K -F json -o "$T/json"
	exits 0 "$attach: a buffer of 4K"
	is $(($(summary lost) > whole - 1000)) 1 'does not hold them'
	is $(($(lines) + $(summary lost))) $whole 'printed and lost make the whole'
	is "$(summary events) $(summary lost)" "$(lines) $(told)" 'the summary says what the lines say'
done

# A loss is told where it happened: a line for it stands wherever one branch does not follow from the one before.
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
like "$T/text" '^ *-- [0-9]+ events lost here --$| -- [0-9]+ events lost here --$' 'as text: a line in its place'
is "$(sed -n 's/.*-- \([0-9]*\) events lost here --.*/\1/p' "$T/text" | awk '{ n += $1 } END { print n }')" "$(summary lost)" \
	'that adds up'

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
exits 0 'a reader that waits for the end'
is $(($(lines) + $(summary lost))) $whole 'printed and lost make the whole'
ok $(($(summary lost) > whole - 300000)) "more than the ring holds was kept: $(summary lost) lost"

for size in 4K 64K 1M; do
	bb user "$T/million" spin --buffer $size -e entry,return -F json -o "$T/json" -- "$T/million"
	is "$status $(summary events) $(summary lost)" '0 2 0' "--buffer $size is enough for two events"
done
for size in 0 12 4095 2G x; do
	bb user "$T/million" spin --buffer $size -- "$T/million"
	exits 2 "--buffer $size: wrong usage"
done
done_testing
