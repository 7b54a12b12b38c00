#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# leaks.pl CHECKOUT FILE...: prints the lines that name a file of this checkout by its absolute path, `FILE:LINE:
# TEXT`. Run in the checkout. It works wherever the checkout lies, /src included: paths that only end like a file's,
# or that name no file of the checkout, don't count.
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
