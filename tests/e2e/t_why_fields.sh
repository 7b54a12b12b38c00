#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: a status that is kept in a field of a structure, which functions change by a pointer: who stored it, and why.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
cd "$T" || exit 2

cat >fields.c <<'END'
#include <stdlib.h>
#include <string.h>
#define KEPT __attribute__((noinline))
struct job {
	char *text;
	int lines, failed, errors, code;
};
KEPT static void note(struct job *j, const char *s)
{
	if (strchr(s, '!')) /* failed */
		j->failed = 1;
}
KEPT static void count(struct job *j, const char *s)
{
	if (strchr(s, '+')) /* counted */
		j->errors++;
}
KEPT static void inner(struct job *j)
{
	j->lines++;
	if (strlen(j->text) > 6) /* long */
		j->code = 5;
}
KEPT static void step(struct job *j, char *s)
{
	j->text = s;
	note(j, s);
	count(j, s);
	inner(j);
}
KEPT static int finish(const struct job *j)
{
	if (j->failed) /* finish */
		return 4;
	return j->errors ? 3 : 0;
}
int main(int argc, char **argv)
{
	struct job j = {0};
	int r;

	for (int i = 1; i < argc; i++)
		step(&j, argv[i]);
	if (j.code)
		exit(7);
	r = finish(&j);
	if (r)
		return r;
	return j.lines > 3;
}
END
# line TEXT: the number of the line that has it in a comment
line() { grep -n "/\* $1 \*/" fields.c | cut -d: -f1; }

field() { # NAME STATUS LINE ARGUMENT...: the store that is named is decided by that line's branch
	local name=$1 want=$2 at=$3
	shift 3
	"$T/fields" "$@"
	is $? "$want" "$build, $name: ends with $want by itself"
	bb why -o "$T/said" -- "$T/fields" "$@"
	exits "$want" "$build, $name: and when it is explained"
	like "$T/said" 'which was stored by ' "$build, $name: a store is named"
	like "$T/said" "(because|decided by|result of) .*fields\.c:$at\$" "$build, $name: the branch that led to it" ||
		diag "$(cat "$T/said")"
}
compilers=(gcc)
command -v clang >/dev/null && compilers+=(clang)
for compiler in "${compilers[@]}"; do
	for level in -O0 -O2 '-Os -static'; do
		build="$compiler $level"
		# shellcheck disable=SC2086 # words
		$compiler -g $level -o fields fields.c || exit 2
		field 'a flag' 4 "$(line failed)" a 'b!' c
		field 'a code' 7 "$(line long)" a toolong1 c
		# clang chooses between both results without a branch
		[[ $compiler$level == clang-O[2s]* ]] || field 'a count' 3 "$(line counted)" a b+ c
		bb why -o "$T/said" -- "$T/fields" a b c d
		exits 1 "$build: a field that nobody has set"
		unlike "$T/said" "fields\.c:($(line failed)|$(line long))\$" "$build: what was not stored is not named"
	done
done
done_testing
