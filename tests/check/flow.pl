#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# flow.pl [options] BBTRACE-JSON DISASSEMBLY...: are each thread's events a path through the code? For kernel traces, where
# nothing can be single-stepped. DISASSEMBLY: the output of `objdump -d` for the traced functions (or for more, with
# --ranges). Exit status 0: yes; 1: no, the first impossible event is shown; 2: trouble.
#   --ranges FILE   lines `NAME 0xSTART 0xSIZE`: what is traced. Default: everything disassembled, foo.cold being part of foo
#   --symbols FILE  lines `ADDR TYPE NAME` as in kallsyms: names of thunks that objdump didn't have
#   --async         a traced function may interrupt another at any point (interrupts, signal handlers)
#   --whole         no thread was within a traced function when the trace began (default: it may begin anywhere)
# From one event the code is walked straight on: it must lead to the next event's branch. A conditional branch goes to its
# target or its fall-through as `taken` says (and as `flags` say, if the event has them). Entries and returns nest. After
# `unknown` and `lost` a thread's place is unknown; these are counted. Unwinding (longjmp, exceptions) and coroutines are
# not supported.
use strict;
use warnings;
no warnings 'portable'; # 64-bit hex
use FindBin;
use lib $FindBin::Bin;
use Getopt::Long;
use Json;

my ($ranges, $symbols, $async, $whole);
GetOptions('ranges=s' => \$ranges, 'symbols=s' => \$symbols, 'async' => \$async, 'whole' => \$whole) && @ARGV >= 2
	or do { print STDERR "usage: flow.pl [--ranges FILE] [--symbols FILE] [--async] [--whole] JSON DISASSEMBLY...\n"; exit 2 };
my ($json, @listings) = @ARGV;

my %insn;     # address -> { len, kind, target, cc, text }
my @parts;    # [start, end, function], ascending
my %entry;    # address -> function
my %name_at;  # of thunks
my %count = map { $_ => 0 } qw(threads events gaps async joined open indirect);

sub trouble { print STDERR "flow.pl: @_\n"; exit 2 }
sub h { defined $_[0] ? sprintf '0x%x', $_[0] : 'nowhere' }

# ---- the code ----

my $return_thunk = qr/^(__x86_return_thunk|(srso|srso_alias|retbleed|its)_return_thunk)$/;
my $indirect_thunk = qr/^__x86_indirect_(?:call_|jump_)?(thunk|its_thunk)/;

