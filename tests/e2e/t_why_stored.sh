#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: a status that is kept in a variable until the end: who stored it, and why; by each way in which compilers
# do that. What was stored and isn't the status is no reason.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
cd "$T" || exit 2

cat >kept.c <<'END'
#include <stdlib.h>
#include <string.h>
#define KEPT __attribute__((noinline))
static int status, errors, other;
static unsigned char seen;
static unsigned flags;
int shown;
KEPT static int parse(const char *s)
{
	if (strchr(s, '!')) /* parse */
		return 9;
	return 0;
}
KEPT static void result(const char *s)
{
	int r = parse(s);

	if (r) /* result */
		status = r;
}
KEPT static void counted(const char *s)
{
	if (strchr(s, '+')) /* counted */
		errors++;
}
KEPT static void noted(const char *s)
{
	if (strchr(s, '%')) /* noted */
		seen = 1;
}
KEPT static void flagged(const char *s)
{
	if (strchr(s, '#')) /* flagged */
		flags |= 4;
}
KEPT static void constant(const char *s)
{
	if (strchr(s, '@')) /* constant */
		status = 6;
}
KEPT static void unrelated(const char *s)
{
	if (strchr(s, 'u')) /* unrelated */
		other = 7, shown = 3;
}
KEPT static void by_pointer(const char *s, int *where)
{
	if (strchr(s, 'p')) /* pointer */
		*where = 11;
}
KEPT static void finish(void)
{
	if (seen)
		exit(8);
	if (flags)
		exit(flags);
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		result(argv[i]);
		counted(argv[i]);
		noted(argv[i]);
		flagged(argv[i]);
		constant(argv[i]);
		unrelated(argv[i]);
		by_pointer(argv[i], &status);
	}
	finish();
	if (status)
		return status;
	return errors != 0;
}
END
# line TEXT: the number of the line that has it in a comment
line() { grep -n "/\* $1 \*/" kept.c | cut -d: -f1; }

kept() { # NAME STATUS LINE ARGUMENT...: the store that is named is decided by that line's branch
	local name=$1 want=$2 at=$3
	shift 3
	"$T/kept" "$@"
	is $? "$want" "$build, $name: ends with $want by itself"
	bb why -o "$T/said" -- "$T/kept" "$@"
	exits "$want" "$build, $name: and when it is explained"
	like "$T/said" "(because|decided by) .*kept\.c:$at\$" "$build, $name: the branch that led to the store" ||
		diag "$(cat "$T/said")"
}
compilers=(gcc)
command -v clang >/dev/null && compilers+=(clang)
for compiler in "${compilers[@]}"; do
	for level in -O0 -O2 '-O2 -fPIE -pie' '-Os -static'; do
		build="$compiler $level"
		# shellcheck disable=SC2086 # words
		$compiler -g $level -o kept kept.c || exit 2
		kept constant 6 "$(line constant)" a u@ uu
		kept 'a byte' 8 "$(line noted)" u a% u
		kept 'a bit' 4 "$(line flagged)" u 'a#' u
		# clang chooses between both variables without a branch
		[[ $level == -Os* || $compiler$level == clang-O2* ]] || kept 'a counter' 1 "$(line counted)" u a+ u
		kept 'a result' 9 "$(line result)" u 'a!' u
		# by a branch, or from gcc 14 on by a choice without one
		[[ $compiler == clang ]] || like "$T/said" '(returned by|result of) parse = 9, (decided )?by .*kept\.c:1[0-2]$' "$build, a result: and who returned it"
		# what was stored before isn't it
		bb why -o "$T/said" -- "$T/kept" a@ p
		exits 11 "$build: a store by a pointer"
		unlike "$T/said" "kept\.c:$(line constant)" "$build: what another store has replaced is not named"
	done
done

# ---- the same in other formats ----
gcc -g -O2 -o kept kept.c
bb why -F json -o "$T/json" -- "$T/kept" u@
is "$(json_lines "$T/json" '$e->{event} eq "ending" ? "$e->{stored}{value} $e->{stored}{src}[0]{line} $e->{stored}{decided_by}{src}[0]{line}" : ""')" \
	"6 $(($(line constant) + 1)) $(line constant)" 'JSON: stored'
done_testing
