#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# python3's start, recorded once and rendered in every format: each is opened by the tool that reads it, and all
# figures agree.
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes file:/usr/bin/python3 cmd:perl

HERE=$ROOT/tests/formats
# has COMMAND NAME: else the test skips
has() { command -v "$1" >/dev/null || { skip "$2" "no $1" && false; }; }

bb user /usr/bin/python3 'PyUnicode_*' PyObject_GetAttr 'PyDict_Get*' -k -o "$T/trace" -- /usr/bin/python3 -c 'print("hello")'
exits 0 'python3 starting is recorded'
is "$(summary lost)" 0 'of python3 starting nothing is lost'
is "$(($(summary functions) > 60 && $(summary events) > 50000))" 1 'the recording of python3 has dozens of functions and many events'
is "$(cat "$T/out")" hello 'python3, recorded, prints what it always does'
like "$T/err" '^bbtrace: ' 'the recording of python3 has a summary'
formats=$("$BBTRACE" report --help-all | sed -n '/^formats:/,$s/^  \([^ ]*\) .*/\1/p')
wrong=
for format in $formats; do
	# there are no lines without debug information
	"$BBTRACE" report -q "$T/trace" -F "$format" >"$T/$format" 2>"$T/err" && [[ ! -s $T/err ]] &&
		[[ -s $T/$format || $format =~ ^(lcov|autofdo)$ ]] || wrong+=" $format"
done
is "$wrong" '' "the recording of python3 is rendered as $(xargs <<<"$formats")"

# ---- JSON: strictly read, and the figures for the others ----
python3 - "$T/json" >"$T/figures" <<'END'
import collections, json, sys
def no_constant(x): raise ValueError(x)
count, symbols = collections.Counter(), set()
for line in open(sys.argv[1], "rb"):
    e = json.loads(line.decode("utf-8", "strict"), parse_constant=no_constant)
    count[e["event"]] += 1
    count["taken"] += e.get("taken") is True
    count["not"] += e.get("taken") is False
    if e["event"] == "entry": symbols.add(e["symbol"])
assert e["event"] == "summary" and e["events"] == sum(count[k] for k in ("entry", "branch", "return")), e
print(*(count[k] for k in ("entry", "branch", "return", "taken", "not")), len(symbols))
END
is $? 0 'json is strict, and its summary adds up'
read -r entries branches returns taken untaken functions <"$T/figures"
perl "$HERE/count.pl" "$T/json" "$T/count"
calls=$(awk '{ n += $1 } END { print n }' "$T/count.functions")
is "$calls" "$entries" 'text shows each entry of JSON as a call'

"$BBTRACE" report -q "$T/trace" -F text --no-fold >"$T/every"
is "$(grep -cE ' returns (0x|-[0-9]|\?)' "$T/every") $(grep -c '  not taken -> ' "$T/every") $(grep -cE '  taken -> ' "$T/every")" \
	"$returns $untaken $taken" 'text has as many lines of each kind as JSON has events'
is "$(($(wc -l <"$T/text") < $(wc -l <"$T/every")))" 1 'text has fewer lines with loops folded'

if has jq 'chrome is read by jq'; then
	is "$(jq -r '[.traceEvents[] | select(.ph == "B")] | length' "$T/chrome") $(jq -r '[.traceEvents[] | select(.cat == "branch")] | length' "$T/chrome")" \
		"$entries $branches" 'chrome, read by jq, has a slice for each call and an instant for each branch'
fi
python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8", errors="strict"))' "$T/chrome"
is $? 0 "chrome is read by python3's json"
if has protoc 'perfetto is decoded by protoc'; then
	gzip -dc <"$T/perfetto" | protoc -I "$ROOT/src/output/timeline" --decode=perfetto.protos.Trace perfetto.proto >"$T/decoded" 2>"$T/protoc.err"
	is "$? $(cat "$T/protoc.err")" '0 ' 'perfetto is decoded by protoc'
	is "$(python3 "$HERE/perfetto.py" packets <"$T/decoded" | awk '{ n[$4]++ } END { print n["entry"], n["return"], n["branch"] }')" \
		"$entries $returns $branches" 'perfetto has all calls, returns and branches'
fi

