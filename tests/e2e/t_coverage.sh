#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F lcov, cobertura, drcov and --fail-under: inlined code counts where its source is; halves add up to the whole; and what
# the formats' readers make of it. That it is what compilers' own coverage says: t_coverage_gcov.sh, t_coverage_llvm.sh.
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:gdb cmd:python3 cmd:lcov cmd:genhtml cmd:xmllint

# ---- code that was optimized ----

cat >"$T/opt.c" <<'END'
#include <stdio.h>

static inline __attribute__((always_inline)) int square(int x)
{
	if (x > 3)
		return x * x;
	return -x;
}

static inline __attribute__((always_inline)) int unused(int x)
{
	return x ? printf("x") : puts("y");
}

__attribute__((noinline)) int twice(int x)
{
	int next = x + 1;

	__asm__("" : "+r"(next)); /* anything */
	return square(x) + square(next);
}

__attribute__((noinline)) int never(int x)
{
	if (x == 77)
		return unused(x);
	return 0;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 1; i < argc; i++)
		sum += twice(argv[i][0] - '0');
	if (argc > 10)
		never(argc);
	printf("%d\n", sum);
	return 0;
}
END
cc -O2 -g -o "$T/opt" "$T/opt.c" || exit 2
opt="$T/opt"

# of KEY: its values in $T/info
records() { sed -n "s/^$1://p" "$T/info" | tr '\n' ' '; }

bb user "$opt" '*' -F lcov -o "$T/info" -- "$opt" 1 2 3 4
exits 0 'optimized: lcov'
like "$T/err" '^bbtrace: coverage: functions [0-9.]*% .*' \
	'a note says how much ran'
like "$T/err" ', lines [0-9.]*% \([0-9]* of [0-9]*\), sides of branches [0-9.]*% .*; [0-9]* functions have no source lines and are left out$' \
	'and of what that is'
is "$(records SF)" "$T/opt.c " 'its source has an absolute path'
is "$(records FNDA | tr ' ' '\n' | sort | tr '\n' ' ')" \
	"$(printf '%s\n' 0,never 0,unused 1,main 4,twice 8,square | sort | tr '\n' ' ')" 'functions that were inlined have their calls'
is "$(records FN | tr ' ' '\n' | sort | tr '\n' ' ')" \
	"$(printf '%s\n' 3,square 10,unused 15,twice 23,never 30,main | sort | tr '\n' ' ')" 'and stand where they are declared'
is "$(sed -n 's/^DA:\(5\|20\|25\|35\),/\1 /p' "$T/info" | tr '\n' ' ')" '5 8 20 4 25 0 35 4 ' \
	'a line that was inlined twice ran in both, one that never ran has 0'
is "$(sed -n 's/^BRDA:5,//p' "$T/info" | sort | tr '\n' ' ')" '0,0,1 0,1,3 1,0,2 1,1,2 ' \
	'each copy has a branch of its own, in order of address' || diag "$(grep BRDA "$T/info")"
is "$(sed -n 's/^BRDA:25,//p' "$T/info" | cut -d, -f3 | sort -u)" - 'a branch that was never reached has neither side'
tests/check/lcov_info.py "$T/info" >"$T/said" 2>&1
ok $? 'a strict reader finds nothing wrong with it' || diag "$(cat "$T/said")"
cp "$T/info" "$T/whole"

bb user "$opt" '*' -o "$T/trace" -- "$opt" 1 2 3 4
bb report "$T/trace" -F lcov -o "$T/info"
exits 0 'a trace file is reported as lcov'
cmp "$T/info" "$T/whole" >"$T/said" 2>&1
ok $? 'with the same coverage, without the program' || diag "$(diff "$T/whole" "$T/info")"
bb user "$opt" '*' --engine inline -F lcov -o "$T/info" -- "$opt" 1 2 3 4
cmp "$T/info" "$T/whole" >"$T/said" 2>&1
ok $? 'copies count the same' || diag "$(cat "$T/err"; diff "$T/whole" "$T/info")"
bb user "$opt" '*' --once -F lcov -o "$T/info" -- "$opt" 1 2 3 4
exits 0 'probes that are removed when they were hit'
covered() { sed -E 's/^(DA:[0-9]+|BRDA:.*),[1-9][0-9]*$/\1,1/; s/^FNDA:[1-9][0-9]*,/FNDA:1,/' "$1"; }
is "$(covered "$T/info")" "$(covered "$T/whole")" 'tell what ran all the same'

# ---- halves ----

