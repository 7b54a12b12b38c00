#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: a program that is detached while its threads are anywhere runs on to the same result, untraced.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes

program inlined -pthread
"$T/inlined" mix 30 >"$T/plain" 2>&1
for ms in 1 3 10 20 35 50 70 100 140 190 250 320; do
	bb user "$T/inlined" '*' --engine inline -f --timeout ${ms}ms -o "$T/trace" -- "$T/inlined" mix 30
	is "$status $(<"$T/out")" "0 $(<"$T/plain")" "let go after $ms ms"
done
for n in 1 100 10000; do
	bb user "$T/inlined" '*' --engine inline -f -l $n -o "$T/trace" -- "$T/inlined" mix 30
	is "$status $(<"$T/out")" "0 $(<"$T/plain")" "let go after $n events"
done

# What runs on is the original, nothing else is left, and nobody traces it.
cat >"$T/look" <<'END'
sleep 1
while read -r range perms _ _ _ path; do
	[[ $perms == r-xp && $path == "$1" ]] && where=$range
done </proc/$2/maps
start=$((16#${where%-*})) end=$((16#${where#*-}))
dd if=/proc/$2/mem bs=4096 skip=$((start / 4096)) count=$(((end - start) / 4096)) 2>/dev/null | md5sum | cut -d' ' -f1
sed -n 's/^TracerPid:[[:space:]]*//p' /proc/$2/status
# copies and logs
awk '$5 == 0 && $6 == "" && ($2 ~ /x/ || $1 ~ /^2a0/) { n++ } END { print n + 0 }' /proc/$2/maps
END
cat >"$T/main.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int __attribute__((noinline)) work(int n) { return n > 3 ? n * 2 : n + 1; }
/* main COMMAND [fork]: it, or a child, executes that with its PID. */
int main(int argc, char **argv)
{
	char command[1024];
	int sum = 0, status;

	for (int i = 0; i < 100; i++)
		sum += work(i);
	if (argc > 2 && fork())
		return wait(&status) < 0 || status;
	snprintf(command, sizeof(command), "%s %d", argv[1], getpid());
	if (system(command))
		return 1;
	printf("%d\n", sum + work(argc));
	return 0;
}
END
${CC:-cc} -g -O2 -o "$T/main" "$T/main.c" || exit 2
command="bash $T/look $(realpath "$T/main")"
"$T/main" "$command" >"$T/plain"
is "$(wc -l <"$T/plain") $(sed -n 2,3p "$T/plain" | xargs)" '4 0 0' 'the code in memory can be read'
bb user "$T/main" '*' --engine inline --timeout 500ms -o "$T/trace" -- "$T/main" "$command"
same "$T/out" "$T/plain" 'its code is as in the file then, nothing is mapped any more, and it has no tracer'
bb user "$T/main" '*' --engine inline -o "$T/trace" -- "$T/main" "$command"
[[ $(sed -n 1p "$T/out") != "$(sed -n 1p "$T/plain")" && $(sed -n 2p "$T/out") != 0 && $(sed -n 3p "$T/out") -gt 1 ]]
ok $? 'while it is traced they are not' || diag "$(<"$T/out")"
is "$(sed -n 4p "$T/out")" "$(sed -n 4p "$T/plain")" 'its result is the same'
"$T/main" "$command" fork >"$T/plain"
bb user "$T/main" '*' --engine inline -o "$T/trace" -- "$T/main" "$command" fork
same "$T/out" "$T/plain" 'a child that is not followed has its code and its mappings'
done_testing
