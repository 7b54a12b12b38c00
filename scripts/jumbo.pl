#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# jumbo.pl OBJECT FILE.c... -- COMPILER...: compiles the files in few translation units, and makes one object of them. That takes
# half of the time and less, since most of it is the start of the compiler and the headers. The product isn't built so: there each
# file has to compile by itself, with all warnings.
#
# Files that define the same name are in different units. A unit that can't be compiled nonetheless is halved.
# OBJECT.N.d have the dependencies.
use strict;
use warnings;

my ($object, @files) = splice @ARGV, 0, (grep { $ARGV[$_] eq '--' } 0 .. $#ARGV)[0] // usage();
usage() unless @files;
shift @ARGV;
my @compiler = @ARGV;

sub usage { die "usage: jumbo.pl OBJECT FILE.c... -- COMPILER...\n" }

# What a file defines outside of functions, by the style of this repository: there it begins a line. Macros apart.
sub names {
	my ($file) = @_;
	my (%names, %macros);
	my $in_enum;

	open my $in, '<', $file or die "$file: $!\n";
	while (<$in>) {
		$macros{$1} = 1 if /^#\s*define\s+(\w+)/;
		$in_enum = 1 if /^(?:typedef )?enum\b.*\{/;
		if ($in_enum) {
			s/^.*?\{//;
			$names{$_} = 1 for /\b([A-Z]\w*)\b/g;
		}
		$in_enum = 0 if /\}/;
		next unless /^[A-Za-z_]/;
		$names{$1} = 1 if /^(?:static |typedef |const )*(?:struct|union|enum) (\w+) (?:__\w+ )?\{/;
		# a macro that defines: VEC(name, …)
		if (/^[A-Z_a-z]\w*\((.*)\)/) {
			$names{$_} = 1 for $1 =~ /(\w+)/g;
		}
		$names{$1} = 1 if /^[^(=;{]*?(\w+)(?:\[[^=;]*\])*\s*(?:[=;({,]|$)/;
	}
	return (\%names, \%macros);
}

# [files, names]: the first unit of which none has a name of the file.
my (@units, %macros);
for my $file (@files) {
	my ($names, $macros) = names($file);
	my ($unit) = grep { my $has = $_->[1]; !grep { $has->{$_} } keys %$names } @units;

	$macros{$file} = [sort keys %$macros];
	push @units, $unit = [[], {}] unless $unit;
	push @{ $unit->[0] }, $file;
	$unit->[1]{$_} = 1 for keys %$names;
}

# Returns the object of these files; undef if they can't be compiled.
my $n = 0;
sub compile {
	my (@of) = @_;
	my $unit = "$object." . $n++;

	open my $out, '>', "$unit.c" or die "$unit.c: $!\n";
	for my $file (@of) {
		print $out qq(#include "$file"\n), map { "#undef $_\n" } @{ $macros{$file} };
	}
	close $out or die "$unit.c: $!\n";
	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		open STDERR, '>', '/dev/null' if @of > 1;
		exec @compiler, '-w', '-I.', '-MT', $object, '-MF', "$unit.d", '-c', '-o', "$unit.o", "$unit.c" or exit 127;
	}
	waitpid $pid, 0;
	return $? ? undef : "$unit.o";
}

# The objects of these files, which are as few as possible.
sub objects {
	my (@of) = @_;
	my $made = compile(@of);

	return $made if $made;
	exit 1 if @of == 1;
	my $half = int(@of / 2);
	return (objects(@of[0 .. $half - 1]), objects(@of[$half .. $#of]));
}

unlink glob "$object.*";
my @objects = map { objects(@{ $_->[0] }) } @units;
system(@compiler, '-r', '-nostdlib', '-o', $object, @objects) == 0 or exit 1;
unlink @objects;