merged() { lcov --rc lcov_branch_coverage=1 -q "$@" -o "$T/merged" >"$T/said" 2>&1; }
sorted() { grep -E '^(SF|FN|FNDA|DA|BRDA):' "$1" | sort; }
bb user "$opt" '*' -F lcov -o "$T/half1.info" -- "$opt" 1 2
exits 0 'half of the arguments'
bb user "$opt" '*' -o "$T/half2.info" -- "$opt" 3 4
exits 0 'the other half: -o chooses lcov by its name'
merged -a "$T/half1.info" -a "$T/half2.info"
ok $? 'lcov adds them' || diag "$(cat "$T/said")"
# what runs once in each half runs twice
is "$(sorted "$T/merged" | grep -E ':(5|20|6|7),')" "$(sorted "$T/whole" | grep -E ':(5|20|6|7),')" \
	'both are the whole: what depends on the arguments'
is "$(sed -n 's/^DA:32,//p' "$T/merged")" 2 'and what does not ran twice'
genhtml --branch-coverage -q -o "$T/pages" "$T/merged" >"$T/said" 2>&1
ok $? 'genhtml makes pages of it' || diag "$(cat "$T/said")"
# lcov 1 has the lines that ran first, lcov 2 all lines
is "$(grep -o '<td class="headerCovTableEntry[A-Za-z]*">[0-9]*<' "$T"/pages/*/opt.c.gcov.html | head -2 | grep -o '[0-9]*<$' | tr -d '<' | sort -n | tr '\n' ' ')" \
	"$(sed -n 's/^L[HF]://p' "$T/merged" | sort -n | sed -n '1p;2p' | tr '\n' ' ')" 'with as many lines' || diag "$(ls "$T"/pages/*)"

# ---- the other formats ----

bb user "$opt" '*' -F cobertura -o "$T/xml" -- "$opt" 1 2 3 4
exits 0 'cobertura'
xmllint --noout "$T/xml" >"$T/said" 2>&1
ok $? 'is XML' || diag "$(cat "$T/said")"
cat >"$T/figures.py" <<'END'
import os
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
lines = [(int(n.get("number")), int(n.get("hits"))) for n in root.iterfind(".//class/lines/line")]
print(root.get("lines-valid"), root.get("lines-covered"), root.get("branches-valid"), root.get("branches-covered"))
print(" ".join(f"{n}:{hits}" for n, hits in lines))
print(" ".join(sorted(f"{m.get('name')}:{m.find('lines/line').get('hits')}" for m in root.iterfind(".//method"))))
source = root.find("sources/source").text
print(" ".join(os.path.join(source, c.get("filename")) for c in root.iterfind(".//package/classes/class")))
END
python3 "$T/figures.py" "$T/xml" >"$T/figures" 2>&1
of() { sed -n "s/^$1://p" "$T/whole"; }
is "$(<"$T/figures")" "$(of LF) $(of LH) $(of BRF) $(of BRH)
$(of DA | tr ',\n' ': ' | sed 's/ $//')
$(of FNDA | sed 's/\(.*\),\(.*\)/\2:\1/' | sort | tr '\n' ' ' | sed 's/ $//')
$T/opt.c" 'has the lines, functions and branches of lcov' || diag "$(cat "$T/err")"

bb user "$opt" '*' -F drcov -o "$T/drcov" -- "$opt" 1 2 3 4
exits 0 'drcov'
cat >"$T/blocks.py" <<'END'
"""A reader of the format: prints "module offset size" for each block, and fails where it isn't as the head says."""
import re
import struct
import sys

data = open(sys.argv[1], "rb").read()
head, _, rest = data.partition(b"BB Table: ")
lines = head.decode().splitlines()
assert lines[:2] == ["DRCOV VERSION: 2", "DRCOV FLAVOR: drcov"], lines[:2]
count = int(re.fullmatch(r"Module Table: version 2, count (\d+)", lines[2])[1])
assert lines[3] == "Columns: id, base, end, entry, path", lines[3]
modules = [line.split(", ", 4) for line in lines[4:]]
assert len(modules) == count and [int(m[0]) for m in modules] == list(range(count)), modules
number, _, blocks = rest.partition(b" bbs\n")
assert len(blocks) == 8 * int(number), (len(blocks), number)
for start, size, module in struct.iter_unpack("<IHH", blocks):
    assert int(modules[module][1], 16) + start + size <= int(modules[module][2], 16)
    print(modules[module][4], hex(start), size)
END
python3 "$T/blocks.py" "$T/drcov" >"$T/blocks" 2>"$T/said"
ok $? 'its head and its table agree' || diag "$(cat "$T/said")"
ran=$(sed -n 's/.*blocks [0-9.]*% (\([0-9]*\) of .*/\1/p' "$T/err")
is "$(wc -l <"$T/blocks") $(cut -d' ' -f1 "$T/blocks" | sort -u)" "$ran $opt" 'it has as many blocks as ran'
# an oracle of all instructions that ran
gdb -nx -batch -ex 'set confirm off' -ex 'set disable-randomization on' -ex "break *twice" -ex "run 1 2 3 4 >/dev/null" \
	-ex 'python
