#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What a compiler doesn't check: format, which folder may include which, what the pure folders may not call, licence
# lines, file sizes. TAP, as every test; part of `make check`, alone as `make lint`. B: the build folder.
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
B=${B:-build}
shopt -s lastpipe # a test at the end of a pipe counts here

# Folder of src/ | folders whose public header it may include, besides its own files and headers of util.
may_include='
util    |
arch    |
types   | arch
object  | arch types
kernel  | arch object types
process | object
resolve | arch object kernel process
code    | arch object
plan    | arch types object code
copy    | arch object code plan
cache   | arch object code plan copy
event   | arch types object plan wire
trace   | arch types object plan event wire
file    | arch types object plan event trace wire
source  | arch types object kernel process plan copy event file trace wire
output  | arch types object plan event trace
diff    | arch object plan event trace output
explain | arch object plan event trace output
tui     | arch types object plan event trace output
cli      | arch types object kernel process resolve code plan copy cache event trace file source output diff explain wire
pipeline | arch types object kernel process resolve code plan copy cache event trace file source output diff explain wire cli
select   | arch types object kernel process resolve code plan copy cache event trace file source output diff explain wire cli pipeline
session  | arch types object kernel process resolve code plan copy cache event trace file source output diff explain wire cli pipeline select
control  | arch types object kernel process resolve code plan copy cache event trace file source output diff explain wire cli pipeline select session
verbs    | arch types object kernel process resolve code plan copy cache event trace file source output diff explain tui wire cli pipeline select session control
'
# They have a header for each of their things, and any of them may be included where the folder may.
many_doors='plan cli pipeline select session control verbs'
pure='arch types code plan copy event trace file output diff explain'
pure_headers='unistd|fcntl|signal|dlfcn|pthread|sched|poll|err|errno_base|sys/(stat|mman|ioctl|socket|wait|syscall|uio|epoll|ptrace)|bpf/.*|linux/(bpf|perf_event)|linux/.*btf.*'
# Undefined symbols that an object file of a pure folder must not have (64: the names for large files).
pure_symbols='(open|openat|creat|fopen|freopen|fdopen|opendir|tmpfile|mkstemp|stat|lstat|fstat|mmap)(64)?|(p?read|p?write|readv|writev|close|readlink|access|ioctl|munmap|mprotect|pipe|dup2?|poll|select|epoll_.*)|(socket|connect|send|recv).*|(syscall|system|popen|fork|vfork|clone|exec.*|wait.*|posix_spawn.*|kill|raise|signal|sigaction)|(exit|_exit|quick_exit|abort)|(printf|vprintf|puts|putchar|putc_unlocked|perror|__v?printf_chk|stdout|stderr|stdin)|(getenv|secure_getenv|setenv|time|clock_gettime|gettimeofday|localtime|localtime_r|usleep|nanosleep|sleep|rand|random|getpid|gettid|getuid|geteuid|setlocale)|(bpf_.*|libbpf_.*|ring_buffer__.*|btf__.*|perf_.*|pthread_create|dlopen|err|errx|warn|warnx|error)'
most_lines=600
# Folders with more C files than others may have (scripts/rooms.pl limits), and how many they have. Numbers only fall, and rows go.
crowded_folders='
bpf               | 26
'
# Cycles of more files that call each other than others may have: the top-level folders that they are in, and their files.
# Numbers only fall, and rows go. scripts/rooms.pl show build prints the calls.
long_cycles='
'
# The files that may open by path, and what they open: the kernel's own files, or files that the user named. All others
# use root__open_file() (src/object/root/root.c).
may_open='
src/select/branch_weights.c profiles, with the rights of the user
src/control/socket.c folders of sockets, with the rights of the user
src/select/costs.c          its own file
src/cache/store.c           its own files
src/select/engine.c         /proc/cpuinfo
src/session/live.c           /proc
src/cli/command_line.c   /proc
src/pipeline/read/input.c         trace files, with the rights of the user
src/pipeline/write/sink_file.c      files to write
src/verbs/why/why.c        the first line of a script that is CMD, with the rights of the user
src/kernel/facts.c       debugfs and tracefs
src/kernel/fs.c          tracefs, debugfs and where they are mounted
src/kernel/kernel.c      /sys
src/kernel/syscalls.c    tracefs
src/kernel/text.c        /proc/kcore
src/main.c               /dev/null
src/object/debug/kernel_debug.c /lib/modules
src/object/root/root.c   root__open_file() itself
src/object/debug/sandbox.c     /proc/self
src/source/inline/*         /proc/PID of traced processes, /dev/null
src/source/kernel_types.c /sys/kernel/btf
src/source/probes/*         tracefs, /proc, /sys; attach_path, which is a descriptor
src/process/processes.c  /proc
src/process/limits.c     /proc/PID, files of control groups
src/process/mapped.c     /proc/PID/maps
src/verbs/stack/*        /proc/PID of the process that is shown
src/resolve/points.c     points files, with the rights of the user
src/util/given.c         what the user names, with the rights of the user
src/util/keeper.c        /dev/null
src/verbs/why/why_run.c  /dev/null
src/util/files.c         file__read() itself
src/util/scratch.c       temporary files, with the rights of the user
'
# Words that identifiers must not contain, and their replacements (HACKING.md, Glossary).
old_words='
voices?            frontier
asleep             dormant
sleepers?          dormant
wholes             full record, expander
silen(t|ce|ced|tly) unprobed, helper, stopped
steady             shield
strand             thread key
passage            tail target
untold             unknown
foresee            predict
rehearse           find refused
stretch            range
sel                filter
weight_profile     branch weights
profile__.*        stats
door__.*           root
reach__.*          scope
side__.*           sideband
side_event         sideband event
word__.*           cookie
hold__.*           pin
pick__.*           report filter
select__.*         live filter
place__.*          locate
tails__.*          tail calls
PAD_.*             abnormal entry
NODE_STRAY         unknown sp
FUNCTION_SILENT    helper
errands?           injected
strayed            in undecoded
'
# Phrases that messages, the manual and the documents must not contain, and what to write instead; tab-separated.
old_phrases='
no such (verb|command line)	unknown command
is no option of	unknown option
a limit of 0	must be at least 1
is no text for	refusing to write
(begin|start|made) anew	start a new file
after so (long|many)	after this long
no room for	too narrow; omitted
Tried (are|on)	Tested on
is none.s business	say what is checked, and why
stretch(es)? of	path, range
(comes|is) behind (its|the) (object|verb)	after
seen to return	have probes at their rets
there are none, args	use none, args
not as the kernel writes	malformed
'
# The files that may call libelf and libdw: those whose code runs in the sandbox.
may_parse='src/(cache/store|file/block|verbs/stack/image|object/(core/core_(notes|regs|stacks|stream)|debug/(debug|moved|split_units|unpacked)|dwarf/(die_parts|die_types|dies|param_place|prototypes|lines|line_functions|folded|line_rows|line_table|rules|scopes|variables)|symbols))[.]c' # image: it writes; store: its own files, after their digest

sources() { find src bpf tests bench include -type f -name '*.[ch]' 2>/dev/null | sort; }
scripts() {
	{
		find scripts tests bench .ci debian -type f -name '*.sh' 2>/dev/null
		find debian/tests -type f ! -name '*.sh' ! -name control
		echo .ci/run
	} | sort
}
pages() { find src/output/pages/html -type f | sort; }
written() {
	sources
	pages
	scripts
	find scripts tests bench -type f \( -name '*.p[lmy]' -o -name '*.S' -o -name '*.cc' -o -name '*.yml' \) 2>/dev/null
	find man completion* -type f 2>/dev/null
	echo Makefile
	echo debian/rules
}

documents() { find docs debian ./*.md -type f; }

# none NAME: passes if stdin is empty, else shows its lines.
none() {
	local found

	found=$(head -40)
	[[ -z $found ]]
	ok $? "$1" || diag "$found"
}

format() {
	local have

	have=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
	if [[ $have != 14 ]]; then
		skip 'clang-format' "the tree is formatted by clang-format 14, here is ${have:-none}"
		return
	fi
	sources | xargs clang-format --dry-run 2>&1 | sed -n 's/: warning: code should be clang-formatted.*//p' |
		sed 's/:[0-9]*:[0-9]*$//' | uniq -c | awk '{ print $2 ": " $1 " places: clang-format -i " $2 }' |
		none 'C is formatted as .clang-format says'
}

