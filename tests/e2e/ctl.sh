# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the tests of bbtrace ctl, besides lib.sh: a program that does a step when it is told to, and traces of it.

# Other traces of this machine are not to be seen: the test is run again where it has a /run/bbtrace of its own.
needs namespaces
if [[ ! ${CTL_OWN_RUN:-} ]]; then
	rm -rf "$T"
	export CTL_OWN_RUN=1
	exec unshare --mount --propagation private bash "$0"
fi
mkdir -p /run/bbtrace
mount -t tmpfs -o mode=755 tmpfs /run/bbtrace || exit 2

source_program steps c <<'END'
/* Calls work(3) once for each line on standard input, and answers when it has. */
#include <stdio.h>
__attribute__((noipa)) int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		if (i % 2)
			sum += i;
	return sum;
}
__attribute__((noipa)) int other(int n)
{
	return n > 3 ? work(n) + 1 : work(n) - 1;
}
int main(void)
{
	for (int c; (c = getchar()) != EOF;)
		if (c == '\n') {
			other(3);
			puts("did");
			fflush(stdout);
		}
	return 0;
}
END
# start: runs the program; its pid is in $program. steps N: it calls work() N times.
start() {
	mkfifo "$T/in" "$T/did"
	"$T/steps" <"$T/in" >"$T/did" &
	program=$!
	exec 8>"$T/in" 9<"$T/did"
	at_end "kill $program 2>/dev/null"
}
steps() {
	local i

	for ((i = 0; i < $1; i++)); do
		echo >&8
		read -r -t "$PATIENCE" <&9
	done
}
# trace NAME ARG...: traces work() in the background until it is told to end; its PID is in $trace.
trace() {
	local name=$1
	shift

	rm -f "$T/$name.err"
	"$BBTRACE" user "$T/steps" work -p "$program" -v "$@" >"$T/$name.out" 2>"$T/$name.err" </dev/null 8>&- 9>&- &
	trace=$!
	at_end "kill $trace 2>/dev/null"
	wait_for "$PATIENCE" grep -qs 'probes attached' "$T/$name.err"
	ctl "$trace" status
}
ctl() {
	timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" ctl "$@" >"$T/out" 2>"$T/err" </dev/null
	# shellcheck disable=SC2034 # the tests use it
	status=$?
}
# ends NAME: the trace ends by quit, and with status 0.
ends() {
	ctl "$trace" quit --wait
	exits 0 "$1: quit"
	wait "$trace"
	is $? 0 "$1: the trace ends with status 0"
}
value() { sed -n "s/^$1: //p" "$T/out"; }
