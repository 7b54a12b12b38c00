#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# The rooms of src, as the linker sees them. Each line of output is a finding; lines that start with "note: " only say
# what could be lowered. Run at the root of the tree; BUILD is the folder of its objects.
#   rooms.pl built BUILD            the sources of src that have no object in BUILD
#   rooms.pl includes TABLE DOORS   a folder includes headers of its row alone: that of a folder's name, those of the folders DOORS
#   rooms.pl limits                 files of a folder and of a cycle without a row
#   rooms.pl order BUILD TABLE      a folder calls only the folders of its row; TABLE is may_include of lint.sh
#   rooms.pl cycles BUILD TABLE     files that call each other in a cycle; rows of TABLE: FOLDERS | SIZES
#   rooms.pl sizes TABLE            .c and .h files directly in one folder; rows of TABLE: FOLDER | FILES
#   rooms.pl show BUILD [FILE...]   each cycle with its arrows and their symbols, or all arrows from and to these files
use strict;
use warnings;
use File::Find;

my $most_files = 25; # in a folder without a row
my $most_cycle = 6; # files of a cycle without a row

my $mode = shift // '';

# Rows "KEY | VALUES" as KEY => [VALUES].
sub rows {
	my %row;
	for (split /\n/, shift // '') {
		my ($key, $values) = /^\s*(\S.*?)\s*\|\s*(.*?)\s*$/ or next;
		$row{$key} = [split ' ', $values];
	}
	return %row;
}

# Paths below src and bpf of the files with one of these endings.
sub files {
	my ($endings, @top) = @_;
	my @found;
	find({no_chdir => 1, wanted => sub { push @found, $_ if -f && /[.](?:$endings)$/ }}, grep { -d } @top);
	return sort @found;
}

# The sources in folders of src: DIR/NAME for src/DIR/NAME.c. Not main: it calls what it likes.
sub sources { return map { m{^src/(.*/.*)[.]c$} } files('c', 'src') }

sub object { return "$_[0]/$_[1].o" }

# Arrows between sources: $arrow{FROM}{TO}{SYMBOL}.
sub arrows {
	my ($build) = @_;
	my (%owner, %needs, %arrow);

	open my $nm, '-|', qw(nm --plugin /dev/null -A), map { object($build, $_) } sources() or die "nm: $!\n";
	while (<$nm>) {
		my ($file, $type, $symbol) = m{^\Q$build\E/(.*)[.]o:[0-9a-f ]*([A-Za-z]) ([^@\s]+)} or next;
		if ($type =~ /[Uvw]/) { $needs{$file}{$symbol} = 1 }
		elsif ($type =~ /[A-ZV]/) { $owner{$symbol} = $file }
	}
	close $nm or print "nm failed: these are not all calls\n";
	for my $from (keys %needs) {
		for my $symbol (keys %{$needs{$from}}) {
			my $to = $owner{$symbol} // next;
			$arrow{$from}{$to}{$symbol} = 1 if $to ne $from;
		}
	}
	return \%arrow;
}

