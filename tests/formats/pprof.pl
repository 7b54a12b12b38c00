#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# pprof.pl WHAT: reads what `protoc --decode=perftools.profiles.Profile` prints of a profile.
#
#   stacks      comm;outer;inner CALLS
#   self        comm;outer;inner NS
#   check       what pprof's own CheckValid looks at: ids, references, value counts; prints what is wrong
#   mappings    START LIMIT BUILD_ID FILENAME
#   frames      ADDRESS FUNCTION:FILE:LINE..., innermost first, of each location that has a mapping
#   comments
use strict;
use warnings;

# The text format: "name: value" and "name { … }"; each name becomes a list.
sub message {
	my ($fh) = @_;
	my %m;
	while (my $line = <$fh>) {
		last if $line =~ /^\s*\}/;
		if ($line =~ /^\s*(\w+) \{/) { push @{$m{$1}}, message($fh) }
		elsif ($line =~ /^\s*(\w+): "(.*)"$/) { push @{$m{$1}}, $2 =~ s/\\(\d{3}|.)/length $1 == 3 ? chr oct $1 : $1/ger }
		elsif ($line =~ /^\s*(\w+): (\S+)/) { push @{$m{$1}}, $2 }
	}
	return \%m;
}

my $p = message(\*STDIN);
my @text = @{$p->{string_table} // []};
sub one { my ($m, $name) = @_; $m->{$name} ? $m->{$name}[0] : 0 }
sub text { $text[one(@_)] }
my %function = map { one($_, 'id') => $_ } @{$p->{function}};
my %location = map { one($_, 'id') => $_ } @{$p->{location}};
my %mapping = map { one($_, 'id') => $_ } @{$p->{mapping}};

# The outermost: what was inlined is before it.
sub name_of { text($function{one($location{$_[0]}{line}[-1], 'function_id')}, 'name') }

sub frames {
	my ($l) = @_;
	return join ' ', map { my $f = $function{one($_, 'function_id')};
		join ':', text($f, 'system_name'), text($f, 'filename') =~ s|.*/||r, one($_, 'line') } @{$l->{line}};
}

sub thread_of {
	my ($sample) = @_;
	my ($label) = grep { text($_, 'key') eq 'thread' } @{$sample->{label}};
	return text($label, 'str');
}

sub stacks {
	my ($index) = @_;
	my %n;
	$n{join ';', thread_of($_), map { name_of($_) } reverse @{$_->{location_id}}} += $_->{value}[$index] for @{$p->{sample}};
	return map { "$_ $n{$_}" } grep { $n{$_} } keys %n;
}

sub check {
	my @bad;
	push @bad, 'the first string is not empty' if !@text || $text[0] ne '';
	push @bad, 'sample types are not calls/count, time/nanoseconds'
		if join(',', map { text($_, 'type') . '/' . text($_, 'unit') } @{$p->{sample_type}}) ne 'calls/count,time/nanoseconds';
	for (['function', \%function], ['location', \%location], ['mapping', \%mapping]) {
		push @bad, "a $_->[0] without id or with another's" if $_->[1]{0} || keys %{$_->[1]} != @{$p->{$_->[0]} // []};
	}
	for my $s (@{$p->{sample}}) {
		push @bad, 'a sample without two values' if @{$s->{value}} != 2;
		push @bad, map { "no location $_" } grep { !$location{$_} } @{$s->{location_id} // []};
	}
	for my $l (values %location) {
		push @bad, 'a location of no mapping' if one($l, 'mapping_id') && !$mapping{one($l, 'mapping_id')};
		push @bad, 'a line of no function' if grep { !$function{one($_, 'function_id')} } @{$l->{line}};
		my $m = $mapping{one($l, 'mapping_id')} or next;
		push @bad, 'an address outside of its mapping'
			if one($l, 'address') < one($m, 'memory_start') || one($l, 'address') >= one($m, 'memory_limit');
	}
	push @bad, 'a string that is not there' if grep { one($_, 'name') >= @text } values %function;
	return @bad;
}

my %print = (
	stacks => sub { stacks(0) },
	self => sub { stacks(1) },
	check => \&check,
	mappings => sub { map { sprintf '%#x %#x %s %s', one($_, 'memory_start'), one($_, 'memory_limit'), text($_, 'build_id'), text($_, 'filename') } values %mapping },
	frames => sub { map { sprintf '%#x %s', one($_, 'address'), frames($_) } grep { one($_, 'mapping_id') } values %location },
	comments => sub { map { $text[$_] } @{$p->{comment} // []} },
);
print map { "$_\n" } sort $print{$ARGV[0]}->();
