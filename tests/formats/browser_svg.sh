#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The flame graph in a browser, as a page and twice within one page: search, zoom, keys. Run by `make check-formats`.
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:chromium

# in_browser FILE: what the page is once its scripts have run, in $T/dom.
in_browser() {
	HOME=$T timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$T/chromium" --window-size=1280,800 --virtual-time-budget=2000 --dump-dom "file://$1" \
		>"$T/dom" 2>"$T/browser.err"
	ok $? "chromium shows ${1##*/}" || diag "$(tail -5 "$T/browser.err")"
}

# The value of an attribute that the script below has put on the root.
result() { grep -oE "data-$1=\"[^\"]*\"" "$T/dom" | head -1 | sed 's/^[^"]*"//; s/"$//'; }

program fib -O1
bb user "$T/fib" fib main -F svg:count -o "$T/fib.svg" -- "$T/fib"
exits 3 'a flame graph of fib is drawn'

# What somebody would do, and what is seen then.
cat >"$T/script" <<'END'
<script><![CDATA[
const root = document.documentElement, frames = root.flame.frames;
const say = (name, value) => root.setAttribute('data-' + name, value);
const key = k => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true }));
const shown = () => frames.filter(f => getComputedStyle(f.el).display !== 'none').length;
const field = root.querySelector('input'), told = () => root.querySelector('.details').textContent;
const search = text => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); };
window.onerror = message => say('error', message);
say('frames', frames.length);
search('^fib$');
say('found', root.querySelector('.matched').textContent);
say('marked', root.querySelectorAll('.m').length);
search('(');
say('bad', field.className + ' ' + root.querySelectorAll('.m').length);
search('');
say('none', root.querySelectorAll('.m').length + root.querySelector('.matched').textContent);
frames[5].el.querySelector('rect').dispatchEvent(new MouseEvent('click', { bubbles: true }));
say('zoomed', frames[5].el.getAttribute('width') + ' ' + frames[0].el.classList.contains('up'));
root.querySelector('.reset').click();
say('reset', frames[5].el.getAttribute('width') !== '100%' && !frames[0].el.classList.contains('up'));
frames[0].el.focus();
key('ArrowDown'); key('ArrowDown'); key('ArrowDown');
say('focus', frames.findIndex(f => f.el === document.activeElement));
say('told', told());
key('Enter');
say('enter', frames[3].el.getAttribute('width'));
key('Escape');
say('escape', shown());
say('text', frames[2].text.textContent);
say('box', Math.round(frames[2].el.querySelector('rect').getBoundingClientRect().width));
]]></script></svg>
END
{ sed '$d' "$T/fib.svg" && cat "$T/script"; } >"$T/driven.svg"
is "$(tail -1 "$T/fib.svg")" '</svg>' 'the last line of an svg ends it'
in_browser "$T/driven.svg"
is "$(result error)" '' 'the script of an svg has no error'
is "$(result frames)" 13 'the browser shows all frames'
is "$(result found), $(result marked) marked" '11 frames, 100.0 %, 11 marked' 'a search says how many frames it found, and their share' ||
	diag "$(result found)"
is "$(result bad)" 'bad 0' 'a search for an invalid pattern says so'
is "$(result none)" 0 'an empty field ends a search'
is "$(result zoomed)" '100% true' 'a click zooms in: the frame is as wide as the picture, and those around it fade'
is "$(result reset)" true 'the reset button undoes a zoom'
is "$(result focus)" 3 'arrow keys move the focus from frame to frame'
is "$(result told)" 'fib — 177 calls, 99.4 %; itself 1' 'the figures of the frame in focus are shown'
is "$(result enter)" '100%' 'Enter zooms in on the frame in focus'
is "$(result escape)" 13 'Escape undoes a zoom'
is "$(result text)" main 'a frame shows its name'
is "$(($(result box) > 1200))" 1 'the picture is as wide as the window'

# ---- two in one HTML page ----
{
	echo '<!DOCTYPE html><meta charset="utf-8"><title>two</title><body>'
	sed 1d "$T/fib.svg"
	sed 1d "$T/fib.svg"
	cat <<'END'
<script>
const [a, b] = document.querySelectorAll('svg.bbtrace-flame');
a.flame.search('main');
b.flame.zoom(b.flame.frames[4]);
document.body.setAttribute('data-a', a.querySelectorAll('.m').length + ' ' + b.querySelectorAll('.m').length);
document.body.setAttribute('data-b', a.flame.frames[4].el.getAttribute('width') + ' ' + b.flame.frames[4].el.getAttribute('width'));
</script>
END
} >"$T/two.html"
in_browser "$T/two.html"
is "$(result a)" '1 0' 'with two graphs in a page a search in one leaves the other alone'
like <(result b) '^[0-9.]+% 100%$' 'with two graphs in a page a zoom in one leaves the other alone'
done_testing
