# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2034,SC2154 # Perl's variables; used there; lib.sh sets T
#
# The program controlled.c, which does what it is told, and a trace of it; to be sourced after lib.sh.
#
#   app one work -F json -o "$T/json"; says ww; ends one

cc -g -O1 -pthread -I"$ROOT/include" -o "$T/app" "$E2E/controlled.c" || exit 2
original=$(objdump -d "$T/app" | sed -nE '/<work>:/{n;s/^[^\t]*\t([0-9a-f]{2}).*/\1/p}')

# app NAME ARG...: traces work() of the program in the background, until it ends; says: what it is to do, one line each
app() {
	local name=$1
	shift

	rm -f "$T/in" "$T/did"
	mkfifo "$T/in" "$T/did"
	"$BBTRACE" user "$T/app" "$@" --control-socket "$T/sock" -- "$T/app" <"$T/in" >"$T/did" 2>"$T/$name.err" &
	trace=$!
	at_end "kill $trace 2>/dev/null"
	exec 8>"$T/in" 9<"$T/did"
	wait_for "$PATIENCE" test -S "$T/sock" || { sed "s/^/# /" "$T/$name.err"; exit 1; }
}
says() {
	local line

	for line; do
		echo "$line" >&8
		read -r -t "$PATIENCE" <&9
	done
}
ends() {
	exec 8>&-
	wait "$trace"
	is $? "${2:-0}" "$1: the trace ends with status ${2:-0}"
	exec 9<&-
}
# events FILE: a letter for each call, stop, start and mark, a digit for a mark's number
events() {
	json_lines "$1" '{entry => "W", mark => "M" . ($e->{number} // ""), stop => "[", start => "]"}->{$e->{event}}' | tr -d '\n'
}
# The first byte of work() in the memory of the process: with a probe it is a breakpoint.
entry_byte() {
	local pid at base

	pid=$(pgrep -n -P "$trace" -x app) || return
	base=$(awk -v f="$T/app" '$6 == f { split($1, a, "-"); print a[1]; exit }' "/proc/$pid/maps")
	at=$(nm "$T/app" | awk '$3 == "work" { print $1 }')
	dd if="/proc/$pid/mem" bs=1 count=1 skip=$((0x$base + 0x$at)) 2>/dev/null | od -An -tx1 | tr -d ' '
}
