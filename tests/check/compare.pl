#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# compare.pl [options] STEPREF-OUTPUT BBTRACE-JSON: do both show the same, thread by thread, event by event?
# Exit status 0: yes; 1: no, the first difference is shown; 2: trouble.
#   --unknown      an `unknown` event may replace events of the reference (else it is a difference)
#   --untimed      events that aren't implied may have no time
#   --strict       `to` and `value` must be present (else missing ones are counted, on indirect branches and returns)
#   --ranges FILE  stepref's: check symbol and offset, too
#   --context N    lines of context (8)
#   --no-summary   the JSON is truncated: no summary line is required
#   --restarts     if a call jumps back to its entry, only the last pass counts (Go: to grow the stack, or to preempt the
#                  goroutine when the runtime's signal asks for it)
#   --events LIST  bbtrace was run with -e LIST
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Getopt::Long;
use Json;

my $untimed = 0;
my ($unknown_ok, $strict, $ranges, $context, $no_summary, $restarts, $only) = (0, 0, undef, 8, 0, 0, 'entry,branch,return');
GetOptions('unknown' => \$unknown_ok, 'strict' => \$strict, 'untimed' => \$untimed, 'ranges=s' => \$ranges, 'context=i' => \$context,
	   'no-summary' => \$no_summary, 'restarts' => \$restarts, 'events=s' => \$only) && @ARGV == 2
	or die_usage();
my %only = map { $_ => 1 } split /,/, $only;
my %count = map { $_ => 0 } qw(events unknown hidden to value addresses inherited unentered elsewhere again);

sub die_usage { print STDERR "usage: compare.pl [options] STEPREF-OUTPUT BBTRACE-JSON\n"; exit 2 }
sub trouble { print STDERR "compare.pl: @_\n"; exit 2 }
sub differ { print @_; exit 1 }

# ---- the reference: lines per thread ----
# An event is [text to compare, where to, value, note]; undef where there is none. What has a note may be missing: a child's
# return from what its parent entered; that of code that was jumped into, not entered; that by a ret elsewhere, behind a
# tail call, which bbtrace must then count under unseen_tail_returns; and an entry again, after a fault of the first
# instruction.

