#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Attaching thousands of probes one by one shows its progress on a terminal, but not with -q or elsewhere. Before thousands
# go into a running process, a note says what a hit will cost.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:script

# More probes than are attached in silence, and not all of them of one function.
{
	for f in a b c d e; do
		printf 'int __attribute__((noinline, noclone)) many_%s(volatile int *x)\n{\n' $f
		printf '\tif (*x == %d) *x += 1;\n' {1..500}
		printf '\treturn *x;\n}\n'
	done
	printf '#include <unistd.h>\nint main(int argc, char **argv)\n{\n\tvolatile int x = -9;\n\tif (argc > 1)\n\t\tpause();\n\treturn many_a(&x) + many_b(&x) + many_c(&x) + many_d(&x) + many_e(&x) + 45;\n}\n'
} | source_program many c

# typed ARG...: on a terminal, what it shows in $T/typed; tostop, as some have it, stops what writes to it from behind.
typed() {
	TERM=${TERMINAL:-xterm} timeout -k 5 "$BB_TIMEOUT" script -qefc "stty tostop; $BBTRACE user $T/many 'many_*' --attach uprobe_event --placement full -c -o $T/out $* -- $T/many" \
		/dev/null >"$T/typed" 2>&1 </dev/null
	status=$?
}

typed
is "$status" 0 'attaching 5000 probes on a terminal ends well'
like "$T/typed" 'bbtrace: attaching 5[0-9]{3} probes: [0-9]+ %, [0-9]+/s, [0-9]+ s left' 'the progress says how many, how far, how fast, how long'
is "$(tail -n 1 "$T/typed" | sed 's/.*\x1b\[K//' | grep -o '^bbtrace: 5 functions, 5[0-9]* probes')" \
	"$(grep -o 'bbtrace: 5 functions, 5[0-9]* probes' "$T/typed")" 'the progress is cleared, the summary stands alone'
TERMINAL=dumb typed
is "$status $(grep -c $'\e' "$T/typed")" '0 0' 'a terminal that understands no escape sequence shows no progress'
typed -q
is "$status $(wc -c <"$T/typed")" '0 0' '-q shows no progress and no note'
typed -v
is "$status $(grep -c ' s left' "$T/typed")" '0 0' '-v shows lines, and no progress between them'
typed -e entry
is "$status $(grep -c ' s left' "$T/typed")" '0 0' 'attaching few probes shows no progress'
bb user "$T/many" 'many_*' --attach uprobe_event --placement full -c -o "$T/out" -- "$T/many"
is "$status $(grep -c ' s left' "$T/err") $(wc -l <"$T/err")" '0 0 1' 'where stderr is no terminal no progress is shown'

# ---- the price of many probes in a process that runs ----
background "$T/many" wait
running=$background
price="^bbtrace: ([0-9]+) probes go into the running process $running: a hit takes about 0.5 us at ([0-9]+) of them, 10 to 20 us at the ([0-9]+) that the kernel must single-step; .*--calibrate .*; --max-overhead 20 would end"
bb user "$T/many" 'many_*' --placement full -p $running -t 0.1
like "$T/err" "$price" 'before thousands of probes go into a process the price of a hit is said'
read -r all emulated stepped < <(sed -nE "s/$price.*/\1 \2 \3/p" "$T/err")
is "$all $((emulated + stepped))" "$(summary probes) $(summary probes)" 'the price is that of all probes'
"$BBTRACE" list --sites "$T/many" 'many_*' -F json >"$T/json"
branches=$(json "$T/json" '$e->{kind} =~ /^(jcc|jmp)$/')
# each function's entry is on an instruction of either kind
is "$((emulated >= branches && emulated <= branches + 5)) $((all - $(wc -l <"$T/json")))" '1 5' \
	'the kernel single-steps all but conditionals and jumps'
bb user "$T/many" 'many_*' -e entry -p $running -t 0.1
unlike "$T/err" 'single-step' 'the price of few probes is not said'
bb user "$T/many" 'many_*' --placement full -q -p $running -t 0.1
is "$(cat "$T/err")" '' 'with -q it is not said'
bb user "$T/many" 'many_*' --placement full -e return --min-duration 1h -- "$T/many"
unlike "$T/err" 'single-step' 'of a command it is not said'

# ---- decoding ----
# Functions that take seconds to decode: the largest library that is here.
largest=$(find /usr/lib /lib -name 'lib*.so*' -type f -size +20M -printf '%s %p\n' 2>/dev/null | sort -n | tail -n 1 | cut -d' ' -f2-)
if [[ $largest ]]; then
	TERM=xterm SECONDS=4 "$E2E/terminal.py" 80 24 "$BBTRACE" list "$largest" >"$T/typed" 2>&1 </dev/null
	like "$T/typed" 'bbtrace: decoding: [0-9]+ %, about [0-9]+ s left' 'decoding for seconds shows how far it is'
	timeout -s INT 4 "$BBTRACE" list "$largest" >/dev/null 2>"$T/err"
	is "$(cat "$T/err")" '' 'where stderr is no terminal it does not'
else
	skip 'decoding for seconds shows how far it is' 'no library is that large'
fi
"$E2E/terminal.py" 80 24 "$BBTRACE" list "$T/many" >"$T/typed" 2>&1 </dev/null
unlike "$T/typed" 'decoding' 'what takes less than a second shows no progress'
done_testing
