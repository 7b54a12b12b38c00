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
# bound when it starts: else the first call of syscall() goes through the dynamic linker's frames
gcc -O2 -g -fomit-frame-pointer -fno-plt -Wl,-z,now -o "$T/spin" "$T/spin.c" || exit 2
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

# --- shares that the program itself has measured, by its threads' clock
cat >"$T/shares.c" <<'END'
	#include <stdio.h>
	#include <time.h>
	volatile long sink;
	static long ns(void)
	{
		struct timespec t;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		return t.tv_sec * 1000000000L + t.tv_nsec;
	}
	#define LOOP(n) for (long i = 0; i < (n); i++) sink += i
	__attribute__((noinline, noclone, optimize("omit-frame-pointer"))) void most(long n) { LOOP(7 * n); }
	__attribute__((noinline, noclone)) void some(long n) { LOOP(2 * n); }
	static inline __attribute__((always_inline)) void inlined(long n) { LOOP(n); }
	__attribute__((noinline, noclone)) void few(long n) { inlined(n); sink++; }
	int main(void)
	{
		long sums[3] = {0}, start = ns(), n = 0, at[4];
		while (n++ < 100000 && (at[0] = ns()) - start < 800000000L) {
			long size = 5000 + n * 2654435761u % 30011; /* without a period, as samples have one */

			most(size), at[1] = ns();
			some(size), at[2] = ns();
			few(size), at[3] = ns();
			for (int i = 0; i < 3; i++)
				sums[i] += at[i + 1] - at[i];
		}
		printf("most %ld\nsome %ld\nfew %ld\n", sums[0], sums[1], sums[2]);
		return 0;
	}
END
gcc -O2 -g -fno-omit-frame-pointer -o "$T/shares" "$T/shares.c" || exit 2
# Of each function: is its part of the samples (lines "NAME SAMPLES") that of the time, within four standard deviations?
as_measured() {
	awk 'NR == FNR { ns[$1] = $2; all += $2; next } { got[$1] += $2; samples += $2 }
		END {
			if (samples < 2000) printf "only %d samples", samples
			for (f in ns) {
				p = ns[f] / all; off = got[f] - samples * p
				if (off * off > 16 * samples * p * (1 - p)) printf "%s: %d of %d samples, %.1f%% of the time; ", f, got[f], samples, 100 * p
			}
		}' "$T/measured" "$1"
}
# The innermost function of the program's own in lines of folded
innermost() { grep -v '_\[k\]' "$1" | sed -n 's/^.*;\(most\|some\|few\)\(;inlined_\[i\]\)\? \([0-9]*\)$/\1 \3/p'; }

# A virtual machine's timer has no interrupts while its host runs something else: one of three runs has to have the shares.
for _ in 1 2 3; do
	bb profile --freq 3997 --record "$T/trace" -F folded -o "$T/folded" -- "$T/shares"
	cp "$T/out" "$T/measured"
	innermost "$T/folded" >"$T/parts"
	[[ $(as_measured "$T/parts") ]] || break
