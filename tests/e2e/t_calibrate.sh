#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# doctor --calibrate prints every row, with a valid figure, and keeps the costs for later traces. The values are not
# tested: they depend on the machine.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
# what it keeps is kept in a /var/lib of the test's own
[[ ${OWN_VAR:-} ]] || OWN_VAR=1 exec unshare -m "$0"
mount -t tmpfs none /var/lib || skip_all '/var/lib can not be replaced'
KEPT=/var/lib/bbtrace/costs

for mechanism in uprobe_multi uprobe_event; do
	"$BBTRACE" doctor | grep -q "^$mechanism  *yes" && echo "$mechanism"
done >"$T/mechanisms"

costs_used() { # WHAT LINE: what -v says about the costs that the placement uses
	bb user "$BBTRACE" main -e entry -v -- "$BBTRACE" --version
	is "$status $(grep -c '^bbtrace: costs of hits' "$T/err")" '0 1' "$1: a trace says which costs it uses"
	like "$T/err" "^bbtrace: costs of hits, $2" "$1: the costs are those"
}
costs_used 'without calibration' 'assumed'

bb doctor --calibrate -F json
exits 0 'doctor --calibrate -F json ends well'
is "$(wc -c <"$T/err")" 0 'doctor --calibrate writes nothing to stderr'
cp "$T/out" "$T/json"
for mechanism in $(<"$T/mechanisms"); do
	rows=$(json_lines "$T/json" '$e->{mechanism} eq "'"$mechanism"'" && $e->{insn} && "$e->{insn} $e->{class} $e->{record}"' | sort)
	for insn in nop jcc jmp call push; do printf "$insn emulated %s\n" stopped branch value entry; done >"$T/want"
	for insn in ret mov loop ijmp icall; do printf "$insn stepped %s\n" stopped branch value entry; done >>"$T/want"
	[[ $mechanism == uprobe_multi ]] && echo 'nop emulated return' >>"$T/want"
	sort -o "$T/want" "$T/want"
	echo "$rows" >"$T/rows"
	same "$T/rows" "$T/want" "$mechanism: each instruction is measured with each record"
	is "$(json "$T/json" '$e->{mechanism} eq "'"$mechanism"'" && $e->{measured} && $e->{measured} > 0 && $e->{assumed} > 0')" 1 \
		"$mechanism: a row says what the placement assumes"
done
is "$(json "$T/json" '$e->{insn} && $e->{record} ne "return" && !($e->{ns} > 0 && $e->{ratio} >= 1)')" 0 \
	"no figure is 0 or less, no ratio below the cheapest instruction's"
# A return probe's is the difference of two measurements, which other load may turn round.
is "$(json "$T/json" '$e->{insn} && $e->{record} eq "return" && ($e->{ns} > 0 ? $e->{ratio} < 1 : defined $e->{ratio})')" 0 \
	'what a return probe adds has a ratio only if it is above 0'
is "$(($(json "$T/json" '$e->{insn} && $e->{ratio} == 1') > 0))" 1 'the cheapest instruction has the ratio 1'


# ---- what is kept ----
is "$(json_lines "$T/json" '$e->{kept} && $e->{kept}')" "$KEPT" 'the last row says where the costs are kept'
is "$(stat -c '%a %u' "$KEPT")" '644 0' 'the kept costs can be read by all and written by root'
is "$(ls -A /var/lib/bbtrace)" costs 'nothing else is left beside them'
is "$(sed -n 's/^kernel //p' "$KEPT")" "$(uname -r)" 'they name the kernel'
# A kernel can show another name than the instruction gives to programs, if a hypervisor runs both.
source_program brand c -O1 <<'END'
#include <cpuid.h>
#include <stdio.h>

int main(void)
{
	unsigned words[13] = {0};

	for (unsigned i = 0; i < 3; i++)
		__get_cpuid(0x80000002 + i, words + 4 * i, words + 4 * i + 1, words + 4 * i + 2, words + 4 * i + 3);
	puts((char *)words);
}
END
is "$(sed -n 's/^cpu //p' "$KEPT")" "$("$T/brand" | sed 's/^ *//; s/ *$//')" 'they name the processor'
is "$(sed -n 's/^hypervisor //p' "$KEPT" | grep -c physical)" "$((1 - $(grep -m1 '^flags' /proc/cpuinfo | grep -cw hypervisor)))" \
	'they name the hypervisor that /proc/cpuinfo shows'
