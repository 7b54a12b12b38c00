#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# nested.pl [--calls N] [--fd N] [--lossy | --full] --outer FUNC --inner FUNC TRACE.json: does each call of OUTER, in a program,
# contain exactly one call of INNER, in the kernel, with the same size (rdx), and are its branches, entry and return in
# between? Calls of INNER elsewhere are at depth 0, or in other functions. --calls: the required number of calls of OUTER;
# --fd: only calls with this first argument.
#
# --lossy: a thread is not checked from a loss to its next entry at depth 0, and at least 9 in 10 events are checked. A
# kprobe can't wait for the ring's lock, which another CPU of the guest holds for milliseconds where the host has put that
# CPU to sleep. The trace must say each such loss, and that the summary has as many. --full: as --lossy, of a ring that was
# too small: at least 100 events were lost.
use strict;
use warnings;
use Getopt::Long;
use JSON::PP;

GetOptions(\my %o, 'calls=i', 'fd=i', 'lossy', 'full', 'outer=s', 'inner=s') or exit 2;
$o{lossy} ||= $o{full};
my (%stack, %cut);
my ($outer, $inner, $elsewhere, $branches, $bad, $lost, $unchecked, $events) = (0) x 8;

sub bad {
	my ($line, $text) = @_;
	print "line $line: $text\n" if $bad++ < 20;
}

my $lines = 0;
while (<>) {
	my $e = decode_json($_);
	my $line = ++$lines;
	if ($e->{event} eq 'summary') {
		bad($line, "$e->{lost} events were lost") if $e->{lost} && !$o{lossy};
		bad($line, "$e->{lost} events were lost, $lost of them where the trace says so") if $e->{lost} != $lost;
		next;
	}
	if ($e->{event} eq 'lost') {
		$lost += $e->{count};
		$cut{$e->{tid}} = 1;
		$stack{$e->{tid}} = [];
	}
	next unless $e->{event} =~ /^(entry|branch|return|unknown)$/;
	$events++;
	delete $cut{$e->{tid}} if $e->{event} eq 'entry' && !$e->{depth};
	$unchecked++, next if $cut{$e->{tid}};
	my $s = $stack{$e->{tid}} //= [];
	if ($e->{event} eq 'unknown') {
		bad($line, 'the path is unknown in a call') if @$s;
		next;
	}
	my $kernel = $e->{object} !~ m{^/};
	if ($e->{event} eq 'entry') {
		bad($line, "depth $e->{depth} of an entry, in " . @$s . ' calls') if $e->{depth} != @$s;
		if ($e->{symbol} eq $o{outer} && !$kernel) {
			$outer++ if !defined $o{fd} || hex($e->{regs}{rdi}) == $o{fd};
			bad($line, "$o{outer} in a call") if @$s;
		}
		if ($e->{symbol} eq $o{inner}) {
			my $out = $s->[-1];
			if ($out && $out->{symbol} eq $o{outer}) {
				$inner++;
				$out->{inner}++;
				bad($line, 'another size') if $out->{size} != hex($e->{regs}{rdx});
			} else {
				$elsewhere++;
			}
		}
		push @$s, {symbol => $e->{symbol}, kernel => $kernel, inner => 0, size => hex($e->{regs}{rdx})};
	} elsif ($e->{event} eq 'branch') {
		$branches++;
		next unless @$s;
		bad($line, "a branch of $e->{symbol} in $s->[-1]{symbol}") if $s->[-1]{symbol} ne $e->{symbol};
		bad($line, "depth $e->{depth} of a branch, in " . @$s . ' calls') if $e->{depth} != @$s - 1;
	} else {
		my $c = pop @$s;
		next unless $c; # it was under way when the trace began
		bad($line, "$e->{symbol} returns in $c->{symbol}") if $c->{symbol} ne $e->{symbol};
		bad($line, "$c->{inner} calls of $o{inner} in one of $o{outer}")
			if $c->{symbol} eq $o{outer} && !$c->{kernel} && $c->{inner} != 1;
	}
}
bad(0, "$outer calls of $o{outer}, not $o{calls}") if defined $o{calls} && $outer != $o{calls};
bad(0, "no call of $o{outer}") if !$outer;
bad(0, "$unchecked of $events events were not checked") if 10 * $unchecked > $events && !$o{full};
bad(0, "only $lost events were lost") if $lost < 100 && $o{full};
print "$outer calls of $o{outer}, $inner of $o{inner} in them, $elsewhere elsewhere, $branches branches, ",
	"$lost lost, $unchecked unchecked, $bad bad\n";
exit !!$bad;
