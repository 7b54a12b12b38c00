#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# The answers to the ten questions of docs/sql.md, from the JSON itself: sql_answers.pl FOLDER TRACE... reads TRACE.json and
# TRACE-counts.json, which are in the current folder, and writes FOLDER/wanted.N, columns separated by tabs. The counts are
# asked only which branches there are; how often each went where is counted in the events.
use strict;
use warnings;

my ($folder, @traces) = @ARGV;
my (@summaries, %branches, %sites, %sides, %durations, %callers, %rate, %shares, %runs_on);
my ($error, @before_error) = ~0;

sub field { my ($line, $name) = @_; return $line =~ /"$name":"?([^",}\]]*)/ ? $1 : undef }

sub summary_of {
	my $file = shift;
	open my $in, '-|', 'tail', '-n', 1, $file or die "$file: $!\n";
	my $line = <$in>;
	my ($objects, $ids) = $line =~ /"objects":\{"object":\[([^\]]*)\],"build_id":\[([^\]]*)\]\}/ or die "$file: no summary\n";
	my @objects = $objects =~ /"([^"]*)"/g;
	my @ids = map { substr $_, 0, 8 } $ids =~ /"([^"]*)"/g;
	my %build;
	@build{@objects} = @ids;
	return ($line, field($line, 'host'), field($line, 'realtime_offset_ns'), \%build);
}