import gdb
seen = set()
for _ in range(4):
    while True:
        pc = int(gdb.selected_frame().pc())
        name = gdb.selected_frame().name()
        if name != "twice" and seen and name == "main":
            break
        seen.add(pc)
        gdb.execute("stepi", to_string=True)
    gdb.execute("continue", to_string=True)
start = int(gdb.parse_and_eval("(long)&twice"))
print("ran", " ".join(str(p - start) for p in sorted(seen)))
end' "$opt" >"$T/gdb" 2>&1
base=$(nm "$opt" | sed -n 's/^0*\([0-9a-f]*\) T twice$/\1/p')
size=$(nm -S "$opt" | sed -n 's/^[0-9a-f]* 0*\([0-9a-f]*\) T twice$/\1/p')
cat >"$T/insns.py" <<'END'
"""Are the instructions that ran, by the debugger, those of the blocks?"""
import sys

base, size = int(sys.argv[1], 16), int(sys.argv[2], 16)
ran = {int(n) for line in open(sys.argv[3]) if line.startswith("ran ") for n in line.split()[1:]}
blocks = [(int(f[1], 16) - base, int(f[2])) for f in (line.split() for line in open(sys.argv[4]))]
blocks = [(start, n) for start, n in blocks if 0 <= start < size]
inside = {pc for pc in ran if any(start <= pc < start + n for start, n in blocks)}
assert ran, "the debugger saw nothing"
print(len(ran - inside), sum(not any(start <= pc < start + n for pc in ran) for start, n in blocks))
END
is "$(python3 "$T/insns.py" "$base" "$size" "$T/gdb" "$T/blocks" 2>&1)" '0 0' \
	'each instruction that a debugger saw is in a block, each block has one' || diag "$(tail -5 "$T/gdb")"

# ---- --fail-under ----

run() { bb user "$opt" twice never "$@" -- "$opt" 1 2 3 4; }
run -F lcov -o "$T/info" --fail-under 10
exits 0 '--fail-under: enough lines ran'
run -F lcov -o "$T/info" --fail-under 99.5
exits 3 '--fail-under: too few lines ran'
like "$T/err" '^bbtrace: coverage of lines is under 99\.50% \(--fail-under\): [0-9]+ of [0-9]+$' 'a note says how many'
run -F lcov -o "$T/info" --fail-under 99,branch
exits 3 'too few sides of branches were taken'
run -F drcov -o "$T/info" --fail-under 99
like "$T/err" '^bbtrace: coverage of blocks is under 99' 'without lines it is of blocks'
run -c --fail-under 100
exits 3 'of counts, as text'
run -F summary -o "$T/info" --fail-under 5
exits 0 'of a summary'
bb user "$opt" twice -F lcov -o "$T/info" --fail-under 100 -- bash -c 'exit 7'
exits 7 "CMD's own failure goes first"
run -F lcov -o "$T/info" --record "$T/beside" --fail-under 100
exits 3 'beside a trace file'
run -o "$T/beside" --fail-under 100
exits 2 'a trace file alone has no coverage: it is refused'
bb report "$T/trace" -F lcov -o "$T/info" --fail-under 100
exits 3 'of a report'
bb report "$T/trace" -F annotate -o "$T/info" --fail-under 10.25,branch
exits 0 'of annotated code'
for value in x 101 -1 5.125 80,lines '' 7. .5 100.01; do
	run -F lcov -o "$T/info" "--fail-under=$value"
	exits 2 "--fail-under '$value' is refused"
done
run -F json --fail-under 5
exits 2 'a format without coverage is refused'
like "$T/err" 'add -F lcov' 'the refusal says which have it'

# ---- without debug information ----

cp "$opt" "$T/stripped" && strip -g "$T/stripped"
bb user "$T/stripped" '*' -F lcov -o "$T/info" -- "$T/stripped" 1 2
exits 0 'lcov of a program without debug information'
is "$(<"$T/info")" '' 'has no lines'
like "$T/err" '^bbtrace: no source lines are known' 'and a note says so'
bb user "$T/stripped" '*' -F drcov -o "$T/drcov" -- "$T/stripped" 1 2 3 4
python3 "$T/blocks.py" "$T/drcov" | cut -d' ' -f2- | cmp - <(cut -d' ' -f2- "$T/blocks") >"$T/said" 2>&1
ok $? 'drcov needs none' || diag "$(cat "$T/said" "$T/err")"
done_testing