# What objdump's text says: kind and direct target.
sub kind_of {
	my ($text) = @_;
	my ($op, $rest) = $text =~ /^(?:(?:notrack|bnd|repz?|repnz|data16|addr32|cs|ds|rex(?:\.\w+)?|xacquire|xrelease)\s+)*
		([a-z0-9]+)(?:,p[nt])?\s*(.*)$/x or return ('other');
	my ($target) = $rest =~ /^(?:0x)?([0-9a-f]+)\b(?!\()/;
	my ($symbol) = $rest =~ /<([^>+]*)>/;
	$target = defined $target ? hex $target : undef;
	$symbol //= $name_at{$target} if defined $target;
	my $jump = $op =~ /^jmpq?$/ ? 'jmp' : $op =~ /^callq?$/ ? 'call' : '';
	if ($jump) {
		return ("i$jump") if $rest =~ /^\*/;
		return ('ret') if $jump eq 'jmp' && ($symbol // '') =~ $return_thunk;
		return ("i$jump") if ($symbol // '') =~ $indirect_thunk;
		return ($jump, $target);
	}
	return ('ret') if $op =~ /^retq?$/;
	return ('loop', $target, $op) if $op =~ /^(loop|j[er]?cxz)/;
	return ('jcc', $target, $op) if $op =~ /^j[a-z]+$/;
	return ('stop') if $op =~ /^(int3|hlt|\(bad\))/;
	return ('other');
}

sub add_insn {
	my ($at, $bytes, $text) = @_;
	my @bytes = split ' ', $bytes;
	my ($kind, $target, $cc) = kind_of($text);
	$insn{$at} = { len => scalar @bytes, kind => $kind, target => $target, cc => $cc, text => $text };
	# a branch may lead past the lock prefix, on purpose
	$insn{ $at + 1 } //= { len => @bytes - 1, kind => $kind, text => $text } if $bytes[0] eq 'f0' && @bytes > 1;
}

sub read_listing {
	my ($path) = @_;
	my ($open, $last);
	open my $f, '<', $path or trouble("$path: $!");
	while (<$f>) {
		s/\s+$//;
		if (/^([0-9a-f]+) <(.+)>:$/) {
			push @parts, $open = [hex $1, hex $1, $2];
		} elsif (/^\s*(?:0x)?([0-9a-f]+):\s+((?:[0-9a-f]{2}\s)*[0-9a-f]{2})(?:\s+([^0-9a-f\s].*|[a-f][a-z0-9,]*(?:\s.*)?))?$/) {
			my ($at, $bytes, $text) = (hex $1, $2, $3);
			if (defined $text) {
				$text =~ s/\s+#.*//;
				$text =~ s/\s+/ /g;
				add_insn($last = $at, $bytes, $text);
			} elsif (defined $last && $at == $last + $insn{$last}{len}) {
				$insn{$last}{len} += split ' ', $bytes; # objdump goes on in the next line
			}
			my $end = $at + (split ' ', $bytes);
			$open->[1] = $end if $open && $end > $open->[1];
		}
	}
}

sub read_symbols {
	open my $f, '<', $symbols or trouble("$symbols: $!");
	while (<$f>) {
		my ($at, undef, $name) = split;
		$name_at{ hex $at } = $name if $name =~ $return_thunk || $name =~ $indirect_thunk;
	}
}

sub read_ranges {
	@parts = ();
	my %seen;
	open my $f, '<', $ranges or trouble("$ranges: $!");
	while (<$f>) {
		next if /^(#|$)/;
		my ($name, $start, $size) = split;
		push @parts, [hex $start, hex($start) + hex $size, $name];
		$entry{ hex $start } = $name unless $seen{$name}++;
	}
}

sub find_entries {
	for (@parts) {
		$entry{ $_->[0] } = $_->[2] unless $_->[2] =~ /\.cold(\.\d+)?$/;
		$_->[2] =~ s/\.cold(\.\d+)?$//;
	}
}

# The traced function that holds an address: the one with the nearest start.
my %holds;

sub function_at {
	my ($at) = @_;
	return $holds{$at} if exists $holds{$at};
	my ($best) = sort { $b->[0] <=> $a->[0] } grep { $at >= $_->[0] && $at < $_->[1] } @parts;
	return $holds{$at} = $best ? $best->[2] : undef;
}

# From $pc on in a straight line: the next branch, or the next entry of a traced function that is run into. (address)
# or (undef, why). $first: $pc itself may be an entry, that has been told already.
sub walk {
	my ($pc, $first) = @_;
	for (my $steps = 0; $steps < 100000; $steps++) {
		return ($pc, 'entry') if $entry{$pc} && !$first;
		$first = 0;
		my $i = $insn{$pc} or return (undef, 'the code runs out of the disassembly at ' . h($pc));
		return ($pc, 'branch') if $i->{kind} =~ /^(jcc|loop|jmp|call|ijmp|icall|ret)$/;
		return (undef, "the code stops at " . h($pc) . ": $i->{text}") if $i->{kind} eq 'stop';
		$pc += $i->{len};
	}
	return (undef, 'no branch in a long way');
}

# ---- conditions ----

my %conditions = (
	o => 'o', no => '!o', b => 'c', c => 'c', nae => 'c', ae => '!c', nb => '!c', nc => '!c', e => 'z', z => 'z',
	ne => '!z', nz => '!z', be => 'cz', na => 'cz', a => '!cz', nbe => '!cz', s => 's', ns => '!s', p => 'p', pe => 'p',
	np => '!p', po => '!p', l => 'l', nge => 'l', ge => '!l', nl => '!l', le => 'lz', ng => 'lz', g => '!lz', nle => '!lz',
);

sub holds {
	my ($cc, $flags) = @_;
	my $rule = $conditions{ substr $cc, 1 } // return undef;
	my %bit = (c => $flags & 1, p => $flags & 4, z => $flags & 0x40, s => $flags & 0x80, o => $flags & 0x800);
	$bit{l} = !$bit{s} != !$bit{o};
	my $not = $rule =~ s/^!//;
	my $any = grep { $bit{$_} } split //, $rule;
	return $not ? !$any : !!$any;
}

# ---- threads ----
# A thread: { frames => [...], lost => bool }. A frame: { function, tail: came by a jump, resume: where its caller goes on,
# state, pc }. States: walk (goes on at pc; told: pc's entry has been told), enter (control is at the entry pc), away
# (called something untraced; goes on at pc), left (jumped out: a return is all that can come), back (a ret ran: to pc),
# somewhere (an indirect jump, not known where to).

my ($line, $number);

sub wrong {
	my ($why) = @_;
	print "line $number: $why\n  $line\n";
	exit 1;
}

sub top { $_[0]{frames}[-1] }

sub on_entry {
	my ($t, $e, $at) = @_;
	my $function = $entry{$at} or wrong(h($at) . ' is not the start of a traced function');
	my $new = { function => $function, state => 'walk', pc => $at, told => 1 };
	leave_joined($t);
	settle($t, $at) if top($t);
	my $top = top($t);
	if ($top && $top->{state} eq 'enter' && $top->{pc} == $at) {
		return enter($t, $top, $new);
	}
	if ($top && $top->{state} !~ /^(away|left|somewhere)$/) {
		wrong("entry of $function in the middle of $top->{function}, where the code goes on at " . h($top->{pc}))
			unless $async;
		$count{async}++;
	}
	push @{ $t->{frames} }, $new;
}

# A ret whose entry was not seen (jumped into from outside, or under way when the trace began) has no return.
sub leave_joined {
	my ($t) = @_;
	my $top = top($t) or return;
	pop @{ $t->{frames} } if $top->{joined} && $top->{state} eq 'back' && !(defined $top->{pc} && defined function_at($top->{pc}));
}

# What the code leads to by itself: running into an entry.
sub settle {
	my ($t, $at) = @_;
	my $top = top($t);
	return unless $top->{state} eq 'walk';
	my ($pc, $what) = walk($top->{pc}, $top->{told});
	@$top{qw(state pc by)} = ('enter', $pc, 'jmp') if ($what // '') eq 'entry' && $pc == $at;
}

sub enter {
	my ($t, $top, $new) = @_;
	if ($top->{by} eq 'call') {
		$new->{resume} = $top->{resume};
		@$top{qw(state pc)} = ('away', $top->{resume});
	} elsif ($top->{function} eq $new->{function}) {
		return @$top{qw(state pc told)} = ('walk', $new->{pc}, 1); # back to its own start: no second call
	} else {
		$top->{state} = 'left';
		$new->{tail} = 1;
		$new->{resume} = $top->{resume};
	}
	push @{ $t->{frames} }, $new;
}

# Control goes to $to (undef: not known, or out of what is traced: $outside).
sub go {
	my ($top, $to, $outside) = @_;
	return $top->{state} = 'left' if $outside;
	return $top->{state} = 'somewhere' unless defined $to;
	return @$top{qw(state pc by)} = ('enter', $to, 'jmp') if $entry{$to};
	return $top->{state} = 'left' unless defined function_at($to);
	@$top{qw(state pc told)} = ('walk', $to, 0);
}

sub call {
	my ($top, $to, $resume, $outside) = @_;
	if (defined $to && !$outside && $entry{$to}) {
		@$top{qw(state pc by resume_call)} = ('enter', $to, 'call', $resume);
		$top->{own_resume} = $top->{resume};
		$top->{resume} = $resume;
	} elsif (defined $to && !$outside && defined function_at($to)) {
		@$top{qw(state pc told)} = ('walk', $to, 0); # call of the next instruction: where am I?
	} else {
		@$top{qw(state pc told)} = ('away', $resume, 0);
	}
}

sub reach {
	my ($t, $at) = @_;
	leave_joined($t);
	my $top = top($t);
	if (!$top) {
		wrong("a branch, but nothing was entered") if $whole && !$t->{lost};
		$count{joined}++ unless $t->{lost};
		push @{ $t->{frames} }, { function => function_at($at), state => 'somewhere', joined => 1 };
		$top = top($t);
	}
	wrong('a branch where only a return can come') if $top->{state} eq 'left';
	wrong('a branch where the entry at ' . h($top->{pc}) . ' must come') if $top->{state} eq 'enter';
	if ($top->{state} eq 'back') {
		wrong('a ret ran, but no return came') unless defined $top->{pc} && defined function_at($top->{pc});
		@$top{qw(state told)} = ('walk', 0); # push and ret: a jump
	}
	return $top if $top->{state} eq 'somewhere';
	my ($pc, $what) = walk($top->{pc}, $top->{told});
	wrong("from " . h($top->{pc}) . " $what") unless defined $pc;
	wrong("from " . h($top->{pc}) . " the code leads to the $what at " . h($pc) . ', not to ' . h($at))
		if $pc != $at || $what ne 'branch';
	return $top;
}

sub check_conditional {
	my ($e, $i, $at, $to) = @_;
	my $want = $e->{taken} ? $i->{target} : $at + $i->{len};
	wrong("taken is missing") unless exists $e->{taken};
	wrong("goes to " . h($to) . ', not to ' . h($want)) if defined $to && $to != $want;
	if (defined $e->{flags} && $i->{kind} eq 'jcc') {
		my $flags = $e->{flags} =~ /^0x/ ? hex $e->{flags} : $e->{flags};
		my $holds = holds($i->{cc}, $flags);
		wrong("taken does not agree with the flags " . h($flags)) if defined $holds && !$holds != !$e->{taken};
	}
	return $want;
}

sub on_branch {
	my ($t, $e, $at) = @_;
	my $i = $insn{$at} or wrong('no instruction starts at ' . h($at));
	wrong("is a $i->{kind} ($i->{text}), not a $e->{kind}") if $i->{kind} ne ($e->{kind} // '');
	my $top = reach($t, $at);
	my $to = $e->{to} ? hex_or_undef($e->{to}{vaddr}) : undef;
	my $outside = $e->{to} && is_outside($e);
	my $next = $at + $i->{len};
	if ($i->{kind} =~ /^(jcc|loop)$/) {
		return go($top, check_conditional($e, $i, $at, $outside ? -1 : $to));
	} elsif ($i->{kind} =~ /^(jmp|call)$/) {
		wrong('goes to ' . h($to) . ', not to ' . h($i->{target}))
			if defined $to && !$outside && $to != $i->{target};
		return $i->{kind} eq 'jmp' ? go($top, $i->{target}) : call($top, $i->{target}, $next);
	}
	$count{indirect}++ unless $e->{to};
	return call($top, $to, $next, $outside) if $i->{kind} eq 'icall';
	return go($top, $to, $outside) if $i->{kind} eq 'ijmp';
	@$top{qw(state pc)} = ('back', $outside ? undef : $to);
}

sub hex_or_undef { defined $_[0] ? hex $_[0] : undef }

# Kernel and module addresses are running ones, all of one space; a user object has a space of its own.
sub is_outside {
	my ($e) = @_;
	return 0 if ($e->{object} // '') !~ m{^/};
	return ($e->{to}{object} // '') ne $e->{object};
}

# Into traced code a ret leads back only where that code called.
sub check_return {
	my ($t, $top) = @_;
	my $below = top($t);
	return if $top->{joined} || $top->{tail} || defined $top->{resume} || $top->{state} ne 'back';
	return if !defined $top->{pc} || !defined function_at($top->{pc});
	return if $below ? ($below->{pc} // 0) == $top->{pc} : !$whole;
	wrong("returns to " . h($top->{pc}) . ", from where nothing was called");
}

sub on_return {
	my ($t, $e, $at) = @_;
	my $top = pop @{ $t->{frames} };
	if (!$top) {
		return if $t->{lost};
		wrong('a return, but nothing was entered');
	}
	wrong("returns from " . ($entry{$at} // h($at)) . ", but $top->{function} is what runs")
		if !$top->{joined} && $top->{function} ne ($entry{$at} // '');
	wrong("returns in the middle of $top->{function}: no ret ran, and nothing was jumped to")
		if $top->{state} !~ /^(back|left|somewhere)$/;
	check_return($t, $top);
	my $below = top($t) or return;
	if ($top->{tail}) {
		wrong("$below->{function} jumped to $top->{function}, but can't return") if $below->{state} ne 'left';
		@$below{qw(state pc)} = ('back', $top->{pc}) if $top->{state} eq 'back';
	} elsif (defined $top->{resume}) {
		wrong("returns to " . h($top->{pc}) . ', was called from before ' . h($top->{resume}))
			if $top->{state} eq 'back' && defined $top->{pc} && $top->{pc} != $top->{resume};
		$below->{resume} = delete $below->{own_resume};
		@$below{qw(state pc told)} = ('walk', $top->{resume}, 0);
	}
}

# The idle threads of all CPUs are number 0.
sub thread_of {
	my ($threads, $e) = @_;
	my $key = $e->{tid} ? $e->{tid} : "0/$e->{comm}";
	$count{threads}++ unless $threads->{$key};
	return $threads->{$key} //= { frames => [] };
}

sub check {
	my %threads;
	open my $f, '<', $json or trouble("$json: $!");
	while ($line = <$f>) {
		chomp $line;
		$number = $.;
		my $e = eval { Json::parse($line) } or wrong("not JSON: $@");
		my $type = $e->{event} // '';
		next unless $type =~ /^(entry|branch|return|unknown|lost)$/;
		my $t = thread_of(\%threads, $e);
		if ($type eq 'unknown' || $type eq 'lost') {
			$count{gaps}++;
			@$t{qw(frames lost)} = ([], 1);
			next;
		}
		my $at = hex_or_undef($e->{vaddr}) // wrong('no vaddr');
		$count{events}++;
		on_entry($t, $e, $at) if $type eq 'entry';
		on_branch($t, $e, $at) if $type eq 'branch';
		on_return($t, $e, $at) if $type eq 'return';
	}
	$count{open} += @{ $_->{frames} } for values %threads;
}

read_symbols() if $symbols;
read_listing($_) for @listings;
$ranges ? read_ranges() : find_entries();
trouble('no instruction in the disassembly') unless %insn;

# mutate.pl loads this file, and asks for many traces of the same code.
sub judge {
	%count = map { $_ => 0 } keys %count;
	check();
	printf "a path: %d threads, %d events; %d unknown or lost, %d interruptions, %d threads joined inside, %d calls open at " .
		"the end, %d indirect branches without to\n", @count{qw(threads events gaps async joined open indirect)};
	exit 0;
}
judge() unless caller;
1;
