#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# count.pl FILE PREFIX: counts over a trace as JSON (-F json), worked out from the events alone, for comparison with
# what the aggregating formats say. Each into a file, PREFIX.WHAT, sorted:
#
#   functions   CALLS TIMED BRANCHES CONDITIONAL TAKEN NAME
#   stacks      comm;outer;inner CALLS
#   sites       VADDR KIND EXECUTED TAKEN   (TAKEN: of jcc and loop)
#   calls       CALLER CALLEE CALLS
#   self        comm;outer;inner NS
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../check";
use Json;

my ($file, $prefix) = @ARGV;
my (%functions, %stacks, %sites, %calls, %self, %open);

sub conditional { $_[0]{kind} =~ /^(jcc|loop)$/ }

sub on_branch {
	my ($e) = @_;
	my $f = $functions{$e->{symbol}} //= {};
	my $s = $sites{$e->{vaddr}} //= {kind => $e->{kind}, n => 0, taken => 0};
	$f->{branches}++;
	$s->{n}++;
	return unless conditional($e);
	$f->{conditional}++;
	$f->{taken} += $e->{taken};
	$s->{taken} += $e->{taken};
}

# The stack of a thread, by depth: what is at this depth or deeper is over when something begins there.
sub on_entry {
	my ($e) = @_;
	my $stack = $open{$e->{tid}} //= [];
	splice @$stack, $e->{depth};
	$calls{"$stack->[-1]{name} $e->{symbol}"}++ if @$stack;
	push @$stack, {name => $e->{symbol}, inner => 0};
	$functions{$e->{symbol}}{calls}++;
	$stacks{join ';', $e->{comm}, map { $_->{name} } @$stack}++;
}

sub on_return {
	my ($e) = @_;
	my $stack = $open{$e->{tid}} //= [];
	return unless defined $e->{duration_ns};
	$functions{$e->{symbol}}{timed}++;
	return unless @$stack > $e->{depth};
	splice @$stack, $e->{depth} + 1;
	$self{join ';', $e->{comm}, map { $_->{name} } @$stack} += $e->{duration_ns} - $stack->[-1]{inner};
	pop @$stack;
	$stack->[-1]{inner} += $e->{duration_ns} if @$stack;
}

my %on = (branch => \&on_branch, entry => \&on_entry, return => \&on_return);
open my $fh, '<', $file or die "$file: $!\n";
while (my $line = <$fh>) {
	my $e = Json::parse($line);
	$on{$e->{event}}->($e) if $on{$e->{event}};
}

my %print = (
	functions => sub {
		map { my $n = $_; join ' ', (map { $functions{$n}{$_} // 0 } qw(calls timed branches conditional taken)), $n } keys %functions;
	},
	stacks => sub { map { "$_ $stacks{$_}" } keys %stacks },
	sites => sub { map { "$_ $sites{$_}{kind} $sites{$_}{n} $sites{$_}{taken}" } keys %sites },
	calls => sub { map { "$_ $calls{$_}" } keys %calls },
	self => sub { map { "$_ $self{$_}" } grep { $self{$_} } keys %self },
);
for my $what (keys %print) {
	open my $out, '>', "$prefix.$what" or die "$prefix.$what: $!\n";
	print $out map { "$_\n" } sort $print{$what}->();
}
