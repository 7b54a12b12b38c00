#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# FILE:LINE: the branches of a source line, wherever the compiler put them.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

source_program lines c -O2 <<'END'
#include <stdio.h>
static inline __attribute__((always_inline)) int half(int n)
{
	if (n & 1)
		__asm__ volatile("nop" ::: "memory");
	return n / 2;
}
__attribute__((noipa)) int one(int n)
{
	return half(n) + 1;
}
__attribute__((noipa)) int two(int n)
{
	int m = n + 1;

	__asm__("" : "+r"(m)); /* or the compiler knows that one of them is odd */
	return half(n) + half(m);
}
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += one(i);
	for (int i = 0; i < 6; i++)
		sum += two(i);
	printf("%d\n", sum);
	return 0;
}
END

lines() { bb user "$T/lines" "$@" -F json -o "$T/json" -- "$T/lines"; }
count() { json "$T/json" "\$e->{event} eq 'branch' && ($1)"; }

lines lines.c:4
exits 0 'a line that is inlined twice is traced'
is "$(count '$e->{kind} eq "jcc"')" 22 'each inlined instance of a line is shown, each time'
is "$(count '$e->{kind} eq "jcc" && $e->{symbol} eq "one"') $(count '$e->{kind} eq "jcc" && $e->{symbol} eq "two"')" '10 12' \
	'the instances of an inlined line are shown under the functions that they are in'
is "$(count '$e->{symbol} eq "one" && $e->{taken}')" 5 'a conditional of an inlined line is taken in half of the calls'
is "$(json "$T/json" '$e->{event} =~ /^(entry|return)$/')" 0 'FILE:LINE shows no entry and no return'

lines lines.c:11
exits 0 'a line with a ret is traced'
is "$(count '$e->{kind} eq "ret" && $e->{to}{symbol} eq "main"')" 10 'the ret of a line is shown each time, with its target'

lines "$T/lines.c:4"
is "$status $(count '$e->{kind} eq "jcc"')" '0 22' 'FILE:LINE takes the whole path of the file'

lines lines.c:4 one
exits 0 'a line and a function around it are traced together'
is "$(entries one) $(returns one) $(count '$e->{kind} eq "jcc"')" '10 10 22' 'of a line and a function around it each branch is shown once'

lines lines.c:8
is "$status $(symbols) $(entries one) $(returns one)" '0 one 10 10' 'the line where a function begins means the function'

# ---- a function by a line has its place in list too ----
bb list --sites "$T/lines" lines.c:4 -F json
exits 0 'list --sites FILE:LINE ends well'
is "$(json "$T/out" '$e->{kind} eq "jcc"')" 3 'list --sites FILE:LINE shows all three instances'

# ---- what isn't there ----
lines lines.c:999
exits 1 'FILE:LINE of a line without code is refused'
like "$T/err" '^bbtrace: .*lines\.c' 'the message about a line without code names the file'
lines other.c:4
exits 1 'FILE:LINE of a file that the program has not is refused'
cp "$T/lines" "$T/bare"
strip -g "$T/bare"
bb user "$T/bare" lines.c:4 -- "$T/bare"
exits 1 'FILE:LINE without debug information is refused'
like "$T/err" '^bbtrace: .*debug' 'the message about FILE:LINE says that debug information is missing'
source_program plain c <<'END'
static inline __attribute__((always_inline)) int mix(int n)
{
	n ^= 5;
	__asm__("" : "+r"(n));
	return n;
}
__attribute__((noipa)) int one(int n) { return mix(n) * 3; }
__attribute__((noipa)) int two(int n) { return mix(n) + 2; }
int main(int argc, char **argv) { return one(argc) + two(argc); }
END
bb user "$T/plain" plain.c:3 -- echo ran
is "$status $(cat "$T/out")" '1 ' 'a line without branches is refused before CMD runs'
like "$T/err" '^bbtrace: nothing to probe: the .* (one|two)(\+0x[0-9a-f]+)? .*; the next one is ret at (one|two)\+0x[0-9a-f]+; likewise 1 more range$' \
	'the message about a line without branches says what is there, and that it is there twice'
done_testing
