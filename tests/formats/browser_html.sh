#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F html in a headless Chromium: the console stays empty, nothing is loaded, the figures are those of JSON; the table
# can be sorted and searched, the code opens. Run by `make check-formats`.
# shellcheck disable=SC2154 # served.sh sets pid_one
. "$(dirname "$0")/../e2e/lib.sh"
. "$E2E/served.sh"
needs root uprobes cmd:chromium cmd:python3

scheme=()
browse() {
	timeout 100 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$T/profile" \
		--host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 --virtual-time-budget=5000 \
		"${scheme[@]}" "$@" 2>"$T/console"
}
# shown FILE: the page after its script ran, as $T/dom; with SCRIPT after it.
shown() {
	if [[ ${2:-} ]]; then
		# its own policy lets a script of the page's run
		script=$2 perl -pe 's|</body>|<script>$ENV{script}</script></body>|' "$1" >"$T/page.html"
	else
		cp "$1" "$T/page.html"
	fi
	browse --dump-dom "file://$T/page.html" >"$T/dom"
	is "$? $(grep -c 'CONSOLE' "$T/console")" '0 0' "${3:-shown}: nothing on the console" || diag "$(grep CONSOLE "$T/console")"
}
# cells: the table of functions, "NAME CALLS BRANCHES" a line, as the browser has it.
cells() {
	python3 - "$T/dom" <<'END'
import html.parser, sys
class Table(html.parser.HTMLParser):
    on, row, cell, rows, keys = False, None, None, [], []
    def handle_starttag(self, tag, attrs):
        if tag == "table": self.on = dict(attrs).get("id") == "functions"
        elif tag == "tr" and self.on: self.row = []
        elif tag == "th" and self.on: self.keys.append(dict(attrs)["data-key"])
        elif tag == "td" and self.on: self.cell = ""
    def handle_data(self, data):
        if self.cell is not None: self.cell += data
    def handle_endtag(self, tag):
        if tag == "td" and self.on: self.row.append(self.cell); self.cell = None
        elif tag == "tr" and self.on and self.row: self.rows.append(self.row)
        elif tag == "table": self.on = False
t = Table()
t.feed(open(sys.argv[1], encoding="utf-8").read())
for r in t.rows: print(r[0], *(r[t.keys.index(k)].replace(",", "") for k in ("calls", "branches")))
END
}
wanted() {
	python3 - "$T/json" <<'END'
import collections, json, sys
calls, branches = collections.Counter(), collections.Counter()
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["event"] == "entry": calls[e["symbol"]] += 1
    if e["event"] == "branch": branches[e["symbol"]] += 1
for f in sorted(calls): print(f, calls[f], branches[f])
END
}

program threads -O1 -pthread
program loops -O1
program mutual -O1
bb user "$T/mutual" '*' -F json -o "$T/json" -- "$T/mutual"
bb user "$T/mutual" '*' -F html -o "$T/html" -- "$T/mutual"
shown "$T/html" '' 'a trace'
is "$(cells | sort)" "$(wanted | sort)" 'the table has the figures of JSON'
is "$(grep -oE '(src|href)="?(https?:)?//' "$T/html" | wc -l)" 0 'the page names nothing outside of it'
like "$T/dom" '<table class="listing">' 'the first function'\''s code is open'
like "$T/dom" 'class="bbtrace-flame"|<svg[^>]*bbtrace-flame' 'the page has a flame graph'

shown "$T/html" 'document.querySelector("#functions th[data-key=calls]").click()' 'sorted by a click'
is "$(cells | awk '{ print $2 }' | xargs)" "$(cells | awk '{ print $2 }' | sort -rn | xargs)" 'the table has the functions with most calls first'
shown "$T/html" 'const s = document.getElementById("search"); s.value = "MAIN"; s.dispatchEvent(new Event("input"))' 'searched'
is "$(cells | awk '{ print $1 }')" main 'a search leaves only the functions that match in the table'
shown "$T/html" 'for (const b of document.querySelectorAll("#functions button")) b.click(); document.title = document.querySelectorAll("#code h2").length + " " + document.querySelector("#code h2").textContent' 'each function opened'
is "$(sed -n 's|.*<title>\(.*\)</title>.*|\1|p' "$T/dom" | head -1 | cut -d' ' -f1)" 1 'the code of one function is open at a time'

