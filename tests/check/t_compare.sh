#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# t_compare.sh [BUILD-FOLDER]: compare.pl finds every difference, and reports nothing else.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
B=${1:-${B:-build}}
[ -x "$B/stepref" ] && [ -d "$B/progs" ] || { echo "1..0 # SKIP needs $B/stepref and $B/progs: make -C tests/progs" && exit 0; }
B=$(cd "$B" && pwd)
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$B/progs" || exit 1

trace() { # OPTIONS PROGRAM FUNCTIONS
	"$here/../step/ranges.sh" "$2" $3 >"$T/ranges"
	"$here/../step/again.sh" "$T/ref" "$T/stdout" "$B/stepref" --object "$2" --ranges "$T/ranges" --from-entry $1 -- "./$2" \
		2>/dev/null
	"$here/ref2json.pl" "/somewhere/$2" "$T/ranges" "$T/ref" >"$T/json"
}
compare() { "$here/compare.pl" --ranges "$T/ranges" "$@" "$T/ref" "$T/json" >"$T/said" 2>&1; }
edit() { sed "$1" "$T/json" >"$T/edited" && mv "$T/edited" "$T/json"; }

for program in 'ladder:classify' 'tail:direct indirect chain down'; do
	trace "" "${program%%:*}" "${program#*:}"
	ok "${program%%:*}: a trace is the same as the reference" compare --strict
	ok "${program%%:*}: each event changed, dropped, doubled, swapped is found" env EVERY=3 "$here/mutate.pl" \
		"$T/json" "$here/compare.pl" "$T/ref" @
	ok "${program%%:*}: each event changed, dropped, doubled, swapped is found where paths may be cut" env EVERY=5 "$here/mutate.pl" \
		"$T/json" "$here/compare.pl" --unknown "$T/ref" @
done

trace "" threads "collatz worker"
ok "threads are told apart by what they do" compare
first=$(sed -n 's/.*"tid":\([0-9]*\),.*/\1/p' "$T/json" | head -n 1)
edit "/\"tid\":$first,/d"
compare --no-summary
is $? 1 "a missing thread is a difference"

trace "" longjmp "dive calm attempt"
line=$(grep -n '"kind":"jcc"' "$T/json" | sed -n '20s/:.*//p')
edit "${line}s/.*/{\"event\":\"unknown\",\"pid\":1,\"tid\":$(sed -n 's/.*"tid":\([0-9]*\),.*/\1/p' "$T/json" | head -n 1)}/"
edit 's/"events":\([0-9]*\)/"events":'$(($(wc -l <"$T/json") - 2))'/'
compare
is $? 1 "an unknown path is a difference"
ok "an unknown path is no difference with --unknown" compare --unknown
is "$(sed -n 's/.*; \(.*\) hide \(.*\); 0 without to.*/\1 \2/p' "$T/said")" "1 unknown 1" "the events that an unknown path hides are counted"

trace "" ladder classify
edit 's/"value":"[^"]*",//'
ok "returned values may be absent" compare
compare --strict
is $? 1 "returned values may not be absent with --strict"
trace "" ladder classify
edit 's/"offset":\([0-9]*\)/"offset":1\1/'
compare
is $? 1 "an offset that does not lead to vaddr is a difference"
trace "" ladder classify
edit '$d'
compare
is $? 1 "a trace without summary is refused"
trace "" ladder classify
edit '3s/.$//'
compare
is $? 2 "a trace with a line that is not JSON is refused"
trace "" generated "helper run"
ok "a place in anonymous memory is the same wherever it lies" compare
edit 's/"object":null,"symbol":null/"object":"\/x\/y","symbol":"z"/'
compare
is $? 1 "a place in anonymous memory is not the same as one in a file"
trace "" cold-both "parse complain"
edit '0,/"event":"return".*"symbol":"complain"/{/"symbol":"complain"/{/"event":"return"/d}}'
edit 's/"events":\([0-9]*\)/"events":'$(($(wc -l <"$T/json") - 1))'/'
compare
is $? 1 "a return behind a tail call to what isn't traced is a difference if it is missing uncounted"
edit 's/"unseen_tail_returns":0/"unseen_tail_returns":1/'
ok "a return behind a tail call to what isn't traced may be missing if it is counted as unseen" compare
tap_done
