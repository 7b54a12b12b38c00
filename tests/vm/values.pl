#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# values.pl BBTRACE-JSON DISASSEMBLY...: do the outcomes of conditionals agree with the known values? For traces of the
# kernel made with -r all. Known values are the registers at each entry, the arguments of a system call, and what traced
# functions return. Registers and flags are computed from them along the path; memory is not. Conditionals on computed
# values are checked, the others counted. Exit status 0: all agree; 1: not.
use strict;
use warnings;
no warnings 'portable'; # 64-bit hex
use FindBin;
use lib "$FindBin::Bin/../check";
use Json;

my ($json, @listings) = @ARGV;
@listings or do { print STDERR "usage: values.pl JSON DISASSEMBLY...\n"; exit 2 };

my (%insn, %register);
my ($conditionals, $judged, $wrong) = (0, 0, 0);

# ---- the code ----

sub read_listing {
	my ($path) = @_;
	my $last;
	open my $f, '<', $path or die "$path: $!\n";
	while (<$f>) {
		s/\s+$//;
		next unless /^\s*([0-9a-f]+):\s+((?:[0-9a-f]{2}\s)*[0-9a-f]{2})(?:\s+(\S.*))?$/;
		my ($at, $bytes, $text) = (hex $1, $2, $3);
		my $len = split ' ', $bytes;
		if (defined $text) {
			$text =~ s/\s+#.*//;
			$text =~ s/\s+<.*>//;
			$insn{ $last = $at } = { len => $len, text => $text };
		} elsif (defined $last && $at == $last + $insn{$last}{len}) {
			$insn{$last}{len} += $len;
		}
	}
}

# Each name of a register: which one, how many bits.
sub name_registers {
	for my $r (qw(ax cx dx bx sp bp si di)) {
		my $low = $r =~ /^(.)x$/ ? "$1l" : "${r}l";
		@register{ "r$r", "e$r", $r, $low } = (["r$r", 64], ["r$r", 32], ["r$r", 16], ["r$r", 8]);
	}
	@register{ "r$_", "r${_}d", "r${_}w", "r${_}b" } = (["r$_", 64], ["r$_", 32], ["r$_", 16], ["r$_", 8]) for 8 .. 15;
}

# ---- values: undef is not known ----

my %bits = (b => 8, w => 16, l => 32, q => 64);
sub mask { $_[0] == 64 ? ~0 : (1 << $_[0]) - 1 }

sub plus { # modulo 2^64
	my ($a, $b) = @_;
	use integer;
	my $sum = $a + $b;
	no integer;
	return $sum & ~0;
}
sub minus { plus($_[0], plus(~$_[1], 1)) }

sub read_operand {
	my ($f, $o, $bits) = @_;
	return hex($1) & mask($bits) if $o =~ /^\$0x([0-9a-f]+)$/;
	if ($o =~ /^%(\w+)$/ && $register{$1}) {
		my $v = $f->{regs}{ $register{$1}[0] };
		return defined $v ? $v & mask($bits) : undef;
	}
	my $at = address($f, $o);
	my $v = defined $at ? $f->{memory}{$at} : undef;
	return defined $v ? $v & mask($bits) : undef;
}

