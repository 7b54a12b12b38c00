#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# ref2json.pl OBJECT RANGES STEPREF-OUTPUT: the reference in the format of bbtrace -F json, to test the comparers without
# bbtrace.
use strict;
use warnings;

my ($object, $ranges, $path) = @ARGV;
die "usage: ref2json.pl OBJECT RANGES STEPREF-OUTPUT\n" unless @ARGV == 3;
my (@ranges, %task, $n);
my %insn = (jcc => 'jne', loop => 'loop', jmp => 'jmp', call => 'call', ijmp => 'jmp', icall => 'call', ret => 'ret');

open my $r, '<', $ranges or die "$ranges: $!\n";
while (<$r>) {
	my ($name, $start, $size, $own) = split;
	push @ranges, [$own // $name, hex $start, hex $size];
}

sub locate {
	my ($vaddr) = @_;
	for (@ranges) {
		return sprintf '"symbol":"%s","offset":%d,', $_->[0], $vaddr - $_->[1]
			if $vaddr >= $_->[1] && $vaddr < $_->[1] + $_->[2];
	}
	return '"symbol":null,"offset":0,';
}

sub to {
	my ($to) = @_;
	return qq(,"to":{"object":null,"symbol":null,"vaddr":"$to"}) if $to =~ /^0x/;
	my ($name, $vaddr) = $to =~ /(.*)\+(0x[0-9a-f]+)$/;
	return qq(,"to":{"object":"/somewhere/$name",) . locate(hex $vaddr) . qq("vaddr":"$vaddr"});
}

open my $f, '<', $path or die "$path: $!\n";
my $events = 0;
while (<$f>) {
	chomp;
	$task{$1} = qq("pid":$2,"tid":$3,"comm":"x") if /^# thread (\d+) pid (\d+) tid (\d+)/;
	next if /^#/;
	next if / unentered$/; # bbtrace may tell it, or not
	my ($thread, $kind, $vaddr, $taken, $to, $rax) = split / /;
	my $time = sprintf '{"ts":%d,"cpu":0,', 1000 + ++$n;
	my $at = qq("object":"$object",) . locate(hex $vaddr) . qq("vaddr":"$vaddr");
	$events++;
	if ($kind eq 'entry') {
		print qq($time$task{$thread},"event":"entry",$at,"depth":0,"regs":{"rdi":"0x1"}}\n);
	} elsif ($kind eq 'return') {
		my ($value) = $rax =~ /=(.*)/;
		print qq($time$task{$thread},"event":"return",$at,"depth":0,"value":"$value","duration_ns":5}\n);
	} else {
		my $way = $taken eq '-' ? '' : $taken eq 'taken' ? ',"taken":true' : ',"taken":false';
		print qq($time$task{$thread},"event":"branch",$at,"kind":"$kind","insn":"$insn{$kind}"$way), to($to), "}\n";
	}
}
print qq({"event":"summary","functions":1,"probes":1,"skipped":0,"events":$events,"lost":0,"unmatched_returns":0,"unseen_tail_returns":0}\n);
