#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# plain.pl [FILE...]: comments of C files, and lines of documents, that have a word or phrase of the dialect which this
# project had, as "FILE:LINE: ... (say: ...)". scripts/lint.sh names the files.
use strict;
use warnings;

# What is found, without regard to case, and what to write instead.
my @dialect = (
	[qr/(?<!left )(?<!none )\bbehind\b/i, 'after; beyond of memory'],
	[qr/\b(?:tell|tells|telling|told)\b/i, 'report, show, distinguish'],
	[qr/\b(?:so|that) many\b/i, 'this many, the number of'],
	[qr/\b(?:go|goes|going|gone) on\b/i, 'continue, resume'],
	[qr/\blets? go\b/i, 'detach'],
	[qr/\banew\b/i, 'again'],
	[qr/\bwho(?:m)?ever\b/i, 'name the subject'],
	[qr/\berrands?\b/i, 'injected call'],
	[qr/\b(?:doubt(?:s|ed|ful)?|strayed)\b/i, 'uncertain'],
	[qr/\bas ever\b/i, 'does not change, as usual'],
	[qr/\bends? alike\b/i, 'returns the same value'],
	[qr/\bsuch as there (?:is|are)\b|\bwhich is so\b|\bthat is it\b/i, 'say what it is'],
	[qr/(?:^|[.:;] )(?:Not so|As it is)\b/, 'a sentence with a subject'],
);
# A comment that begins with a question; what a function returns is a statement.
my $question = qr/^(?:Is|Are|Was|Were|Does|Do|Did|Has|Have|Had|May|Can|Could|Would|Should)\b[^.;:]*\?/;

sub report {
	my ($file, $line, $text, $is_comment) = @_;

	$text =~ s/\s+/ /g;
	for my $row (@dialect) {
		print "$file:$line: ...", substr($text, $-[0] > 20 ? $-[0] - 20 : 0, 50), "... (say: $row->[1])\n"
			if $text =~ $row->[0];
	}
	print "$file:$line: ", substr($text, 0, 50), "... (say: Returns true if)\n" if $is_comment && $text =~ $question;
}

for my $file (@ARGV) {
	open(my $in, '<', $file) or die "$file: $!\n";
	my $text = do { local $/; <$in> };

	if ($file !~ /[.][ch]$/) {
		my $line = 0;
		report($file, ++$line, $_, 0) for split /\n/, $text;
		next;
	}
	while ($text =~ m{("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|/\*(.*?)\*/|//([^\n]*)}gs) {
		next if defined $1;
		my ($comment, $at) = ($2 // $3, $-[0]);
		$comment =~ s/^\s*\*[ \t]?//gm;
		$comment =~ s/^\s+|\s+$//g;
		report($file, 1 + (substr($text, 0, $at) =~ tr/\n//), $comment, 1);
	}
}