# what runs and what is taken, to the figure
bb user "$T/loops" nested -F json -o "$T/json" -- "$T/loops"
bb user "$T/loops" nested -F html -o "$T/html" -- "$T/loops"
shown "$T/html" 'document.title = [...document.querySelectorAll(".listing tbody tr")].filter(r => r.cells.length > 5 && / *j/.test(r.cells[5].textContent) && r.cells[2].textContent).map(r => [r.cells[4], r.cells[1], r.cells[2]].map(c => c.textContent).join(" ")).join(", ")' 'code'
is "$(sed -n 's|.*<title>\(.*\)</title>.*|\1|p' "$T/dom" | head -1)" \
	"$(json_lines "$T/json" 'our %n; $e->{kind} && $e->{kind} eq "jcc" and $n{$e->{offset}}[$e->{taken} ? 0 : 1]++;
	$e->{event} eq "summary" && join ", ", map { sprintf "+0x%x %d %d", $_, map { $_ || 0 } @{$n{$_}}[0, 1] } sort { $a <=> $b } keys %n')" \
	'each conditional has the counts of JSON'

# a name that would like to be markup
cp "$T/loops" "$T/<b>&\"x"
bb user "$T/<b>&\"x" nested -F html -o "$T/html" -- "$T/<b>&\"x"
shown "$T/html" '' 'a hostile name'
is "$(grep -c '<b>&"x</' "$T/dom")" 0 'a function name with markup is shown as text'

# title: what a script has put into the page's title
title() { sed -n 's|.*<title>\(.*\)</title>.*|\1|p' "$T/dom" | head -1; }

# the timeline
bb user "$T/threads" '*' -o "$T/trace" -- "$T/threads"
"$BBTRACE" report "$T/trace" -q -F json -o "$T/json"
"$BBTRACE" report "$T/trace" -q -F html -o "$T/html"
shown "$T/html" 'const s = document.getElementById("timeline"), t = s.timeline, c = s.querySelector(".lanes canvas");
const seen = new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer));
t.zoom(.5); const half = t.view()[1] - t.view()[0]; t.show(0, 1e18);
document.title = [s.hidden, t.lanes.length, seen.size > 3, (t.view()[1] / half).toFixed(1), t.calls.filter(x => !x.open).length,
	Math.max(...t.calls.filter(x => !x.open).map(x => x.ns)), s.querySelectorAll("tbody tr").length].join(" ")' 'a timeline'
is "$(title)" "$(json_lines "$T/json" 'our (%t, $n, $most); $e->{tid} and $t{$e->{tid}} = 1;
	exists $e->{duration_ns} and ++$n and $most = $e->{duration_ns} > ($most || 0) ? $e->{duration_ns} : $most;
	$e->{event} eq "summary" && join " ", "false", scalar keys %t, "true", "2.0", $n, $most, 20')" \
	'the timeline is drawn and has the threads, the calls and the longest call of JSON; it can be zoomed'
shown "$T/html" 'const flame = document.getElementById("flame"), before = flame.querySelectorAll(".f").length;
for (let i = 0; i < 2; i++) window.dispatchEvent(new Event("beforeprint"));
document.title = before + " " + (flame.querySelectorAll(".f").length > 3) + " " + !!flame.querySelector("svg").flame' 'printed'
is "$(title)" '0 true true' 'the flame graph is made once it is needed'

# deep calls: whatever the size of the window, each row that is seen has names, also of calls too short for them
cat >"$T/deep.c" <<'END'
__attribute__((noipa)) int leaf(int n)
{
	volatile int s = 0;

	for (int i = 0; i < n; i++)
		s += i;
	return s;
}
__attribute__((noipa)) int descend(int n)
{
	return n ? leaf(n) + descend(n - 1) + leaf(n) : leaf(20000);
}
int main(void)
{
	return descend(400) == 1;
}
END
gcc -O1 -o "$T/deep" "$T/deep.c"
bb user "$T/deep" '*' -F html -o "$T/html" -- "$T/deep"
for size in 1400,900 800,600 400,700; do
	scheme=("--window-size=$size")
	shown "$T/html" 'const s = document.getElementById("timeline"), t = s.timeline, box = s.querySelector(".lanes"), c = s.querySelector(".lanes canvas");
