#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# What the documents name exists: documents.pl names|lengths, at the root of the tree. Each line of output is a finding.
#
# names: files and folders by their path, make targets and options in all documents; in those for developers also files
# by their bare name, functions as name(), and identifiers in code spans. A word of capitals (NAME, FAMILY) or t_x in a
# path, and "..." stand for something else. What other projects have is in the lists below.
# lengths: lines of a document, characters of a row of a table.
use strict;
use warnings;
use File::Find;

# Functions, identifiers and options of the kernel, of libraries, of compilers, and of programs that are traced.
my %foreign = map { $_ => 1 } split ' ', q{
	__arm_kprobe __list_del_entry_valid_or_report _int_malloc begin_new_exec bpf_probe_read_user bpf_task_pt_regs
	call_rcu can_probe force_sig_info_to_task kprobe_mutex kprobe_multi uprobe_multi kprobe_table memfd_create mmap_lock
	ovl_check_layer do_execveat_common pidfd_getfd register_kprobes rt_sigreturn rt_sigprocmask sys_enter
	tracefs_destroy_inode uprobe_perf_filter within_notrace_func find_kallsyms_symbol _PyEval_EvalFrameDefault
	arch_prctl RT_ADD RT_CONSISTENT arch_optimized_insn cpu_dr7 _r_debug uprobe_events kprobe_events moduledata
	input multiquery dry-run _Cfunc_f zydis_insn
};
# Longest first: documents and their most lines. A row of a table has at most $most_row characters.
my @most_lines = (
	[qr{^ARCHITECTURE[.]md$}, 160], [qr{^HACKING[.]md$}, 300], [qr{^README[.]md$}, 200], [qr{^CONTRIBUTING[.]md$}, 100],
	[qr{^docs/internals/}, 300], [qr{^docs/howto-}, 120],
);
my $most_row = 200;

sub slurp {
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!\n";
	local $/;
	return scalar <$in>;
}

# Files below these folders, or files themselves.
sub files_below {
	my @found;
	find({no_chdir => 1, wanted => sub { push @found, $_ if -f }}, grep { -d } @_);
	push @found, grep { -f } @_;
	return sort @found;
}

my @tree = files_below(grep { !m{^(build|[.]git)$} } map { s{^[.]/}{}r } glob('*'), '.ci', '.clang-format');
my @developers = grep { -f } qw(ARCHITECTURE.md HACKING.md CONTRIBUTING.md), glob('docs/internals/*.md docs/howto-*.md'),
	grep { m{/README[.]md$} } files_below('src', 'tests');
my @users = grep { -f } qw(README.md CONTRACT.md SECURITY.md CHANGELOG.md), glob('docs/*.md docs/tasks/*.md');
my %developers = map { $_ => 1 } @developers;
my @documents = (@developers, grep { !$developers{$_} } @users);

# What there is: paths, bare names with and without their ending, identifiers, functions, make targets, options: those of
# bbtrace, rows of tables in src, and those of all programs, scripts and tests.
my (%path, %ending, %base, %word, %function, %target, %own_option, %option);

