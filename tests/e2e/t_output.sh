#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where the trace is written and how it looks: -o, stdout, -T, --color, JSON that every reader accepts.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs recorded

program fib -O1
recorded fib user "$T/fib" fib -- "$T/fib"
cp "$T/trace" "$T/fib.bbt"
run() { bb user "$T/fib" fib -F text "$@" -- "$T/fib"; }
show() { bb report "$T/fib.bbt" -F text "$@"; }
# Both write a trace in the same way.
is_root && ways=(run show) || { ways=(show) && skip 'the same while it is traced' 'needs root'; }

# ---- where ----
umask 022
if is_root; then
	run --no-fold -o "$T/trace"
	exits 3 "-o FILE: CMD's status is bbtrace's"
	is "$(cat "$T/out")" 55 "-o FILE: CMD's stdout is its own"
	run -l 3 -o -
	is "$(grep -c '^55$' "$T/out")" 1 "-o -: CMD's output is on stdout, too"
fi
for way in "${ways[@]}"; do
	rm -f "$T/trace"
	$way --no-fold -o "$T/trace"
	is "$(stat -c %a "$T/trace")" 600 "$way: -o FILE is its owner's alone"
	is "$(grep -c ' fib' "$T/trace")" "$(summary events)" "$way: -o FILE has the trace"
	cat "$T/trace" "$T/trace" "$T/trace" >"$T/trace.big"
	$way -l 3 -o "$T/trace.big"
	is "$(wc -l <"$T/trace.big")" 3 "$way: -o FILE replaces a file that was there"
	for options in '-l 3 -o -' '-l 3'; do
		# shellcheck disable=SC2086 # words
		$way $options
		is "$(grep -c ' fib' "$T/out")" 3 "$way $options: the trace goes to stdout"
		is "$(grep -v '^ .*fib\|^55$' "$T/out")" '' "$way $options: nothing else of bbtrace is on stdout"
	done
done

# CMD's streams are its own
if as_root 'CMD has its own streams, and inherits no descriptor'; then
	echo hello | "$BBTRACE" user "$T/fib" fib -F text -o "$T/trace" -- sh -c 'cat; echo to stderr >&2' >"$T/out" 2>"$T/err"
	is "$(cat "$T/out")" hello 'CMD has its own stdin and stdout'
	is "$(head -1 "$T/err")" 'to stderr' 'CMD has its own stderr'
	sh -c 'ls /proc/$$/fd' >"$T/plain" 2>"$T/err" </dev/null
	"$BBTRACE" user "$T/fib" fib -F text -o "$T/trace" -- sh -c 'ls /proc/$$/fd' >"$T/out" 2>"$T/err" </dev/null
	same "$T/out" "$T/plain" 'CMD inherits no descriptor of bbtrace'
fi

# ---- the time column ----
column() { awk '/ fib/ { print $1 }' "$T/trace"; }
for way in "${ways[@]}"; do
	$way -T rel -o "$T/trace"
	is "$(column | grep -cvE '^[0-9]+\.[0-9]{9}$')" 0 "$way: -T rel shows seconds since the start"
	column | LC_ALL=C sort -n -c
	ok $? "$way: -T rel: the times ascend"
	$way -T delta -o "$T/trace"
	is "$(column | head -1) $(column | sed 1d | grep -cvE '^\+[0-9]+\.[0-9]{9}$')" '- 0' "$way: -T delta shows seconds since the line before"
	$way -T abs -o "$T/trace"
	is "$(column | grep -cvE '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6,9}$')" 0 "$way: -T abs shows the time of day"
	$way -T none -o "$T/trace"
	is "$(column | grep -cvE '^fib-[0-9]+$')" 0 "$way: -T none shows no column of times"
	$way -T other
	exits 2 "$way: -T other is wrong usage"
done

# ---- colour ----
escape=$'\033'
for way in "${ways[@]}"; do
	for when in 'auto 0' 'never 0' 'always 3'; do
		read -r colour lines <<<"$when"
		TERM=xterm $way --color "$colour" -l 3
		is "$(grep -c "$escape\[" "$T/out")" "$lines" "$way --color $colour, not to a terminal, colours $lines lines"
	done
	$way --color sometimes
	exits 2 "$way --color sometimes is wrong usage"
done
# typed ARG...: of the same on a terminal, is it coloured?
typed() {
	PAGER='' script -qec "$BBTRACE $*" "$T/typed" >"$T/out" </dev/null
	# not every escape sequence: a progress line, where attaching takes long, is cleared by one
	grep -qE "$escape\[[0-9;]*m" "$T/typed" && echo coloured || echo plain
}
if command -v script >/dev/null; then
	for way in "${ways[@]}"; do
		[[ $way == run ]] && args="user $T/fib fib -l 3 -- $T/fib" || args="report $T/fib.bbt -l 3"
		for case in 'auto xterm' 'auto dumb' 'never xterm'; do
			read -r colour term <<<"$case"
			got=$(unset NO_COLOR && TERM=$term typed "${args/-l 3/-l 3 --color $colour}")
			is "$got" "$([[ $case == 'auto xterm' ]] && echo coloured || echo plain)" "$way: colours follow --color $colour and TERM=$term on a terminal"
		done
		is "$(NO_COLOR=1 TERM=xterm typed "$args")" plain "$way: NO_COLOR is respected"
	done
else
	skip '--color auto colours lines on a terminal' 'no script(1)'
fi

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
recorded hostile-umlaut user "$T/$name" fib -- "$T/$name"
bb report "$T/trace" -F json -o "$T/json"
if is_root; then
	bb user "$T/$name" fib -k -F json -o "$T/json" -- "$T/$name"
	exits 3 'a program is traced whose name has quotes, backslashes, control characters and broken UTF-8'
fi
if command -v python3 >/dev/null; then
	strict "$T/json"
	ok $? 'JSON of a program with a hostile name is valid'
fi
is "$(entries fib)" 177 'each call of a program with a hostile name is shown'
is "$(json "$T/json" '$e->{event} eq "summary"') $(tail -1 "$T/json" | cut -c1-18)" '1 {"event":"summary"' 'JSON has one summary, as its last line'
bb report "$T/trace" -F text -o "$T/text"
LC_ALL=C grep -aq $'[\x01\xff]' "$T/text"
is $? 1 'text of a program with a hostile name has no control character'
if is_root; then
	bb user "$T/$name" fib -F text -o "$T/text" -- "$T/$name"
	LC_ALL=C grep -aq $'[\x01\xff]' "$T/text"
	is $? 1 'text of a program with a hostile name has no control character while it is traced'
fi

bb user "$T/fib" fib -F yaml -- "$T/fib"
exits 2 '-F with an unknown format is wrong usage'
like "$T/err" "unknown format 'yaml'; formats: text, json" 'the message about an unknown format names those that there are'

# ---- per thread, times never go back ----
program threads -O1 -pthread
recorded threads user "$T/threads" collatz worker -- "$T/threads"
bb report "$T/trace" -F json -o "$T/json"
! is_root || bb user "$T/threads" collatz worker -F json -o "$T/json" -- "$T/threads"
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