# Strongly connected files (Tarjan), the largest first.
sub cycles_of {
	my ($arrow) = @_;
	my (%index, %low, %open, @stack, @cycles);
	my $visit;

	$visit = sub {
		my ($file) = @_;
		$index{$file} = $low{$file} = keys %index;
		push @stack, $file;
		$open{$file} = 1;
		for my $to (sort keys %{$arrow->{$file} // {}}) {
			if (!exists $index{$to}) {
				$visit->($to);
				$low{$file} = $low{$to} if $low{$to} < $low{$file};
			} elsif ($open{$to}) {
				$low{$file} = $index{$to} if $index{$to} < $low{$file};
			}
		}
		return if $low{$file} != $index{$file};
		my @cycle;
		do { push @cycle, pop @stack; delete $open{$cycle[-1]} } until $cycle[-1] eq $file;
		push @cycles, [sort @cycle] if @cycle > 1;
	};
	no warnings 'recursion';
	for (sort keys %$arrow) { $visit->($_) if !exists $index{$_} }
	return sort { @$b <=> @$a || "@$a" cmp "@$b" } @cycles;
}

sub folder { return (split m{/}, $_[0])[0] }

sub symbols {
	my @all = sort keys %{$_[0]};
	return join(' ', @all > 4 ? (@all[0 .. 3], '...') : @all);
}

sub order {
	my ($build, $table) = @_;
	my %may = rows($table);
	my $arrow = arrows($build);

	for my $from (sort keys %$arrow) {
		my $row = $may{folder($from)} // [];
		for my $to (sort keys %{$arrow->{$from}}) {
			next if grep { $_ eq folder($to) } folder($from), 'util', @$row;
			print "src/$from.c calls src/$to.c: ", symbols($arrow->{$from}{$to}), "\n";
		}
	}
}

# Two cycles of the same top-level folders share a row, with their sizes in falling order.
# The file that a quoted include means: in the folder of the file, else under src.
sub included {
	my ($file, $name) = @_;
	my ($folder) = $file =~ m{(.*)/};
	my $path = -e "$folder/$name" ? "$folder/$name" : "src/$name";
	1 while $path =~ s{[^/]+/\.\./}{};
	return $path;
}

# What a header is to other folders: a word of a row, or nothing.
sub door_of {
	my ($header, $doors) = @_;
	my @parts = split m{/}, $header;
	return 'wire' if $header =~ m{^bpf/wire(_named)?[.]h$} || $header =~ m{^bpf/alone/wire_(text|threads)[.]h$};
	return $parts[1] if $parts[-1] eq "$parts[-2].h"; # of a folder, or of a folder in it
	return (grep { $_ eq $parts[1] } split ' ', $doors) && $header !~ /_private[.]h$/ ? $parts[1] : '';
}

sub includes {
	my ($table, $doors) = @_;
	my %may = rows($table);

	for my $file (files('[ch]', 'src')) {
		my (undef, $from, $rest) = split m{/}, $file;
		next if !defined $rest; # main.c
		open my $in, '<', $file or die "$file: $!\n";
		for (<$in>) {
			my ($name) = /^\s*#\s*include\s+"([^"]+)"/ or next;
			my $header = included($file, $name);
			my $to = (split m{/}, $header)[1];
			next if $to eq $from || $to eq 'util' || ($header =~ /[.]skel[.]h$/ && $from eq 'source');
			my $door = door_of($header, $doors);
			if (!$may{$from}) { print "$file: no row for this folder in scripts/lint.sh\n" }
			elsif (!grep { $_ eq $door } @{$may{$from}}) { print "$file includes $header\n" }
		}
	}
}

sub cycles {
	my ($build, $table) = @_;
	my %row = rows($table);
	my %found;

	for my $cycle (cycles_of(arrows($build))) {
		my %folder = map { folder($_) => 1 } @$cycle;
		push @{$found{join ' ', sort keys %folder}}, $cycle;
	}
	for my $key (sort keys %{{%row, %found}}) {
		my @most = sort { $b <=> $a } @{$row{$key} // []};
		my @cycles = @{$found{$key} // []};
		for my $i (0 .. ($#most > $#cycles ? $#most : $#cycles)) {
			my $most = $most[$i] // $most_cycle;
			my @cycle = @{$cycles[$i] // []};
			if (@cycle > $most) {
				print "a cycle of ", scalar @cycle, " files in $key, at most $most: @cycle (scripts/rooms.pl show)\n";
			} elsif (defined $most[$i] && @cycle <= $most_cycle) {
				print "note: $key has ", scalar @cycles ? 'fewer long cycles' : 'no long cycle', ": remove $most from long_cycles\n";
			} elsif (@cycle < $most && @cycle > $most_cycle) {
				print "note: a cycle in $key has ", scalar @cycle, " files now: lower $most in long_cycles\n";
			}
		}
	}
}

sub sizes {
	my %row = rows(shift);
	my %count;

	for (files('c|h', 'src', 'bpf')) { $count{$1}++ if m{^(.*)/} }
	for my $folder (sort keys %{{%row, %count}}) {
		my $count = $count{$folder} // 0;
		my $most = $row{$folder} ? $row{$folder}[0] : $most_files;
		if ($count > $most) { print "$folder has $count files, at most $most\n" }
		elsif (!$row{$folder}) { next }
		elsif ($count <= $most_files) { print "note: $folder has $count files: its row in crowded_folders can go\n" }
		elsif ($count < $most) { print "note: $folder has $count files now: lower $most in crowded_folders\n" }
	}
}

sub show {
	my ($build, @files) = @_;
	my $arrow = arrows($build);

	if (@files) {
		my %wanted = map { s{^src/|[.]c$}{}gr => 1 } @files;
		for my $from (sort keys %$arrow) {
			for my $to (sort keys %{$arrow->{$from}}) {
				print "$from -> $to: ", join(' ', sort keys %{$arrow->{$from}{$to}}), "\n" if $wanted{$from} || $wanted{$to};
			}
		}
		return;
	}
	for my $cycle (cycles_of($arrow)) {
		my %inside = map { $_ => 1 } @$cycle;
		print scalar @$cycle, " files: @$cycle\n";
		for my $from (@$cycle) {
			for my $to (grep { $inside{$_} } sort keys %{$arrow->{$from}}) {
				print "  $from -> $to: ", symbols($arrow->{$from}{$to}), "\n";
			}
		}
	}
}

if ($mode eq 'built' && @ARGV == 1) { print map { "src/$_.c\n" } grep { !-e object($ARGV[0], $_) } sources() }
elsif ($mode eq 'includes' && @ARGV == 2) { includes(@ARGV) }
elsif ($mode eq 'limits' && !@ARGV) { print "$most_files $most_cycle\n" }
elsif ($mode eq 'order' && @ARGV == 2) { order(@ARGV) }
elsif ($mode eq 'cycles' && @ARGV == 2) { cycles(@ARGV) }
elsif ($mode eq 'sizes' && @ARGV == 1) { sizes(@ARGV) }
elsif ($mode eq 'show' && @ARGV) { show(@ARGV) }
else { die "usage: rooms.pl built|order|cycles|show BUILD ..., rooms.pl sizes TABLE, rooms.pl includes TABLE DOORS, rooms.pl limits\n" }
