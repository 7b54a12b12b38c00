#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# leaks.pl CHECKOUT FILE...: lines that name a file of this checkout by its path on this machine, `FILE:LINE: TEXT`. Run in
# the checkout. Wherever that lies, /src too: a path that only ends like it, or names nothing that is here, is none.
use strict;
use warnings;

my $checkout = shift // die "usage: leaks.pl CHECKOUT FILE...\n";
for my $file (@ARGV) {
	open my $f, '<', $file or die "$file: $!\n";
	while (<$f>) {
		my @named = m{(?<![\w./\$\})-])\Q$checkout\E/([\w.-]+)}g;
		print "$file:$.: $_" if grep { -e } @named;
	}
}