sub address {
	my ($f, $o) = @_;
	my ($minus, $disp, $base, $index, $scale) = $o =~ /^(-?)(?:0x([0-9a-f]+))?\((?:%(\w+))?(?:,%(\w+),(\d))?\)$/ or return;
	my $at = hex($disp // 0);
	$at = minus(0, $at) if $minus;
	for ([$base, 1], [$index, $scale]) {
		my ($name, $times) = @$_;
		next unless defined $name;
		return undef unless $register{$name} && $register{$name}[1] == 64;
		my $v = $f->{regs}{ $register{$name}[0] } // return undef;
		$at = plus($at, $v) for 1 .. $times;
	}
	return $at;
}

sub write_operand {
	my ($f, $o, $bits, $v) = @_;
	return unless $o =~ /^%(\w+)$/;
	my $r = $register{$1} or return delete @{ $f->{regs} }{qw(rax rcx rdx rbx)}; # %ah
	my $old = $f->{regs}{ $r->[0] };
	$v = defined $v && defined $old ? ($old & ~mask($bits)) | ($v & mask($bits)) : undef if $bits < 32;
	defined $v ? ($f->{regs}{ $r->[0] } = $v & mask($bits < 32 ? 64 : $bits)) : delete $f->{regs}{ $r->[0] };
}

sub size_of { # by suffix, else by an operand
	my ($suffix, @operands) = @_;
	return $bits{$suffix} if $suffix;
	for (reverse @operands) {
		return $register{$1}[1] if /^%(\w+)$/ && $register{$1};
	}
	return undef;
}

# ---- flags ----

sub parity { my $n = unpack '%8b*', chr($_[0] & 255); !($n & 1) }

sub logic_flags {
	my ($v, $bits) = @_;
	return { c => 0, o => 0, z => $v == 0, s => $v >> ($bits - 1) & 1, p => parity($v) };
}

sub difference_flags { # a - b
	my ($a, $b, $bits) = @_;
	my $v = minus($a, $b) & mask($bits);
	return { %{ logic_flags($v, $bits) }, c => $a < $b, o => (($a ^ $b) & ($a ^ $v)) >> ($bits - 1) & 1 };
}

sub sum_flags {
	my ($a, $b, $bits) = @_;
	my $v = plus($a, $b) & mask($bits);
	return { %{ logic_flags($v, $bits) }, c => $v < $a, o => (~($a ^ $b) & ($a ^ $v)) >> ($bits - 1) & 1 };
}

my %conditions = (
	o => 'o', b => 'c', e => 'z', be => 'cz', s => 's', p => 'p', l => 'l', le => 'lz',
	no => '!o', ae => '!c', ne => '!z', a => '!cz', ns => '!s', np => '!p', ge => '!l', g => '!lz',
);

sub holds {
	my ($cc, $flags) = @_;
	my $rule = $conditions{$cc} // return undef;
	my $not = $rule =~ s/^!//;
	my $any = grep { $_ eq 'l' ? !$flags->{s} != !$flags->{o} : $flags->{$_} } split //, $rule;
	return $not ? !$any : !!$any;
}

# ---- one instruction ----

sub forget {
	my ($f) = @_;
	@$f{qw(regs flags)} = ({}, undef);
}

sub arithmetic {
	my ($f, $op, $bits, $src, $dst) = @_;
	my ($a, $b) = (read_operand($f, $dst, $bits), read_operand($f, $src, $bits));
	($a, $b) = (0, 0) if $op =~ /^(xor|sub)$/ && $src eq $dst && $dst =~ /^%/;
	my ($v, $flags);
	if (defined $a && defined $b) {
		$v = { and => sub { $a & $b }, test => sub { $a & $b }, or => sub { $a | $b }, xor => sub { $a ^ $b },
		       add => sub { plus($a, $b) }, sub => sub { minus($a, $b) }, cmp => sub { $a } }->{$op}->();
		$v &= mask($bits);
		$flags = $op eq 'add' ? sum_flags($a, $b, $bits)
			: $op =~ /^(sub|cmp)$/ ? difference_flags($a, $b, $bits) : logic_flags($v, $bits);
	}
	$f->{flags} = $flags;
	write_operand($f, $dst, $bits, $v) unless $op =~ /^(test|cmp)$/;
}

sub step {
	my ($f, $text) = @_;
	$text =~ s/^(?:(?:lock|rep[nz]*|data16|cs|ds|es|ss)\s+)+//;
	my ($op, $rest) = split ' ', $text, 2;
	my @o;
	while (defined $rest && $rest =~ /\G\s*((?:[^,(]|\([^)]*\))+),?/g) { push @o, $1 }
	s/^\s+|\s+$//g for @o;
	return if $op =~ /^(nop[wl]?|endbr64|ud1|ud2|lfence|mfence|sfence|prefetch\w*|pause|stac|clac|cli|sti|int3)$/;
	return forget($f) if $text =~ /%[a-d]h\b/;
	if ($op =~ /^mov(abs)?([bwlq])?$/ && @o == 2) {
		my $bits = size_of($2, @o) // return forget($f);
		return write_operand($f, $o[1], $bits, read_operand($f, $o[0], $bits));
	}
	if ($op =~ /^mov(z|s)([bwl])([wlq])$/) {
		my ($signed, $from, $to) = ($1 eq 's', $bits{$2}, $bits{$3});
		my $v = read_operand($f, $o[0], $from);
		$v |= mask($to) & ~mask($from) if defined $v && $signed && $v >> ($from - 1) & 1;
		return write_operand($f, $o[1], $to, $v);
	}
	if ($op =~ /^(and|or|xor|add|sub|cmp|test)([bwlq])?$/ && @o == 2) {
		my $bits = size_of($2, @o) // return forget($f);
		return arithmetic($f, $1, $bits, @o);
	}
	if ($op =~ /^lea([lq])?$/) {
		return write_operand($f, $o[1], size_of($1, $o[1]), address($f, $o[0]));
	}
	if ($op =~ /^(inc|dec|neg|not|shl|shr|sar|sal|rol|ror|imul|bt[src]?|bsf|bsr|popcnt|adc|sbb|xadd|cmpxchg\w*)([bwlq])?$/) {
		my $what = $1;
		$f->{flags} = undef unless $what eq 'not';
		delete @{ $f->{regs} }{qw(rax rdx)} if $what =~ /^(imul|cmpxchg)/;
		return map { write_operand($f, $_, 64, undef) } @o;
	}
	if ($op =~ /^(set[a-z]+|cmov[a-z]+)$/) {
		return write_operand($f, $o[-1], 64, undef);
	}
	return $f->{regs}{rsp} = minus($f->{regs}{rsp} // 0, 8) if $op eq 'push' && defined $f->{regs}{rsp};
	return if $op eq 'push';
	if ($op eq 'pop') {
		$f->{regs}{rsp} = plus($f->{regs}{rsp}, 8) if defined $f->{regs}{rsp};
		return write_operand($f, $o[0], 64, undef);
	}
	forget($f);
}

# Runs on to the instruction at $at; false: there is no straight way.
sub run {
	my ($f, $at) = @_;
	for (my $n = 0; $f->{pc} != $at; $n++) {
		my $i = $insn{ $f->{pc} } or return 0;
		return 0 if $n > 5000;
		step($f, $i->{text});
		$f->{pc} += $i->{len};
	}
	return 1;
}

# ---- events ----

my (%threads, $line);

# struct pt_regs of arch/x86: where each argument of a system call is.
my @argument_at = (0x70, 0x68, 0x60, 0x38, 0x48, 0x40);

sub on_entry {
	my ($frames, $e, $at) = @_;
	my %frame = (pc => $at, entry => $at, memory => {}, flags => undef);
	$frame{regs}{$_} = hex $e->{regs}{$_} for grep { $register{$_} } keys %{ $e->{regs} // {} };
	if ($e->{syscall_args}) {
		my $n = 0;
		$frame{memory}{ plus($frame{regs}{rdi}, $argument_at[ $n++ ]) } = hex $_ for @{ $e->{syscall_args} };
	}
	push @$frames, \%frame;
}

sub on_branch {
	my ($frames, $e, $at) = @_;
	push @$frames, { regs => {}, memory => {}, pc => $at } unless @$frames;
	my $f = $frames->[-1];
	my $to = $e->{to} ? hex $e->{to}{vaddr} : undef;
	unless (defined $f->{pc} && run($f, $at)) {
		forget($f);
		$f->{pc} = $at;
	}
	delete $f->{calls};
	my $i = $insn{$at};
	if (!$i) { # not in the disassembly: that is flow.pl's to say
		forget($f);
		return $f->{pc} = $to;
	}
	if ($e->{kind} eq 'jcc') {
		$conditionals++;
		my ($cc) = $i->{text} =~ /\bj([a-z]+)/;
		my $holds = $f->{flags} ? holds($cc, $f->{flags}) : undef;
		if (defined $holds) {
			$judged++;
			print "line $.: $i->{text} should ", ($holds ? '' : 'not '), "be taken\n  $line\n"
				if !$holds != !$e->{taken} && ++$wrong;
		}
		$f->{pc} = $to;
	} elsif ($e->{kind} =~ /^i?call$/) {
		# the code between __put_user and its like and the compiler has rules of its own
		forget($f) if !$e->{to} || !defined $e->{to}{symbol} || $e->{to}{symbol} =~ /^_*(put|get)_user|copy|clear|thunk|xen|call|csum|memset/;
		delete @{ $f->{regs} }{qw(rax rcx rdx rsi rdi r8 r9 r10 r11)};
		@$f{qw(flags pc calls)} = (undef, $at + $i->{len}, $to);
	} else {
		$f->{flags} = undef if $e->{kind} eq 'loop';
		$f->{pc} = $to;
	}
}

sub on_return {
	my ($frames, $e) = @_;
	my $f = pop @$frames or return;
	my $caller = $frames->[-1] or return;
	$caller->{regs}{rax} = hex $e->{value}
		if defined $e->{value} && defined $caller->{calls} && ($f->{entry} // 0) == $caller->{calls};
	delete $caller->{calls};
}

name_registers();
read_listing($_) for @listings;
open my $f, '<', $json or die "$json: $!\n";
while ($line = <$f>) {
	chomp $line;
	my $e = Json::parse($line);
	my $frames = $threads{ ($e->{tid} // 0) . ($e->{tid} ? '' : $e->{comm} // '') } //= [];
	@$frames = () if $e->{event} =~ /^(lost|unknown)$/;
	on_entry($frames, $e, hex $e->{vaddr}) if $e->{event} eq 'entry';
	on_branch($frames, $e, hex $e->{vaddr}) if $e->{event} eq 'branch';
	on_return($frames, $e) if $e->{event} eq 'return';
}
print "$judged of $conditionals conditionals judged by values, $wrong wrong\n";
exit($wrong ? 1 : 0);
