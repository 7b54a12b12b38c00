#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --once and --retire N: the probes of what was seen are removed while the program runs, and nothing is missed by that.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms
[[ " ${MECHANISMS[*]} " == *" uprobe_multi "* ]] || skip_all 'this kernel has no uprobe_multi'
source_program hammer c -O1 -pthread <"$(dirname "$0")/hammer.c"

edge() { # FILE SYMBOL INSN: taken, not taken, of the first such branch
	json_lines "$1" '$e->{event} eq "edge" && $e->{symbol} eq "'"$2"'" && $e->{insn} eq "'"$3"'" ? join(" ", $e->{taken_count}, $e->{not_taken_count} // "-") : ""' | head -n 1
}
rounds() { sed -n 's/.* probes were removed in \([0-9]*\) rounds.*/\1/p' "$T/err"; }

# ---- each execution counts once, while links are replaced under four threads ----
n=${HAMMER:-400000}
bb user "$T/hammer" spin 'f*' -c --once -F json -o "$T/edges" -- "$T/hammer" "$n"
exits 0 'a program is traced with --once'
is "$(edge "$T/edges" spin je)" "0 $((4 * n))" 'a conditional whose other side nothing shows keeps its probe: each execution counts once'
like "$T/err" '[0-9]+ are left; [0-9]+ of these were hit [0-9]+ times, which took about [0-9.]+ s: no other place shows' \
	'what stays, and what it took, is said'
is "$(($(rounds) >= 3))" 1 "probes were replaced while the threads ran ($(rounds) rounds)"
bb user "$T/hammer" spin 'f*' -c --once -- "$T/hammer" 10
like "$T/out" '^spin\+0x[0-9a-f]+  je  taken 0, not taken 40$' 'a count that is exact has no +'

# ---- what was seen is what is seen without it ----
seen() { json_lines "$1" '$e->{event} eq "edge" ? join("\n", map { "$e->{vaddr} $_" } grep { $e->{$_} } qw(taken_count not_taken_count)) : ""' | sort; }
for p in ladder switch fptr loops mutual threads longjmp except; do
	[ -e "$BUILD/progs/$p" ] || continue
	bb user "$BUILD/progs/$p" '*' -c --placement full -F json -o "$T/full" -- "$BUILD/progs/$p"
	seen "$T/full" >"$T/want"
	for how in --once '--retire 1' '--retire 3'; do
		# shellcheck disable=SC2086 # words
		bb user "$BUILD/progs/$p" '*' -c $how -F json -o "$T/edges" -- "$BUILD/progs/$p"
		seen "$T/edges" >"$T/got"
		same "$T/got" "$T/want" "$p, $how: the same edges are seen"
	done
done

# ---- a side that is taken long after the conditional's probe has gone ----
# The program sees the breakpoints in its own code, and waits until those that it had at first are gone.
source_program late c -O1 <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noipa)) int pick(int n)
{
	if (n > 1000)
		return puts("late");
	return n;
}
static int left(const unsigned *at, unsigned n)
{
	const volatile unsigned char *code = (const unsigned char *)pick;
	int found = 0;

	for (unsigned i = 0; i < n; i++)
		found += code[at[i]] == 0xcc;
	return found;
}
int main(void)
{
	const volatile unsigned char *code = (const unsigned char *)pick;
	unsigned at[64], n = 0;

	for (unsigned i = 0; i < 12; i++)
		if (code[i] == 0xcc)
			at[n++] = i;
	for (int i = 0; i < 1200 && (!i || left(at, n)); i++) {
		for (int k = 0; k < 50; k++)
			pick(k);
		usleep(50000);
	}
	pick(1001);
	pick(1001);
	return !n || left(at, n);
}
END
for how in --once '--retire 10'; do
	# shellcheck disable=SC2086 # words
	bb user "$T/late" pick -c $how -F json -o "$T/edges" -- "$T/late"
	exits 0 "$how: the breakpoints go while the program runs"
	is "$(json_lines "$T/edges" '($e->{kind} // "") eq "jcc" ? ($e->{taken_count} && $e->{not_taken_count} ? "both" : "one") : ""')" both \
		"$how: a side that is taken at last is seen"
done
is "$(json "$T/edges" '($e->{kind} // "") eq "jcc" && ($e->{taken_at_least} || $e->{not_taken_at_least})')" 1 \
	'counts of removed probes are marked as lower bounds'
