#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The flame graph is valid XML whatever the names are, loads nothing, and its frames agree with the events.
. "$(dirname "$0")/../e2e/lib.sh"
needs recorded cmd:xmllint

valid() {
	xmllint --noout --nonet "$1" >"$T/lint" 2>&1
	is "$? $(cat "$T/lint")" '0 ' "$2 is valid XML"
}
# The titles of the frames of a name.
titles() { xmllint --xpath "//*[local-name()='title'][starts-with(., '$1')]/text()" "$2"; }

# How many frames have no net time to show.
left_out() { grep -oE '[0-9]+ frames? (below|whose)' "$1" | awk '{ n += $1 } END { print n + 0 }'; }

program fib -O1
if is_root; then
	bb user "$T/fib" fib main -F svg -o "$T/svg" -- "$T/fib"
	exits 3 '-F svg ends well while it is traced'
	valid "$T/svg" 'svg of a running program'
fi
recorded fib-main user "$T/fib" fib main -- "$T/fib"
for format in svg svg:count; do
	bb report "$T/trace" -F $format -o "$T/$format"
	exits 0 "-F $format ends well"
	valid "$T/$format" "$format"
	is "$(grep -oE '[a-z]+://[^"'\'' )]*' "$T/$format" | sed 's/^http:..//' | sort -u | xargs)" \
		'www.w3.org/1999/xhtml www.w3.org/2000/svg' "$format: the picture has no address but the names of its languages"
	is "$(($(grep -c '<svg class="f ' "$T/$format") + $(left_out "$T/$format")))" 13 \
		"$format: the frames, with those that are left out, are all, the thread, main and ten levels of fib"
done
is "$(titles fib "$T/svg:count" | grep -c '; itself')" 9 'svg: calls of fib within fib are frames on top of it'
is "$(titles main "$T/svg:count" | sed 1d)" '178 calls, 100 %; itself 1' 'svg:count: main has all calls in it'
is "$(titles fib "$T/svg:count" | awk -F '[ ;]' '/ calls?, / && frames++ { n += /itself/ ? $NF : $1 } END { print n }')" 177 \
	'svg:count: the frames of fib, below that of the thread, have all its calls'

# ---- a name with all that XML, a script and CSS could stumble over ----
name=$'<script>alert(1)</script>]]>&amp;"\'\xff\x01 \xc3\xa4 --> ${x}'
offset=$(file_offset "$T/fib" "$(symbol "$T/fib" fib)")
recorded hostile-function user "$T/fib" "$offset:$name" -- "$T/fib"
bb report "$T/trace" -F svg -o "$T/svg"
exits 0 'svg: a function with a hostile name is shown'
valid "$T/svg" 'svg: the flame graph of a hostile name'
is "$(grep -c '<script>' "$T/svg")" 1 'svg: a hostile name adds no script'
is "$(xmllint --xpath 'string(//*[local-name()="title"][contains(., "alert")])' "$T/svg" | head -1)" \
	$'<script>alert(1)</script>]]>&amp;"\'\xef\xbf\xbd\xef\xbf\xbd \xc3\xa4 --> ${x}' 'svg: a hostile name is in the title as it is'

# ---- nothing to draw ----
recorded fib-branches user "$T/fib" fib -e branch -- "$T/fib"
bb report "$T/trace" -F svg -o "$T/svg"
exits 0 'svg: a trace without entries and returns is drawn'
valid "$T/svg" 'svg: the graph of nothing'
like "$T/svg" 'No call was seen from its entry to its return' 'svg: a graph without entries and returns says that no call was seen'
recorded fib-l20 user "$T/fib" fib -l 20 -- "$T/fib"
bb report "$T/trace" -F svg:count -o "$T/svg"
valid "$T/svg" 'svg: the graph of the first 20 events'
like "$T/svg" 'Missing: .*calls without return, not timed' 'svg: a graph of the first events says that calls were cut off'

if is_root && [[ -x /usr/bin/python3 ]]; then
	# By calls: how many frames have a time that is neither noise nor too small to see differs from run to run.
	bb user /usr/bin/python3 'PyObject_*' 'PyDict_*' -F svg:count -o "$T/svg" -- /usr/bin/python3 -c 'print(1)'
	valid "$T/svg" 'svg: the graph of python3 starting'
	is "$(($(grep -c '<svg class="f ' "$T/svg") > 100))" 1 'svg: the graph of many functions has many frames'
fi
done_testing
