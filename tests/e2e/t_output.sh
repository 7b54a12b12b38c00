#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where the trace is written and how it looks: -o, stdout, -T, --color, JSON that every reader accepts.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program fib -O1
run() { bb user "$T/fib" fib -F text "$@" -- "$T/fib"; }

# ---- where ----
umask 022
run --no-fold -o "$T/trace"
exits 3 "-o FILE: CMD's status is bbtrace's"
is "$(cat "$T/out")" 55 "-o FILE: CMD's stdout is its own"
is "$(stat -c %a "$T/trace")" 600 "-o FILE is its owner's alone"
is "$(grep -c ' fib' "$T/trace")" "$(summary events)" '-o FILE has the trace'
echo something longer than it was before >"$T/trace.old"
cat "$T/trace" "$T/trace" "$T/trace" >"$T/trace.big"
run -l 3 -o "$T/trace.big"
is "$(wc -l <"$T/trace.big")" 3 '-o FILE begins a file anew that was there'
run -l 3 -o -
is "$(grep -c ' fib' "$T/out") $(grep -c '^55$' "$T/out")" '3 1' '-o - writes the trace to stdout'
run -l 3
is "$(grep -c ' fib' "$T/out")" 3 'without -o the trace goes to stdout'
grep -v '^ .*fib\|^55$' "$T/out" >"$T/rest"
is "$(cat "$T/rest")" '' 'with -o - nothing else of bbtrace is on stdout'

# CMD's streams are its own
bb user "$T/fib" fib -F text -o "$T/trace" -- sh -c 'cat; echo to stderr >&2; ls -l /proc/self/fd' <<<hello
echo hello | "$BBTRACE" user "$T/fib" fib -F text -o "$T/trace" -- sh -c 'cat; echo to stderr >&2' >"$T/out" 2>"$T/err"
is "$(cat "$T/out")" hello 'CMD has its own stdin and stdout'
is "$(head -1 "$T/err")" 'to stderr' 'CMD has its own stderr'
sh -c 'ls /proc/$$/fd' >"$T/plain" 2>"$T/err" </dev/null
"$BBTRACE" user "$T/fib" fib -F text -o "$T/trace" -- sh -c 'ls /proc/$$/fd' >"$T/out" 2>"$T/err" </dev/null
same "$T/out" "$T/plain" 'CMD inherits no descriptor of bbtrace'

# ---- the time column ----
column() { awk '/ fib/ { print $1 }' "$T/trace"; }
run -T rel -o "$T/trace"
is "$(column | grep -cvE '^[0-9]+\.[0-9]{9}$')" 0 '-T rel shows seconds since the start'
column | LC_ALL=C sort -n -c
ok $? '-T rel: the times ascend'
run -T delta -o "$T/trace"
is "$(column | head -1) $(column | sed 1d | grep -cvE '^\+[0-9]+\.[0-9]{9}$')" '- 0' '-T delta shows seconds since the line before'
run -T abs -o "$T/trace"
is "$(column | grep -cvE '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6,9}$')" 0 '-T abs shows the time of day'
run -T none -o "$T/trace"
is "$(column | grep -cvE '^fib-[0-9]+$')" 0 '-T none shows no column of times'
run -T other
exits 2 '-T other is wrong usage'

