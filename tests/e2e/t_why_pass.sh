#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why --pass: a branch by which a run that passes came, too, is no reason; its output and input are not CMD's.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
cd "$T" || exit 2

cat >level.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static int bad(const char *name, const char *what)
{
	if (strlen(name) > 3) /* a long name */
		fprintf(stderr, "%s: %s\n", name, what);
	return 2;
}
int main(int argc, char **argv)
{
	char word[16] = "";

	if (argc < 2) /* no argument */
		return bad(argv[0], "no argument");
	if (atoi(argv[1]) > 5) /* too large */
		if (argc < 4) /* no force */
			return bad(argv[0], "too large");
	if (argc > 2 && fgets(word, sizeof(word), stdin))
		puts(word);
	puts("passed");
	return 0;
}
END
gcc -O1 -g -o level level.c || exit 2
line() { grep -n "/\* $1 \*/" level.c | cut -d: -f1; }

bb why -o "$T/said" -- "$T/level" 7
exits 2 'without a run that passes: the status is the command'"'"'s'
unlike "$T/said" 'passing run' 'nothing is compared'
bb why --pass "$T/level 3" -o "$T/said" -- "$T/level" 7
exits 2 'with one: the status is still the command'"'"'s'
grep -A2 ' because ' "$T/said" >"$T/because"
like "$T/because" "level.c:$(line 'too large')\$" 'because of the branch at which the passing run went the other way'
like "$T/because" 'the passing run went the other way' 'which is said'
unlike "$T/out" passed 'what the passing run writes is not the output of the command'
bb why --pass "$T/level 7 x y" -o "$T/said" -- "$T/level" 7
grep -A3 ' because ' "$T/said" >"$T/because"
like "$T/because" "level.c:$(line 'no force')\$" 'another passing run, another reason'
bb why --pass "'$T/level' \"3\" x" -F json -o "$T/json" -- "$T/level" 7
is "$(json_lines "$T/json" '$e->{event} eq "ending" ? $e->{messages}[0]{because}{decided_by}{passing} : ""')" other 'JSON: passing'
echo word | "$BBTRACE" why --pass "$T/level 3 x" -o "$T/said" -- "$T/level" 3 x >"$T/out" 2>"$T/err"
like "$T/out" word 'what the command reads is left to it'

bb why --pass "$T/level 9" -- "$T/level" 7
like "$T/err" "run of --pass failed, too, with 2" 'a run that does not pass is not compared'
unlike "$T/out" 'passing run' 'and nothing is said of it'
bb why --pass true -- "$T/level" 7
like "$T/err" "executed nothing of $T/level" 'nor is one of another program'
bb why --pass "$T/level 3 | cat" -- "$T/level" 7
exits 2 'a pipeline is refused'
like "$T/err" 'it has to be one command' 'and it says what it may be'
bb why --pass '' -- "$T/level" 7
like "$T/err" 'names no command' 'so is nothing at all'
done_testing