sub learn {
	for my $file (@tree) {
		$path{$file} = 1;
		my $above = $file;
		$path{$above} = 1 while $above =~ s{/[^/]*$}{};
		my @parts = split m{/}, $file;
		for my $from (0 .. $#parts) { $ending{join '/', @parts[$from .. $_]} = 1 for $from .. $#parts }
		my ($base) = $file =~ m{([^/]*)$};
		$base{$base} = 1;
		$base{$base =~ s{[.].*}{}r} = 1;
		learn_words($file) if $file =~ m{^(src|bpf|include|tests|scripts|bench|completion|debian|Makefile|docs/tasks/src|[.]ci)\b}
			&& $file !~ m{[.](md|json|bbt|data)$|/t_documents[.]sh$} && -T $file;
	}
	for (slurp('Makefile')) {
		$target{$_} = 1 for map { split ' ' } /^([a-z][\w \-.]*?)\s*:(?!=)/gm;
	}
}

# Without comments: what is named only there doesn't exist.
sub code_of {
	my ($file) = @_;
	my $text = slurp($file);
	if ($file =~ /[.]([ch]|cc|S)$/) { $text =~ s{("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*}{$1 // ""}gse }
	else { $text =~ s/^\s*#(?!!)[^\n]*//gm }
	return $text;
}

sub learn_words {
	my ($file) = @_;
	my $text = code_of($file);
	$word{$_} = 1 for $text =~ /\b([A-Za-z_]\w+)\b/g;
	$function{$_} = 1 for $text =~ /\b([A-Za-z_]\w*)\s*\(/g;
	return if $file !~ m{^(src|bench|scripts|tests|completion|Makefile)};
	if ($file =~ m{^src/}) { $own_option{$_} = 1 for $text =~ /\{"([a-z][a-z-]+)",/g, $text =~ /"--([a-z][a-z-]+)"/g }
	$option{$_} = 1 for $text =~ /(?<![\w-])--([a-z][a-z-]+)/g, $text =~ /\{"([a-z][a-z-]+)",/g;
}

our ($document, $folder);
sub finding { print "$document: ", @_, "\n" }

# a{b,c}d as abd, acd.
sub expanded {
	my ($path) = @_;
	return $path if $path !~ /^(.*?)\{([^{}]*)\}(.*)$/;
	my ($before, $among, $after) = ($1, $2, $3);
	return map { expanded("$before$_$after") } split /,/, $among, -1;
}

sub is_placeholder { return $_[0] =~ /[A-Z]{3,}(?<!README)(?<!HACKING)|\bt_x\b|made_up|[.]{3}|VERSION|\$/ && $_[0] !~ /README|HACKING|CONTRIBUTING|CHANGELOG/ }

sub check_path {
	my ($path) = @_;
	$path =~ s{[.,:;]+$}{};
	return if is_placeholder($path);
	for my $one (expanded($path)) {
		(my $bare = $one) =~ s{/$}{};
		next if $bare =~ /[*]/ ? scalar(() = glob $bare) : $path{$bare} || $path{"$folder$bare"};
		next if $bare =~ m{^build/} && ($base{($bare =~ m{([^/]*)$})[0] =~ s{[.].*}{}r} || $target{$bare});
		next if $bare =~ m{^build(/(failed(/times)?|vm|arm64|riscv64|unit|bbtrace([.]bpf[.]o)?))?$};
		finding("there is no $one");
	}
}

sub check_target {
	my ($words) = @_;
	for (split ' ', $words) {
		last if /^[;&|>#(]/;
		next if /=/ || /^-/ || is_placeholder($_) || m{/};
		last if !/^[a-z][\w-]*$/;
		finding("make has no target $_") if !$target{$_};
	}
}

# A code span or a line of a block.
sub check_code {
	my ($code) = @_;
	for ($code =~ /(?:^|[\s;&])make((?: [^\s;&|]+)+)/g) { check_target($_) }
	for ($code =~ /(?<![\w-])--([a-z][a-z-]+)/g) {
		finding("no option --$_") if !$option{$_} && !$foreign{$_};
	}
	for my $command ($code =~ /(?:^|[\s;&|(])(?:sudo )?bbtrace ([^|;&)]*)/g, !$developers{$document} && $code =~ /^(--.*)/ ? $1 : ()) {
		$command =~ s/\s-- .*|\s#.*//;
		for ($command =~ /(?<![\w-])--([a-z][a-z-]+)/g) {
			finding("bbtrace has no option --$_") if $option{$_} && !$own_option{$_} && !$foreign{$_};
		}
	}
}

# Settings of tests and make, as KEEP=1.
sub check_settings {
	my ($code) = @_;
	for ($code =~ /(?<![\w:-])([A-Z][A-Z_0-9]{1,})=/g) {
		finding("nothing reads $_") if !$word{$_} && !$foreign{$_};
	}
}

sub check_identifier {
	my ($code) = @_;
	$code =~ s/^(struct|enum) //;
	return if $code !~ /^[A-Za-z_]\w*(\.\w+)*$/ || $code !~ /_/ || is_placeholder($code) && $code !~ /_/;
	return if $code =~ /[.](c|h|sh|py|pl|md|S|cc|yml|list|1|5|8)$/;
	for (split /[.]/, $code) {
		finding("no identifier $_") if /_[A-Za-z]/ && !$word{$_} && !$foreign{$_} && !$base{$_} && !/^(NAME|VERB|FAMILY)_|_(NAME|VERB|FAMILY)$/;
	}
}

sub check_developers {
	my ($text) = @_;
	# bare names of files: not part of a path
	for ($text =~ m{(?<![\w/.*-])([A-Za-z_][\w-]*[.](?:c|h|sh|py|pl))\b(?![\w/(])}g) {
		finding("no file is named $_") if !$base{$_} && !is_placeholder($_) && !/^t_x[.]/;
	}
	# paths below a folder of the page, as merge/merge.c or merge/
	for ($text =~ m{(?<![\w/.*~-])((?:[a-z][\w-]*/)+[\w-]+[.](?:c|h|sh|py|pl))\b(?!/)}g, $text =~ m{(?<![\w/.*~-])([a-z][\w-]*/)(?![\w*\{./])}g) {
		finding("nothing ends in $_") if !$ending{s{/$}{}r} && !is_placeholder($_);
	}
	for ($text =~ m,(?<![\w/.*-])((?:test|t|fuzz|guest)_\w+)(?![\w.*/{(]),g) {
		finding("there is no test $_") if !$base{$_} && !$word{$_} && !is_placeholder($_) && $_ ne 't_x' && $_ ne 'test_x';
	}
	for ($text =~ /\b([A-Za-z_]\w+)\(\)/g) {
		finding("no function $_()") if !$function{$_} && !$foreign{$_} && !is_placeholder($_) && $_ ne 'object__verb';
	}
}

# A name and the file that has it: `name()` in FILE, `name()` (FILE), FILE (`name()`), `name`: FILE.
sub check_owners {
	my ($text) = @_;
	my @pairs;

	$text =~ s/\n\s*/ /g;
	push @pairs, [$1, $2] while $text =~ m{`(?:struct |enum )?([\w.]+)(?:\(\))?`,?(?: in | \(|: )([\w/]+[.][ch])\b}g;
	push @pairs, [$2, $1] while $text =~ m{([\w/]+[.][ch]) \(`(?:struct |enum )?([\w.]+)(?:\(\))?`}g;
	for (@pairs) {
		my ($name, $file) = ($_->[0] =~ s/.*[.]//r, $_->[1]);
		my @files = grep { m{(^|/)\Q$file\E$} } @tree;
		next if !@files || is_placeholder($name);
		finding("$name is not in $file") if !grep { slurp($_) =~ /\b\Q$name\E/ } @files;
	}
}

sub names {
	learn();
	for $document (@documents) {
		my $text = slurp($document);
		$folder = $document =~ m{^(.*/)} ? $1 : '';
		while ($text =~ m{(?<![\w/.-])((?:src|bpf|tests|scripts|bench|docs|man|completion|include|vmlinux|build|debian)/[\w./\{\},*-]*)}g) {
			my $named = $1;
			check_path($named) if $developers{$document} || $named =~ m{^(scripts|docs|man|include)/};
		}
		for ($text =~ /\]\(([^)#:\s]+)(?:#[^)]*)?\)/g) {
			my $to = "$folder$_";
			1 while $to =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
			finding("links to $_, which isn't there") if !$path{$to =~ s{/$}{}r};
		}
		for (split /\n/, $text) { check_code($_) if /^(    |\t)/ }
		(my $prose = $text) =~ s/^(    |\t).*$//gm;
		for my $span ($prose =~ /`([^`]+)`/g) {
			check_code($span);
			next if !$developers{$document};
			check_identifier($span);
			check_settings($span);
		}
		next if !$developers{$document};
		check_developers($text);
		check_owners($text);
	}
}

sub lengths {
	for $document (@documents) {
		my @lines = split /\n/, slurp($document);
		for (@most_lines) {
			my ($pattern, $most) = @$_;
			finding(scalar @lines, " lines, at most $most") if $document =~ $pattern && @lines > $most;
		}
		next if $document =~ m{^(docs/(tasks/|sql)|CONTRACT|SECURITY)};
		for my $i (0 .. $#lines) {
			finding("line ", $i + 1, ": a row of ", length $lines[$i], " characters, at most $most_row")
				if $lines[$i] =~ /^\s*\|/ && length $lines[$i] > $most_row;
		}
	}
}

my $mode = shift // '';
if ($mode eq 'names') { names() }
elsif ($mode eq 'lengths') { lengths() }
else { die "usage: documents.pl names|lengths\n" }
