#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# mutate.pl TRACE COMMAND...: changes one event of a JSON trace at a time and runs COMMAND on each changed trace (@ is
# replaced by its path): it must always fail with status 1. Prints the number of changes, and those that were accepted.
use strict;
use warnings;
use File::Temp 'tempfile';

my ($path, @command) = @ARGV;
open my $f, '<', $path or die "$path: $!\n";
my @lines = <$f>;
my $summary = pop @lines;
my ($out, $changed) = tempfile(UNLINK => 1);
my ($tried, @missed) = (0);
my $every = $ENV{EVERY} || 1;

# But for the time.
sub same {
	my ($a, $b) = map { s{"ts":\d+,}{}r } @_;
	return $a eq $b;
}

my @changes = (
	[dropped => sub { splice @{ $_[0] }, $_[1], 1 }],
	[doubled => sub { splice @{ $_[0] }, $_[1], 0, $_[0][ $_[1] ]; 1 }],
	[swapped => sub {
		my ($l, $i) = @_;
		return 0 if $i == $#$l || same(@$l[$i, $i + 1]);
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
			($i >= $#lines - 1 || same(@lines[$i, $i + 1]) || $i && same(@lines[$i - 1, $i]));
		my $events = @copy;
		(my $end = $summary) =~ s/"events":\d+/"events":$events/;
		open $out, '>', $changed or die;
		print $out @copy, $end;
		close $out;
		$tried++;
		my $status = system("@{[map { $_ eq '@' ? $changed : $_ } @command]} >/dev/null 2>&1") >> 8;
		push @missed, "event $i $change->[0], status $status: $lines[$i]" if $status != 1;
	}
}
print "# $tried changes\n", map { "# $_" } @missed;
exit(!$tried || !!@missed);
