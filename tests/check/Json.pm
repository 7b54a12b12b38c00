# SPDX-License-Identifier: BSD-2-Clause
# Json: one line of JSON into Perl data: by JSON::XS, which takes a tenth of the time, else by a tokenizer for what traces
# are made of. Whatever these don't take goes to JSON::PP, which knows every rule and has the error messages. Numbers and
# strings become what compares as their text, true and false 1 and 0, null undef; bytes stay bytes.
package Json;
use strict;
use warnings;
use JSON::PP ();

my $slow = JSON::PP->new->utf8;
my $fast = eval { require JSON::XS; JSON::XS->new->allow_nonref->boolean_values(0, 1) };

sub parse {
	my ($line) = @_;
	my $got = eval { quick($line) } // eval { tokens($line) };
	return $got if defined $got;
	return $slow->decode($line);
}

# The tokenizer keeps the digits of a member that is no integer, and leaves to JSON::PP what is escaped.
sub quick {
	my ($line) = @_;
	return undef if !$fast || index($line, '\\') >= 0 || $line =~ /":-?[0-9]+[.eE]/;
	return $fast->decode($line);
}

sub tokens {
	my ($line) = @_;
	pos($line) = 0;
	my $v = value(\$line);
	$line =~ /\G\s*\z/gc or die;
	return $v;
}

sub value {
	my ($s) = @_;
	return object($s) if $$s =~ /\G\{/gc;
	return $1 if $$s =~ /\G"([^"\\\x00-\x1f]*)"/gc;
	return $1 if $$s =~ /\G(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)/gc;
	return $1 eq 'true' ? 1 : $1 eq 'false' ? 0 : undef if $$s =~ /\G(true|false|null)\b/gc;
	return array($s) if $$s =~ /\G\[/gc;
	die;
}

sub object {
	my ($s) = @_;
	my %o;
	return \%o if $$s =~ /\G\}/gc;
	do {
		$$s =~ /\G"([^"\\\x00-\x1f]*)":/gc or die;
		my $key = $1;
		die if exists $o{$key}; # twice: JSON::PP takes the last; we say it below
		$o{$key} = value($s);
	} while $$s =~ /\G,/gc;
	$$s =~ /\G\}/gc or die;
	return \%o;
}

sub array {
	my ($s) = @_;
	my @a;
	return \@a if $$s =~ /\G\]/gc;
	do { push @a, value($s) } while $$s =~ /\G,/gc;
	$$s =~ /\G\]/gc or die;
	return \@a;
}

# Hex as everyone writes it: 0x, lower case, no leading zeros.
sub hex_of {
	my ($text) = @_;
	return undef unless defined $text && $text =~ /^0x0*([0-9a-fA-F]+)$/;
	return '0x' . lc $1;
}

1;
