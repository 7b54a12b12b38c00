#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: a status that a thread returned, which pthread_join(3) stores in a variable; and variables that other functions may
# store into, since they get the address.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
unset BBTRACE_ENGINE
cd "$T" || exit 2

cat >joined.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
volatile int seen;
static void *worker(void *arg)
{
	if (*(const char *)arg == 'x') { /* cause */
		seen = 1;
		return (void *)7;
	}
	return 0;
}
static void *other(void *arg)
{
	return *(const char *)arg == 'x' ? (void *)7 : 0;
}
static void *third(void *arg)
{
	return *(const char *)arg == 'x' ? (void *)9 : 0;
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	void *(*second)(void *) = argc > 2 ? other : third;
	pthread_t t, u;
	void *res, *ignored;

	pthread_create(&u, 0, second, (void *)what);
	pthread_join(u, &ignored);
	pthread_create(&t, 0, worker, (void *)what);
	pthread_join(t, &res);
	if (res) { /* joined */
		seen = 2;
		exit(3);
	}
	return 0;
}
END
cat >stored.c <<'END'
#include <stdio.h>
#include <stdlib.h>
volatile int seen;
int main(int argc, char **argv)
{
	int n = 4;

	if (argc > 1) /* given */
		seen = sscanf(argv[1], "%d", &n);
	if (n == 4) { /* four */
		seen = 3;
		return n;
	}
	return 0;
}
END
line() { grep -n "/\* $2 \*/" "$1.c" | cut -d: -f1; }
compilers=(gcc)
command -v clang >/dev/null && compilers+=(clang)
for compiler in "${compilers[@]}"; do
	for level in -O0 -O1 -O2 -Os; do
		build="$compiler $level"
		$compiler -g $level -pthread -o joined joined.c && $compiler -g $level -o stored stored.c || exit 2
		bb why -o said -- ./joined x
		exits 3 "$build: the status is the command's"
		# clang -Os tests it by a pointer, which is not followed
		if [[ $build != "clang -Os" ]]; then
			like said "^  decided by main.*joined\.c:$(line joined joined)\$" "$build: the branch that tested the thread's result"
			like said "result of worker = 7, decided by worker.*joined\.c:$(line joined cause)\$" "$build: and the one by which the thread returned it"
			like said 'assumed: it was that thread which pthread_join waited for' "$build: what is assumed"
		fi
		bb why -o said -- ./joined x both
		unlike said 'worker|other' "$build: of two functions with the same result, neither is named"
		like said '^  passed on by main' "$build: and the branch only passed that on"
		bb why -o said -- ./stored 4
		exits 4 "$build: a variable that a library has stored: the status"
		unlike said 'decided by' "$build: what was there before decides nothing"
	done
done
done_testing
