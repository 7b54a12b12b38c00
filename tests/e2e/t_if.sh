#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# --if: of a program that does the same each time exactly those steps are shown that a trace without it has in invocations
# for which the condition holds (tests/check/judged.py): by probes, which leave out the others in the kernel, wherever
# they are placed, by copies, from trace files, and with conditions that are given to report.

. "$(dirname "$0")/lib.sh"

needs root uprobes cmd:gcc cmd:jq cmd:python3
cd "$T" || exit 2
cp "$ROOT/tests/e2e/judged.c" .
gcc -g -O2 -pthread -w -o judged judged.c || exit 2
FUNCTIONS='leaf look descend second third first thrower catcher handler interrupted forks'
N='leaf descend second third first thrower catcher interrupted forks'

# CONDITION|the same in Python|the functions that it judges
conditions='size > 4096|a["size"] > 4096|look
n > 2|a["n"] > 2|'$N'
n == 1|a["n"] == 1|'$N'
n != 3|a["n"] != 3|'$N'
n >= 0 && ret < 0|a["n"] >= 0 and ret < 0|'$N'
ret < 0|ret < 0|'$N' look
width > 200|a["width"] > 200|descend
n > 100|a["n"] > 100|'$N'
name == "x"|a["name"] == "x"|look
name != "abc" && ret == -ENOENT|a["name"] != "abc" and ret == -2|look'

# to_compare NAME: $T/NAME has of $T/all.json what PYTHON chooses; compared WHAT checks that of all of them, in one process.
to_compare() { echo "$1|$condition|${python:?}|${functions:?}" >>compare; }
compared() {
	local steps holds fails bad unmet lost unknown rest

	python3 "$ROOT/tests/check/judged.py" all.json compare >results
	while IFS='|' read -r _ condition steps holds fails bad unmet lost unknown rest; do
		is "$bad" 0 "$1: $condition: $steps steps are those of $holds invocations, and not of $fails" || diag "$rest"
		ok $((lost + (unmet < 1))) "$1: $condition: nothing is lost, and the others are counted: $unmet"
		[[ $1 != --* ]] || ok $((unknown > usual)) "$1: $condition: no more is unknown"
	done <results
	is "$(grep -c . results)" "$(grep -c . compare)" "$1: each was compared"
	rm compare
}

n=0
for options in '--engine probe --placement full' '--engine probe --placement witness' '--engine inline' '--engine probe --returns probe'; do
	# shellcheck disable=SC2086
	bb user ./judged $FUNCTIONS --args $options -F json -o all.json -- ./judged f
	exits 0 "$options: all"
	usual=$(jq -r 'select(.event == "summary") | .unknown' all.json)
	((n++))
	while IFS='|' read -r condition python functions; do
		in_part $((n++)) 0 2 || continue # each with two of the four
		# shellcheck disable=SC2086
		bb user ./judged $FUNCTIONS --if "$condition" $options -F json -o some$n.json -- ./judged f
		exits 0 "$options: $condition"
		to_compare some$n.json
	done <<<"$conditions"
	compared "$options"
done

# ---- files: what is recorded, and conditions of report ----
bb user ./judged $FUNCTIONS --args --engine probe --placement full -F json -o all.json -- ./judged f
bb user ./judged $FUNCTIONS --engine probe --placement full -o all.bbtrace --args -- ./judged f
while IFS='|' read -r condition python functions; do
	in_part $((n++)) 0 2 || continue
	bb user ./judged $FUNCTIONS --engine probe --placement full --if "$condition" -o some.bbtrace -- ./judged f
	bb report some.bbtrace -F json -o some$n.json
	exits 0 "a file: $condition"
	to_compare some$n.json
done <<<"$conditions"
compared 'a file'
while IFS='|' read -r condition python functions; do
	bb report all.bbtrace --if "$condition" -F json -o some$((++n)).json
	to_compare some$n.json
done <<<"$conditions"
compared 'report'

