#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# diff -F html in a headless Chromium: the console stays empty, nothing is loaded, the two ways stand side by side, or one
# below the other on a narrow screen, no name is wider than the page, the tables can be sorted. Run by `make check-formats`.
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:chromium

scheme=()
browse() {
	timeout 100 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$T/profile" \
		--host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 --virtual-time-budget=5000 \
		"${scheme[@]}" "$@" 2>"$T/console"
}
# shown FILE SCRIPT NAME [OPTION...]: the page after its script and SCRIPT ran, as $T/dom.
shown() {
	script=$2 perl -pe 's|</body>|<script>$ENV{script}</script></body>|' "$1" >"$T/page.html"
	browse "${@:4}" --dump-dom "file://$T/page.html" >"$T/dom"
	is "$? $(grep -c 'CONSOLE' "$T/console")" '0 0' "$3: nothing on the console" || diag "$(grep CONSOLE "$T/console")"
}
# title: what SCRIPT has put into the page's title
title() { sed -n 's|.*<title>\(.*\)</title>.*|\1|p' "$T/dom" | head -1; }

source_program '<b>&' c++ -lpthread <<'END'
#include <cstdlib>
#include <map>
#include <pthread.h>
#include <string>
#include <vector>
volatile int sink;
template <typename K, typename V> struct Tree { __attribute__((noinline)) int walk(K k, V v, int depth); };
__attribute__((noinline)) int odd(int n) { if (n & 1) sink = n; else sink += n; return n; }
template <typename K, typename V> int Tree<K, V>::walk(K k, V v, int depth)
{
	if (depth)
		return walk(k, v, depth - 1) + depth;
	for (int i = 0; i < 60; i++)
		odd(k >> (i & 7));
	return k;
}
void *worker(void *p) { odd((long)p); return nullptr; }
int main(int argc, char **argv)
{
	int m = atoi(argv[1]);
	Tree<long, std::map<std::string, std::vector<std::pair<int, std::string>>>> tree;
	pthread_t t;

	tree.walk(m, {}, 40);
	for (long i = 0; i < m % 3; i++) {
		pthread_create(&t, nullptr, worker, (void *)i);
		pthread_join(t, nullptr);
	}
	return 0;
}
END
P=$T/'<b>&'
for m in 5 9; do bb user "$P" '*walk*' odd -q -o "$T/$m.bbt" -- "$P" $m; done
bb diff "$T/5.bbt" "$T/9.bbt" -q -n 50 -F json -o "$T/json"
exits 1 'the runs differ'
for n in 1 50; do bb diff "$T/5.bbt" "$T/9.bbt" -q -n $n -F html -o "$T/diff$n.html"; done

facts='document.title = [document.querySelectorAll(".difference").length, document.querySelectorAll(".contents li").length,
	[...document.querySelectorAll(".counts")].map(t => t.tBodies[0].rows.length).join(" "),
	document.querySelectorAll("h1 b, h1 script").length].join(" ")'
shown "$T/diff50.html" "$facts" 'fifty'
count() { grep -c "\"event\":\"$1\"" "$T/json"; }
is "$(title)" "$(count difference) $(count difference) $(count function) $(count edge) 0" 'the page has the differences and counts of JSON'
shown "$T/diff1.html" "$facts" 'one'
is "$(title | cut -d' ' -f1,2)" '1 0' 'of one difference there is no list'

# side by side, or one below the other; nothing is wider than the page
layout='const ways = [...document.querySelectorAll(".ways")].map(w => [...w.children].map(c => c.getBoundingClientRect()));
for (const d of document.querySelectorAll("details")) d.open = true;
document.title = [ways.every(([a, b]) => a.top === b.top && b.left >= a.right - 1) ? "beside" : ways.every(([a, b]) => b.top >= a.bottom - 1) ? "below" : "mixed",
	document.documentElement.scrollWidth <= innerWidth ? "fits" : document.documentElement.scrollWidth].join(" ")'
shown "$T/diff50.html" "$layout" 'wide' --window-size=1300,900
is "$(title)" 'beside fits' 'the ways are side by side'
shown "$T/diff50.html" "$layout" 'narrow' --window-size=500,900
is "$(title)" 'below fits' 'on a narrow screen they are one below the other, and nothing is cut off'

# the outer calls are shown on request
shown "$T/diff1.html" 'const outer = document.querySelector(".lines details"), before = outer.open; outer.querySelector("summary").click();
document.title = before + " " + outer.open + " " + outer.querySelectorAll("p").length' 'outer calls'
is "$(title)" 'false true 26' 'of 32 calls that lead there the outer ones are shown on request'

# sorted
shown "$T/diff50.html" 'const t = [...document.querySelectorAll(".counts")].at(-1), cells = i => [...t.tBodies[0].rows].map(r => r.cells[i].textContent);
const is_sorted = (list, less) => list.every((x, i) => !i || !less(list[i - 1], x)) ? "sorted" : "not";
const said = [], press = i => t.tHead.rows[0].cells[i].querySelector("button").click();
press(0); said.push(is_sorted(cells(0).map(Number), (a, b) => a < b));
press(0); said.push(is_sorted(cells(0).map(Number), (a, b) => a > b));
press(2); said.push(is_sorted(cells(2).map(x => Number(x.replace("\u2212", "-"))), (a, b) => a < b));
press(3); said.push(is_sorted(cells(3), (a, b) => a > b), t.tHead.rows[0].cells[3].ariaSort);
document.title = said.join(" ")' 'sorted'
is "$(title)" 'sorted sorted sorted sorted ascending' 'the tables are sorted by a click'

# readable, and pictures, to be looked at: KEEP=1
contrast='const light = c => [.2126, .7152, .0722].reduce((n, f, i) => n + f * ((x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)(c[i] / 255)), 0);
const numbers = text => text.match(/[\d.]+/g).map(Number);
const back = e => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor); if (c[3] === undefined) return c; } };
const contrast = e => { const [a, b] = [light(numbers(getComputedStyle(e).color)), light(back(e))].sort((x, y) => y - x); return (a + .05) / (b + .05); };
document.title = [".side.a", ".side.b", "b.a", "b.b", ".lines .at", ".way h3", ".counts .at"].map(q => [...document.querySelectorAll(q)]
	.reduce((n, e) => Math.min(n, contrast(e)), 99)).map(n => n < 99 && n >= 4.5 ? "readable" : n.toFixed(1)).join(" ")'
for look in light dark; do
	scheme=("--blink-settings=preferredColorScheme=$([[ $look == dark ]] && echo 0 || echo 1)")
	shown "$T/diff50.html" "$contrast" "$look"
	is "$(title)" 'readable readable readable readable readable readable readable' "$look: what differs can be read"
	for width in 500 1300; do
		browse --window-size=$width,1400 --screenshot="$T/diff-$look-$width.png" "file://$T/diff50.html" >/dev/null
		[[ -s $T/diff-$look-$width.png ]]
		ok $? "a $look picture of the page is taken: $width wide"
	done
done
done_testing
