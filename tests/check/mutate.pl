#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# mutate.pl TRACE CHECKER...: changes one event of a JSON trace at a time and has CHECKER (flow.pl or compare.pl, with its
# arguments; @ is replaced by the changed trace's path) judge each: it must always fail with status 1. Prints the number of
# changes, and those that were accepted. CHECKER is loaded once: there are thousands.
use strict;
use warnings;
use File::Spec;
use File::Temp 'tempfile';

BEGIN { *CORE::GLOBAL::exit = sub { die \($_[0]) } }

my ($path, $checker, @arguments) = @ARGV;
open my $f, '<', $path or die "$path: $!\n";
my @lines = <$f>;
my $summary = pop @lines;
my ($out, $changed) = tempfile(UNLINK => 1);
@ARGV = map { $_ eq '@' ? $changed : $_ } @arguments;
require File::Spec->rel2abs($checker);
open my $nothing, '>', '/dev/null' or die "/dev/null: $!\n";
my ($tried, @missed) = (0);
my $every = $ENV{EVERY} || 1;

# judge() exits with its status: here that ends an eval.
sub status_of_judge {
	my $said = select $nothing;
	my $status = eval { judge(); 'none' } // (ref $@ ? ${$@} : "died: $@");
	select $said;
	return $status;
}

# But for the time.
sub alike {
	my ($a, $b) = map { s{"ts":\d+,}{}r } @_;
	return $a eq $b;
}

my @changes = (
	[dropped => sub { splice @{ $_[0] }, $_[1], 1 }],
	[doubled => sub { splice @{ $_[0] }, $_[1], 0, $_[0][ $_[1] ]; 1 }],
	[swapped => sub {
		my ($l, $i) = @_;
		return 0 if $i == $#$l || alike(@$l[$i, $i + 1]);
		@$l[$i, $i + 1] = @$l[$i + 1, $i];
		return 1;
	}],
	[turned => sub { $_[0][ $_[1] ] =~ s/"taken":(true|false)/'"taken":' . ($1 eq 'true' ? 'false' : 'true')/e }],
	[moved => sub { $_[0][ $_[1] ] =~ s/"vaddr":"(0x[0-9a-f]+)"/sprintf '"vaddr":"0x%x"', 1 + hex $1/e }],
	[sent => sub { $_[0][ $_[1] ] =~ /"insn":"(jn?[a-z]{1,2}|jmp|loop)"/ && $_[0][ $_[1] ] !~ /"kind":"i/ &&
		       $_[0][ $_[1] ] =~ s/("to":.*"vaddr":)"(0x[0-9a-f]+)"/sprintf '%s"0x%x"', $1, 1 + hex $2/e }],
);

for my $change (@changes) {
	for (my $i = 0; $i < @lines; $i += $every) {
		my @copy = @lines;
		next unless $change->[1]->(\@copy, $i);
		# a path stays one with a round less or more of a loop, or cut short
		next if $ENV{PATHS} && $change->[0] =~ m{dropped|doubled} &&
			($i >= $#lines - 1 || alike(@lines[$i, $i + 1]) || $i && alike(@lines[$i - 1, $i]));
		my $events = @copy;
		(my $end = $summary) =~ s/"events":\d+/"events":$events/;
		open $out, '>', $changed or die;
		print $out @copy, $end;
		close $out;
		$tried++;
		my $status = status_of_judge();
		push @missed, "event $i $change->[0], status $status: $lines[$i]" if $status ne 1;
	}
}
print "# $tried changes\n", map { "# $_" } @missed;
CORE::exit(!$tried || !!@missed);