const rows = () => new Set(t.labels.map(l => l.depth)), seen = () => Math.floor(box.clientHeight / 15) - 3;
t.draw(); const upper = rows(), first = upper.size >= seen(), high = box.scrollHeight > 400 * 15;
box.scrollTop = 200 * 15; t.draw(); const below = rows(), second = below.size >= seen() && Math.min(...below) > 190;
const leaf = t.calls.filter(x => x.depth > 210 && x.depth < 215).sort((a, b) => a.ns - b.ns)[0];
t.show(leaf.start - 5 * leaf.ns, leaf.start + 6 * leaf.ns); t.draw();
document.title = [high, first, second, c.clientHeight <= box.clientHeight, t.labels.some(l => l.call === leaf)].join(" ")' "deep calls in $size"
	is "$(title)" 'true true true true true' "$size: rows beyond 400 pixels; each has a name, at the top and farther below; the shortest call, zoomed in, too"
done
scheme=()

# marks, and where recording was stopped
build_served
serve one "$T/served"
"$BBTRACE" user "$T/served" work --paused -F html -o "$T/html" --control-socket "$T/socket" -p "$pid_one" 2>"$T/err" &
trace=$!
wait_for $PATIENCE test -S "$T/socket"
"$BBTRACE" ctl "$T/socket" start
tell one 'work 5'
"$BBTRACE" ctl "$T/socket" mark 'a <b> & "c"'
"$BBTRACE" ctl "$T/socket" quit
wait $trace
shown "$T/html" 'const s = document.getElementById("timeline"), rows = [...s.querySelectorAll(".marks tbody tr")];
s.querySelector(".marks button").click();
document.title = [s.querySelector(".marks").hidden, rows.map(r => r.cells[0].textContent).join("|"), s.querySelector(".details").textContent.split(",")[0]].join(" ")' 'marks'
is "$(title)" 'false recording stops|recording starts|a &lt;b&gt; &amp; "c" recording stops' 'marks and stops are in a table, and are told when they are chosen'

# many functions: what a browser has to do at once doesn't grow with the trace
for i in {1..6000}; do
	echo "__attribute__((noipa)) int f$i(int n) { int s = $i; for (int i = 0; i < 8; i++) { if (n & 1 << i) s = s * 31 ^ n; else s += n >> i; if (s % 7 == 3) s ^= $i; } return s; }"
done >"$T/many.c"
{ cat "$T/many.c" && echo 'int main(void) { int s = 0; for (int k = 0; k < 4; k++) {' && printf 's += f%d(s + k);\n' {1..6000} && echo '} return !s; }'; } >"$T/many-main.c"
gcc -O1 -o "$T/many" "$T/many-main.c"
bb user "$T/many" 'f[0-9]*' -F html -o "$T/html" -- "$T/many"
exits 0 'six thousand functions are traced'
shown "$T/html" 'const rows = document.querySelectorAll("#functions tbody tr").length, nodes = document.querySelectorAll("*").length;
document.title = document.querySelector(".card b").textContent + " " + rows + " " + (nodes < 20000)' 'many functions'
is "$(title)" '6,000 200 true' 'of six thousand functions the page shows the first 200'
is "$(($(stat -c %s "$T/html") < 30 << 20))" 1 'a page of six thousand functions has less than 30 MiB'
shown "$T/html" 'document.getElementById("more").click(); const all = [...document.querySelectorAll("#functions tbody tr")];
const id = [...Array(6100).keys()].find(i => !document.getElementById("code" + i) && i > 100);
document.title = all.length + " " + (id > 0)' 'all functions'
is "$(title)" '6000 true' 'the table shows all on request, and code is left out where it is too much'