# ---- colour ----
escape=$'\033'
for when in 'auto 0' 'never 0' 'always 3'; do
	read -r colour lines <<<"$when"
	TERM=xterm run --color "$colour" -l 3
	is "$(grep -c "$escape\[" "$T/out")" "$lines" "--color $colour, not to a terminal, colours $lines lines"
done
if command -v script >/dev/null; then
	for case in 'auto xterm' 'auto dumb' 'never xterm'; do
		read -r colour term <<<"$case"
		env -u NO_COLOR TERM="$term" script -qec "$BBTRACE user $T/fib fib -l 3 --color $colour -- $T/fib" "$T/typed" >"$T/out" </dev/null
		# not every escape sequence: a progress line, where attaching takes long, is cleared by one
		grep -qE "$escape\[[0-9;]*m" "$T/typed" && got=coloured || got=plain
		is $got "$([[ $case == 'auto xterm' ]] && echo coloured || echo plain)" "colours follow --color $colour and TERM=$term on a terminal"
	done
	NO_COLOR=1 TERM=xterm script -qec "$BBTRACE user $T/fib fib -l 3 -- $T/fib" "$T/typed" >"$T/out" </dev/null
	is "$(grep -cE "$escape\[[0-9;]*m" "$T/typed")" 0 'NO_COLOR is respected'
else
	skip '--color auto colours lines on a terminal' 'no script(1)'
fi
run --color sometimes
exits 2 '--color sometimes is wrong usage'

# ---- JSON ----
strict() {
	python3 -c '
import json, sys
def no_constants(x): raise ValueError(x)
def once(pairs):
	assert len({k for k, v in pairs}) == len(pairs), "a key twice"
	return dict(pairs)
for line in open(sys.argv[1], "rb"):
	assert line.endswith(b"\n") and b"\n" not in line[:-1]
	e = json.loads(line.decode("utf-8", "strict"), parse_constant=no_constants, object_pairs_hook=once)
	assert isinstance(e, dict) and "event" in e' "$1"
}
name=$'we"ird \\ \xff\x01 \xc3\xa4 name'
cp "$T/fib" "$T/$name"
bb user "$T/$name" fib -k -F json -o "$T/json" -- "$T/$name"
exits 3 'a program is traced whose name has quotes, backslashes, control characters and broken UTF-8'
if command -v python3 >/dev/null; then
	strict "$T/json"
	ok $? 'JSON of a program with a hostile name is valid'
fi
is "$(entries fib)" 177 'each call of a program with a hostile name is shown'
is "$(json "$T/json" '$e->{event} eq "summary"') $(tail -1 "$T/json" | cut -c1-18)" '1 {"event":"summary"' 'JSON has one summary, as its last line'
bb user "$T/$name" fib -F text -o "$T/trace" -- "$T/$name"
LC_ALL=C grep -aq $'[\x01\xff]' "$T/trace"
is $? 1 'text of a program with a hostile name has no control character'

bb user "$T/fib" fib -F yaml -- "$T/fib"
exits 2 '-F with an unknown format is wrong usage'
like "$T/err" "unknown format 'yaml'; formats: text, json" 'the message about an unknown format names those that there are'

# ---- per thread, times never go back ----
program threads -O1 -pthread
bb user "$T/threads" collatz worker -F json -o "$T/json" -- "$T/threads"
is "$(json_lines "$T/json" 'our %last; my $back = defined $e->{ts} && $e->{ts} < ($last{$e->{tid}} // 0); $last{$e->{tid} // 0} = $e->{ts} if defined $e->{ts}; $back ? 1 : ""')" \
	'' 'the times of each thread are in order'
is "$(json_lines "$T/json" '$e->{tid}' | sort -u | wc -l)" 4 'JSON of a program with four threads has all four'
# What can't be written is said, by each verb that prints.
for line in --help --version help 'help user' 'list --help' 'report --help' doctor "list $T/fib" "list $T/fib fib --sites" "list $T/fib -F json" \
	"list $T/fib fib -F annotate"; do
	# shellcheck disable=SC2086 # words
	timeout "$BB_TIMEOUT" "$BBTRACE" $line >/dev/full 2>"$T/err" </dev/null
	is "$? $(tail -1 "$T/err")" '1 bbtrace: cannot write to stdout: No space left on device' "${line//$T\//} to a full disk fails, and says why"
done
(trap '' PIPE && "$BBTRACE" --help 2>"$T/err") | true
is "${PIPESTATUS[0]} $(cat "$T/err")" '0 ' 'a reader that goes away is no failure'

done_testing
