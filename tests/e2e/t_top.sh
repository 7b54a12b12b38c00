#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace top: one table where stdout is no terminal, screens on a terminal; a process that sleeps.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:python3 cmd:setpriv

cp "$E2E/first/prog.c" "$T"
"${CC:-cc}" -g -O1 -o "$T/prog" "$T/prog.c" || exit 2
background "$T/prog" spin
busy=$background
background "$T/prog" sleep
asleep=$background

bb top -p "$busy" -d 0.5
exits 0 'a process that runs'
like "$T/out" '^[0-9]+ samples of 10\.1ms: .* of CPU time$' 'how many samples, and how much CPU time that is'
like "$T/out" "^busiest threads: prog-$busy 100\.0%$" 'the busiest thread'
like "$T/out" '^ +self +total  function$' 'the head of the table'
like "$T/out" '^ +[0-9.]+%  +[0-9.]+%  spin$' 'the function that runs, with its shares'
like "$T/out" '^ +0\.0%  +100\.0%  main$' 'its caller has it in its total'
like "$T/out" '^ +[0-9.]+%  prog: .*main > spin$' 'the stack is a line, outermost function first'
is "$(grep -c '^busiest' "$T/out")" 1 'one table'
unlike "$T/out" $'\e' 'no escape sequence'
bb top -p prog -d 0.3
like "$T/out" "prog-$busy" 'by name'
bb top -p "$busy" -d 0.3 -n 1
is "$(grep -cE '^ +[0-9.]+% +[0-9.]+%  ' "$T/out")" 1 '-n 1: one row'
like "$T/out" '^\([0-9]+ more functions\)$' 'and the others are counted'
bb top -- "$T/prog" spin 3000
like "$T/out" ' spin$' 'a command'
bb top -d 0.3
exits 0 'the whole system'
like "$T/out" "prog-$busy" 'has the busy process'

bb top -p "$asleep" -d 0.3
like "$T/err" "no sample: .*process $asleep sleeps, with its only thread; bbtrace stack $asleep shows" 'a process that sleeps is told as sleeping'

# screen ARG...: on a terminal of 15 lines
screen() {
	timeout -k 5 "$BB_TIMEOUT" "$E2E/terminal.py" 60 15 "$BBTRACE" top "$@" >"$T/shown" </dev/null
	status=$?
}
for long in 1.5 20; do
	screen -p "$busy" --every 0.3 -d "$long"
	(($(grep -c $'\e\[H\e\[J' "$T/shown") >= 3)) && break # a busy machine draws few
done
is "$status" 0 'on a terminal'
(($(grep -c $'\e\[H\e\[J' "$T/shown") >= 3))
ok $? 'a screen replaces the one before' || diag "$(cat -v "$T/shown")"
SECONDS=1 screen -p "$busy" --every 0.2
is "$status" 0 'Ctrl-C ends it well'
screen -p "$asleep" --every 0.3 -d 1
like "$T/shown" 'no traced thread ran: all sleep' 'a screen without samples says that all sleep'

bb top ./prog
is "$status $(grep -c 'bbtrace top -- ./prog\|unexpected' "$T/err")" '2 1' 'a command without -- is refused'
bb top --every 1ms
is "$status" 2 '--every 1ms is refused'
chmod 755 "$T"
cp "$BBTRACE" "$T/bbtrace"
setpriv --reuid 65534 --regid 65534 --clear-groups "$T/bbtrace" top -d 0.2 >"$T/out" 2>"$T/err"
is "$? $(grep -c sudo "$T/err")" '1 1' 'the whole system needs permission'
(($("$BBTRACE" top --help | wc -l) <= 24))
ok $? 'its help is one screen'
is "$("$BBTRACE" top --help | grep -c '^  bbtrace top')" 3 'with three examples'
done_testing
