#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2016 # lib.sh sets T; Perl's variables
# Recording that bbtrace ctl switches, by each mechanism: while it is stopped the program's code is its own, of all its
# threads and children, and what is recorded is what ran in between.
. "$(dirname "$0")/lib.sh"
needs root uprobes

cc -g -O1 -pthread -I"$ROOT/include" -o "$T/app" "$E2E/controlled.c" || exit 2
original=$(objdump -d "$T/app" | sed -nE '/<work>:/{n;s/^[^\t]*\t([0-9a-f]{2}).*/\1/p}')
entry_byte() {
	local pid at base

	pid=$(pgrep -n -P "$trace" -x app) || return
	base=$(awk -v f="$T/app" '$6 == f { split($1, a, "-"); print a[1]; exit }' "/proc/$pid/maps")
	at=$(nm "$T/app" | awk '$3 == "work" { print $1 }')
	dd if="/proc/$pid/mem" bs=1 count=1 skip=$((0x$base + 0x$at)) 2>/dev/null | od -An -tx1 | tr -d ' '
}
says() {
	local line

	for line; do
		echo "$line" >&8
		read -r -t "$PATIENCE" <&9
	done
}
switch() { bb ctl "$T/sock" "$1"; }

mechanisms
for mechanism in "${MECHANISMS[@]}"; do
	rm -f "$T/in" "$T/did" "$T/sock"
	mkfifo "$T/in" "$T/did"
	"$BBTRACE" user "$T/app" work --engine probe --attach "$mechanism" -f --paused --control-socket "$T/sock" -F json -e entry \
		-o "$T/json" -- "$T/app" <"$T/in" >"$T/did" 2>"$T/bb.err" &
	trace=$!
	at_end "kill $trace 2>/dev/null"
	exec 8>"$T/in" 9<"$T/did"
	wait_for "$PATIENCE" test -S "$T/sock"
	says ww
	is "$(entry_byte)" "$original" "$mechanism: paused, the code is that of the file"
	for round in 1 2 3; do
		switch start
		says w tw fw
		is "$(entry_byte)" cc "$mechanism, $round: started it has its probe"
		switch stop
		says ww tw fw
		is "$(entry_byte)" "$original" "$mechanism, $round: and stopped it has not"
	done
	exec 8>&-
	wait "$trace"
	is $? 0 "$mechanism: the trace ends with its program"
	exec 9<&-
	is "$(json_lines "$T/json" '{entry => "W", stop => "[", start => "]"}->{$e->{event}}' | tr -d '\n')" '[]WWW[]WWW[]WWW[' \
		"$mechanism: what ran in between is recorded, of threads and children, too" || diag "$(cat "$T/bb.err")"
done
done_testing