# what it is of, where no script runs
bb user "$T/loops" nested -F html -o "$T/html" -- "$T/loops"
perl -0pe 's|<script.*?</script>||gs' "$T/html" >"$T/page.html"
like "$T/page.html" "<code>$BBTRACE user .* nested -F html -o .*</code>" 'without its script the page has the command line'
like "$T/page.html" "<dd>$(uname -sr) .*, [0-9]+ CPUs?</dd>" 'without its script the page has the machine'
like "$T/page.html" "<dd>$(date +%Y)-[0-9-]+ [0-9:]+ [+-][0-9]{4} by bbtrace" 'without its script the page has the date'
like "$T/page.html" '<dd>1 function, .* events, 0 lost' 'without its script the page has the losses'

# nothing traced, many functions
bb user "$T/loops" nested --min-duration 1h -F html -o "$T/html" -- "$T/loops"
shown "$T/html" '' 'a trace of nothing'

# what of the code ran: by events, by counts, by counts of several traces
headings='[...document.querySelectorAll("h2, #flame, #functions th")].filter(e => e.checkVisibility()).map(e => e.id || e.textContent).join(" ")'
# the sides of all functions' conditionals that are marked
never='let marked = 0; for (const b of [...document.querySelectorAll("#functions button")]) { b.click(); marked += document.querySelectorAll(".listing .never").length; }'
one_side() {
	json_lines "$1" 'our $n; $e->{event} eq "edge" && $e->{kind} =~ /^(jcc|loop)$/ && !$e->{taken_count} != !$e->{not_taken_count} and $n++;
	$e->{event} eq "summary" && $n'
}
program parts -O1
for run in 'one 0 1' 'other 2 4'; do
	read -r name arguments <<<"$run"
	# shellcheck disable=SC2086 # two
	bb user "$T/parts" '*' -c --record "$T/$name" -F json -o "$T/$name.json" -- "$T/parts" $arguments
done
bb user "$T/parts" '*' -F html -o "$T/parts.html" -- "$T/parts" 0 1
"$BBTRACE" report -q "$T/one" -F html -o "$T/counts.html"
"$BBTRACE" report -q "$T/one" "$T/other" -F html -o "$T/both.html"
"$BBTRACE" report -q "$T/one" "$T/other" -F json -o "$T/both.json"
for page in parts:one counts:one both:both; do
	shown "$T/${page%:*}.html" "$never; document.title = marked" "${page%:*}"
	is "$(title)" "$(one_side "$T/${page#*:}.json")" "${page%:*}: each side that was never gone to is marked"
done
shown "$T/counts.html" "document.title = $headings" 'headings'
is "$(title)" 'Functions function object calls branches taken blocks sides choose' 'a page of counts has no heading of what counts do not tell'
"$BBTRACE" report -q "$T/one" choose -F html -o "$T/html"
shown "$T/html" "document.title = $headings + document.querySelector('.card').textContent" 'a choice'
is "$(title)" 'Functions function object calls branches taken blocks sides choose1function ran' 'of the functions of counts the page has those that are asked for'

# readable, and pictures, to be looked at: KEEP=1
contrast='const light = c => [.2126, .7152, .0722].reduce((n, f, i) => n + f * ((x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)(c[i] / 255)), 0);
const numbers = text => text.match(/[\d.]+/g).map(Number);
const back = e => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor); if (c[3] === undefined) return c; } };
const contrast = e => { const [a, b] = [light(numbers(getComputedStyle(e).color)), light(back(e))].sort((x, y) => y - x); return (a + .05) / (b + .05) * getComputedStyle(e).opacity; };
document.title = [".listing .never span", ".listing .cold td", ".listing .taken", ".listing .not"].map(q => [...document.querySelectorAll(q)]
	.reduce((n, e) => Math.min(n, contrast(e)), 99)).map(n => n < 99 && n >= 4.5 ? "readable" : n.toFixed(1)).join(" ")'
for look in light dark; do
	scheme=("--blink-settings=preferredColorScheme=$([[ $look == dark ]] && echo 0 || echo 1)")
	shown "$T/counts.html" "$contrast" "$look"
	is "$(title)" 'readable readable readable readable' "$look: counts and what never ran can be read"
	for page in parts counts both; do
		browse --window-size=1300,1400 --screenshot="$T/$page-$look.png" "file://$T/$page.html" >/dev/null
		[[ -s $T/$page-$look.png ]]
		ok $? "a $look picture of the page is taken: $page"
	done
done
done_testing