# A branch that went one way: how often, and when first. What is written of it tells it from all others.
sub add_branch {
	my ($text, $times, $first, $host, $build) = @_;
	my ($object, $symbol, $offset, $insn, $taken, $to) = $text =~
		/^"object":"([^"]*)","symbol":"([^"]*)","offset":(\d+),.*"insn":"(\w+)","taken":(\w+)(?:,"to":\{([^}]*)\})?$/ or return;
	my $version = $build->{$object};

	for ($branches{$version, $symbol, $offset, $insn} //= [0, 0], $shares{$version, $symbol, $offset}{$host} //= [0, 0]) {
		$_->[0] += $times;
		$_->[1] += $times if $taken eq 'true';
	}
	return unless defined $first;
	my $side = $sides{$version, $symbol, $offset, field($to, 'symbol') // '\N', field($to, 'offset') // '\N'} //= {times => 0};
	$side->{times} += $times;
	$side->{hosts}{$host} = 1;
	@$side{qw(time host)} = ($first, $host) if !defined $side->{time} || $first < $side->{time};
}

sub read_events {
	my $trace = shift;
	my ($summary, $host, $to_real, $build) = summary_of("$trace.json");
	my ($events, $lost, $or_more, %entered, %caller, %times, %first) = (0, 0, 'exactly');

	open my $in, '<', "$trace.json" or die "$trace.json: $!\n";
	while (my $line = <$in>) {
		my ($ts, $tid, $event) = $line =~ /^\{(?:"ts":(\d+),)?"pid":\d+,"tid":(\d+),.*?"event":"(\w+)"/ or next;
		if ($event eq 'branch') {
			my ($text, $to) = $line =~ /"event":"branch",(.*?"insn":"\w+"(?:,"taken":\w+)?(?:,"to":\{([^}]*)\})?)/;
			$events++;
			$caller{$tid} = index($text, '"kind":"ret"') >= 0 ? field($to, 'symbol') : undef;
			$times{$text}++;
			$first{$text} = $ts if defined $ts && (!defined $first{$text} || $ts < $first{$text});
			next;
		}
		if ($event eq 'lost') {
			$lost += field($line, 'count');
			$or_more = 'or more' if field($line, 'at_least');
		}
		next unless $event =~ /^(entry|return)$/;
		$events++;
		my ($object, $symbol) = $line =~ /"event":"\w+","object":"([^"]*)","symbol":"([^"]*)"/ or next;
		my $version = $build->{$object};
		if ($event eq 'entry') {
			my ($depth) = $line =~ /"depth":(\d+)/;
			$runs_on{$version}{$host} = 1 if $symbol eq 'main';
			push @{$entered{$tid}}, "$host\t$depth\t$symbol";
			shift @{$entered{$tid}} if @{$entered{$tid}} > 15;
			$rate{$ts + $to_real - ($ts + $to_real) % 100000000, $host}++ if $symbol eq 'answer' && defined $ts;
		} elsif ($symbol eq 'luaM_realloc_') {
			my $duration = field($line, 'duration_ns');
			if (defined $duration && $duration >= 1000 && defined $caller{$tid}) {
				my $calls = $callers{$version, $caller{$tid}} //= [0, 0];
				$calls->[0]++;
				$calls->[1] = $duration if $duration > $calls->[1];
			}
		} elsif ($symbol eq 'answer') {
			my $duration = field($line, 'duration_ns');
			push @{$durations{$host, $version}}, $duration if defined $duration;
			if (field($line, 'value') ne '0x0' && $ts + $to_real < $error) {
				$error = $ts + $to_real;
				@before_error = reverse @{$entered{$tid}};
			}
		}
		$caller{$tid} = undef;
	}
	add_branch($_, $times{$_}, defined $first{$_} ? $first{$_} + $to_real : undef, $host, $build) for keys %times;
	push @summaries, [$trace, $host, $events, $lost, $or_more, field($summary, 'unmatched_returns'), field($summary, 'missed_at_most')];
}

sub read_sites {
	my $trace = shift;
	my (undef, undef, undef, $build) = summary_of("$trace-counts.json");

	open my $in, '<', "$trace-counts.json" or die "$trace-counts.json: $!\n";
	while (<$in>) {
		$sites{$build->{$1}, $2, $3} = 1
			if /"event":"edge","object":"([^"]*)","symbol":"([^"]*)","offset":(\d+),"vaddr":"\w+","kind":"(jcc|loop)"/;
	}
}

sub compare {
	my ($by, @rows) = @_;
	for my $column (@$by) {
		my ($x, $y) = map { $_->[abs($column) - 1] } $column < 0 ? reverse @rows : @rows;
		my $order = "$x$y" =~ /^\d+$/ ? $x <=> $y : $x cmp $y;
		return $order if $order;
	}
	return 0;
}

# The first LIMIT rows, in the order of these columns, counted from 1; -N: of column N, the largest first.
sub answer {
	my ($n, $by, $limit, @rows) = @_;

	@rows = sort { compare($by, $a, $b) } @rows if @$by;
	splice @rows, $limit if @rows > $limit;
	open my $out, '>', "$folder/wanted.$n" or die "$folder/wanted.$n: $!\n";
	print $out join("\t", @$_) . "\n" for @rows;
}

sub keys_of { return map { [split $;, $_] } keys %{$_[0]} }

read_events($_), read_sites($_) for @traces;

answer(1, [1], 100, @summaries);
answer(2, [-5, 1, 2, 3], 10, map { [@$_, @{$branches{join $;, @$_}}] } keys_of(\%branches));
answer(3, [1], 100, map {
	my @all = sort { $a <=> $b } @{$durations{join $;, @$_}};
	[@$_, scalar @all, $all[int((@all + 1) / 2) - 1], $all[int((@all * 99 + 99) / 100) - 1], $all[-1]]
} keys_of(\%durations));
answer(4, [7, 2, 3], 10, map { my $side = $sides{join $;, @$_}; [@$_, @$side{qw(host time times)}] }
	grep { keys %{$runs_on{$_->[0]}} > 1 && keys %{$sides{join $;, @$_}{hosts}} == 1 } keys_of(\%sides));

my %covered;
$covered{(split $;)[0]}[0]++ for keys %sites;
for (keys %branches) {
	my ($n, $taken) = @{$branches{$_}};
	$covered{(split $;)[0]}[1] += ($taken > 0) + ($n > $taken);
}
answer(5, [1], 100, map { [$_, $covered{$_}[0], 2 * $covered{$_}[0], $covered{$_}[1]] } keys %covered);
answer(6, [-5, 1, 2, 3], 10, map {
	my ($n, $taken) = @{$branches{join $;, @$_}};
	$taken == 0 || $taken == $n ? [@$_, $n, $taken ? 'not taken' : 'taken'] : ()
} keys_of(\%branches));
answer(7, [-3, 1, 2], 10, map { [@$_, @{$callers{join $;, @$_}}] } keys_of(\%callers));
answer(8, [], 15, map { [$_] } @before_error);
answer(9, [2, 1], 1000, map { [$_->[1], $_->[0], $rate{join $;, @$_}] } keys_of(\%rate));

my @differing;
for my $at (keys_of(\%shares)) {
	my $hosts = $shares{join $;, @$at};
	my %share = map { $_ => int(1000 * $hosts->{$_}[1] / $hosts->{$_}[0]) } grep { $hosts->{$_}[0] >= 100 } keys %$hosts;
	my @by = sort { $share{$a} <=> $share{$b} } keys %share;
	push @differing, [@$at, $by[0], $share{$by[0]}, $by[-1], $share{$by[-1]}] if @by && $share{$by[0]} < $share{$by[-1]};
}
answer(10, [], 10, sort { ($b->[6] - $b->[4]) <=> ($a->[6] - $a->[4]) || compare([1, 2, 3], $a, $b) } @differing);