is "$(awk 'NR > 1 && /^$/ { exit } NR > 1 { n += $1 } END { print n }' "$T/summary") $(awk 'NR > 1 && /^$/ { exit } NR > 1 { n++ } END { print n }' "$T/summary")" \
	"$entries $functions" 'summary has all calls, and a row for each function'
for format in folded folded:count; do
	is "$(grep -vcE '^(python3(;[^; ]+)+ [0-9]+|#.*)$' "$T/$format")" 0 "$format: each line is a stack, a blank and a number"
done
is "$(grep -v '^#' "$T/folded:count" | awk '{ n += $NF } END { print n }')" "$entries" 'folded:count has all calls'

if has xmllint 'svg and html are read by xmllint'; then
	for format in svg svg:count; do
		xmllint --noout --nonet "$T/$format" >"$T/lint" 2>&1
		is "$? $(cat "$T/lint")" '0 ' "$format is valid XML"
	done
	is "$(xmllint --xpath '//*[local-name()="title"]/text()' "$T/svg:count" | sed -n 's/,//g;2s/ calls$//p')" "$entries" \
		'svg:count has all calls'
	# elements of HTML 5 that libxml2 doesn't know are no faults of the page
	xmllint --html --noout --nonet "$T/html" 2>&1 | grep error | grep -vE 'Tag (main|canvas|section|nav|header|footer|figure|figcaption|details|summary|svg|g|rect|text|path|title|defs|style|foreignobject) invalid' >"$T/lint"
	is "$(head -5 "$T/lint")" '' 'html is read by xmllint without complaint'
fi

if has dot 'dot is read by graphviz'; then
	# laying out dozens of graphs takes graphviz minutes: all are parsed, two laid out
	nop "$T/dot" >"$T/dot.canon" 2>"$T/dot.err"
	is "$? $(cat "$T/dot.err") $(grep -c 'subgraph "*cluster' "$T/dot.canon")" "0  $functions" 'dot is parsed by graphviz, with a graph for each function'
	"$BBTRACE" report -q "$T/trace" -F dot PyObject_GetAttr PyUnicode_Contains | timeout "$BB_TIMEOUT" dot -Tsvg >"$T/dot.svg" 2>"$T/dot.err"
	is "$? $(cat "$T/dot.err") $(grep -c 'class="cluster"' "$T/dot.svg")" '0  2' 'dot is drawn by graphviz'
fi
is "$(grep -cE '^Py[A-Za-z_0-9.]+ in .*: [0-9]+ calls?, [0-9]+ branch(es)?, [0-9]+/[0-9]+ blocks(, [0-9]+/[0-9]+ sides of branches)?$' "$T/annotate")" "$functions" 'annotate has each function that was called'

if has callgrind_annotate 'callgrind is read by callgrind_annotate'; then
	callgrind_annotate --auto=no --threshold=100 --show=Branches --sort=Branches "$T/callgrind" >"$T/annotated" 2>"$T/annotate.err"
	is "$? $(cat "$T/annotate.err")" '0 ' 'callgrind is read by callgrind_annotate without complaint'
	is "$(sed -nE 's/^ *([0-9,]+) \(100.*PROGRAM TOTALS.*/\1/p' "$T/annotated" | tr -d ,)" "$branches" 'callgrind has all branches'
fi

if has protoc 'pprof is decoded by protoc'; then
	gzip -dc <"$T/pprof" | protoc -I "$ROOT/src/output/profile" --decode=perftools.profiles.Profile profile.proto >"$T/decoded" 2>"$T/protoc.err"
	is "$? $(cat "$T/protoc.err")" '0 ' 'pprof is decoded by protoc'
	is "$(perl "$HERE/pprof.pl" check <"$T/decoded")" '' 'pprof: each reference is resolved'
	is "$(perl "$HERE/pprof.pl" stacks <"$T/decoded" | awk '{ n += $NF } END { print n }')" "$entries" 'pprof has all calls'
fi
"$BBTRACE" report -q "$T/trace" -c -F json >"$T/edges"
is "$(json_lines "$T/edges" '$e->{kind} =~ /jcc|loop/ && $e->{taken_count} + $e->{not_taken_count}' | awk '{ n += $1 } END { print n }')" \
	"$((taken + untaken))" '-c has all conditional branches'
done_testing
