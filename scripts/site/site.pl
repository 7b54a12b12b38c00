#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# The documents and manual pages as a site: site.pl OUT MANUAL_FOLDER, at the root of the tree. Needs cmark-gfm and mandoc.
#
# It opens from a folder, without a server: nothing is loaded from elsewhere, and the index of the search is a script.
# Headings get GitHub's anchors. A link to what isn't a page (a source) becomes its text. The same tree gives the same bytes.
use strict;
use warnings;
use File::Basename;
use File::Copy;
use File::Path qw(make_path);

my ($out, $manual) = @ARGV;
die "usage: site.pl OUT MANUAL_FOLDER\n" unless defined $manual;

# ---- which pages there are, in their order ----

sub by_number {
	my ($x, $y) = map { basename($_) =~ /^(\d+)/ ? $1 : 0 } $a, $b;
	return $x <=> $y || $a cmp $b;
}
sub documents { return sort by_number grep { !m{(^|/)README[.]md$} } map { glob } @_ }
sub man_pages { return sort map { glob } @_ }

# Title of the part => its files. The first page is index.html.
my @parts = (
	['Start' => 'README.md', 'docs/README.md', 'docs/commands.md', 'CHANGELOG.md'],
	['By role' => documents('docs/roles/*.md')],
	['Tasks' => documents('docs/tasks/*.md'), 'docs/jobs.md'],
	['Manual' => 'man/bbtrace.8', man_pages("$manual/*.8"), man_pages('man/*.7', 'man/*.5')],
	['Reference' => grep { -f } qw(docs/sql.md CONTRACT.md SECURITY.md)],
	['Changing bbtrace' => qw(CONTRIBUTING.md ARCHITECTURE.md HACKING.md), documents('docs/howto-*.md')],
	['Internals' => documents('docs/internals/*.md')],
);

sub page_of {
	my ($file) = @_;
	return 'index.html' if $file eq 'README.md';
	return basename($file) . '.html' if is_manual($file);
	return dirname($file) . '/index.html' if basename($file) eq 'README.md';
	return $file =~ s/[.]md$/.html/r;
}
sub is_manual { return $_[0] =~ /[.]\d$/ }

