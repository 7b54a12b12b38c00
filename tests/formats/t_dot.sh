#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F dot: graphviz draws it, and the edges have JSON's counts.
. "$(dirname "$0")/../e2e/lib.sh"
needs recorded cmd:dot cmd:python3

# Edges of the graph as graphviz reads it, of branches with a count: "FROM TO COUNT" by the first words of the nodes'
# labels. (Those of a block that runs into the next one are grey.)
edges() {
	dot -Tdot_json "$1" 2>"$T/dot.err" | python3 -c '
import json, re, sys
g = json.load(sys.stdin)
names = {o["_gvid"]: re.split(r"\\l|   ", o.get("label", o["name"]))[0] for o in g["objects"]}
for e in g.get("edges", []):
    label = e.get("label", "0").strip()
    if label != "0" and e["color"] != "#495057": print(names[e["tail"]], names[e["head"]], label)'
}
# Branches of JSON that go from block to block: the same as sums by where the branch stands and where it went.
sums() {
	python3 - "$T/json" <<'END'
import collections, json, sys
count = collections.Counter()
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["event"] == "branch" and e["kind"] in ("jcc", "loop", "jmp", "ijmp"): count[e["to"]["offset"]] += 1
print(*("%#x:%d" % x for x in sorted(count.items())))
END
}
into() {
	edges "$T/dot" | grep -v '?$' | awk '$3 > 0 { print $2, $3, $1 }' | python3 -c '
import collections, sys
fall, count = collections.Counter(), collections.Counter()
for line in sys.stdin:
    to, n, source = line.split()
    count[int(to.split("+")[1], 16) if "+" in to else 0] += int(n)
print(*("%#x:%d" % x for x in sorted(count.items())))'
}
draw() { # NAME PROGRAM FUNC
	recorded "$1" user "${@:2}" -- "$2"
	shift
	bb report "$T/trace" -F json -o "$T/json"
	bb report "$T/trace" -F dot -o "$T/dot"
	dot -Tsvg "$T/dot" -o "$T/svg" 2>"$T/dot.err"
	is "$? $(cat "$T/dot.err")" '0 ' "$2: graphviz draws it"
}

program switch -O1 -fno-jump-tables
draw switch-O1 "$T/switch" pick
is "$(into)" "$(sums)" 'dot: what goes into each block is what JSON has'
program switch -O2
draw switch-O2 "$T/switch" pick
is "$(into)" "$(sums)" 'dot: what goes into each block through a jump table is what JSON has'
program loops -O1
draw loops "$T/loops" nested
if is_root; then
	bb user "$T/loops" nested -F dot -o "$T/live" -- "$T/loops"
	same "$T/live" "$T/dot" 'dot: a trace is shown as it is when it was recorded'
fi
is "$(into)" "$(sums)" 'dot: what goes into each block of loops within loops is what JSON has'
like "$T/dot" 'label="nested \[loops\]: 3 calls, [0-9]+ branches"' 'dot: a graph has the function, its calls and branches'

program fptr -O1
draw fptr "$T/fptr" operands
called() { edges "$T/dot" | awk '$2 !~ /\+/ { n[$2] += $3 } END { for (t in n) print t, n[t] }' | sort; }
from_json() { json_lines "$T/json" 'our %n; $e->{kind} && $e->{kind} eq "icall" and $n{$e->{to}{symbol}}++;
	$e->{event} eq "summary" && join "\n", map { "$_ $n{$_}" } sort keys %n'; }
isnt "$(from_json)" '' 'the recording for dot has indirect calls'
is "$(called)" "$(from_json)" 'dot: indirect calls have edges to what they called'
cp "$T/switch" "$T/\"q\\l"
draw quoted "$T/\"q\\l" pick

# Graphviz takes no more than 16382 bytes in a row.
long=$(printf 'n%.0s' {1..20000})
source_program long c <<END
int f(int n) __asm__("$long");
__attribute__((noipa)) int f(int n) { return n > 1 ? n : 5; }
int main(int c, char **v) { return f(c) != 5; }
END
draw long "$T/long" 'nnn*'
like "$T/dot" 'label="n+\.\.\. \([0-9]+ more bytes\)' 'dot: a name of 20000 bytes is cut, and says so'
done_testing
