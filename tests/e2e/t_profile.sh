#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace profile: samples by a timer, with the stacks of the kernel and of the program without frame pointers. Each stack is
# one that the program can have; formats agree on their number, live and from a trace file.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root

cat >"$T/spin.c" <<'END'
	#include <unistd.h>
	#include <sys/syscall.h>
	volatile long sink;
	__attribute__((noinline, noclone)) void one(long n) { for (long i = 0; i < n; i++) sink += i; }
	__attribute__((noinline, noclone)) long three(long n) { one(n), one(n), one(n); return sink + 1; }
	char data[1 << 16];
	__attribute__((noinline, noclone)) long reads(void)
	{
		for (int i = 0; i < 8; i++)
			sink += syscall(SYS_getrandom, data, sizeof(data), 0);
		return sink + data[7];
	}
	__attribute__((noinline, noclone)) long work(long n) { return three(n) + reads() + sink; }
	int main(void)
	{
		for (int i = 0; i < 300; i++)
			sink = work(300000);
		return 0;
	}
END
gcc -O2 -g -fomit-frame-pointer -o "$T/spin" "$T/spin.c" || exit 2
bb profile --freq 997 -F json --record "$T/trace" -o "$T/json" -- "$T/spin"
exits 0 'a profile of a command'
# the program's frames, outermost first, from main on
chains() {
	json_lines "$1" '$e->{stack} && join ";", (map { $_->{symbol} // "?" } reverse grep { $_->{object} ne "kernel" } @{$e->{stack}}), $e->{stack_end} // "whole"' |
		sed 's/^.*;main/main/'
}
samples=$(json "$T/json" '$e->{stack}')
is "$((samples > 20))" 1 "there are samples: $samples"
chains "$T/json" | grep '^main' >"$T/chains"
is "$(grep -vE '^main(;work(;three(;one)?|;reads(;syscall)?)?)?;whole$' "$T/chains")" '' 'each stack is one that the program can have, and whole'
is "$(grep -c '^main;work;three;one;whole' "$T/chains" | sed 's/^[1-9][0-9]*$/some/')" some 'where the time goes'
is "$(json "$T/json" '$e->{stack} && $e->{stack}[0]{object} eq "kernel"' | sed 's/^[1-9][0-9]*$/some/')" some 'some in the kernel'
is "$(json "$T/json" '$e->{stack} && $e->{stack}[0]{object} eq "kernel" && !grep { ($_->{symbol} // "") eq "main" } @{$e->{stack}}' )" \
	"$(json "$T/json" '$e->{stack} && $e->{stack}[0]{object} eq "kernel" && !grep { ($_->{symbol} // "") =~ /^(reads|main|work|three|one)$/ } @{$e->{stack}}' )" \
	'a stack in the kernel goes on to main, if it is of main'
is "$(grep -o '[0-9]* named events' "$T/err")" "$samples named events" 'the last line counts them'

bb report "$T/trace" -F json -o "$T/again"
is "$(chains "$T/again" | md5sum)" "$(chains "$T/json" | md5sum)" 'a trace file has the same'
bb report "$T/trace" -F folded -o "$T/folded"
is "$(awk '/^#/ { next } { n += $NF } END { print n }' "$T/folded")" "$samples" 'folded: each sample once'
is "$(grep -v '_\[k\]' "$T/folded" | sed -n 's/.*;main;work;three;one \([0-9]*\)$/\1/p' | awk '{ n += $1 } END { print n + 0 }')" \
	"$(json_lines "$T/json" '$e->{stack} && $e->{stack}[0]{object} ne "kernel" && join ";", map { $_->{symbol} // "?" } @{$e->{stack}}' | grep -c '^one;three;work;main;')" \
	'folded: as many in one function as there were'
like "$T/folded" ';main;work;reads.*_\[k\].* [0-9]+$' 'folded: frames of the kernel are marked'
bb report "$T/trace" -F svg -o "$T/svg"
like "$T/svg" 'where samples were taken' 'svg: a flame graph of samples'
bb report "$T/trace" -F svg:count -o "$T/svg2"
cmp -s "$T/svg" "$T/svg2"
ok $? 'svg:count: the same'

bb profile --freq 0 -- true
is "$status" 2 '--freq 0 is refused'
bb profile ls
is "$status $(grep -c 'a command goes after --' "$T/err")" '2 1' 'a command without -- is refused'
done_testing
