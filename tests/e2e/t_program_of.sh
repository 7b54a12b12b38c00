#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Without OBJECT, functions are those of the program of CMD, or of the process of -p. What names an object is one.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program fib -O1 -g
objects() { json_lines "$T/json" '$e->{event} eq "entry" && "$e->{object} $e->{symbol}"' | sort | uniq -c | awk '{ print $1, $2, $3 }'; }
same_as_named() { # NAME FUNC...
	bb user "$T/fib" "${@:2}" -F json -o "$T/json" -- "$T/fib"
	named=$(objects)
	bb user "${@:2}" -F json -o "$T/json" -- "$T/fib"
	exits 3 "$1: traced"
	like <(objects) '^177 .*/fib fib$' "$1: each call"
	is "$(objects)" "$named" "$1: as with the object"
}
same_as_named 'a function' fib
same_as_named 'two functions' fib main
same_as_named 'all functions' '*'
same_as_named 'a pattern' 'fi*'
same_as_named 'an offset' "0x$(nm "$T/fib" | awk '$3 == "fib" { print $1 }' | sed 's/^0*//')"
line=$(grep -n 'fib(n - 1)\|fib(n-1)' "$ROOT/tests/progs/fib.c" | head -n 1 | cut -d: -f1)
bb user "fib.c:$line" -F json -o "$T/json" -- "$T/fib"
exits 3 'FILE:LINE: traced'
like "$T/err" ' [1-9][0-9]* events, 0 lost' 'FILE:LINE: it has events'

cp "$T/fib" "$T/fibonacci"
(cd "$T" && PATH=$T:$PATH "$BBTRACE" user fib -F json -o "$T/json" -- fib >"$T/out" 2>"$T/err")
is "$(json "$T/json" '$e->{event} eq "entry" && $e->{symbol} eq "fib"')" 177 'a function whose name is that of a command, too, with no other word'
(cd "$T" && PATH=$T:$PATH "$BBTRACE" user fibonacci fib -F json -o "$T/json" -- fibonacci >"$T/out" 2>"$T/err")
is "$(objects)" "177 $T/fibonacci fib" 'a first word that names an object is one, if a function follows'

bb user no_such_function -- "$T/fib"
exits 1 'a word that is neither is refused'
like "$T/err" "^bbtrace: no function named no_such_function in $T/fib; .*a library's function comes after the library: " 'and the message says where it was looked for'
is "$(cat "$T/out")" '' 'and nothing runs'
bb user fib no_such_function -- "$T/fib"
exits 1 'a second function that there is not is refused'
bb user libnone.so.9 malloc -- "$T/fib"
like "$T/err" '^bbtrace: no object libnone.so.9: tried' "a library's name is no function"
bb user ./none fib -- "$T/fib"
like "$T/err" '^bbtrace: .*/none' 'nor is a path'

# ---- of a process ----

cc -g -O1 -pthread -o "$T/waits" "$ROOT/tests/stack/waits.c" || exit 2
"$T/waits" naps >"$T/said" &
pid=$!
wait_for "$PATIENCE" grep -q '^main ' "$T/said"
bb user naps reads -p $pid -t 1
like "$T/err" ' 2 functions, ' '-p: functions of the process'
bb user no_such_function -p $pid -t 1
like "$T/err" "^bbtrace: no function named no_such_function in $T/waits; " '-p: the message names its program'
kill -KILL $pid
done_testing
