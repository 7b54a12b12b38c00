#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ten thousand files of counts (FILES) as one: each is added, and memory is that of a few.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes
FILES=${FILES:-10000}
KINDS=20

cp "$(command -v gzip)" "$T/gz"
head -c 20000 "$ROOT/src/plan/plan.h" >"$T/input"
for ((i = 0; i < KINDS; i++)); do
	"$BBTRACE" user "$T/gz" '*' -q -c --record "$T/$i.bbt" --tag "kind $i" -o /dev/null -- "$T/gz" -$((i % 9 + 1)) -c "$T/input" >/dev/null
done
mkdir "$T/files"
for ((i = 0; i < FILES; i++)); do ln "$T/$((i % KINDS)).bbt" "$T/files/$i.bbt"; done

# memory COMMAND...: its largest resident set, in kB; stderr in $T/err
memory() { python3 -c '
import resource, subprocess, sys
with open(sys.argv[1], "w") as err:
    status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=err).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if status == 0 else status)' "$T/err" "$@"; }

few=$(memory "$BBTRACE" merge "$T"/[0-9]*.bbt --tag all -o "$T/few")
events=$(summary events)
many=$(memory "$BBTRACE" merge "$T"/files/*.bbt --tag all -o "$T/many")
is "$(summary events)" "$((events * (FILES / KINDS)))" "$FILES files: all that they counted"
is "$((many < 2 * few))" 1 "$FILES files take $many kB, $KINDS take $few kB"
"$BBTRACE" report -q "$T/few" -o "$T/few.txt"
"$BBTRACE" report -q "$T/many" -o "$T/many.txt"
multiply() { perl -pe 's/(?<![\w+.])(\d+)(?![\w.])/$1 * '"$1"'/ge' "$2"; }
lines() { tr -s ' ' | sort; } # columns are as wide as they need to be
same <(lines <"$T/many.txt") <(multiply $((FILES / KINDS)) "$T/few.txt" | lines) 'each branch and target as often as in all of them'
apart=$(memory "$BBTRACE" merge "$T"/files/*.bbt -o "$T/apart")
is "$((apart < 3 * few))" 1 "with a part for each they take $apart kB"
"$BBTRACE" report -q "$T/apart" -o "$T/apart.txt"
same <(sort "$T/apart.txt") <(sort "$T/many.txt") 'the parts add up to the same'
is "$("$BBTRACE" report -q "$T/apart" -F tests:names | wc -l)" "$KINDS" 'tests:names: each name once'
done_testing
