#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Counts in trace files; several files as one: against the same program in one run, and against lcov, which adds up on its
# own.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:lcov

program parts -O1
all=(main choose even odd)

# traced NAME OPTIONS FUNC... -- ARG...: a run of parts in $T/NAME.bbt
traced() {
	local name=$1 options=$2 functions=()

	for (( ; $# > 2; )); do
		shift
		[[ $2 == -- ]] && break
		functions+=("$2")
	done
	# shellcheck disable=SC2086 # several words
	bb user "$T/parts" "${functions[@]}" --tag "$name" $options -- "$T/parts" "${@:3}"
	[[ $status == 0 ]] || diag "$(cat "$T/err")"
}
# count, record NAME FUNC... -- ARG...: its counts, which are shown in $T/NAME.txt; its events
count() { traced "$1" "-c --record $T/$1.bbt -o $T/$1.txt" "${@:2}"; }
record() { traced "$1" "-o $T/$1.bbt" "${@:2}"; }
# report NAME FORMAT FILE...: $T/NAME.FORMAT
report() {
	bb report "${@:3}" -F "$2" -o "$T/$1.$2"
	[[ $status == 0 ]] || diag "$(cat "$T/err")"
}
# names of tests are another matter
lines_of() { grep -av '^TN:' "$1"; }

# ---- one file of counts is what was shown live ----

count whole "${all[@]}" -- 0 1 2 3 4 5 6
cp "$T/err" "$T/whole.err"
ok "$([[ -s $T/whole.bbt ]]; echo $?)" 'a file of counts is written'
bb report "$T/whole.bbt" -o "$T/again.txt"
exits 0 'counts are reported'
same <(sort "$T/again.txt") <(sort "$T/whole.txt") 'report shows the counts that -c showed'
is "$(tail -n 1 "$T/err")" "$(tail -n 1 "$T/whole.err")" 'report has the summary of -c'
record events "${all[@]}" -- 0 1 2 3 4 5 6
for format in lcov drcov bolt autofdo; do
	report whole $format "$T/whole.bbt"
	report events $format "$T/events.bbt"
	same <(lines_of "$T/whole.$format") <(lines_of "$T/events.$format") "$format of counts is that of events"
done
for format in autofdo lcov; do
	report whole $format "$T/whole.bbt" choose odd
	report events $format "$T/events.bbt" choose odd
	same <(lines_of "$T/whole.$format") <(lines_of "$T/events.$format") "$format of counts of some functions is that of events"
done
for format in summary annotate dot; do
	report whole $format "$T/whole.bbt" odd
	is "$(grep -owE 'even|odd|choose|main' "$T/whole.$format" | sort -u)" odd "$format of counts has only the function that is asked for"
done
for format in summary annotate html json cobertura; do
	bb report "$T/whole.bbt" -F $format -o "$T/shown"
	exits 0 "counts as $format"
done
for format in chrome folded svg callgrind pprof; do
	bb report "$T/whole.bbt" -F $format
	exits 1 "$format needs events"
	like "$T/err" "$format shows events, and a file has only counts: use text, json" "$format: the error says what counts can be"
done
bb report "$T/whole.bbt" --info
like "$T/out" '^tag  *whole$' '--info: the tag'
like "$T/out" '^counts  *of 1 trace: whole$' '--info: the counts'

# ---- several ----

parts=(first second third)
count first "${all[@]}" -- 0 1
count second "${all[@]}" -- 2 3
count third "${all[@]}" -- 4 5 6
files=("$T/first.bbt" "$T/second.bbt" "$T/third.bbt")
for part in "${parts[@]}"; do
	report "$part" lcov "$T/$part.bbt"
	is "$(sort -u <(grep '^TN:' "$T/$part.lcov"))" "TN:$part" 'lcov: the name of the trace is that of the test'
done
sed -i 's/^TN:.*/TN:/' "$T/first.lcov" "$T/second.lcov" "$T/third.lcov" # lcov adds up what is of one test
lcov --rc lcov_branch_coverage=1 -q -a "$T/first.lcov" -a "$T/second.lcov" -a "$T/third.lcov" -o "$T/lcov.info" 2>"$T/lcov.err" ||
	diag "$(cat "$T/lcov.err")"
report joined lcov "${files[@]}"
# what lcov adds up: DA, BRDA, FNDA (lcov 2 writes FNA:INDEX,CALLS,NAME)
sums() { sed -E 's/^FNA:[0-9]+,/FNDA:/' "$1" | grep -E '^(DA|BRDA|FNDA|SF)' | sort; }
is "$(sums "$T/joined.lcov")" "$(sums "$T/lcov.info")" 'three files as one: what lcov -a makes of theirs'
ok "$([[ $(sums "$T/joined.lcov" | grep -c '^DA') -gt 10 ]]; echo $?)" 'these have lines'
# main runs three times instead of once
record apart "${all[@]}" -- 0 1
record apart2 "${all[@]}" -- 2 3
record apart3 "${all[@]}" -- 4 5 6
report apart lcov "$T/apart.bbt" "$T/apart2.bbt" "$T/apart3.bbt"
same <(lines_of "$T/apart.lcov") <(lines_of "$T/joined.lcov") 'three files of events: as those of counts'
report mixed lcov "$T/first.bbt" "$T/apart2.bbt" "$T/third.bbt"
same <(lines_of "$T/mixed.lcov") <(lines_of "$T/joined.lcov") 'counts and events together'
bb report "${files[@]}" -o "$T/joined.txt"
exits 0 'several files of counts as text'
bb merge "${files[@]}" -o "$T/merged.bbt"
exits 0 'merged'
bb report "$T/merged.bbt" -o "$T/merged.txt"
same "$T/merged.txt" "$T/joined.txt" 'the merged file is the report of all'
bb report "$T/merged.bbt" --info
is "$(grep -c '^counts  *of 1 trace: \(first\|second\|third\)$' "$T/out")" 3 'merge keeps apart what has names'
bb merge "${files[@]}" --tag all -o "$T/one.bbt"
bb report "$T/one.bbt" --info
like "$T/out" '^counts  *of 3 traces: all$' 'merge --tag: one part'
bb merge "$T/one.bbt" "$T/merged.bbt" -o "$T/twice.bbt"
bb report "$T/twice.bbt" -o "$T/twice.txt"
bb report "${files[@]}" "${files[@]}" -o "$T/six.txt"
same "$T/twice.txt" "$T/six.txt" 'merged files can be merged'
bb report "${files[@]}" "$T/merged.bbt" --tag second -o "$T/tagged.txt"
bb report "$T/second.bbt" "$T/second.bbt" -o "$T/second2.txt"
same "$T/tagged.txt" "$T/second2.txt" 'report --tag: the counts of that name alone'

bb report "$T/apart.bbt" "$T/apart2.bbt" "$T/apart3.bbt" --tag apart2 -F lcov -o "$T/tagged.lcov"
same <(lines_of "$T/tagged.lcov") <(lines_of "$T/second.lcov") 'report --tag: of events, too'
bb report "$T/apart.bbt" --tag nosuch -F lcov
exits 1 'a name that none has'
like "$T/err" "no trace is named 'nosuch'; -F tests shows" 'the error says so'
bb report "$T/apart.bbt" --tag apart -F chrome
exits 1 'events of a name: not there'
like "$T/err" 'chrome shows events, and --tag selects counts' 'and why'

# ---- functions that not all files have ----

count left main choose even -- 1 2
count right choose odd -- 0 4
report left lcov "$T/left.bbt"
report right lcov "$T/right.bbt"
sed -i 's/^TN:.*/TN:/' "$T/left.lcov" "$T/right.lcov"
report both lcov "$T/left.bbt" "$T/right.bbt"
lcov --rc lcov_branch_coverage=1 -q -a "$T/left.lcov" -a "$T/right.lcov" -o "$T/lcov.info" 2>"$T/lcov.err"
is "$(sums "$T/both.lcov")" "$(sums "$T/lcov.info")" 'files of other functions: what lcov -a makes of theirs'
report swapped lcov "$T/right.bbt" "$T/left.bbt"
is "$(sums "$T/swapped.lcov")" "$(sums "$T/both.lcov")" 'in any order'
bb report "$T/left.bbt" "$T/right.bbt" odd -F lcov -o "$T/odd.lcov"
is "$(grep -c '^FN:' "$T/odd.lcov")" 1 'a function that only one of them has'
bb report "$T/left.bbt" "$T/right.bbt" nosuch
exits 1 'a function that none has'
like "$T/err" "no function 'nosuch' was traced" 'the error says so'

bb report "$T/left.bbt" "$T/parts"
exits 1 'a file that is no trace'
like "$T/err" "$T/parts is not a trace file of bbtrace" 'the error says so'

# ---- events of several ----

bb report "$T/apart.bbt" "$T/apart2.bbt" "$T/apart3.bbt" -F summary -o "$T/summary"
is "$(grep -E ' (main|choose)$' "$T/summary" | awk '{print $1, $NF}' | sort | xargs)" '3 main 7 choose' 'summary: calls of all files'
bb report "$T/apart.bbt" "$T/apart2.bbt" "$T/apart3.bbt" -F json -o "$T/json"
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "main"')" 3 'json: the events of all'
is "$(json_lines "$T/json" '$e->{event} eq "mark" ? $e->{text} : ""' | xargs)" 'apart apart2 apart3' 'json: marks tell where each begins'
bb report "$T/apart.bbt" "$T/apart2.bbt" -F folded:count -o "$T/folded"
is "$(grep -c ';main;choose' "$T/folded")" "$(grep ';main;choose' "$T/folded" | cut -d' ' -f1 | sort -u | wc -l)" 'folded: each stack once'
like "$T/folded" ';main;choose 4' 'folded: with the calls of both'
bb report "$T/apart.bbt" "$T/apart2.bbt" -F chrome
exits 1 'chrome shows one trace'
like "$T/err" 'chrome shows one trace: give one file, or another format' 'and says so'

# ---- which tests ran what ----

report ran tests "${files[@]}"
like "$T/ran.tests" '^# 3 tests$' 'tests: how many there are'
like "$T/ran.tests" '^even parts.c:14: first second$' 'tests of a function'
like "$T/ran.tests" '^odd parts.c:21: first third$' 'tests of another one'
is "$(grep -A2 '^even ' "$T/ran.tests" | tail -n 2 | sed 's/.* j[a-z]* //' | xargs)" 'taken: second not taken: first second' \
	'tests of the sides of its first branch'
bb report "$T/merged.bbt" even -F tests:names
is "$(xargs <"$T/out")" 'first second' 'tests:names: those that are to be run for a function, of a merged file'
bb report "$T/apart.bbt" "$T/apart2.bbt" "$T/apart3.bbt" odd -F tests:names
is "$(xargs <"$T/out")" 'apart apart3' 'tests:names: of events'
bb user "$T/parts" main -F tests -- "$T/parts"
exits 2 'tests are of recorded traces'

# ---- parts of a running trace that marks name ----

"$BBTRACE" user "$T/parts" "${all[@]}" -c --record "$T/marks.bbt" --control-socket "$T/socket" -o "$T/marks.txt" 2>"$T/marks.err" \
	</dev/null -t 600 &
tracer=$!
for ((i = 0; i < PATIENCE * 10; i++)); do
	"$BBTRACE" ctl "$T/socket" status >/dev/null 2>&1 && break
	sleep 0.1
done
i=0
for run in '0 1' '2 3' '4 5 6'; do
	"$BBTRACE" ctl "$T/socket" mark "${parts[i++]}" || diag 'no mark'
	# shellcheck disable=SC2086 # several arguments
	"$T/parts" $run
done
"$BBTRACE" ctl "$T/socket" quit --wait
wait $tracer
for part in "${parts[@]}"; do
	bb report "$T/marks.bbt" --tag "$part" -F lcov -o "$T/part.lcov"
	same <(lines_of "$T/part.lcov") <(lines_of "$T/$part.lcov") "what was counted after the mark $part is what a run of its own counts"
done
bb report "$T/marks.bbt" -o "$T/sum.txt"
same <(sort "$T/sum.txt") <(sort "$T/marks.txt") 'the parts add up to what was shown'
bb report "$T/marks.bbt" even -F tests:names
is "$(xargs <"$T/out")" 'first second' 'tests:names: of marks'

# ---- another build ----

cp "$T/parts" "$T/parts.1"
cp "$T/first.bbt" "$T/build1.bbt"
program parts -O1 -DBUILD=2
count build2 "${all[@]}" -- 0 1
bb report "$T/build1.bbt" "$T/build2.bbt"
exits 1 'another build is refused'
id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
like "$T/err" "build2.bbt: parts is another build .build-id $(id "$T/parts"). than in the files before .build-id $(id "$T/parts.1").; --by-symbol" \
	'with both build-ids and the next step'
bb report "$T/build1.bbt" "$T/build2.bbt" --by-symbol -F summary -o "$T/mapped"
exits 0 'by symbol'
like "$T/err" '3 functions of other builds were found by their symbols; 1 stay apart' 'it says how many were found'
is "$(grep -E ' (choose|even|odd|main)$' "$T/mapped" | awk '{print $1, $NF}' | sort | xargs)" '1 odd 1 odd 2 even 2 main 4 choose' \
	'what corresponds is added up, what does not stays apart'
bb report "$T/build1.bbt" "$T/build2.bbt" "$T/build2.bbt" --by-symbol -F summary -o "$T/mapped"
is "$(grep -E ' (choose|even|odd|main)$' "$T/mapped" | awk '{print $1, $NF}' | sort | xargs)" '1 odd 2 odd 3 even 3 main 6 choose' \
	'and so are further files of the other build'
insns() { sed -n 's/.*+0x\([0-9a-f]*  *[a-z].*\)/\1/p' "$1"; }
for files in build1 'build1 build2'; do
	# shellcheck disable=SC2046,SC2086 # several words
	bb report $(printf "$T/%s.bbt " $files) --by-symbol even -F annotate -o "$T/$files.insns"
done
ok "$([[ $(insns "$T/build1.insns" | wc -l) -gt 5 ]]; echo $?)" 'there are instructions'
same <(insns "$T/build1 build2.insns") <(insns "$T/build1.insns") 'the code that is shown is that of the first build'
bb report "$T/build2.bbt" "$T/build1.bbt" --by-symbol -F lcov -o "$T/mapped.lcov"
exits 0 'by symbol, as lcov'

# ---- damaged ones among them ----

head -c $(($(stat -c %s "$T/second.bbt") - 30)) "$T/second.bbt" >"$T/cut.bbt"
bb report "$T/first.bbt" "$T/cut.bbt" "$T/third.bbt" -o "$T/damaged.txt"
exits 1 'one is cut'
like "$T/err" "cut.bbt: cut at byte" 'which one'
like "$T/err" '1 of 3 files are damaged or have no end; what can be read of them was taken' 'how many'
bb report "$T/first.bbt" "$T/third.bbt" -F tests:names odd
is "$(xargs <"$T/out")" 'first third' 'the others are whole'
bb merge "$T/first.bbt" -o "$T/first.bbt"
exits 2 'the output is no input'
bb merge "$T/first.bbt"
exits 2 'merge needs an output'
bb merge -o "$T/x.bbt"
exits 2 'merge needs files'
done_testing