bb user "$T/late" pick -c --retire 10 -- "$T/late"
like "$T/out" 'taken [0-9]+\+' 'as text they have a +'
bb user "$T/late" pick -F annotate --once -- "$T/late"
exits 0 'annotate has --once'

# ---- copies of functions continue counting, exactly ----
exact() { json_lines "$1" '$e->{event} eq "edge" ? join " ", map { $e->{$_} // "-" } qw(vaddr taken_count not_taken_count taken_at_least) : ""'; }
if [[ $(uname -m) == x86_64 ]]; then
	for p in ladder switch fptr loops mutual threads longjmp except; do
		[ -e "$BUILD/progs/$p" ] || continue
		bb user "$BUILD/progs/$p" '*' -c --placement full -F json -o "$T/full" -- "$BUILD/progs/$p"
		exact "$T/full" >"$T/want"
		for how in --once '--retire 1'; do
			# shellcheck disable=SC2086 # words
			bb user "$BUILD/progs/$p" '*' -c $how --engine inline -F json -o "$T/edges" -- "$BUILD/progs/$p"
			exact "$T/edges" >"$T/got"
			# but those of the few probes that are left, if they had time to retire
			left=$(sed -n 's/.* rounds, \([0-9]*\) are left.*/\1/p' "$T/err")
			awk '$4 == 1 { print $1 }' "$T/got" >"$T/retired"
			is "$(($(wc -l <"$T/retired") <= ${left:-0}))" 1 "$p, $how: no more lower bounds than probes" || diag "$(<"$T/err")"
			grep -vwFf "$T/retired" "$T/got" >"$T/got.kept"
			grep -vwFf "$T/retired" "$T/want" >"$T/want.kept"
			same "$T/got.kept" "$T/want.kept" "$p, $how, --engine inline: all counts are exact"
			like "$T/err" 'are counted by copies of functions, for about a nanosecond each time: they stay' 'and a note says why'
		done
	done
	source_program both c -O1 <<'END'
#include <unistd.h>
/* four bytes, and no padding behind them: there is no room for a jump */
int narrow(int x);
__asm__(".globl narrow\n.type narrow,@function\nnarrow: lea 1(%rdi), %eax\nret\n.size narrow,.-narrow\nnext: ret");
__attribute__((noipa)) int wide(int x) { if (x & 8) __asm__ volatile("nop"); return x; }
int main(void)
{
	const volatile unsigned char *code = (const unsigned char *)narrow;
	int sum = 0;
	for (int i = 0; i < 1200 && (i < 20 || code[0] == 0xcc || code[3] == 0xcc); i++) {
		sum += wide(narrow(i));
		usleep(50000);
	}
	for (int i = 0; i < 1000; i++)
		sum += wide(narrow(i));
	return code[0] == 0xcc || code[3] == 0xcc || !sum;
}
END
	bb user "$T/both" narrow wide -c --once --engine inline -F json -o "$T/edges" -- "$T/both"
	exits 0 'a function that is not copied loses its probes'
	is "$(json "$T/edges" '$e->{event} eq "edge" && $e->{symbol} eq "narrow" && $e->{taken_at_least}')" 1 'and its count is a lower bound'
	is "$(json "$T/edges" '$e->{event} eq "edge" && $e->{symbol} eq "wide" && $e->{taken_at_least}') $(json "$T/edges" \
		'$e->{event} eq "edge" && $e->{symbol} eq "wide" && $e->{kind} eq "jcc" && $e->{taken_count} + $e->{not_taken_count} > 1000')" \
		'0 1' 'one that is copied has exact counts'
	like "$T/err" '[1-9][0-9]* probes were removed in [1-9][0-9]* rounds, 0 are left' 'a note says what was removed'
fi

# ---- refused ----
bb user "$T/late" pick --once -- "$T/late"
is "$status" 2 '--once needs counts'
like "$T/err" '--once needs counts: add -c' 'and says so'
bb user "$T/late" pick -c --retire 0 -- "$T/late"
is "$status" 2 '--retire 0 is wrong usage'
bb user "$T/late" pick -c --once --reset -- "$T/late"
is "$status" 2 '--once with --reset is refused'
bb user "$T/late" pick -c --once --attach uprobe_event -- "$T/late"
is "$status" 1 'a mechanism that cannot remove probes is refused'
like "$T/err" 'uprobe_multi' 'and the one that can is named'
done_testing
