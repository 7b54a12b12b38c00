#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# diff as JSON and as a page: both have the facts of the text; steps are the lines that report has for them, counts are those
# of all lines; what runs of events and of counts have in common is said of both.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs recorded cmd:jq cmd:python3 cmd:xmllint

# Two ways in deep(), two orders of left() and right(), a thread more, an end.
source_program '<script>&' c -lpthread <<'END'
#include <pthread.h>
#include <stdlib.h>
volatile int sink;
__attribute__((noipa)) int left(int n) { return n > 3 ? n : -n; }
__attribute__((noipa)) int right(int n) { if (n & 1) sink += n; return n * 2; }
__attribute__((noipa)) int deep(int d, int n)
{
	if (d)
		return deep(d - 1, n) + 1;
	if (n > 1)
		for (int i = 0; i < n * 3; i++)
			sink += right(i);
	return sink;
}
void *worker(void *p) { sink += left((long)p); return NULL; }
int main(int argc, char **argv)
{
	int m = atoi(argv[1]);
	pthread_t t;

	sink += left(1);
	deep(argc > 2 ? atoi(argv[2]) : 3, m);
	if (m & 1) { sink += left(7); sink += right(3); } else { sink += right(3); sink += left(7); }
	for (long i = 0; i < m; i++) {
		pthread_create(&t, NULL, worker, (void *)i);
		pthread_join(t, NULL);
	}
	for (int i = 0; i < m; i++)
		left(i);
	return 0;
}
END
P=$T/'<script>&'
# record FILE NAME OPTION ARG...: without main, so that what decides is not always traced
record() {
	# shellcheck disable=SC2086 # several options, or none
	recorded "diff-$2" user "$P" left right deep -q $3 -- "$P" "${@:4}"
	mv "$T/trace" "$T/$1"
}
record a.bbt a '' 1
record '<script>b.bbt' b '' 2
record more.bbt more '' 4
record deep.bbt deep '' 2 40
record none.bbt none '-r none' 2
A=$T/a.bbt B=$T/'<script>b.bbt'
differences() { jq -c 'select(.event == "difference")' "$1"; }
summary_of() { tail -n 1 "$1" | jq -r "$2"; }

bb diff "$A" "$B" -n 100 --context 7
exits 1 'two runs that differ'
cp "$T/out" "$T/text"
cp "$T/err" "$T/notes"
bb diff "$A" "$B" -n 100 --context 7 -F json -o "$T/json"
exits 1 'as JSON: the exit status is the same'
jq -e . "$T/json" >"$T/read"
ok $? 'each line is JSON'
bb diff "$B" "$T/more.bbt" -n 100 --context 7 -F json -o "$T/more"
is "$(differences <(cat "$T/json" "$T/more") | jq -r .kind | sort -u | xargs)" 'branch end place thread' 'each kind of difference is there'

# ---- the facts of the text ----

is "$(differences "$T/json" | jq -r '"difference \(.number) of TOTAL:\(.threads | [(.a | select(.) | " < \(.comm)-\(.tid)"), (.b | select(.) | " > \(.comm)-\(.tid)")] | add), after \(.same) steps"' |
	sed "s/TOTAL/$(summary_of "$T/json" .differences)/")" \
	"$(grep -oE '^difference .* after [0-9]+ steps' "$T/text")" 'numbers, threads and what was the same before are those of the text'
way() { # SIDE MARK: the branch where they part, as the text has it
	differences "$T/json" | jq -r --arg side "$1" --arg mark "$2" 'def place: .symbol + (if .offset > 0 then "+" + .offset else "" end);
		select(.kind == "branch") | .[$side] as $s | "\($mark) \(.at.symbol)+\(.at.offset)  \(.insn)  \(if $s.taken then "taken" else "not taken" end) -> \($s.to.symbol)+\($s.to.offset)"' |
		perl -pe 's/\+(\d+)/sprintf "+0x%x", $1/ge'
}
grep -A1 -E '^<.* (not )?taken' "$T/text" | sed -E 's/^([<>]) +/\1 /; s/  +[^ ]+:[0-9]+$//' >"$T/ways"
for side in 'a <' 'b >'; do
	# shellcheck disable=SC2086 # two words
	is "$(way $side | grep -vxFf "$T/ways")" '' "side ${side% *}: the branch and the way there are in the text"
done
is "$(differences "$T/json" | jq -r '
	def n($n; $one; $more): "\($n) " + if $n == 1 then $one else $more end;
	def takes: n(.branches; "branch"; "branches") + if .calls > 0 then " and " + n(.calls; "call"; "calls") else "" end;
	select(.meet) | "A takes \(.a | takes); B takes \(.b | takes)"')" \
	"$(sed -n 's/^  until they meet: //p' "$T/text")" 'what each takes until they meet is that of the text'
is "$(summary_of "$T/json" '"\(.same) steps are the same; differences: \(.differences), gaps: \(.uncertain)"')" \
	"$(sed -n 's/^bbtrace: //p' "$T/notes" | tail -n 1)" 'the summary has the figures of the last note'

# ---- steps and counts are those of report ----

