#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Probes are attached and detached while four threads run into others (tests/check/growing.c): these are hit as often as the
# program executed them, and no breakpoint stays.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes "file:$BUILD/growing"
mechanisms
has_mechanism uprobe_multi || skip_all 'this kernel has no uprobe_multi'
source_program grows c -O1 -pthread <"$E2E/grows.c"

# grow NAME OPTION...: of later, while fixed is traced; its output in $T/grown. On a busy machine events may be lost, which
# is reported: that proves nothing of these here.
grow() {
	local try

	for try in 1 2 3 4 5 6; do
		timeout -k 10 "$BB_TIMEOUT" "$BUILD/growing" -n "${rounds:-4}" "${@:2}" "$T/grows" fixed later >"$T/grown" 2>"$T/err"
		status=$?
		grep -q 'lost [1-9]' "$T/grown" || break
		diag "$1: attempt $try: $(grep -m 1 'lost' "$T/grown")"
	done
	exits "${wanted:-0}" "$1"
	calls=$(sed -n 's/ calls$//p' "$T/grown")
}
worked() { sed -n 's/^worked \(.*\)/\1/p' "$T/grown"; }
exact() { # NAME: each execution of fixed has its event, or its count; none of later is where it has no probe
	is "$(grep -cx 'stray 0, lost 0, twice 0' "$T/grown") $(grep -E '^(entered|jne)' "$T/grown" | xargs)" \
		"1 entered $calls jne $((2 * calls)) $calls" "$1: $calls calls are seen once each"
}

for row in '-a uprobe_multi' '-d' '-d -c' '-w'; do
	# shellcheck disable=SC2086 # words
	grow "$row: probes are added and removed" $row
	is "$(worked)" '4, refused 0, breakpoints left 0' "$row: each time they work, and are gone"
	exact "$row"
done

# ---- one at a time, of a link that has those of the other function as well ----
for row in '' -c -r; do
	# shellcheck disable=SC2086 # words
	rounds=6 grow "${row:-events}: probes leave a link" -s -a uprobe_multi $row
	is "$(worked)" '6, refused 0, breakpoints left 0' "${row:-events}: the link is replaced by one without them"
	exact "${row:-events} of a link"
done
is "$(sed -n 's/^returned //p' "$T/grown")" "$calls" 'each return is seen once while links of return probes are replaced'
grow 'probes of a trace event are removed' -s
is "$(worked)" '4, refused 0, breakpoints left 4' 'breakpoints of a trace event stay until its end'
like "$T/err" 'their hits are ignored, but each still costs a trap' 'and what that costs is said'
exact 'of a trace event'

# ---- a thread's exec, which removes the probes that follow a process ----
for row in '-a uprobe_multi' ''; do
	# shellcheck disable=SC2086 # words
	grow "${row:-by default}: a thread executes the program anew" -x $row
	is "$(worked)" '4, refused 0, breakpoints left 0' "${row:-by default}: added probes are attached again, and removed"
done

# ---- killed ----
left=0
for i in 1 2 3 4; do
	how=(-a uprobe_multi)
	((i % 2)) && how+=(-s)
	timeout -k 10 "$BB_TIMEOUT" "$BUILD/growing" -n 100000 -K $((RANDOM % 500 + 80)) "${how[@]}" \
		"$T/grows" fixed later >"$T/grown" 2>"$T/err" && echo 'it was not killed'
	wait_for $PATIENCE test -s "$T/grown"
	[[ $(<"$T/grown") == 'breakpoints left 0' ]] || ((left++))
done 2>"$T/killed"
is $left 0 'killed while it attaches and detaches: the code is as it was'

# ---- what can't be ----
grow 'a probe is refused' -l -a uprobe_multi
is "$(worked)" '4, refused 1, breakpoints left 0' 'the other ones are attached'
wanted=1 grow 'more sites than a trace has room for are refused' -m -a uprobe_multi
like "$T/grown" "^this trace can't take [0-9]+ more probes: trace these functions by another bbtrace$" 'and the message says what to do'
done_testing