done
is "$(as_measured "$T/parts")" '' 'each function has as many samples as it took time, with copied stacks'
is "$(grep -v '_\[k\]' "$T/folded" | grep -c ';few [0-9]*$' | sed 's/^[01]$/few/')" few 'what was inlined is a frame of its own'
bb report "$T/trace" -F json -o "$T/json"
json_lines "$T/json" 'my ($n, $user) = (0, 0); join "\n", map { my $caller = $_->{object} ne "kernel" && $user++ && 1;
		$_->{object} eq "'"$T/shares"'" && $_->{symbol} !~ /@/ ? join " ", sprintf("%#x", hex($_->{vaddr}) - $caller), @{$_->{inlined} // []}, $_->{symbol} : () } @{$e->{stack} // []}' |
	sort -u >"$T/frames"
cut -d' ' -f1 "$T/frames" | addr2line -a -f -i -e "$T/shares" | perl -ne 'chomp;
	if (/^0x/) { print "\n" if $. > 1; printf "%#x", hex; $n = 0; next } print " $_" unless $n++ % 2; END { print "\n" }' >"$T/wanted"
same "$T/frames" "$T/wanted" 'each frame has the functions that addr2line -i tells'
ok "$((! $(grep -c ' inlined few' "$T/frames")))" 'also the inlined one'
bb report "$T/trace" -F summary -o "$T/summary"
all=$(awk '/^#/ { next } { n += $NF } END { print n + 0 }' "$T/folded")
is "$(sed -n 's/^All: \([0-9]*\) samples.*/\1/p' "$T/summary")" "$all" 'summary: the same samples'
is "$(awk '/^Samples by CPU/ { on = 1; next } !NF { on = 0 } on { n += $NF } END { print n }' "$T/summary")" "$all" 'summary: and by CPU'
is "$(sed '/^$/q' "$T/summary" | awk '$5 == "most" { print $1 }')" "$(innermost "$T/folded" | awk '$1 == "most" { n += $2 } END { print n }')" \
	'summary: as many in a function as folded'
# the stack in which most were taken; of more than twelve frames the outer ones are left out
awk '!/^#/ { n = $NF; sub(/ [0-9]*$/, ""); if (n > most) { most = n; stack = $0 } }
	END { k = split(stack, f, ";"); print most; for (i = k; i > 1 && i > k - 12; i--) print f[i] }' "$T/folded" >"$T/wanted"
sed -n '/^Stacks:$/,/^  *thread /p' "$T/summary" | awk 'NR == 1 || /^ *thread / || /^ *\([0-9]* more\)$/ { next }
	NR == 2 { print $1; sub(/^ *[0-9]+ +[0-9.]+% +/, "") } { sub(/^ +/, ""); print }' >"$T/got"
same "$T/got" "$T/wanted" 'summary: the stack with most samples is the one of folded'
like "$T/summary" '^CPU [0-9]+, from one sample to the next: mean ' 'summary: when they were taken'
bb report "$T/trace" -F html -o "$T/html"
like "$T/html" '<title>all$' 'html: a flame graph'
like "$T/html" "^$(printf %s "$all" | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta') samples" 'html: of all samples'

# --- added up in the kernel
bb profile --freq 3997 --stack-size 0 --record "$T/trace" -o "$T/added" -F summary -- "$T/shares"
cp "$T/out" "$T/measured"
like "$T/err" '^bbtrace: sampling took [0-9.]* ms in [0-9]* interrupts' 'what sampling took is told'
bb report "$T/trace" -F folded -o "$T/folded"
innermost "$T/folded" >"$T/parts"
is "$(as_measured "$T/parts")" '' 'each function has as many samples as it took time, added up'
is "$(sed -n 's/^All: \([0-9]*\) samples.*/\1/p' "$T/added")" "$(awk '/^#/ { next } { n += $NF } END { print n + 0 }' "$T/folded")" \
	'live and from a file there are as many'
bb report "$T/trace" -F json -o "$T/json"
is "$(json_lines "$T/json" '($e->{count} // 0) > 100 && $e->{stack}[0]{symbol} eq "most" && "many"' | sort -u)" many 'an event stands for many samples'
bb profile --freq 997 --stack-size 0 --timeline -F json -o "$T/json" -- "$T/shares"
is "$(json "$T/json" '$e->{stack} && ($e->{count} // 1) > 1')" 0 '--timeline: each sample is an event'
bb profile --freq 997 --stack-size 0 -f -- sh -c '"$1" >"$2" & exec "$1"' sh "$T/shares" "$T/other"
is "$(grep -c '^Thread .* shares: ' "$T/out")" 2 'without a format: tables of each thread, after an exec, too'

# --- among the branches of functions: a sample in a function is between its entry and its return, but for those that find
# the thread in the very trap, or in the page where an instruction with a probe is stepped
bb user "$T/shares" most --freq 997 --engine probe -e entry,return -F json -o "$T/json" --record "$T/trace" -- "$T/shares"
json_lines "$T/json" '$e->{event} eq "sample" ? ($e->{object} // "") =~ /^(kernel|\[uprobes\])$/ ? "" : ((grep { ($_->{symbol} // "") eq "most" } @{$e->{stack} // []}) ? "in" : "out")
	: $e->{event}' | awk '/entry/ { inside = 1 } /return/ { inside = 0 } /^in$/ { all++; wrong += !inside } /^out$/ { wrong += inside } END { print (all > 100) " " (wrong * 50 > all) }' >"$T/where"
is "$(cat "$T/where")" '1 0' '--freq: samples are among the entries and returns, where they belong'
bb report "$T/trace" -F json -o "$T/again"
same "$T/again" "$T/json" 'and so they are in a trace file'
bb user "$T/shares" most --freq 997 -c -- true
is "$status" 2 'not with -c'

# --- what it shows without a format
bb profile --freq 997 -- "$T/shares"
like "$T/out" '^Stacks:$' 'without a format: the summary'
bb profile --freq 997 --timeline -- "$T/shares"
like "$T/out" 'cpu-clock|cycles' '--timeline: each sample as text'
sleep 300 &
at_end "kill $!"
bb profile -p $! -t 0.3
like "$T/err" "no sample: no traced thread ran when one was taken \(at 99 Hz\); process $! sleeps, with its only thread; bbtrace stack $! shows" 'a process that sleeps has no samples: it is said'
bb profile --freq 1 -- true
like "$T/err" 'no sample: .*\(at 1 Hz\); a higher --freq' 'and of a command that takes no time'

bb profile --freq 0 -- true
is "$status" 2 '--freq 0 is refused'
bb profile ls
is "$status $(grep -c 'a command goes after --' "$T/err")" '2 1' 'a command without -- is refused'
done_testing