report_both() {
	"$BBTRACE" report -q -F json "$1" >"$T/a.lines"
	"$BBTRACE" report -q -F json "$2" >"$T/b.lines"
}
checked() { # JSON NAME
	python3 "$ROOT/tests/check/diff_json.py" "$T/a.lines" "$T/b.lines" "$1" >"$T/said"
	is "$? $(head -c 2000 "$T/said")" '0 ' "$2"
}
report_both "$A" "$B"
checked "$T/json" 'steps are the lines of report at these places, and counts are those of all lines'
report_both "$B" "$T/more.bbt"
checked "$T/more" 'of runs of which one ends before the other, too'
bb diff "$T/none.bbt" "$T/deep.bbt" -n 100 --context 50 -F json -o "$T/deep.json"
report_both "$T/none.bbt" "$T/deep.bbt"
checked "$T/deep.json" 'of runs with and without registers, with deep calls, too'
is "$(differences "$T/deep.json" | jq -c '.calls[]? | [.a, .b | . == null]' | sort -u)" '[true,false]' 'registers are shown of the run that has them'
bb diff "$B" "$T/deep.bbt" -n 100 -F json -o "$T/deep.json"
is "$(differences "$T/deep.json" | jq -r 'select(.kind == "place" or .kind == "branch") | .calls | length' | sort -n | tail -n 1)" 4 'the calls that both are in lead there'

# ---- no difference; counts alone ----

bb diff "$A" "$A" -F json -o "$T/equal"
exits 0 'a run and itself'
is "$(jq -r '"\(.event) \(.differences) \(.functions) \(.edges)"' "$T/equal")" 'summary 0 0 0' 'without differences there is the summary alone'
bb diff "$A" "$A" -F html -o "$T/equal.html"
like "$T/equal.html" '<p>No difference.</p>' 'the page says that there is none'
for m in 1 2; do record "count$m" "count$m" '-c -F json' $m; done
bb diff "$T/count1" "$T/count2" -F json -o "$T/counts"
exits 1 'counts that differ'
is "$(jq -r .event "$T/counts" | sort -u | xargs)" 'edge function summary' 'counts have functions and edges, and no difference of paths'
is "$(summary_of "$T/counts" 'has("same") or has("differences")')" false 'nothing is said of what counts do not tell'
functions_of() { jq -c 'select(.event == "function") | [.symbol, .a, .b]' "$1"; }
is "$(functions_of "$T/counts")" "$(functions_of "$T/json")" 'functions of counts are those of events'
bb diff "$A" "$T/count1"
exits 0 'events and counts of the same run are the same'
bb diff "$T/count1" "$T/count2" -F html -o "$T/counts.html"
is "$(grep -c '<section' "$T/counts.html") $(grep -c 'class="counts"' "$T/counts.html")" '0 2' 'a page of counts has two tables'

# ---- addresses of the kernel ----

if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
	kernel=$E2E/kernel_trace.txt
	chmod 755 "$T"
	install -m 755 "$BBTRACE" "$T/bbtrace"
	# its steps are in the second half. What a cut file lacks is no difference: steps as text and html, tests/vm/t_diff.sh
	head -n $(($(wc -l <"$kernel") - 12)) "$kernel" >"$T/cut.txt"
	cp "$kernel" "$T/kernel.txt"
	chmod 644 "$T/cut.txt" "$T/kernel.txt"
	for format in text json html; do
		setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR=/var/tmp "$T/bbtrace" diff "$T/kernel.txt" "$T/cut.txt" -q -F $format >"$T/hidden" 2>"$T/err"
		[[ $format != json ]] || like "$T/hidden" '\(hidden\)' "$format: addresses of the kernel are hidden from other users"
		unlike "$T/hidden" '0xffff[0-9a-f]{12}' "$format: none is left"
	done
else
	skip 'addresses of the kernel are hidden' 'no other user can be had here'
fi

# ---- the page ----

bb diff "$A" "$B" -n 100 --context 7 -F html -o "$T/html"
exits 1 'as a page: the exit status is the same'
xmllint --html --noout "$T/html" 2>&1 | grep -E 'error|warning' | grep -vE 'Tag (main|section|details|summary) invalid' >"$T/errors"
is "$(head -5 "$T/errors")" '' 'xmllint finds nothing in the page but elements that it does not know'
is "$(grep -c '<section class="difference"' "$T/html")" "$(differences "$T/json" | wc -l)" 'the page has all differences'
is "$(grep -oE '<a href="#d[0-9]+"' "$T/html" | wc -l)" "$(differences "$T/json" | wc -l)" 'and a list of them'
is "$(grep -oiE '<script|</script' "$T/html" | sort | uniq -c | xargs)" '1 </script 1 <script' 'names with markup are escaped: the page has one script'
like "$T/html" '&lt;script&gt;&amp;-[0-9]+' 'the name of a thread is shown'
like "$T/html" '<h1>.*a[.]bbt and &lt;script&gt;b[.]bbt</h1>' 'the names of the files are shown'
is "$(grep -oE '(src|href)="?(https?:)?//' "$T/html" | wc -l)" 0 'the page names nothing outside of it'
is "$(grep -oE '[0-9]+ branch(es)?( and [0-9]+ calls?)? until' "$T/html" | sed -E 's/ branch(es)? until/ 0/; s/ branch(es)? and / /; s/ call.*//')" \
	"$(differences "$T/json" | jq -r 'select(.meet) | .a, .b | "\(.branches) \(.calls)"')" 'the page has what each takes until they meet'
is "$(grep -oE '^<tr><td>[0-9]+</td><td>[0-9]+</td>' "$T/html" | grep -oE '[0-9]+' | paste -d' ' - -)" \
	"$(jq -r 'select(.event == "function" or .event == "edge") | "\(.a) \(.b)"' "$T/json")" 'its tables have the counts of JSON'

# more than a page can bear
bb diff "$B" "$T/deep.bbt" -n 1000 --context 1000 -F html -o "$T/large.html"
is "$(($(stat -c %s "$T/large.html") < 12 << 20))" 1 'a page has less than 12 MiB'
done_testing
