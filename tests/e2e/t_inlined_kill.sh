#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: whenever bbtrace is killed, the program runs on to the same result, and nothing of bbtrace stays. If its
# supervisor is killed, a program without signals does, too.
# KILLS: how many of each.
. "$(dirname "$0")/lib.sh"
needs root uprobes

# Until no process has this name, as ps shows it.
gone() {
	for ((i = 0; i < 10 * PATIENCE; i++)); do
		pgrep -f "$1" >/dev/null || return 0
		sleep 0.1
	done
	return 1
}

# kill_one WHO MS COMMAND...: starts a trace whose command writes to $T/result, and kills bbtrace, or its supervisor.
kill_one() {
	local who=$1 ms=$2 pid victim

	shift 2
	rm -f "$T/result"
	printf '%s\n' "$* >$T/result.new; echo \$? >>$T/result.new; mv $T/result.new $T/result" >"$T/script"
	"$BBTRACE" user "$1" '*' --engine inline -f -o "$T/trace" -- sh "$T/script" >"$T/out" 2>"$T/err" </dev/null &
	pid=$!
	for ((i = 0; i < 10 * PATIENCE; i++)); do
		victim=$(pgrep -P $pid -x bbtrace-inline) && break
		sleep 0.01
	done
	sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
	[[ $who == bbtrace ]] && victim=$pid
	kill -9 "$victim" 2>/dev/null
	wait $pid 2>/dev/null
	for ((i = 0; i < 10 * PATIENCE; i++)); do
		[[ -e $T/result ]] && return
		# killed before the command was executed
		pgrep -f "$T/script" >/dev/null || pgrep -f "$T/inlined" >/dev/null || return
		sleep 0.1
	done
}

program inlined -pthread
{ "$T/inlined" mix 12 && echo 0; } >"$T/plain"
for ((n = 0; n < ${KILLS:-6}; n++)); do
	ms=$((n * n * 4))
	kill_one bbtrace $ms "$T/inlined" mix 12
	if [[ -e $T/result ]]; then
		same "$T/result" "$T/plain" "bbtrace is killed after $ms ms: the program's result"
	else
		ok $((n > 2)) "bbtrace is killed after $ms ms: before the program ran"
	fi
	gone 'bbtrace-inlin[e]'
	ok $? 'its supervisor ends'
done

cat >"$T/plain.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
	static int v[2000];
	unsigned k = 0;

	for (int r = 0; r < 300; r++) {
		srand(r);
		for (int i = 0; i < 2000; i++)
			v[i] = rand() >> 1;
		qsort(v, 2000, sizeof(*v), compare);
		for (int i = 0; i < 2000; i++)
			k = k * 31 + v[i];
	}
	printf("%u\n", k);
	return 0;
}
END
${CC:-cc} -g -O2 -o "$T/inlined" "$T/plain.c" || exit 2
{ "$T/inlined" && echo 0; } >"$T/plain"
for ((n = 1; n <= ${KILLS:-6} / 3; n++)); do
	kill_one supervisor $((n * 40 + 40)) "$T/inlined"
	same "$T/result" "$T/plain" "the supervisor is killed after $((n * 40 + 40)) ms: the program's result"
done
done_testing
