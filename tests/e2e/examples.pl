#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# examples.pl FOLDER PAGE.md...: runs the examples of pages in docs/tasks and compares what they print with what the page
# shows. Prints TAP. UPDATE=1: where they differ, the page gets what was printed.
#
# A block of `sh` prepares: its commands have to succeed, and their output isn't compared. What it leaves running is ended
# with the page. A block of `console` has one command, after `# ` for root or `$ ` for anyone (run as nobody), then its
# stdout, then its stderr. A command that ends with \ goes on in the next line. `...` alone in a line stands for any
# lines. All run in one folder, with copies of the files in the page's src. Comments say the rest:
#
#   <!-- needs: kprobes -->          the section, up to the next heading, is skipped if the kernel hasn't got this
#   <!-- code by: COMMAND = TEXT --> what COMMAND prints where the section's output is from: a compiler's version. If it
#                                    fails, the section is skipped; if it prints another text, the machine code differs,
#                                    so branches, offsets, registers, inlined functions and counts are not compared
#   <!-- counts vary -->             numbers in the next block are not compared, nor the order of its lines, since tables are
#                                    sorted by numbers
#   <!-- status: N -->               the exit status of the next command, instead of 0
#   <!-- elsewhere: FILE... -->      from the next command on, in another folder, which has only these files
#
# A program that prints to stdout while bbtrace writes text there does so in no certain order: use -o.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use POSIX qw(setpgid WEXITSTATUS WIFSIGNALED WTERMSIG);

use constant { COMMANDS_MAX => 3, NOBODY => 65534, THREAD_COLUMN => 12, HOME => '/tmp/demo' };
my $limit = $ENV{BB_TIMEOUT} || 900;

# ---- what is compared of a line ----