my @files = map { @$_[1 .. $#$_] } @parts;
my %page = map { $_ => page_of($_) } @files;
my %manual_page = map { basename($_) => $page{$_} } grep { is_manual($_) } @files;

# ---- text ----

sub slurp {
	my ($file) = @_;
	open my $in, '<:encoding(UTF-8)', $file or die "$file: $!\n";
	local $/;
	return scalar <$in>;
}

sub spill {
	my ($file, $text) = @_;
	make_path(dirname($file));
	open my $to, '>:encoding(UTF-8)', $file or die "$file: $!\n";
	print $to $text;
	close $to or die "$file: $!\n";
}

sub output_of {
	open my $in, '-|:encoding(UTF-8)', @_ or die "$_[0]: $!\n";
	local $/;
	my $text = <$in>;
	close $in or die "@_ failed\n";
	return $text;
}

sub escaped {
	my ($text) = @_;
	my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');
	return $text =~ s/([&<>"])/$entity{$1}/gr;
}

sub plain {
	my ($html) = @_;
	my %char = (amp => '&', lt => '<', gt => '>', quot => '"');
	$html =~ s/<[^>]*>//g;
	$html =~ s/&(amp|lt|gt|quot);/$char{$1}/g;
	$html =~ s/&#x([0-9a-fA-F]+);/chr hex $1/ge;
	$html =~ s/\s+/ /g;
	return $html =~ s/^ | $//gr;
}

sub json_string {
	my ($text) = @_;
	$text =~ s/(["\\])/\\$1/g;
	$text =~ s/</\\u003c/g;
	$text =~ s/([\x00-\x1f\x{2028}\x{2029}])/sprintf '\\u%04x', ord $1/ge;
	return "\"$text\"";
}

# The way from one page to another, as a link.
sub way {
	my ($from, $to) = @_;
	my @from = split m{/}, dirname($from);
	my @to = split m{/}, $to;
	@from = () if "@from" eq '.';
	while (@from && @to > 1 && $from[0] eq $to[0]) { shift @from; shift @to }
	return join '/', ('..') x @from, @to;
}

# "docs/tasks/../README.md" as "docs/README.md"
sub path_of {
	my ($file, $link) = @_;
	my @path;
	for my $part (split m{/}, dirname($file) . "/$link") {
		if ($part eq '..') { pop @path } elsif ($part ne '.' && $part ne '') { push @path, $part }
	}
	return join '/', @path;
}

# ---- pages ----

# GitHub's anchors: lower case, without punctuation, with - for each space; a second one of a name ends in -1.
sub with_anchors {
	my ($html) = @_;
	my %seen;
	$html =~ s{<h([1-6])>(.*?)</h\1>}{
		my ($level, $text) = ($1, $2);
		my $id = lc plain($text);
		$id =~ s/[^\w\- ]//g;
		$id =~ s/ /-/g;
		my $n = $seen{$id}++;
		$id .= "-$n" if $n;
		qq{<h$level id="$id">$text</h$level>};
	}gse;
	return $html;
}

my %copied; # files that pages link to

sub link_of {
	my ($file, $href, $text) = @_;
	return "<a href=\"$href\">$text</a>" if $href =~ m{^(https?:|mailto:|#)};
	my ($to, $anchor) = $href =~ /^([^#]*)(#.*)?$/;
	my $path = path_of($file, $to);
	$path .= '/README.md' if -d $path && -f "$path/README.md";
	$anchor //= '';
	return '<a href="' . way($page{$file}, $page{$path}) . "$anchor\">$text</a>" if $page{$path};
	return $text unless $path =~ m{^docs/tasks/src/} && -f $path;
	$copied{$path} = 1;
	return '<a href="' . way($page{$file}, $path) . "\">$text</a>";
}

# "bbtrace-why(8)" in the text is a link, too.
sub with_manual_links {
	my ($file, $html) = @_;
	my @pieces = split m{(<pre.*?</pre>|<a .*?</a>|<[^>]*>)}s, $html;
	for my $piece (@pieces) {
		next if $piece =~ /^</;
		$piece =~ s{\b(bbtrace(?:-\w+)?)\((\d)\)}{
			my $to = $manual_page{"$1.$2"};
			$to ? '<a href="' . way($page{$file}, $to) . "\">$1($2)</a>" : "$1($2)"}ge;
	}
	return join '', @pieces;
}

sub body_of_document {
	my ($file) = @_;
	my $html = with_anchors(output_of(qw(cmark-gfm -e table -e autolink -e strikethrough), $file));
	$html =~ s{<a href="([^"]*)">(.*?)</a>}{link_of($file, $1, $2)}gse;
	$html =~ s{<table>}{<div class="table"><table>}g;
	$html =~ s{</table>}{</table></div>}g;
	return with_manual_links($file, $html);
}

# Headings one level down below the page's name; pages that aren't here are text.
sub body_of_manual {
	my ($file) = @_;
	my $html = output_of(qw(mandoc -T html -O), 'fragment,man=%N.%S.html', $file);
	my $name = basename($file) =~ s/[.](\d)$/($1)/r;
	$html =~ s{<table class="(head|foot)">.*?</table>}{}gs;
	$html =~ s{<(/?)h2}{<$1h3}g;
	$html =~ s{<(/?)h1}{<$1h2}g;
	$html =~ s{<a class="Xr" href="([^"]*)">(.*?)</a>}{-1 != index("@{[values %manual_page]} ", "$1 ") ? qq{<a class="Xr" href="$1">$2</a>} : $2}gse;
	return "<h1>$name</h1>\n$html";
}

sub title_of {
	my ($file, $body) = @_;
	return basename($file) =~ s/[.](\d)$/($1)/r if is_manual($file);
	return 'bbtrace' if $file eq 'README.md';
	my ($title) = $body =~ m{<h1[^>]*>(.*?)</h1>}s;
	return plain($title // basename($file));
}

my (%body, %title);
for my $file (@files) {
	$body{$file} = is_manual($file) ? body_of_manual($file) : body_of_document($file);
	$title{$file} = title_of($file, $body{$file});
}

sub sidebar {
	my ($here) = @_;
	my $html = '';
	for my $part (@parts) {
		my ($name, @of_part) = @$part;
		my $open = $name eq 'Start' || grep({ $_ eq $here } @of_part) ? ' open' : '';
		$html .= "<details$open><summary>" . escaped($name) . "</summary><ul>\n";
		for my $file (@of_part) {
			my $now = $file eq $here ? ' aria-current="page"' : '';
			$html .= '<li><a href="' . way($page{$here}, $page{$file}) . "\"$now>" . escaped($title{$file}) . "</a></li>\n";
		}
		$html .= "</ul></details>\n";
	}
	return $html;
}

sub beside {
	my ($here, $at, $rel, $sign) = @_;
	return '<span></span>' if $at < 0 || $at > $#files;
	my $text = $rel eq 'prev' ? "$sign $title{$files[$at]}" : "$title{$files[$at]} $sign";
	return '<a rel="' . $rel . '" href="' . way($page{$here}, $page{$files[$at]}) . '">' . escaped($text) . '</a>';
}

my $template = slurp('scripts/site/page.html');
for my $i (0 .. $#files) {
	my $file = $files[$i];
	my %value = (
		TITLE => escaped($title{$file} eq 'bbtrace' ? 'bbtrace' : "$title{$file} \x{2013} bbtrace"),
		ROOT => way($page{$file}, '.') =~ s{/?[.]$}{}r || '.',
		SIDEBAR => sidebar($file), BODY => $body{$file},
		PREV => beside($file, $i - 1, 'prev', "\x{2190}"), NEXT => beside($file, $i + 1, 'next', "\x{2192}"),
	);
	spill("$out/$page{$file}", $template =~ s/\{\{(\w+)\}\}/$value{$1}/gr);
}

# ---- the search: each section's page, anchor, title and words ----

sub sections {
	my ($file) = @_;
	my @found = (['', $title{$file}, '']);
	for my $piece (split m{(?=<h[1-6][ >])}, $body{$file}) {
		if ($piece =~ m{^<h[1-6][^>]*id="([^"]*)"[^>]*>(.*?)</h[1-6]>(.*)}s) {
			push @found, [$1, plain($2), plain($3)];
		} else {
			$found[-1][2] .= plain($piece);
		}
	}
	return grep { length $_->[2] } @found;
}

my @rows;
for my $file (@files) {
	push @rows, '[' . join(',', map { json_string($_) } $page{$file}, $title{$file}, @$_) . ']' for sections($file);
}
spill("$out/search-index.js", "'use strict';\nconst search_index = [\n" . join(",\n", @rows) . "\n];\n");
copy("scripts/site/$_", "$out/$_") or die "$_: $!\n" for qw(site.css site.js);
for my $file (sort keys %copied) {
	make_path(dirname("$out/$file"));
	copy($file, "$out/$file") or die "$file: $!\n";
}
printf "%s: %d pages\n", $out, scalar @files;
