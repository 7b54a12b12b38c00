#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: when a process dumps its memory, its other threads are where the original would be, not in copies:
# gdb shows the functions that they were in, and what they counted, whatever ends it.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes dumps cmd:gdb
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
[[ $(</proc/sys/kernel/core_pattern) != \|* ]] || skip_all 'core dumps go to a program (kernel.core_pattern)'

source_program spinners c -g -O1 -pthread <<'END'
/* Three threads count by turns, in a register and in memory, while the first one ends the process. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static volatile long counted[3];
static volatile int ready;
__attribute__((noipa)) static long spin(volatile long *count, long n)
{
	long s = 0;

	for (;; s++) {
		if (s % 3 == n)
			break;
		*count = s;
		s += (s & 1) ^ 1;
		s -= s % 3 == 2 ? 1 : 0;
	}
	return s;
}
static void *run(void *count)
{
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	return (void *)spin(count, 7);
}
static void *leave(void *unused)
{
	abort();
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t;

	for (int i = 0; i < 3; i++)
		pthread_create(&t, 0, run, (void *)&counted[i]);
	while (ready < 3)
		usleep(1000);
	usleep(50000);
	if (!strcmp(argv[1], "fault"))
		return *(volatile int *)8;
	if (!strcmp(argv[1], "quit"))
		kill(getpid(), SIGQUIT);
	if (!strcmp(argv[1], "abort"))
		pthread_create(&t, 0, leave, 0);
	if (!strcmp(argv[1], "cpu"))
		setrlimit(RLIMIT_CPU, &(struct rlimit){1, 5});
	for (;;)
		pause();
}
END
mkdir "$T/dumps"
# dump HOW OPTION...: threads that gdb shows in spin()
dump() {
	local how=$1

	shift
	rm -f "$T"/dumps/*
	(cd "$T/dumps" && ulimit -c unlimited && exec timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$T/spinners" '*' --engine inline "$@" \
		-- "$T/spinners" "$how") >"$T/out" 2>"$T/err" </dev/null
	gdb -nx -batch -ex 'thread apply all bt 1' "$T/spinners" "$T"/dumps/core* 2>/dev/null | awk '/^Thread / { all = 1 } all && /^#0 .*spin \(count=/ { n++ } END { print n + 0 }'
}
for how in fault quit abort cpu; do
	is "$(dump $how -c -F json -o "$T/json")" 3 "$how: gdb shows what all threads are in, while sites are counted"
	is "$(dump $how --last 10 -o "$T/text")" 3 "$how: and while they are logged"
done
done_testing
