#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A trace that has no event yet says early, while it runs, what is missing; one that has events doesn't.
. "$(dirname "$0")/lib.sh"
needs root uprobes

source_program prog c -O1 <<'END'
#include <unistd.h>
__attribute__((noipa)) int never(int n) { return n > 3 ? n : n + 1; }
__attribute__((noipa)) int called(int n) { return n > 3 ? n : n + 1; }
int main(int argc, char **argv)
{
	if (argc > 2)
		never(argc);
	for (int i = 0; i < 1200; i++) {
		if (argc > 1)
			called(i);
		usleep(100000);
	}
	return 0;
}
END
cp "$T/prog" "$T/other"
"$T/prog" </dev/null & idle=$!
"$T/prog" calls </dev/null & busy=$!
at_end "kill $idle $busy 2>/dev/null; wait $idle $busy 2>/dev/null"

# runs ARGS...: begins a trace; $tracer
runs() {
	: >"$T/early"
	"$BBTRACE" user "$@" >"$T/shown" 2>"$T/early" </dev/null &
	tracer=$!
}
# ends: by Ctrl-C
ends() {
	kill -INT "$tracer"
	wait "$tracer"
}
# early NAME LINE: it says so while it runs
early() {
	wait_for "$PATIENCE" grep -q "^bbtrace: so far $2\$" "$T/early"
	kill -0 "$tracer" 2>/dev/null
	ok $? "$1: it is said while the trace runs"
	ends
	like "$T/early" "^bbtrace: so far $2\$" "$1: $2"
	is "$(grep -c '^bbtrace: so far' "$T/early")" 1 "$1: once"
}
runs "$T/other" called -p $idle
early 'the process has another file' "no traced process has mapped $T/other"
like "$T/early" "process $idle .* mapped $T/prog: the same build, but another file" 'and which it has'
for engine in probe inline; do
	[[ $engine == probe || $(uname -m) == x86_64 ]] || continue
	runs "$T/other" called --engine $engine -c -p $idle
	early "$engine, counts" "no traced process has mapped $T/other"
done
runs "$T/prog" never --engine probe -p $busy
early 'a function that is not called' 'no event of never'
runs "$T/prog" never called --engine probe -p $idle
early 'functions that are not called' "no event of any of 2 functions of $T/prog"

# what can't be known yet isn't said
for options in '--engine inline' '--engine probe -c' '--engine probe --last 5' '--engine probe --paused'; do
	[[ $options != *inline || $(uname -m) == x86_64 ]] || continue
	# shellcheck disable=SC2086 # several words
	bb user "$T/prog" never $options -p $busy -t 3
	is "$(grep -c '^bbtrace: so far' "$T/err")" 0 "$options: whether it was called is not known before the end"
done
bb user "$T/prog" called --engine probe -p $busy -t 3 -o "$T/text" -F text
is "$(grep -c '^bbtrace: so far' "$T/err")" 0 'with events there is nothing to say'
isnt "$(summary events)" 0 'and there are events'
bb user "$T/other" called -p $idle -t 3 -q
is "$(cat "$T/err")" '' '-q: nothing'
done_testing
