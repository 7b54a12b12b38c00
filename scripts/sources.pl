#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# Reads the apt sources of a machine (sources.list(5), both formats) and derives from its own Debian entry
# what bbtrace needs. Reads files only, writes to stdout. Needs no module: perl-base is on every Debian.
#
#   sources.pl backports CODENAME [APTDIR]   a deb822 stanza for CODENAME-backports. Status 0: printed;
#                                            3: such an entry exists already; 1: no entry to derive it from
#   sources.pl archive CODENAME [APTDIR]     the stanza of CODENAME itself (NEW=SUITE in the environment:
#                                            under that suite's name). Status 0 or 1
use strict;
use warnings;

# One-line option, deb822 field, is the value a list (commas there, blanks here).
my @options = (
	[ 'arch',              'Architectures',     1 ],
	[ 'lang',              'Languages',         1 ],
	[ 'target',            'Targets',           1 ],
	[ 'signed-by',         'Signed-By',         1 ],
	[ 'trusted',           'Trusted',           0 ],
	[ 'pdiffs',            'PDiffs',            0 ],
	[ 'by-hash',           'By-Hash',           0 ],
	[ 'check-valid-until', 'Check-Valid-Until', 0 ],
	[ 'valid-until-min',   'Valid-Until-Min',   0 ],
	[ 'valid-until-max',   'Valid-Until-Max',   0 ],
	[ 'check-date',        'Check-Date',        0 ],
	[ 'date-max-future',   'Date-Max-Future',   0 ],
	[ 'allow-insecure',    'Allow-Insecure',    0 ],
	[ 'allow-weak',        'Allow-Weak',        0 ],
);

sub words { return grep { length } split /\s+/, $_[0] // '' }

# "arch=amd64,arm64 signed-by=/k.gpg" to fields. arch+= and arch-= have field names of their own.
sub parse_options {
	my ($text) = @_;
	my %fields;

	for my $word (words($text)) {
		my ($name, $op, $value) = $word =~ /^([a-z-]+?)([+-]?)=(.*)$/i or next;
		my ($row) = grep { $_->[0] eq lc $name } @options or next;
		my $suffix = $op eq '+' ? '-Add' : $op eq '-' ? '-Remove' : '';
		$value =~ tr/,/ / if $row->[2];
		$fields{ $row->[1] . $suffix } = $value;
	}
	return \%fields;
}

sub parse_list {
	my ($file, $text) = @_;
	my @entries;

	for my $line (split /\n/, $text) {
		$line =~ s/#.*//;
		my ($type, $options, $uri, $suite, $components) =
		    $line =~ /^\s*(deb|deb-src)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*?)\s*$/ or next;
		push @entries, {
			file => $file, types => [$type], uris => [$uri], suites => [$suite],
			components => [ words($components) ], options => parse_options($options),
		};
	}
	return @entries;
}

# A field's value keeps its continuation lines: an embedded key is one.
sub parse_stanza {
	my ($text) = @_;
	my (%fields, $last);

	for my $line (split /\n/, $text) {
		next if $line =~ /^#/;
		if ($line =~ /^\s/) {
			$fields{$last} .= "\n$line" if defined $last;
		} elsif ($line =~ /^([^\s:]+)\s*:\s*(.*?)\s*$/) {
			$last = lc $1;
			$fields{$last} = $2;
		}
	}
	return \%fields;
}

sub parse_deb822 {
	my ($file, $text) = @_;
	my @entries;

	for my $stanza (split /\n(?:[ \t]*\n)+/, $text) {
		my $f = parse_stanza($stanza);
		next if ($f->{enabled} // 'yes') =~ /^(?:no|false|without|off|disable|0)$/i;
		my %kept;
		for my $name (map { $_->[1] } @options) {
			for my $full ($name, "$name-Add", "$name-Remove") {
				$kept{$full} = $f->{ lc $full } if defined $f->{ lc $full };
			}
		}
		push @entries, {
			file => $file, types => [ words($f->{types}) ], uris => [ words($f->{uris}) ],
			suites => [ words($f->{suites}) ], components => [ words($f->{components}) ],
			options => \%kept,
		};
	}
	return @entries;
}

sub slurp {
	my ($path) = @_;
	open my $fh, '<', $path or return '';
	local $/;
	my $text = <$fh> // '';
	$text =~ s/\r\n/\n/g;
	return $text;
}

# Every enabled entry for binary packages, in apt's order. Names that apt ignores are ignored here.
sub entries {
	my ($dir) = @_;
	my @all = -e "$dir/sources.list" ? parse_list('sources.list', slurp("$dir/sources.list")) : ();

	opendir my $dh, "$dir/sources.list.d" or return grep { usable($_) } @all;
	for my $name (sort grep { /^[A-Za-z0-9_.-]+\.(?:list|sources)$/ && !/^\./ } readdir $dh) {
		my $text = slurp("$dir/sources.list.d/$name");
		push @all, $name =~ /\.list$/ ? parse_list($name, $text) : parse_deb822($name, $text);
	}
	return grep { usable($_) } @all;
}

sub has { my ($list, @want) = @_; return scalar grep { my $x = $_; grep { $x eq $_ } @want } @$list }

sub usable {
	my ($e) = @_;
	return has($e->{types}, 'deb') && has($e->{components}, 'main') && @{ $e->{uris} } &&
	    !grep { /^cdrom:/ } @{ $e->{uris} };
}

# A release by its name, or as what it was, is or will be called.
sub names { my ($codename, $tail) = @_; return map { "$_$tail" } $codename, 'stable', 'oldstable', 'oldoldstable' }

# Other vendors publish under Debian's suite names too. What speaks for Debian's own archive: updates at the
# same place; Debian's keyring; the file that the installer writes.
sub score {
	my ($e, $all, $codename) = @_;
	my @same = grep { has($_->{uris}, @{ $e->{uris} }) } @$all;
	my $key = $e->{options}{'Signed-By'} // '';
	my $points = 0;

	$points += 8 if grep { has($_->{suites}, names($codename, '-updates'), names($codename, '-proposed-updates')) } @same;
	$points += 4 if $key =~ /debian-archive/;
	$points += 2 if $key eq '';
	$points += 1 if $e->{file} eq 'sources.list' || $e->{file} eq 'debian.sources';
	return $points;
}

sub archive {
	my ($codename, @all) = @_;
	my ($best, $best_score) = (undef, -1);

	for my $e (grep { has($_->{suites}, names($codename, '')) } @all) {
		my $points = score($e, \@all, $codename);
		($best, $best_score) = ($e, $points) if $points > $best_score;
	}
	return $best;
}

sub print_stanza {
	my ($e, $suite) = @_;

	print "Types: deb\nURIs: @{ $e->{uris} }\nSuites: $suite\nComponents: main\n";
	for my $name (sort keys %{ $e->{options} }) {
		my $value = $e->{options}{$name};
		print "$name:", ($value =~ /^\n/ ? '' : ' '), "$value\n";
	}
}

my ($verb, $codename, $dir) = @ARGV;
die "usage: sources.pl backports|archive CODENAME [APTDIR]\n"
    unless defined $codename && $verb =~ /^(?:backports|archive)$/;
my @all = entries($dir // '/etc/apt');
my $backports = $verb eq 'backports';

exit 3 if $backports && grep { has($_->{suites}, "$codename-backports") } @all;
my $from = archive($codename, @all) or exit 1;
print_stanza($from, $backports ? "$codename-backports" : $ENV{NEW} // $codename);
