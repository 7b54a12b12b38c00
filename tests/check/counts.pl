#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# counts.pl STEPREF-OUTPUT EDGES: are the counts of bbtrace -c -F json those of what the reference stepped? Status 1: no.
# --unknown: branches that aren't listed, since their code wasn't decoded, are left out, and so are unknown counts. Counts
# may differ by the summary's cut. Each branch is compared, also those that didn't run, and the targets of indirect ones where they are told.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Json;

my $unknown = @ARGV && $ARGV[0] eq '--unknown' && shift @ARGV;
die "usage: counts.pl [--unknown] STEPREF-OUTPUT EDGES\n" unless @ARGV == 2;
my ($reference, $edges) = @ARGV;
my (%want, %to, %got, @edges, $differences, $sum, $targets, $summary);
$differences = $sum = $targets = 0;

sub differ {
	print "@_\n" if $differences++ < 20;
}

open my $r, '<', $reference or die "$reference: $!\n";
while (<$r>) {
	next if /^#/;
	chomp;
	my (undef, $kind, $vaddr, $taken, $to) = split / /;
	next if $kind eq 'entry' || $kind eq 'return';
	$want{hex $vaddr}{$taken eq '-' || $taken eq 'taken' ? 'taken' : 'not'}++;
	$to{hex $vaddr}{$to}++ if $kind =~ /^i/;
	$sum++;
}

open my $e, '<', $edges or die "$edges: $!\n";
while (<$e>) {
	my $edge = Json::parse($_);
	$summary = $edge if $edge->{event} eq 'summary';
	push @edges, $edge if $edge->{event} eq 'edge';
}
die "$edges has no summary\n" unless $summary;
my $cut = $summary->{cut} // 0;
for my $edge (@edges) {
	my $vaddr = hex $edge->{vaddr};
	my %n = (taken => $edge->{taken_count}, not => $edge->{not_taken_count});
	$n{not} //= 0 unless $edge->{kind} =~ /^(jcc|loop)$/;
	$got{$vaddr} = 1;
	for my $way (qw(taken not)) {
		my $n = $want{$vaddr}{$way} // 0;
		differ("$edge->{symbol}+$edge->{offset} $edge->{insn}: $way ", $n{$way} // '?', " times, the reference $n")
			unless defined $n{$way} ? abs($n{$way} - $n) <= $cut : $unknown;
	}
	for my $t (@{$edge->{targets}}) {
		my $place = defined $t->{to}{object} ? ($t->{to}{object} =~ m{([^/]*)$})[0] . "+$t->{to}{vaddr}" : undef;
		next if $edge->{kind} eq 'ret' || !defined $place;
		my $n = delete $to{$vaddr}{$place} // 0;
		$targets++;
		differ("$edge->{symbol}+$edge->{offset} $edge->{insn}: $t->{count} times to $place, the reference $n")
			unless $t->{count} == $n;
	}
	my @rest = grep { !/^0x/ } keys %{$to{$vaddr} // {}};
	differ("$edge->{symbol}+$edge->{offset} $edge->{insn}: not to @rest, as in the reference") if @rest;
}
for (sort { $a <=> $b } keys %want) {
	differ(sprintf 'no edge at 0x%x, which the reference ran', $_) unless $got{$_} || $unknown;
}
die "$reference has no branches\n" unless $sum;
printf "%d branches at %d sites, %d targets, up to %d counts open; %d differences\n", $sum, scalar keys %got, $targets, $cut, $differences;
exit($differences ? 1 : 0);