# records FILE
records() {
	"$BBTRACE" report "$1" --info | sed -n 's/^records *\([0-9]*\), 0 lost$/\1/p'
}
bb user ./judged $FUNCTIONS --engine probe --placement full --if 'size == 1' -o small.bbtrace -- ./judged f
ok $(($(records small.bbtrace) >= $(records all.bbtrace))) 'what is left out is not recorded'
bb report all.bbtrace --if 'n > 2' --if 'n < 5' -F json -o both.json
bb report all.bbtrace --if 'n > 2 && n < 5' -F json -o one.json
same both.json one.json 'several --if are joined by and'

# ---- an invocation that is left out is left by a longjmp, where nothing traced has an event ----
cat >jump.c <<'C'
#include <setjmp.h>
#define K __attribute__((noinline, noipa))
volatile int sink;
jmp_buf away;
K int request(int n) { if (n == 3) longjmp(away, 1); sink += n; return n * 2; }
K int dispatch(int n) { volatile char b[200]; b[1] = n; return request(n) + b[1]; }
K int serve(int n) { return dispatch(n) + 1; }
int main(void) { for (volatile int k = 0; k < 20; k++) if (!setjmp(away)) { if (k == 3) request(k); else serve(k); } return 0; }
C
gcc -g -O2 -o jump jump.c || exit 2
if [[ $(uname -m) == x86_64 ]]; then
	for options in '--placement full' '--placement witness' '--returns probe' '-e entry,return'; do
		# shellcheck disable=SC2086
		bb user ./jump request --engine probe $options --args --if 'n != 3' -F json -o json -- ./jump
		is "$(jq -r 'select(.event == "entry").args.n' json | xargs)" '0 1 2 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19' "$options: what follows a longjmp is judged by itself"
	done
fi
bb user ./jump request --engine probe --if 'n > 100' -- ./jump
like "$T/err" 'leaves out all' 'nothing is shown: a note says why'

# ---- fields, enumerations, bit fields, pointers ----
while IFS='|' read -r condition path wanted; do
	bb user ./judged look --engine probe --args="$path" --if "$condition" -e entry,return -F json -o json -- ./judged
	is "$(jq -r --arg path "$path" 'select(.event == "entry" and .comm == "judged") | .args[$path]' json | sort -u | paste -sd' ')" "$wanted" "$condition"
done <<'EOF'
item->in->level < -6|item->in->level|-7 -8
item->in->flag == 5|item->in->flag|5
item->in->name == "n1"|item->in->name|n1
item->mode == MODE_ODD|item->mode|MODE_ODD
item->mode < 0|item->mode|MODE_ODD
item->small >= 200|item->small|200 224 240
item->wide == -5000|item->wide|-5000
size > 1000000|fd|8
fd == -1|fd|-1
name == ""|name|
EOF

# ---- with other options ----
bb user ./judged look --engine probe --if 'size == 3000' -l 1 -F json -o json -- ./judged
is "$(jq -r 'select(.event == "entry") | .args.size' json)" 3000 '--limit counts what is shown'
bb user ./judged look leaf --engine probe --if 'size == 3000' -c -- ./judged
like "$T/out" '^look.*ret  3 ' '-c counts what is shown'
while IFS='|' read -r options why; do
	# shellcheck disable=SC2086
	bb user ./judged look $options --if 'size == 1' -- ./judged
	exits 2 "not with $options"
	like "$T/err" "$why" "$options: why"
done <<'EOF'
--last 10|--last exclude
--max-overhead 5|--max-overhead exclude
-e entry|when calls are over
-c --record x|report -c
EOF
while IFS='|' read -r condition options why; do
	# shellcheck disable=SC2086
	bb user ./judged $FUNCTIONS $options --if "$condition" -- ./judged
	exits 2 "refused: $condition"
	like "$T/err" "$why" "$condition: why"
done <<'EOF'
nam == "x"||no function has nam; there are: n, 
size == "x"||size is no string
ret == -EWHAT||no value of ret is called EWHAT
size >||something is missing
size > 1 & n > 1||a condition is NAME == CONSTANT
ret < 0|-e entry,branch|must have return
size == 1 && n == 2||all of these at once
EOF
done_testing