is "$(sed -n 's/^cost \([a-z_]*\) .*/\1/p' "$KEPT" | grep uprobe | uniq)" "$(cat "$T/mechanisms")" 'they have each mechanism'
costs_used 'with calibration' "measured [(]${KEPT}[)]: uprobe_[a-z]* emulated [0-9]* ns, uprobe_[a-z]* stepped [0-9]* ns"
cp "$KEPT" "$T/kept"
# ignored PATTERN WHAT: the file is, and a trace says so
ignored() {
	costs_used "$2" assumed
	like "$T/err" "^bbtrace: $KEPT is ignored: $1" "$2: the trace says why they are ignored"
	cp -f --remove-destination "$T/kept" "$KEPT"
}
sed -i 's/^kernel .*/kernel 3.14/' "$KEPT"
bb user "$BBTRACE" main -e entry -- "$BBTRACE" --version
unlike "$T/err" ignored "another kernel's costs are ignored without a note"
ignored 'it was measured with another kernel or machine [(]Linux 3.14' "another kernel's costs"
sed -i 's/^cpu .*/cpu 8086/' "$KEPT"
ignored 'it was measured with another kernel or machine' "another processor's costs"
sed -i '$d' "$KEPT"
ignored 'line [0-9]*: it ends too early; bbtrace doctor --calibrate measures again' 'costs that were cut off'
: >"$KEPT"
ignored 'line 1: it ends too early' 'an empty file'
head -c 100000 /dev/zero >"$KEPT"
ignored '' 'a file of zeros'
chmod 666 "$KEPT"
ignored 'others may write it' 'a file that others may write'
chown 65534 "$KEPT"
ignored 'it belongs to user 65534' "another user's file"
mv "$KEPT" "$T/elsewhere" && ln -s "$T/elsewhere" "$KEPT"
ignored '' 'a link'
rm -f "$KEPT" && mkfifo "$KEPT"
ignored 'it is not a file' 'a pipe'
rm -f "$KEPT" && mkdir "$KEPT"
bb user "$BBTRACE" main -e entry -- "$BBTRACE" --version
is "$status $(grep -c 'is ignored: ' "$T/err")" '0 1' 'a folder in its place is told, and the trace goes on'

# what follows from the figures: whether return probes are cheaper, and whether returns cost more than branches
perl -I"$ROOT/tests/check" -MJson -ne '
	my $e = Json::parse($_);
	$ns{$e->{mechanism}}{"$e->{insn} $e->{record}"} = $e->{ns} if $e->{insn};
	push @{$got{$e->{mechanism}}}, join " ", map({ $e->{$_} // "-" } qw(ret_ns return_probe_ns conditional_ns)),
		$e->{advice} =~ /--returns probe saves (?:\d+ %|little)|--exclude/ ? $& =~ s/\d+/N/r : "?" if $e->{advice};
	END {
		for my $m (sort keys %ns) {
			my ($ret, $probe, $jcc) = @{$ns{$m}}{"ret value", "nop return", "jcc branch"};
			my @want;
			push @want, "$ret $probe - --returns probe saves " . ($ret > 2 * $probe ? "N %" : "little")
				if $probe && $probe > 0;
			push @want, "$ret - $jcc --exclude" if $ret > 4 * $jcc;
			print "$m: got @{$got{$m}}, wanted @want\n" if "@{$got{$m}}" ne "@want";
		}
	}' "$T/json" >"$T/wrong"
is "$(cat "$T/wrong")" '' 'the advice follows from the figures'

bb doctor --calibrate
exits 0 'doctor --calibrate as text ends well'
unlike "$T/out" 'advice' 'text has the advice without its name'
is "$(grep -cE '^[uk]probe_[a-z]+ +[a-z0-9]+ +[a-z0-9]+ +[a-z]+ +[0-9.]+ +[0-9.]+$' "$T/out")" "$(json "$T/json" '$e->{insn}')" 'text has as many rows as JSON'
is "$(grep -cE '^uprobe_[a-z]+: stepped/emulated: [0-9.]+, placement assumes [0-9.]+$' "$T/out")" "$(wc -l <"$T/mechanisms")" 'text has a line for each mechanism that says what the placement assumes'
is "$(grep -c '^bbtrace: these costs were not written, so traces assume the usual ones: cannot write /var/lib/bbtrace/costs: ' "$T/err") $(wc -l <"$T/err")" '1 1' \
	'costs that cannot be kept: a note says so, and what was measured is shown all the same'
is "$(ls -A /var/lib/bbtrace)" costs 'no part of the file is left'

setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$BBTRACE" doctor --calibrate >"$T/out" 2>"$T/err"
is $? 1 'doctor --calibrate without privileges is refused'
like "$T/err" '^bbtrace: .*(needs|root|permitted|denied|ermission)' 'doctor --calibrate without privileges gives the reason'
is "$(wc -c <"$T/out")" 0 'doctor --calibrate without privileges prints no table'
done_testing