sub read_reference {
	my ($path) = @_;
	my @threads;
	my $ended = 0;
	open my $f, '<', $path or trouble("$path: $!");
	while (<$f>) {
		chomp;
		$ended = 1 if /^# \d+ steps, status/;
		next if /^#/;
		my ($index, $kind, $vaddr, $taken, $to, @more) = split / /;
		my ($rax) = map { /^rax=(.*)/ ? $1 : () } @more;
		my ($note) = grep { /^(inherited|unentered|elsewhere)$/ } @more;
		my $type = $kind =~ /^(entry|return)$/ ? $kind : 'branch';
		next unless $only{$type};
		my $value = $type eq 'return' ? $rax : undef;
		my $before = $threads[$index] ? $threads[$index][-1] : undef;
		$note = 'again' if $type eq 'entry' && $only{branch} && $before && $before->[0] eq join ' ', $kind, Json::hex_of($vaddr), $taken;
		push @{ $threads[$index] },
			[join(' ', $kind, Json::hex_of($vaddr), $taken), $to eq '-' ? undef : place($to), $value, $note];
	}
	trouble("$path: not a whole reference (stepref was cut, or lost a step)") unless $ended;
	return map { $restarts ? last_turns($_) : $_ } map { $_ // () } @threads;
}

# Is the entry that of this call?
sub calls {
	my ($call, $entry) = @_;
	my ($vaddr) = $entry->[0] =~ /^entry (\S+)/;
	return $call->[0] =~ /^i?call/ && (!defined $call->[1] || $call->[1] =~ /\+\Q$vaddr\E$/);
}

sub last_turns {
	my ($events) = @_;
	my @out;
	my $entry; # the index of the last entry, while nothing but branches followed
	for my $e (@$events) {
		if ($e->[0] =~ /^entry/) {
			if (defined $entry && $e->[0] eq $out[$entry][0] && @out > $entry + 1 && !calls($out[-1], $e)) {
				$#out = $entry;
				next;
			}
			$entry = @out;
		} elsif ($e->[0] =~ /^return/ || is_gap($e)) {
			undef $entry;
		}
		push @out, $e;
	}
	return \@out;
}

sub place {
	my ($text) = @_;
	return 'anonymous' if $text =~ /^0x/;
	return $text;
}

# ---- bbtrace: the same, per tid ----

my %symbols; # own name -> start, size
my @wrong;   # what no comparison of sequences would notice

sub read_ranges {
	open my $f, '<', $ranges or trouble("$ranges: $!");
	while (<$f>) {
		next if /^(#|$)/;
		my ($name, $start, $size, $own) = split;
		$symbols{ $own // $name } = [hex $start, hex $size];
	}
}

sub check_symbol {
	my ($e, $line) = @_;
	my $symbol = $e->{symbol};
	return if !$ranges || grep { /^_Z/ } keys %symbols;
	my $range = defined $symbol ? $symbols{$symbol} : undef;
	if (!$range) {
		push @wrong, "symbol is none of those traced: $line";
	} elsif ($range->[0] + $e->{offset} != hex $e->{vaddr}) {
		push @wrong, "offset does not lead from symbol to vaddr: $line";
	}
}

sub where_to {
	my ($to) = @_;
	return undef unless $to;
	return 'anonymous' if !defined $to->{object} || $to->{object} =~ /^\[/;
	my ($name) = $to->{object} =~ m{([^/]*)$};
	return "$name+" . (Json::hex_of($to->{vaddr}) // 'nowhere');
}

sub check_fields {
	my ($e, $line) = @_;
	for my $field (qw(pid tid object symbol offset vaddr)) {
		push @wrong, "no $field: $line" unless defined $e->{$field};
	}
	push @wrong, "vaddr is no hex string: $line" unless defined Json::hex_of($e->{vaddr});
	push @wrong, "measured (ts, cpu) or implied: one of both: $line"
		if $e->{event} ne 'return' && !($untimed && !$e->{implied}) && !defined $e->{ts} == !$e->{implied};
	check_symbol($e, $line);
}

sub event_of {
	my ($e, $line) = @_;
	my $vaddr = Json::hex_of($e->{vaddr}) // '?';
	return ["entry $vaddr -", undef, undef] if $e->{event} eq 'entry';
	return ["return $vaddr -", undef, Json::hex_of($e->{value})] if $e->{event} eq 'return';
	my $conditional = ($e->{kind} // '') =~ /^(jcc|loop)$/;
	push @wrong, "taken belongs to jcc and loop: $line" if $conditional != exists $e->{taken};
	my $taken = $conditional ? ($e->{taken} ? 'taken' : 'not-taken') : '-';
	return [join(' ', $e->{kind} // '?', $vaddr, $taken), where_to($e->{to}), undef];
}

my $unseen = 0; # returns of tail calls, as the summary has it

sub read_json {
	my ($path) = @_;
	my (%threads, @order, $summary);
	my $printed = 0;
	open my $f, '<', $path or trouble("$path: $!");
	while (my $line = <$f>) {
		chomp $line;
		my $e = eval { Json::parse($line) } or trouble("$path:$.: not JSON: $@$line");
		my $type = $e->{event} // '';
		push @wrong, "something behind the summary: $line" if $summary;
		$summary = $e if $type eq 'summary';
		next unless $type =~ /^(entry|branch|return|unknown|lost)$/;
		my $tid = $e->{goroutine} ? "$e->{pid} goroutine $e->{goroutine}" : $e->{tid} // 'none';
		push @order, $tid unless $threads{$tid};
		if ($type eq 'unknown' || $type eq 'lost') {
			push @{ $threads{$tid} }, [$type];
			next;
		}
		$printed++;
		push @wrong, "event that was not asked for: $line" unless $only{$type};
		check_fields($e, $line);
		push @{ $threads{$tid} }, event_of($e, $line);
	}
	check_summary($summary, $printed) unless $no_summary;
	return map { [$_, $restarts ? last_turns($threads{$_}) : $threads{$_}] } @order;
}

sub check_summary {
	my ($summary, $printed) = @_;
	return push @wrong, 'no summary' unless $summary;
	push @wrong, "summary counts $summary->{events} events, there are $printed" if $summary->{events} != $printed;
	push @wrong, "summary: $summary->{lost} lost" if $summary->{lost};
	$unseen = $summary->{unseen_tail_returns};
}

# ---- comparison ----

# Values are equal, or both are addresses, which the kernel's randomisation moves by 16 bytes at least.
sub same_value {
	my ($a, $b) = @_;
	return 1 if $a eq $b;
	return 0 unless is_address($a) && is_address($b) && substr($a, -1) eq substr($b, -1);
	$count{addresses}++;
	return 1;
}

sub is_address {
	my ($text) = @_;
	return length($text) >= 12 && length($text) <= 14; # 0x + 10 to 12 digits
}

sub same {
	my ($ref, $got) = @_;
	return 0 if $ref->[0] ne $got->[0];
	if (defined $ref->[1]) {
		if (!defined $got->[1]) {
			return 0 if $strict || $ref->[0] !~ /^(ijmp|icall|ret) /;
			$count{to}++;
		} elsif ($ref->[1] ne $got->[1]) {
			return 0;
		}
	} elsif (defined $got->[1]) {
		return 0;
	}
	if (defined $ref->[2]) {
		return !$strict && ++$count{value} if !defined $got->[2];
		return same_value($ref->[2], $got->[2]);
	}
	return 1;
}

sub is_gap { $_[0][0] =~ /^(unknown|lost)$/ }

# How many events from $g on, up to the next gap (64 at most), equal the reference from $r on; all of them?
sub run_fits {
	my ($ref, $r, $got, $g) = @_;
	for (my $n = 0; $n < 64 && $g < @$got && !is_gap($got->[$g]); $n++, $g++, $r++) {
		$r++ while $r < @$ref && $ref->[$r][3] && !same($ref->[$r], $got->[$g]);
		return 0 if $r >= @$ref || !same($ref->[$r], $got->[$g]);
	}
	return 1;
}

# Where the reference goes on behind a gap.
sub resync {
	my ($ref, $r, $got, $g) = @_;
	return scalar @$ref if $g >= @$got; # the thread's end: whatever was left is not told
	for (my $at = $r; $at < @$ref; $at++) {
		return $at if run_fits($ref, $at, $got, $g);
	}
	return undef;
}

# (-1) where equal, else the index into both of the first difference.
sub first_difference {
	my ($ref, $got) = @_;
	my $r = 0;
	for (my $g = 0; $g < @$got; $g++) {
		if (is_gap($got->[$g])) {
			return ($r, $g) if !$unknown_ok || $got->[$g][0] eq 'lost';
			my $at = resync($ref, $r, $got, $g + 1);
			return ($r, $g + 1) unless defined $at;
			$count{unknown}++;
			$count{hidden} += $at - $r;
			$r = $at;
			next;
		}
		while ($r < @$ref && $ref->[$r][3] && !same($ref->[$r], $got->[$g])) {
			$count{ $ref->[$r++][3] }++;
		}
		return ($r, $g) if $r >= @$ref || !same($ref->[$r], $got->[$g]);
		$count{events}++;
		$r++;
	}
	$count{ $ref->[$r++][3] }++ while $r < @$ref && $ref->[$r][3];
	return $r == @$ref ? (-1, -1) : ($r, scalar @$got);
}

sub text {
	my ($e) = @_;
	return '(end)' unless $e;
	return join ' ', $e->[0], map { $_ // () } @$e[1, 2];
}

sub show {
	my ($ref, $got, $r, $g, $tid) = @_;
	my $out = "thread $tid: event $g differs from the reference's $r\n";
	for (my $i = -$context; $i <= $context; $i++) {
		my ($a, $b) = ($r + $i, $g + $i);
		next if ($a < 0 || $a > @$ref) && ($b < 0 || $b > @$got);
		$out .= sprintf "%s %-60s | %s\n", $i == 0 ? '>' : ' ',
			$a < 0 || $a > @$ref ? '' : text($ref->[$a]), $b < 0 || $b > @$got ? '' : text($got->[$b]);
	}
	return $out;
}

# The reference thread that this one equals; else the difference to the one that it follows longest.
sub match_thread {
	my ($refs, $tid, $got) = @_;
	my @best = (-1);
	for my $i (0 .. $#$refs) {
		my %before = %count;
		my ($r, $g) = first_difference($refs->[$i], $got);
		return splice @$refs, $i, 1 if $g < 0;
		%count = %before;
		@best = ($g, $r, $i) if $g > $best[0];
	}
	differ("thread $tid: the reference has no such thread; it begins: ", text($got->[0]), "\n") if $best[0] < 0;
	differ(show($refs->[$best[2]], $got, $best[1], $best[0], $tid));
}

read_ranges() if $ranges;
my @refs = read_reference($ARGV[0]);

# mutate.pl loads this file, and asks for many traces of the same reference.
sub judge {
	%count = map { $_ => 0 } keys %count;
	@wrong = ();
	$unseen = 0;
	my @left = @refs;
	my @threads = read_json($ARGV[1]);
	my $reference_events = 0;
	$reference_events += @$_ for @left;
	# those with gaps last: they fit more than one
	for my $t (sort { (!!grep { is_gap($_) } @{ $a->[1] }) <=> (!!grep { is_gap($_) } @{ $b->[1] }) } @threads) {
		match_thread(\@left, @$t);
	}
	@left = grep { grep { !$_->[3] } @$_ } @left;
	differ(scalar @left, ' thread(s) of the reference missing; the first begins: ', text($left[0][0]), ' (',
	       scalar @{ $left[0] }, " events)\n") if @left;
	push @wrong, "$count{elsewhere} returns behind tail calls are missing, unseen_tail_returns is $unseen"
		if $count{elsewhere} > ($strict ? 0 : $unseen);
	differ("$wrong[0]\n", @wrong > 1 ? '(and ' . (@wrong - 1) . " more such)\n" : '') if @wrong;
	printf "same: %d threads, %d of %d events; %d unknown hide %d; %d without to, %d without value, %d moved addresses; %d returns behind tail calls not seen\n",
		scalar @threads, $count{events}, $reference_events, @count{qw(unknown hidden to value addresses elsewhere)};
	exit 0;
}
judge() unless caller;
1;
