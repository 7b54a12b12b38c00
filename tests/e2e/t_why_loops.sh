#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: a branch that tested what a loop computed, a position or a count: by which branch control left that loop, at
# each level of optimisation; and values that changed on the way: shifted, doubled, by the address of memory.
. "$(dirname "$0")/lib.sh"
needs root uprobes
cd "$T" || exit 2

cat >loops.c <<'END'
#include <stdlib.h>
#include <string.h>
#define KEPT __attribute__((noinline))
static const char *known[] = {"red", "green", "blue", "white", "black", "brown", "pink", "grey", "tan", "gold", "lime"};
static volatile int zero;
KEPT static int check(const char *s) /* the position of a byte */
{
	size_t n = 0, len = strlen(s);

	for (; n < len; n++)
		if (s[n] == 'x') /* found */
			break;
	if (n < 4)
		return 3;
	return 0;
}
KEPT static int find(const char *name) /* a search that finds nothing */
{
	int i;

	for (i = 0; i < 11; i++) /* search */
		if (!strcmp(known[i], name))
			break;
	zero = 0;
	if (i == 11) /* missing */
		return -1;
	return i;
}
KEPT static int plain(int n) /* no loop computes it */
{
	int twice = n * 2 + zero;

	for (int i = 0; i < n; i++)
		zero = 0;
	if (twice > 6) /* plain */
		return 5;
	return 0;
}
KEPT static int inside(const char *s) /* the loop has not ended */
{
	for (int i = 0; s[i]; i++) {
		zero = 0;
		if (i > 2) /* inside */
			return 7;
	}
	return 0;
}
int main(int argc, char **argv)
{
	switch (*argv[1]) {
	case 'c':
		return check(argv[2]);
	case 'f':
		return find(argv[2]) < 0 ? 2 : 0;
	case 'p':
		return plain(atoi(argv[2]));
	case 'i':
		return inside(argv[2]);
	case 's':
		return (find(argv[2]) >> 31) & 9;
	}
	return 0;
}
END
line() { grep -n "/\* $1 \*/" loops.c | cut -d: -f1; }

# why STATUS ARG... : the answer
why() {
	local status=$1
	shift
	bb why -- ./loops "$@"
	is "$(sed -n 's/^\.\/loops exited with //p' "$T/out")" "$status" "$cc: $*: exits with $status"
}
ended_by() { sed -n '/computed in a loop that ended by/s/.*loops\.c:\([0-9]*\).*/\1/p' "$T/out"; }

for cc in "gcc -O0" "gcc -O1" "gcc -O2" "gcc -Os" "clang -O0" "clang -O2"; do
	$cc -g -o loops loops.c || exit 2
	why 3 c 12x4567
	found=$(ended_by)
	is "${found:-none}" "$(line found)" "$cc: a position: the branch that found it"
	why 3 c xyz
	is "$(ended_by)" "$(line found)" "$cc: also at the first place, before the loop has come round"
	why 2 f teal
	case $(ended_by) in
	"$(line search)") is 1 1 "$cc: a search that found nothing: the loop's end" ;;
	"") # it is the end itself, or the loop was unrolled
		grep -Eq "(decided|passed on) by find.*loops\.c:($(line search)|$(line missing)|$(($(line missing) + 1))|$(($(line search) + 1)))\$" "$T/out"
		is $? 0 "$cc: a search that found nothing: the loop's end itself decided" ;;
	*) is "$(ended_by)" "$(line search)" "$cc: a search that found nothing: the loop's end" ;;
	esac
	why 9 s teal
	grep -q " by find+" "$T/out"
	is $? 0 "$cc: a status that was shifted and masked is followed to the function it is from"
	why 5 p 4
	is "$(ended_by)" "" "$cc: what no loop computed has none"
	why 7 i abcdef
	is "$(ended_by)" "" "$cc: nor has what a loop tests itself"
done
bb why -F json -o "$T/json" -- ./loops c 12x4567
is "$(grep -c '"loop_ended_by":{"function":"check"' "$T/json")" 1 "JSON has the branch, too"
done_testing
