#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# make site in a headless Chromium, from a folder, without a server: nothing on the console, at three sizes nothing is wider than
# the window, the search finds, the keys work, narrow windows fold the list of pages. Run by `make check-formats`.
. "$(dirname "$0")/../e2e/lib.sh"
needs cmd:chromium cmd:cmark-gfm cmd:mandoc
cd "$ROOT" || exit 2

mkdir "$T/man"
for verb in man/verbs/*.mdoc; do
	name=$(basename "$verb" .mdoc)
	scripts/manual.sh "$BBTRACE" "$name" >"$T/man/bbtrace-$name.8" || exit 2
done
scripts/site/site.pl "$T/site" "$T/man" >"$T/out" 2>&1
is $? 0 'the site is built' || diag "$(<"$T/out")"

# tried PAGE SIZE SCRIPT: runs a script at the end of a page; it sets the title, which becomes $title.
tried() {
	local page=$T/site/$1
	printf '%s\n' "window.addEventListener('load', () => { $3 });" >"$T/site/tried.js"
	sed 's|</body>|<script src="'"$(sed -n 's/.*data-root="\([^"]*\)".*/\1/p' "$page" | head -1)"'/tried.js" defer></script></body>|' \
		"$page" >"${page%.html}-tried.html"
	timeout 100 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$T/profile" --window-size="$2" \
		--host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 --virtual-time-budget=5000 \
		--dump-dom "file://${page%.html}-tried.html" >"$T/dom" 2>"$T/console"
	is "$? $(grep -c CONSOLE "$T/console")" '0 0' "$1 in $2: nothing on the console" || diag "$(grep CONSOLE "$T/console")"
	title=$(sed -n 's|.*<title>\(.*\)</title>.*|\1|p' "$T/dom" | head -1)
}

for size in 1400,900 800,700 420,800; do
	for page in index.html docs/tasks/3-server.html bbtrace-user.8.html docs/internals/copies.html; do
		tried $page $size 'const d = document.documentElement, m = document.getElementById("menu");
			const narrow = getComputedStyle(m).display !== "none"; m.click();
			document.title = [d.scrollWidth <= d.clientWidth, narrow, sidebar.offsetHeight > 0].join(" ");'
		is "$title" "true $([[ ${size%,*} -lt 832 ]] && echo true || echo false) true" "$page in $size: as wide as the window; the pages are listed"
	done
done
tried docs/tasks/1-error-path.html 1400,900 'const key = (to, k) => to.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true, cancelable: true }));
	key(document.body, "/"); const focused = document.activeElement === field;
	field.value = "limit_rate nginx"; field.dispatchEvent(new Event("input"));
	const none = found.querySelectorAll("a").length;
	field.value = "ring buffer lost"; field.dispatchEvent(new Event("input"));
	const some = found.querySelectorAll("a").length; key(field, "ArrowDown");
	const first = document.activeElement === found.querySelector("a"); key(document.activeElement, "Escape");
	document.title = [focused, some > 0, first, found.hidden].join(" ");'
is "$title" 'true true true true' 'the search: / focuses it, it finds, the arrows go through what it found, Escape closes it'
done_testing