direction() {
	scripts/rooms.pl includes "$may_include" "$many_doors" |
		none 'a folder includes its own files and the public headers of those before it'
}

# Two headers with one guard hide each other.
guards() {
	find src bpf -name '*.h' -exec awk '
		FNR == 1 {
			guard = FILENAME
			sub(/^src\//, "", guard)
			gsub(/[\/.]/, "_", guard)
			guard = "BBTRACE_" toupper(guard)
			lines[FILENAME] = 0
		}
		$0 == "#ifndef " guard || $0 == "#define " guard { lines[FILENAME]++ }
		END { for (file in lines) if (lines[file] != 2) print file }' {} + |
		none 'the guard of a header is its path, BBTRACE_FOLDER_FILE_H'
}

# Registers, flags, opcodes, relocations and headers of one architecture are only named in its folder and in bpf/arch.
x86='[re][abcd]x|[re][sd]i|[re][bs]p|[re]ip|r([89]|1[0-5])[dwb]?|[re]flags|int3|endbr(32|64)?|0x(cc|e8|e9|eb|f3)'
x86+='|R_X86_64_[A-Z0-9_]+|arch_x86_64|Zydis[A-Za-z]*'

seam() {
	{
		grep -rnwiE --include='*.[ch]' --exclude-dir=arch "$x86" src bpf
		grep -rnE --include='*.[ch]' --exclude-dir=arch '#[[:space:]]*include.*x86' src bpf
		grep -nE '(vmlinux|bpf/arch)/[a-z0-9]+' Makefile
	} | none 'nothing but src/arch and bpf/arch names a register, flag or opcode of an architecture'
}

# Findings on stdin: as none(), and what could be lowered is only shown.
ratchet() {
	cat >"$T/findings"
	sed -n 's/^note: //p' "$T/findings" >"$T/notes"
	grep -v '^note: ' "$T/findings" | none "$1"
	[[ ! -s $T/notes ]] || diag "$(<"$T/notes")"
}

# The includes again, as the linker sees them: a declaration in a header may have its definition anywhere.
rooms() {
	local missing files cycle

	read -r files cycle < <(scripts/rooms.pl limits)
	scripts/rooms.pl sizes "$crowded_folders" | ratchet "no folder has more than $files C files, but the listed ones"
	missing=$(scripts/rooms.pl built "$B")
	if [[ $missing ]]; then
		skip 'who calls whom, by the symbols of the linker' "$(wc -l <<<"$missing") sources are not built in $B"
		return
	fi
	scripts/rooms.pl order "$B" "$may_include" | none 'a folder calls its own files and the folders that it may include'
	scripts/rooms.pl cycles "$B" "$long_cycles" | ratchet "no more than $cycle files call each other in a cycle, but the listed ones"
}

purity() {
	local folder objects

	for folder in $pure; do
		grep -rnE --include='*.[ch]' "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($pure_headers)\.h>" "src/$folder" 2>/dev/null
	done | none "pure folders ($pure) include no header of the system's"
	objects=$(for folder in $pure; do find "$B/$folder" -name '*.o' 2>/dev/null; done)
	if [[ -z $objects ]]; then
		skip 'pure folders call nothing of the system' "nothing is built in $B"
		return
	fi
	# shellcheck disable=SC2086 # a list of files
	nm -A -u $objects | awk -v bad="^($pure_symbols)(@.*)?$" '$NF ~ bad { print $1, $NF }' |
		none "pure folders ($pure) call nothing of the system, by nm"
}

door() {
	grep -rnE --include='*.c' '(^|[^a-z_>.])(open|openat|openat2|creat|fopen|file__read)\(' src | grep -vE ':[[:space:]]*(\*|/\*)' |
		while IFS=: read -r file line _; do
			while read -r pattern _; do
				# shellcheck disable=SC2053 # a pattern
				[[ $pattern && $file == $pattern ]] && continue 2
			done <<<"$may_open"
			echo "$file:$line"
		done | none 'only listed files open by path; others use root__open_file()'
	grep -rlE --include='*.[ch]' '#[[:space:]]*include[[:space:]]*<(elfutils/|libelf|gelf|lzma|zstd|lz4)' src |
		grep -vxE "$may_parse|src/object/(core/core_regs|dwarf/(lines|folded|dies|die_types|param_place))[.]h" |
		none 'libelf, libdw and what decompresses are called in the sandbox alone'
}

licence() {
	written | xargs perl -e '
		for my $file (@ARGV) {
			open my $in, "<", $file or next;
			my $found;
			while (<$in>) { $found ||= /SPDX-License-Identifier: /; last if $. == 5 }
			close $in;
			print "$file\n" if !$found;
		}' | none 'each file names its licence in the first lines'
}

# Where something has to be done after an error, too, the steps before it are under "if (!err)".
chains() {
	grep -rnE --include='*.[ch]' '\berr = err \? err' src tests bench |
		none 'a chain of steps returns at the first error, not by "err = err ? err : ..."'
}

sizes() {
	{ sources; pages; scripts; } | xargs wc -l | awk -v most="$most_lines" '$2 != "total" && $1 > most { print $2 ": " $1 " lines" }' |
		none "no file is over $most_lines lines"
}

# No file names a path or a host of the developer's machine.
places() {
	{
		{ written; documents; } | xargs scripts/leaks.pl "$PWD" | head
		{ written; documents; } | xargs grep -nE '(^|[[:space:]=(])/(home/[a-z]+|root)/' /dev/null
		{ scripts; find scripts tests -name '*.pl'; echo Makefile; } |
			xargs grep -nE 'https?://' /dev/null | grep -vE 'https?://([a-z.-]*\.)?example\.org'
	} | none 'no path of one machine, no host name'
}

# Pages load nothing.
fetching() {
	pages | xargs grep -nE '(https?:)?//[a-z0-9.-]+[.][a-z]+/|@import|url\(|[[:space:]]src=|fetch\(|XMLHttpRequest|import[ (]' |
		grep -v '//www[.]w3[.]org/' | none 'pages, style sheets and scripts fetch nothing'
	if ! command -v node >/dev/null; then
		skip 'node takes the scripts' 'not installed'
		return
	fi
	pages | grep '[.]js$' | while read -r file; do node --check "$file" 2>&1 | head -5; done |
		none 'node takes the scripts'
}

# Identifiers in C, without comments, strings and includes; a word is an identifier or a part of one between '_', or a whole
# identifier if it has '__' or is of capitals.
words() {
	sources | TABLE=$old_words xargs perl -0777 -ne '
		BEGIN {
			for (grep { $_ } split /\n/, $ENV{TABLE}) {
				my ($word, $instead) = split " ", $_, 2;
				push @rows, [$word =~ /__|^[A-Z]/ ? qr/^$word$/ : qr/^(?:.*_)?$word(?:_.*)?$/, $instead];
			}
		}
		s{/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^\s*#\s*include[^\n]*}{my $n = $&; $n =~ tr/\n//cd; $n}gsme;
		my $line = 0;
		for (split /\n/) {
			$line++;
			for my $word (/([A-Za-z_]\w*)/g) {
				$say{$word} //= (map { $_->[1] } grep { $word =~ $_->[0] } @rows)[0] // "";
				print "$ARGV:$line $word: say $say{$word}\n" if $say{$word} ne "";
			}
		}' | none 'no identifier is an old word'
}

# Phrases: strings of C, which may go on in the next line, and documents, each as one line.
phrases() {
	{
		find src -name '*.c' -print0
		printf '%s\0' man/*.[0-9] ./*.md docs/*.md docs/roles/*.md docs/tasks/*.md docs/internals/*.md
	} | TABLE=$old_phrases xargs -0 perl -0777 -ne '
		BEGIN { @rows = map { [split /\t+/] } grep { $_ } split /\n/, $ENV{TABLE} }
		my @texts;
		if ($ARGV =~ /[.]c$/) {
			s/"\s*\n\s*"//g;
			push @texts, $1 while /"((?:\\.|[^"\\\n])*)"/g;
		} else {
			@texts = tr/\n/ /r;
		}
		for my $text (@texts) {
			for my $row (@rows) {
				while ($text =~ /$row->[0]/g) {
					my $from = $-[0] < 20 ? 0 : $-[0] - 20;
					print "$ARGV: ", substr($text, $from, $+[0] + 20 - $from), " (say: $row->[1])\n";
				}
			}
		}' | none 'no message or document has an old phrase'
}

# Comments and documents in plain English: the words are in scripts/plain.pl.
plain() {
	{
		find src bpf include -type f -name '*.[ch]'
		find docs man ./*.md -type f \( -name '*.md' -o -name '*.mdoc' -o -name '*.[0-9]' \)
	} | sort | xargs scripts/plain.pl | none 'comments and documents are in plain English'
}

# What the documents name is there, and they are short enough to be read: the lists are in scripts/documents.pl.
named() {
	scripts/documents.pl names | none 'what the documents name exists: files, functions, make targets, options, links'
	scripts/documents.pl lengths | none 'no document, and no row of a table in one, is too long'
}

shell() {
	if ! command -v shellcheck >/dev/null; then
		skip 'shellcheck' 'not installed'
		return
	fi
	# SC2319: "[[ ... ]]", then "ok $?" is how tests here are written
	scripts | xargs -n 60 -P 2 shellcheck -S warning -e SC2319 -f gcc 2>&1 | none 'shellcheck has no warning'
	scripts | while read -r file; do [[ -x $file || $(head -c 2 "$file") != '#!' ]] || echo "$file"; done |
		none 'each script is executable, but those that are sourced'
}

for check in format guards direction seam rooms purity door licence chains sizes places fetching words phrases plain named shell; do $check; done
done_testing
