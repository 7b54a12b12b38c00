#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Text folds repetitions: folded output expands to that of --no-fold, and a long loop takes one line.
. "$(dirname "$0")/../e2e/lib.sh"
needs recorded

# expand FILE: each line as often as the counts say.
expand() {
	perl -e '
		my @lines = map { s/\n//r } <>;
		# the rows from $i on that stand behind $bars bars, as they were
		sub rows {
			my ($i, $bars) = @_;
			my @out;
			while ($$i < @lines) {
				my $line = $lines[$$i];
				my ($left, $tree) = $line =~ /^(\S+ +?)((?:(?: *\| )+)? .*|.*)$/ ? ($1, $2) : ("", $line);
				my $n = () = $line =~ /(?<=[ |])\| /g;
				last if $n < $bars;
				$$i++;
				if ($line =~ / (\d+) times:$/) {
					my $times = $1;
					my @body = rows($i, $n + 1);
					push @out, (@body) x $times;
				} else {
					my $times = $line =~ s/  (\d+) times$// ? $1 : 1;
					$line =~ s/\| //g;
					push @out, ($line) x $times;
				}
			}
			return @out;
		}
		my $i = 0;
		print "$_\n" for rows(\$i, 0)' "$1" | sed 's/-[0-9]*  /  /'
}
plain() { sed 's/-[0-9]*  /  /' "$1"; }

# both OBJECT FUNC...: $T/folded and $T/all of one run
both() {
	recorded "fold-${1##*/}" user "$@" -r none -- "$1"
	bb report "$T/trace" -T none -F text -o "$T/folded"
	bb report "$T/trace" -T none --no-fold -F text -o "$T/all"
}
# Durations vary from run to run, and so does the room that they leave in front of the source line.
timeless() { sed -i -E 's/  (first entry|\+[0-9.]+[mnu]?s since last|\+[0-9hm]+s? since last)//; s/(returns [0-9a-fx]+)  [0-9.hm]+[mnu]?s(, net [0-9.hm]+[mnu]?s)?/\1/; s/(\(\.\.\.\)) +/\1  /' "$1"; }
unfolds() {
	timeless "$T/folded"
	timeless "$T/all"
	expand "$T/folded" >"$T/expanded"
	plain "$T/all" >"$T/plain"
	same "$T/expanded" "$T/plain" "$1"
	is "$(wc -l <"$T/all")" "$(summary events)" "$1: what is not folded has all events"
}

source_program long c <<'END'
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noipa)) size_t length(const char *s)
{
	size_t n = 0;
	do n++; while (s[n]);
	return n;
}
int main(void)
{
	char *s = calloc(1, 4001);
	memset(s, 'a', 4000);
	return length(s) != 4000;
}
END
both "$T/long" length
is "$(grep -cE 'length\+0x' "$T/folded")" 3 'a loop of 4,000 rounds is folded to three lines'
like "$T/folded" ' length\+0x[0-9a-f]+  jne  taken -> length\+0x[0-9a-f]+ +long\.c:7  3999 times$' 'a folded loop has its trip count'
unfolds 'a folded loop stands for every branch'
if is_root; then bb user "$T/long" length -F text -o "$T/folded" -- "$T/long"; else bb report "$T/trace" -F text -o "$T/folded"; fi
like "$T/folded" ' 3999 times in [0-9.]+[um]s$' 'a folded loop has the span of its times'
is "$(summary events)" 4003 'the summary counts each event of a folded loop'

for test in loops:nested switch:pick fib:fib; do
	program "${test%:*}" -O1
	both "$T/${test%:*}" "${test#*:}"
	unfolds "$test: folded text expands to all lines"
done
[[ $(wc -l <"$T/folded") -le $(wc -l <"$T/all") ]]
ok $? "$test: folded text is no longer than all lines"

# three deep
source_program deep c <<'END'
__attribute__((noipa)) int deep(int n)
{
	volatile int sum = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < n; k++)
				sum++;
	return sum;
}
int main(void) { return deep(20) != 8000; }
END
both "$T/deep" deep
unfolds 'loops three deep expand to all lines'
(($(wc -l <"$T/folded") < 60))
ok $? 'loops three deep are folded to few lines' || diag "$(cat "$T/folded")"

is_root || done_testing
# who watches a loop that continues sees it
source_program on c <<'END'
#include <unistd.h>
__attribute__((noipa)) void on(volatile int *stop) { while (!*stop) usleep(1000); }
int main(void) { int never = 0; alarm(1800); on(&never); }
END
"$BBTRACE" user "$T/on" on -- "$T/on" > >(cat >"$T/out") 2>"$T/err" </dev/null &
watched=$!
seen() { grep -q ' times in ' "$T/out"; }
wait_for $PATIENCE seen
ok $? 'through a pipe a loop is shown while it goes on'
kill $watched # which tells CMD
wait $watched
done_testing