# What differs from run to run, and what stands for it.
my @varies = (
	[qr/^(recorded +)20.*/, '$1DATE'],
	[qr/^(machine +Linux ).*/, '$1MACHINE'],
	[qr/^(host +).*/, '$1HOST'],
	[qr/^(map|thread|exit) +[\d\/]+/, '$1 PID'],
	[qr/(?<=[<>] )([a-z][\w.]*)-\d+/, '$1-TID'],
	[qr/\bprocess \d+(?= \()/, 'process PID'],
	[qr/\bbuild-id [0-9a-f]{8,}/, 'build-id ID'],
	[qr/(?<![\w.])\d+\.\d{9}\b/, 'TIME'],
	[qr/(?<![\w.])\d+(?:\.\d+)?(?:ns|us|ms|s)\b/, 'DURATION'],
	[qr/^(bbtrace: (?:in the [^,]* trace[^,]*, )?times include ).*/, '$1TRACING'],
	[qr/, net DURATION/, ''], # of a call that is below the tracer's noise none is shown
	[qr/(DURATION +)(?:noise|-)(?= +DURATION)/, '$1DURATION'],
	[qr/\b0x(?!f{4})[0-9a-f]{6,}\b/, 'ADDRESS'],
);
# What differs from compiler to compiler: the lines of branches and instructions, where diff(1) finds these, and parts of
# other lines. Of functions that are inlined at an entry it counts that there are some.
my $of_code = qr{\+0x[0-9a-f]+ +[a-z]|^ +(?:cmp|test|tested:) |^(?:---|\d[\d,]*[acd]\d[\d,]*)$};
my @of_code = (
	[qr/\((?:r\w\w?=\w+(?:\|\w+)?(?:, )?)+\)/, '(REGISTERS)'],
	[qr/ returns 0x(?!ffff)\w+/, ' returns VALUE'],
	[qr/\+0x[0-9a-f]+\b/, '+OFFSET'],
	[qr/(?<=, )0x[0-9a-f]+(?=: \d+ calls)/, 'ADDRESS'],
	[qr/(?:[\w.]+:\d+ [\w{}#]+, )+(?=[\w.]+:\d+$)/, 'INLINED, '],
);
my @counts = ([qr/^(bbtrace: .* unmatched returns).*/, '$1'], [qr/(?<![\w.])\d+(?:\.\d+)?(?![\w.])/, 'N']);
# A line of text output up to the tree of calls: time, COMM-TID and goroutine.
my $columns = qr/^ *(?:TIME )?(([a-z][\w.]*)-\d+( +g\d+)?)( +)/;

sub replaced {
	my ($line, @rows) = @_;

	for my $row (@rows) {
		my ($what, $instead) = @$row;
		$line =~ s/$what/my $first = $1; (my $text = $instead) =~ s{\$1}{$first}; $text/ge;
	}
	return $line;
}

# Of columns only the words count, since their widths depend on the numbers in them; the tree keeps its indentation.
sub comparable {
	my ($line, %unlike) = @_;

	return () if $line =~ /^bbtrace: attaching \d+ probes takes about /; # on a busy machine
	$line = replaced($line, @varies);
	return () if $unlike{code} && $line =~ $of_code;
	my $padding = 0;
	if ($line =~ s/$columns/"$2-TID" . ($3 ? ' gN' : '') . ' ' x length $4/e) {
		$padding = length($4) - (length $1 < THREAD_COLUMN ? THREAD_COLUMN - length $1 : 0);
		$line =~ s/ (?:first entry|\+DURATION since last)/ SINCE/ if $3; # which thread has a goroutine differs
	}
	$line =~ s/ +/ /g;
	$line =~ s/^ | $//g;
	$line = replaced($line, @of_code) if $unlike{code};
	$line = replaced($line, @counts) if $unlike{code} || $unlike{counts};
	return ' ' x $padding . $line;
}

# Another compiler's code may be of more source lines.
sub pattern_of {
	my ($line, %unlike) = @_;
	my $source = '[\w.]+:N .+\n';

	return "(?:.*\n)*?" if $line eq '...';
	return quotemeta("$line\n") . ($unlike{code} && "$line\n" =~ /^$source/ ? "(?:$source)*?" : '');
}

# Is this what the page shows? Both are lists of lines.
sub shows {
	my ($page, $printed, %unlike) = @_;
	my @wanted = comparable_lines($page, %unlike);
	my @got = comparable_lines($printed, %unlike);
	my $wanted = join '', map { pattern_of($_, %unlike) } @wanted;

	return in_any_order(\@wanted, \@got) if $unlike{counts};
	return join('', map {"$_\n"} @got) =~ /\A$wanted\z/;
}

sub in_any_order {
	my ($wanted, $got) = @_;
	my %count;

	$count{$_}++ for @$got;
	$count{$_}-- for grep { $_ ne '...' } @$wanted;
	my $more = grep { $_ eq '...' } @$wanted;
	return !grep { $_ < 0 || ($_ > 0 && !$more) } values %count;
}

sub comparable_lines {
	my ($lines, %unlike) = @_;
	return map { $_ eq '...' ? $_ : comparable($_, %unlike) } @$lines;
}

# ---- what is written into a page ----

sub anchor {
	my ($line) = comparable($_[0]);
	return $line =~ s/\b\d[\w.]*/N/gr =~ s/ +/ /gr;
}

# The index from $from on of a line like this one; undef: there is none.
sub like_it {
	my ($wanted, $from, $printed) = @_;
	return (grep { anchor($printed->[$_]) eq anchor($wanted) } $from .. $#$printed)[0];
}

# What was printed, with the `...` of the page where the lines around them are still there; else all of it.
sub cut {
	my ($page, $printed) = @_;
	my (@cut, @range);
	my $from = 0;

	return @$printed unless grep { $_ eq '...' } @$page;
	for my $i (0 .. $#$page) {
		next if $page->[$i] eq '...';
		my $first = $i == 0 || $page->[$i - 1] eq '...';
		my $last = $i == $#$page || $page->[$i + 1] eq '...';
		next unless $first || $last;
		my $at = $first && $i == 0 ? 0 : $last && $i == $#$page ? $#$printed : like_it($page->[$i], $from, $printed);
		return @$printed unless defined $at && $at >= $from;
		push @cut, '...' if $first && $i;
		$range[0] = $at if $first;
		push @cut, @$printed[$range[0] .. $at] if $last;
		$from = $at + ($last ? 1 : 0);
	}
	push @cut, '...' if @$page && $page->[-1] eq '...';
	return @cut;
}

# These lines, as the page has them where it need not change.
sub kept {
	my ($page, @lines) = @_;
	my %old;

	push @{$old{join '', comparable($_)}}, $_ for @$page;
	return map { shift @{$old{join '', comparable($_)} // []} // $_ } @lines;
}

# ---- a page ----

# A list of parts: lines of text; blocks of sh, and commands, with what the comments before them say.
sub parse {
	my ($file) = @_;
	my (@parts, %section, %next, $block);
	open my $fh, '<', $file or die "$file: $!\n";

	while (my $line = <$fh>) {
		chomp $line;
		if (!$block) {
			$block = $line =~ /^```(sh|console)$/ ? $1 : undef;
			%section = () if $line =~ /^#/;
			$section{needs} = $1 if $line =~ /^<!-- needs: (.*) -->$/;
			$next{counts} = 1 if $line =~ /^<!-- counts vary -->$/;
			$next{status} = $1 if $line =~ /^<!-- status: (\d+) -->$/;
			$next{elsewhere} = [split ' ', $1] if $line =~ /^<!-- elsewhere: (.*) -->$/;
			push @parts, {text => $line};
			$section{code} = $parts[-1] if $line =~ /^<!-- code by: .* = .* -->$/;
			push @parts, {sh => '', %section} if ($block // '') eq 'sh';
		} elsif ($line eq '```') {
			$block = undef;
			push @parts, {text => $line};
		} elsif ($block eq 'sh') {
			push @parts, {text => $line};
			my ($sh) = grep { exists $_->{sh} } reverse @parts;
			$sh->{sh} .= "$line\n";
		} elsif (!$parts[-1]{typed}) {
			my ($prompt) = $line =~ /^([#\$]) / or die "$file line $.: a block of console begins with a command\n";
			push @parts, {prompt => $prompt, typed => [$line], printed => [], %section, %next};
			%next = ();
		} else {
			my $typing = $parts[-1]{typed}[-1] =~ /\\$/ && !@{$parts[-1]{printed}};
			push @{$parts[-1]{$typing ? 'typed' : 'printed'}}, $line;
		}
	}
	die "$file: a block has no end\n" if $block;
	return @parts;
}

sub lines_of {
	my ($part) = @_;
	return $part->{text} if exists $part->{text};
	return $part->{typed} ? (@{$part->{typed}}, @{$part->{printed}}) : ();
}

sub rewrite {
	my ($file, @parts) = @_;
	open my $fh, '>', $file or die "$file: $!\n";
	print $fh map {"$_\n"} map { lines_of($_) } @parts;
	close $fh or die "$file: $!\n";
}

# ---- what it runs ----

sub contents {
	my ($file) = @_;
	open my $fh, '<', $file or die "$file: $!\n";
	local $/;
	return scalar <$fh> // '';
}

my @groups;    # process groups of what the page started

# Runs it in a process group of its own; the status as a shell has it.
sub run {
	my ($folder, $out, $err, @command) = @_;
	my $pid = fork // die "fork: $!\n";

	if (!$pid) {
		setpgid(0, 0);
		chdir $folder or die "$folder: $!\n";
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $out or die "$out: $!\n";
		open STDERR, '>', $err or die "$err: $!\n";
		exec @command;
		exit 127;
	}
	push @groups, $pid;
	waitpid $pid, 0;
	return WIFSIGNALED($?) ? 128 + WTERMSIG($?) : WEXITSTATUS($?);
}

sub end_all {
	kill 'TERM', map { -$_ } splice @groups;
}
END { local $?; end_all() }

# Why a part of the page can't be run here, or nothing; sets $part->{foreign} where the code is another compiler's.
sub lacking {
	my ($part) = @_;

	if ($part->{needs}) {
		$part->{needs} eq 'kprobes' or die "needs: unknown: $part->{needs}\n";
		return 'this kernel has no kprobes' unless -e '/sys/bus/event_source/devices/kprobe/type';
	}
	my $code = $part->{code} or return;
	my ($command, $text) = $code->{text} =~ /^<!-- code by: (.*?) = (.*) -->$/;
	$code->{here} //= `($command) 2>/dev/null`;
	return "'$command' fails" if $code->{here} eq '';
	chomp $code->{here};
	$part->{foreign} = $code->{here} ne $text;
	$code->{now} = "<!-- code by: $command = $code->{here} -->";
	return;
}

my ($results, $failed) = (0, 0);

sub result {
	my ($passed, $name, $why) = @_;
	$results++;
	print $passed ? '' : 'not ', "ok - $name\n";
	return if $passed;
	$failed++;
	print map {"# $_\n"} split /\n/, $why // '';
}

sub difference {
	my ($folder, $part, $printed) = @_;
	my %unlike = (code => $part->{foreign}, counts => $part->{counts});

	for (['page', $part->{printed}], ['here', $printed]) {
		open my $fh, '>', "$folder/$_->[0]" or die "$folder: $!\n";
		print $fh map {"$_\n"} comparable_lines($_->[1], %unlike);
		close $fh;
	}
	return scalar `diff -U 100 --label page --label here $folder/page $folder/here | cut -c1-240 | head -n 100`;
}

# Another folder with these files, which belongs to nobody.
sub go_elsewhere {
	my ($from, $to, @files) = @_;

	mkdir $to or die "$to: $!\n";
	system('cp', (map {"$from/$_"} @files), $to) == 0 or die "cannot copy @files\n";
	system('chown', '-R', NOBODY . ':' . NOBODY, $to) if !$>;
	return $to;
}

# Returns whether the page has to be changed.
sub run_command {
	my ($name, $work, $own, $out, $part) = @_;
	my $command = join "\n", map { /^(?:[#\$] )?(.*)/ } @{$part->{typed}};
	my @as = $part->{prompt} eq '$' && !$> ? ('setpriv', '--reuid=' . NOBODY, '--regid=' . NOBODY, '--clear-groups') : ();
	my $status = run($work, "$out/out", "$out/err", 'timeout', '-k', 10, $limit, @as, 'bash', '-c', $command);
	my @printed = split /\n/, contents("$out/out") . contents("$out/err");

	s/\Q$own\E/@{[HOME]}/g for @printed;
	$command =~ s/\\\n\s*//g;
	result($status == ($part->{status} // 0), "$name: exit status of: $command", "status $status\n" . join "\n", @printed);
	my $same = shows($part->{printed}, \@printed, code => $part->{foreign}, counts => $part->{counts});
	result($same || $ENV{UPDATE}, "$name: output of: $command", $same ? '' : difference($out, $part, \@printed));
	$part->{printed} = [kept($part->{printed}, cut($part->{printed}, \@printed))] unless $same;
	return !$same;
}

sub run_page {
	my ($file, $folder) = @_;
	my $name = basename($file, '.md');
	my @parts = parse($file);
	my ($work, $out) = ("$folder/$name", "$folder/$name.out");
	my ($commands, $updated, %skipped) = (0, 0);

	mkdir $_ or die "$_: $!\n" for $work, $out;
	system('cp', '-r', dirname($file) . '/src/.', $work) == 0 or die "cannot copy the sources\n" if -d dirname($file) . '/src';
	for my $part (grep { exists $_->{sh} || $_->{typed} } @parts) {
		$commands++ if $part->{typed};
		if (my $why = lacking($part)) {
			result(1, "$name: output of: $part->{typed}[0] # SKIP $why") if $part->{typed};
		} elsif (exists $part->{sh}) {
			my $status = run($work, "$out/sh", "$out/sh.err", 'bash', '-e', '-c', $part->{sh});
			result($status == 0, "$name: what it needs is made", contents("$out/sh.err"));
		} else {
			$work = go_elsewhere($work, "$folder/$name.elsewhere", @{$part->{elsewhere}}) if $part->{elsewhere};
			$updated |= run_command($name, $work, "$folder/$name", $out, $part);
		}
	}
	end_all();
	result($commands <= COMMANDS_MAX, "$name: at most " . COMMANDS_MAX . ' commands', "$commands commands");
	result($commands > 0, "$name: has commands");
	return unless $updated && $ENV{UPDATE};
	$_->{text} = $_->{now} for grep { $_->{now} } @parts;
	rewrite($file, @parts);
}

my ($folder, @pages) = @ARGV;
die "usage: examples.pl FOLDER PAGE.md...\n" unless @pages;
@ENV{qw(COLUMNS LC_ALL NO_COLOR)} = (100, 'C.UTF-8', 1);
$| = 1;
chmod 0755, $folder;
run_page($_, $folder) for @pages;
print "1..$results\n";
exit($failed > 0);
