#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# doctor --calibrate prints every row, with a valid figure. The values are not tested: they depend on the machine.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

for mechanism in uprobe_multi uprobe_event; do
	"$BBTRACE" doctor | grep -q "^$mechanism  *yes" && echo "$mechanism"
done >"$T/mechanisms"

bb doctor --calibrate -F json
exits 0 'doctor --calibrate -F json ends well'
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
is "$(json "$T/json" '$e->{insn} && !($e->{ns} > 0 && $e->{ratio} >= 1)')" 0 "no figure is 0 or less, no ratio below the cheapest instruction's"
is "$(($(json "$T/json" '$e->{insn} && $e->{ratio} == 1') > 0))" 1 'the cheapest instruction has the ratio 1'


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
			push @want, "$ret $probe - --returns probe saves " . ($ret > 2 * $probe ? "N %" : "little") if $probe;
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
is "$(wc -c <"$T/err")" 0 'doctor --calibrate writes nothing to stderr'

setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$BBTRACE" doctor --calibrate >"$T/out" 2>"$T/err"
is $? 1 'doctor --calibrate without privileges is refused'
like "$T/err" '^bbtrace: .*(needs|root|permitted|denied|ermission)' 'doctor --calibrate without privileges gives the reason'
is "$(wc -c <"$T/out")" 0 'doctor --calibrate without privileges prints no table'
done_testing
