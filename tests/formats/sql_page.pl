#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# docs/sql.md as files, and back:
#   sql_page.pl blocks PAGE FOLDER   writes the block "```sql ENGINE NAME" to FOLDER/ENGINE.NAME.sql, the one of question N to
#                                    FOLDER/ENGINE.N.sql (of both engines, if it names none), "```sh NAME" to FOLDER/NAME.sh,
#                                    and the first line of each answer, in columns, to FOLDER/columns.N
#   sql_page.pl answers PAGE FOLDER  prints the page with the answers of FOLDER/answer.N, of columns separated by tabs
use strict;
use warnings;
use List::Util 'max';

my ($what, $page, $folder) = @ARGV;

sub append {
	my ($name, $text) = @_;
	open my $out, '>>', "$folder/$name" or die "$folder/$name: $!\n";
	print $out $text;
}

sub answer {
	my $n = shift;
	open my $in, '<', "$folder/answer.$n" or die "$folder/answer.$n: $!\n";
	my @rows = map { chomp; [split /\t/] } <$in>;
	my @width = map { my $c = $_; max map { length $_->[$c] } @rows } 0 .. $#{$rows[0]};
	my @numbers = map { my $c = $_; !grep { $_->[$c] !~ /^\d+$/ } @rows[1 .. $#rows] } 0 .. $#width;
	return join '', map { my $r = $_; join('  ', map { sprintf $numbers[$_] ? '%*s' : '%-*s', $width[$_], $r->[$_] } 0 .. $#width)
			=~ s/ +$//r . "\n" } @rows;
}

open my $in, '<', $page or die "$page: $!\n";
my @lines = <$in>;
my ($question, $first, @to);
for (@lines) {
	$question = $1 if /^### (\d+)\. /;
	if (/^```$/) {
		@to = ();
	} elsif (/^```text$/) {
		@to = "columns.$question";
		$first = 1;
		$_ .= answer($question) if $what eq 'answers';
	} elsif (/^```sql(?: (\w+))?(?: (\w+))?$/) {
		my $name = $2 // $question // die "$page: SQL of no question\n";
		@to = map { "$_.$name.sql" } $1 // qw(duckdb clickhouse);
	} elsif (/^```sh (\w+)$/) {
		@to = "$1.sh";
	} elsif (@to && $to[0] =~ /^columns/) {
		append($to[0], join("\t", split) . "\n") if $what eq 'blocks' && $first;
		$first = 0;
		$_ = '' if $what eq 'answers';
	} elsif (@to && $what eq 'blocks') {
		my $text = $_;
		append($_, $text) for @to;
	}
}
print @lines if $what eq 'answers';
