#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: whenever bbtrace is killed, the program runs on to the same result, and nothing of bbtrace stays. If its
# supervisor is killed, a program without signals does, too.
# KILLS: how many of each.
. "$(dirname "$0")/lib.sh"
needs root uprobes

# ended PID: until the process has ended; who is its parent now may not have asked for its status yet.
ended() { ! grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null; }

# begin COMMAND...: starts a trace whose command writes to $T/result, and touches $T/began before; its PID and that of its
# supervisor are in $tracer and $supervisor.
begin() {
	rm -f "$T/result" "$T/began"
	printf '%s\n' ": >$T/began; $* >$T/result.new; echo \$? >>$T/result.new; mv $T/result.new $T/result" >"$T/script"
	"$BBTRACE" user "$1" '*' --engine inline -f -o "$T/trace" -- sh "$T/script" >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for "$PATIENCE" pgrep -P $tracer -x bbtrace-inline >"$T/pid"
	supervisor=$(tail -1 "$T/pid")
}
pause() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }

program inlined -pthread
{ "$T/inlined" mix 12 && echo 0; } >"$T/plain"
for ((n = 0; n < ${KILLS:-6}; n++)); do
	begin "$T/inlined" mix 12
	wait_for "$PATIENCE" test -e "$T/began"
	pause $((n * n * 4))
	kill -9 $tracer
	wait $tracer 2>/dev/null
	wait_for "$PATIENCE" test -e "$T/result"
	same "$T/result" "$T/plain" "bbtrace is killed after $((n * n * 4)) ms: the program's result"
	wait_for "$PATIENCE" ended "$supervisor"
	ok $? 'its supervisor ends'
done
for ((n = 0; n < 4; n++)); do
	begin "$T/inlined" mix 2
	pause $((n * n * 10))
	kill -9 $tracer
	wait $tracer 2>/dev/null
	wait_for "$PATIENCE" ended "$supervisor"
	ok $? "bbtrace is killed $((n * n * 10)) ms after its supervisor began: that ends"
done

cat >"$T/plain.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static unsigned work(int rounds, unsigned k)
{
	static int v[2000];

	for (int r = 0; r < rounds; r++) {
		srand(r);
		for (int i = 0; i < 2000; i++)
			v[i] = rand() >> 1;
		qsort(v, 2000, sizeof(*v), compare);
		for (int i = 0; i < 2000; i++)
			k = k * 31 + v[i];
	}
	return k;
}
/* Goes on when the file is there. */
int main(int argc, char **argv)
{
	unsigned k = work(50, 0);

	while (access(argv[1], F_OK))
		work(1, k);
	printf("%u\n", work(100, k));
	return 0;
}
END
${CC:-cc} -g -O2 -o "$T/inlined" "$T/plain.c" || exit 2
: >"$T/killed"
{ "$T/inlined" "$T/killed" && echo 0; } >"$T/plain"
for ((n = 0; n < ${KILLS:-6} / 2; n++)); do
	rm "$T/killed"
	begin "$T/inlined" "$T/killed"
	wait_for "$PATIENCE" test -e "$T/began"
	pause $((n * 40))
	kill -9 "$supervisor"
	: >"$T/killed"
	wait_for "$PATIENCE" test -e "$T/result"
	same "$T/result" "$T/plain" "the supervisor is killed after $((n * 40)) ms: the program's result"
	wait $tracer
	is $? 0 'the trace ends when the program does'
	like "$T/err" 'the process bbtrace-inline was killed' 'and says what has happened'
done
done_testing
