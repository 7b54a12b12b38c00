#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Damaged trace files, armored or not: what is lost is reported, and each step that is shown was taken. The reference are the
# steps of the undamaged file.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:perl

source_program calls c -g -fno-inline <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int sink;
int leaf(int n) { if (n % 3 == 0) return n / 2; return n & 1 ? n + 1 : n; }
int work(int n) { for (int i = 0; i < n; i++) sink += leaf(i); return sink; }
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++) {
		if (i % 20 == 10 && !fork()) /* so that there are processes whose names and mappings are needed */
			return work(3) & 0;
		work(i % 7);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
END
record() { bb user "$T/calls" work leaf --placement full -k "$@" -- "$T/calls" "${N:-60}"; }

record --armor -o "$T/armored"
exits 0 'a trace with --armor'
record --armor=redundant -o "$T/redundant"
exits 0 'one with --armor=redundant'
record --armor=twice -o "$T/other"
exits 2 'another kind of armor is wrong usage'
like "$T/err" "unknown value 'twice': use --armor=redundant, or --armor" 'which says what there is'
record -o "$T/plain"
for file in armored redundant plain; do
	"$BBTRACE" report -q "$T/$file" -F json -o "$T/$file.json"
done

# What a damaged file shows, as JSON, against what the whole one does. Each step is one of the whole file, in its order. After
# a loss its depth may be another one, and names, durations and the time since the last entry may be absent, but not different.
# What tracing took (net_ns) is an estimate of all that was read.
cat >"$T/compare.pl" <<'END'
my ($whole, $hurt, $status) = @ARGV;
sub steps { open my $f, '<', $_[0] or die; return map { s/,"net_ns":\d+|,"below_noise":true//g; chomp; $_ } <$f> }
my @whole = steps($whole);
my @hurt = steps($hurt);
my ($sum_whole, $sum_hurt) = (pop @whole, pop @hurt);
sub field { $_[0] =~ /"$_[1]":("[^"]*"|\d+|true|false|\{[^}]*\})/ ? $1 : '' }
sub key { my $s = $_[0]; $s =~ s/"(src|stack)":\[.*?\],//g; join ' ', map { field($s, $_) } qw(event ts pid tid insn taken regs value) }
sub matches {
	my ($x, $y) = @_;
	return 1 if $x eq $y;
	return 0 if !$status || key($x) ne key($y);
	for (qw(duration_ns since_entry_ns comm)) { return 0 if field($x, $_) && field($x, $_) ne field($y, $_) }
	my ($to, $to_y) = (field($x, 'to'), field($y, 'to'));
	return $to !~ /symbol/ || $to eq $to_y;
}
my ($w, $lost, $told, $missing) = (0, 0, 0, 0);
for my $s (@hurt) {
	if ($s =~ /"event":"(lost|unknown)"/) { $lost++; $told += field($s, 'count') || 0; next }
	while ($w < @whole && !matches($s, $whole[$w])) { $w++; $missing++ }
	if ($w++ == @whole) { print "no step of the whole trace: $s\n"; exit 1 }
}
$missing += @whole - $w;
if ($status == 0 && ($missing || $lost)) { print "status 0, and $missing steps are missing\n"; exit 1 }
if ($told != field($sum_hurt, 'lost')) { print "lost: $told, in the summary ", field($sum_hurt, 'lost'), "\n"; exit 1 }
END

wrong='' lossless=0 lossy=0 repaired=0
# check FILE WHOLE WHAT
check() {
	local got

	rm -f "$T/hurt.json"
	bb report "$1" -F json -o "$T/hurt.json"
	if [[ ! -s $T/hurt.json ]]; then
		((status == 1)) || wrong+=" $3: status $status without output;"
		return
	fi
	got=$(perl "$T/compare.pl" "$2" "$T/hurt.json" "$status") || wrong+=" $3: $got;"
	grep -qE 'armored line [0-9]+ was damaged or missing, and is repaired$' "$T/err" && ((++repaired))
	if ((status)); then ((++lossy)); else ((++lossless)); fi
	((status == 0 || status == 1)) || wrong+=" $3: status $status;"
}

lines=$(wc -l <"$T/armored")
for ((n = 1; n <= lines; n += ${STEP:-1 + lines / 25})); do
	sed "${n}d" "$T/armored" >"$T/hurt"
	check "$T/hurt" "$T/armored.json" "line $n"
done
is "$wrong" '' "of $lines armored lines one is missing: no step is shown that was not taken, and what is missing is told"
is "$((lossy > 0)) $((lossless > 0))" '1 1' 'some cost events, and some nothing'

wrong='' lossy=0
lines=$(wc -l <"$T/redundant")
for ((n = 1; n + 20 <= lines; n += 1 + lines / 8)); do
	sed "${n},$((n + 19))d" "$T/redundant" >"$T/hurt"
	check "$T/hurt" "$T/redundant.json" "lines $n"
done
is "$wrong $lossy" ' 0' 'redundant: 20 lines in a row cost nothing'
is "$((repaired > 3))" 1 'which is told'

wrong=''
lines=$(wc -l <"$T/armored")
for ((n = 20; n + 100 <= lines; n += 1 + lines / 8)); do
	sed "${n},$((n + 80))d" "$T/armored" >"$T/hurt"
	check "$T/hurt" "$T/armored.json" "lines $n"
done
is "$wrong" '' '81 lines in a row: no step is shown that was not taken'

wrong='' lossy=0
size=$(stat -c %s "$T/plain")
for ((at = 30; at < size; at += ${STEP:-1 + size / 25})); do
	perl -e 'my ($in, $out, $at, $n) = @ARGV; local $/; open my $f, "<", $in; my $d = <$f>;
		substr($d, $at, $n) = chr(165) x length substr($d, $at, $n); open my $o, ">", $out; print $o $d' \
		"$T/plain" "$T/hurt" $at $((at % 40 + 1))
	check "$T/hurt" "$T/plain.json" "byte $at"
done
is "$wrong" '' 'bytes of a file are overwritten: no step is shown that was not taken'

# ---- the other readers of files ----
line=$(($(wc -l <"$T/armored") * 6 / 10))
sed "${line}d" "$T/armored" >"$T/hurt"
bb diff "$T/armored" "$T/hurt"
exits 2 'diff: a damaged file is trouble'
like "$T/err" 'hurt: .*damaged at byte' 'which says why'
bb merge "$T/hurt" "$T/plain" -o "$T/merged"
exits 1 'merge: a damaged file has status 1'
like "$T/err" '1 of 2 files are damaged or have no end; what can be read of them was taken' 'and says how many are'
bb report --info "$T/hurt"
exits 1 'report --info of a damaged file has status 1'
bb report "$T/hurt" -F folded
exits 1 'a format that adds up has status 1, too'
done_testing
