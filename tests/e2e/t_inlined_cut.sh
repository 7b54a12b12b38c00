#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --engine inline: a program logs faster than its events are shown. Ctrl-C while the rest is read leaves that out, and each
# event of it is counted as lost.
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

(($(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) > 2000000)) || skip_all 'needs 2 GB of memory, of which a quarter may be a log that waits'

source_program spins c <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noipa)) unsigned spin(unsigned n)
{
	unsigned sum = n;

	do
		sum = sum * 5 + 1;
	while (--n);
	return sum;
}
int main(int argc, char **argv)
{
	unsigned sum = 0;

	for (int i = 0; i < 4; i++)
		sum ^= spin(atoi(argv[1]) / 4);
	printf("%x\n", sum);
	return argc + 1;
}
END
spins=("$T/spins" 40000000)
bb user "$T/spins" spin --engine inline --placement full -F summary -o "$T/summary" -- "${spins[@]}"
exits 3 'all of it is read'
all=$(summary events)
is "$(summary lost)" 0 'nothing is lost'
ok $((all < 40000000)) 'there are 40 million branches and more' || diag "$all"

reads_rest() { grep -qsE 'reading the rest|, [0-9]+ lost' "$T/err"; }
for format in text json file; do
	options=(-F "$format")
	[[ $format != file ]] || options=()
	rm -f "$T/err"
	"$BBTRACE" user "$T/spins" spin --engine inline --placement full "${options[@]}" -o "$T/$format" -- "${spins[@]}" >"$T/out" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for "$PATIENCE" reads_rest
	like "$T/err" 'reading the rest of the log, [0-9]+ MB; Ctrl-C leaves it out' "$format: it says that more is to be read"
	kill -INT $tracer
	wait $tracer
	is $? 3 "$format: interrupted then, the command's status"
	like "$T/err" "[0-9.]* MB of the log were left out" "$format: how much was left out"
	lost=$(summary lost)
	ok $((lost < 1)) "$format: something is left out" || diag "$(<"$T/err")"
	[[ $format != file ]] || shown="$(summary events) $lost"
	# a return is two events, ret and return, of one hit; the last of the four calls ends in the rest
	sum=$(($(summary events) + lost))
	ok $((sum > all || sum < all - 4)) "$format: each event was shown, or counted as lost" || diag "$sum of $all"
done
is "$(sed -n 's/.*"event":"lost","count":\([0-9]*\).*/\1/p' "$T/json" | awk '{ n += $1 } END { print n + 0 }')" "$(tail -1 "$T/json" | sed 's/.*"lost":\([0-9]*\).*/\1/')" \
	'JSON: it tells where so many are lost'
bb report "$T/file" -F summary
exits 0 'the file can be read'
is "$(summary events) $(summary lost)" "$shown" 'and has what was told when it was written'
done_testing
