#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -o FILE in folders that other users can write to: it never follows their links and writes to regular files only;
# ordinary files work as usual.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:setpriv cmd:mkfifo

chmod 755 "$T"
program fib -O1
nobody() { setpriv --reuid nobody --regid nogroup --clear-groups -- "$@"; }
# write FILE [ARG...]: a trace of three lines, as text
write() { bb user "$T/fib" fib -F text -l 3 -o "$@" -- "$T/fib"; }
# written FILE: has it been?
written() { [[ $status == 3 && $(grep -c ' fib' "$1") == 3 ]]; }

mkdir -m 1777 "$T/sticky"
mkdir -m 777 "$T/open"
mkdir -m 755 "$T/own" "$T/own/in"
echo precious >"$T/precious" && chmod 666 "$T/precious"

for shared in sticky open; do
	dir=$T/$shared
	nobody ln -s "$T/precious" "$dir/link"
	nobody ln -s "$T/own/new" "$dir/to-new"
	nobody ln -s "$T/own" "$dir/folder"
	nobody ln -s link "$dir/chain"
	nobody sh -c "echo his >$dir/file; chmod 666 $dir/file"
	nobody mkfifo -m 666 "$dir/fifo"
	ln -s "$dir/link" "$T/own/to-$shared"
	for name in link to-new folder/new chain; do
		write "$dir/$name"
		exits 1 "-o $shared: $name is refused"
		like "$T/err" '^bbtrace: cannot write to .*symbolic link of another user' "-o $shared: $name: the message says that the link is another user's"
	done
	write "$T/own/to-$shared"
	exits 1 "-o $shared: our own link to another user's link is refused"
	write "$dir/file"
	exits 1 "-o $shared: another user's file is refused"
	is "$(cat "$dir/file")" his "-o $shared: another user's file is left as it was"
	write "$dir/fifo"
	exits 1 "-o $shared: another user's FIFO is refused without waiting for a reader"
	is "$(cat "$T/precious") $(cd "$T/own" && echo *)" "precious in $([[ $shared == sticky ]] && echo to-sticky || echo to-open to-sticky)" \
		"-o $shared: behind links of others nothing was written, nothing made"

	ln "$T/precious" "$dir/hard"
	write "$dir/hard"
	exits 1 "-o $shared: another name of a file of ours is refused"
	rm "$dir/hard"

	write "$dir/new"
	written "$dir/new"
	ok $? "-o $shared: a new file is made"
	is "$(stat -c '%U %a' "$dir/new")" 'root 600' "-o $shared: a new file is ours alone"
	write "$dir/new"
	written "$dir/new"
	ok $? "-o $shared: a file of ours is begun anew"
	ln -s "$T/own/new" "$dir/ours"
	write "$dir/ours"
	written "$T/own/new"
	ok $? "-o $shared: a link of ours is followed"
	rm "$T/own/new"
	bb user "$T/fib" fib -o "$dir/link" -- "$T/fib"
	exits 1 "-o $shared: a trace file through another user's link is refused"
	bb user "$T/fib" fib -F text -l 3 --record "$dir/link" -- "$T/fib"
	exits 1 "--record $shared: a trace file through another user's link is refused"
	is "$(cat "$T/precious")" precious "--record $shared: nothing was written through another user's link"
done

# ---- folders of our own ----
ln -s "$T/precious" "$T/own/link"
write "$T/own/link"
written "$T/precious"
ok $? '-o follows a link in a folder of our own'
ln -s in/../../own/in/new "$T/own/long"
write "$T/own/long"
written "$T/own/in/new"
ok $? '-o follows a link to a file that is not there yet, by a longer way'
ln -s loop "$T/own/loop"
write "$T/own/loop"
exits 1 '-o refuses a link to itself'
chown nobody "$T/own/in/new"
chmod 640 "$T/own/in/new"
write "$T/own/in/new"
written "$T/own/in/new"
ok $? "root may write to others' files where only root puts them"
is "$(stat -c '%U %a' "$T/own/in/new")" 'nobody 640' 'files of others that root writes to stay theirs'
for path in "$T/own" "$T/own/" "$T/none/new" "$T/precious/new" "$T/own/none/"; do
	write "$path"
	exits 1 "-o ${path#"$T"} is refused"
	like "$T/err" '^bbtrace: cannot write to .*: (Is a|Not a|No such)' "-o ${path#"$T"}: the message says in plain words why"
done
(cd "$T/own" && write in/../relative && written relative)
ok $? '-o takes a relative path'

# ---- what an earlier run, or the linker, has written ----
cp "$T/fib" "$T/own/program"
write "$T/own/program"
exits 1 '-o refuses a program'
like "$T/err" '^bbtrace: cannot write to .*/program: it is a program or a library; choose another name$' '-o refuses a program: the message says so'
bb user "$T/own/program" fib -F text --record "$T/own/program" -- "$T/own/program"
exits 1 '--record refuses the program that is traced'
same "$T/own/program" "$T/fib" 'a program is not written over'
keeps() { # TEXT ARG...
	local text=$1
	shift
	echo earlier >"$T/own/old"
	bb "$@"
	isnt "$status $(cat "$T/own/old")" '3 earlier' "$text: nothing was traced" # CMD's own status is 3
	is "$(cat "$T/own/old")" earlier "$text: the file of an earlier run is left as it was"
}
for option in '-F text -o' -o '-F text --record'; do
	# shellcheck disable=SC2086 # words
	keeps "$option, no such command" user "$T/fib" fib $option "$T/own/old" -- "$T/no-such-command"
	# shellcheck disable=SC2086 # words
	keeps "$option, no such process" user "$T/fib" fib $option "$T/own/old" --tid 4194304
done
bb user "$T/fib" fib -F text -o "$T/own/old" -- true
is "$status $(cat "$T/own/old")" '0 ' '-o FILE: a trace without events begins it anew, too'

# ---- what is no file ----
mknod "$T/own/disk" b 259 65535 && mknod "$T/own/device" c 10 255 && mknod "$T/own/null" c 1 3
for name in disk device; do
	write "$T/own/$name"
	exits 1 "-o on a $name is refused"
	like "$T/err" 'it is a device; choose' "-o on a $name: the message says that it is a device"
done
write "$T/own/null"
exits 3 '-o takes /dev/null by another name'
write /dev/null
exits 3 '-o takes /dev/null'
is "$(stat -c '%F %t %T' /dev/null)" 'character special file 1 3' '/dev/null is what it was'
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 /proc/self/fd/../fd/1; do
	"$BBTRACE" user "$T/fib" fib -F text -l 3 -o $name -- "$T/fib" 2>"$T/err" | cat >"$T/out"
	is "${PIPESTATUS[0]} $(grep -c ' fib' "$T/out")" '3 3' "-o $name writes to a pipe"
done
echo before >"$T/out"
"$BBTRACE" user "$T/fib" fib -F text -l 3 -o /dev/stdout -- "$T/fib" >>"$T/out" 2>"$T/err"
is "$? $(head -1 "$T/out") $(grep -c ' fib' "$T/out")" '3 before 3' '-o /dev/stdout: a file there is not begun anew'
mkfifo "$T/own/fifo"
cat "$T/own/fifo" >"$T/read" &
write "$T/own/fifo"
wait $!
status=$status written "$T/read"
ok $? '-o writes to a FIFO of our own that has a reader'
if command -v script >/dev/null; then
	script -qec "$BBTRACE user $T/fib fib -F text -l 3 -o /dev/tty -- $T/fib" "$T/typed" >"$T/out" </dev/null
	is "$(grep -c ' fib-[0-9]' "$T/typed")" 3 '-o /dev/tty writes to the terminal'
fi

# ---- another user's own folder ----
mkdir "$T/theirs" && chown nobody "$T/theirs"
echo precious >"$T/precious"
nobody ln -s "$T/precious" "$T/theirs/link"
nobody ln -s "$T/own" "$T/theirs/folder"
for name in link folder/new; do
	write "$T/theirs/$name"
	exits 1 "another user's own folder: -o $name is refused"
	like "$T/err" 'symbolic link of user [0-9]*, which root does' "another user's own folder: -o $name: the message says that root does not follow the link"
done
ln "$T/precious" "$T/theirs/hard"
write "$T/theirs/hard"
exits 1 "another user's own folder: a file with a second name is refused"
rm "$T/theirs/hard"
is "$(cat "$T/precious")" precious "another user's own folder: nothing was written elsewhere"
write "$T/theirs/new"
written "$T/theirs/new"
ok $? "another user's own folder: a new file is made"

# ---- rotation ----
source_program busy c <<'END'
__attribute__((noinline)) int leaf(int n) { __asm__ volatile("" : "+r"(n)); return n > 1000 ? n - 1 : n; }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 40000; i++)
		sum += leaf(i);
	return sum == 1;
}
END
rotate() { bb user "$T/busy" leaf -o "$1" --max-size 64K -- "$T/busy"; }
rotate "$T/sticky/rotated"
like "$T/err" 'hold the end of the trace' '--max-size: a trace is rotated more than once'
is "$(stat -c '%U %a %F' "$T/sticky/rotated" "$T/sticky/rotated.1" | sort -u)" 'root 600 regular file' '--max-size: each part is ours alone'
rm "$T/sticky/rotated" "$T/sticky/rotated.1"
nobody ln -s "$T/precious" "$T/sticky/rotated.1"
rotate "$T/sticky/rotated"
exits 1 "--max-size: another user's link where the older part goes is refused"
like "$T/err" 'cannot write to .*rotated\.1: it is a file of another user' "--max-size: the message says that the older part's file is another user's"
rm "$T/sticky/rotated.1"
mkdir "$T/own/parts" && ln -s "$T/own/in/part" "$T/own/parts/link"
rotate "$T/own/parts/link"
exits 0 '--max-size: a link of our own where the older part goes is followed'
nobody sh -c "echo his >$T/sticky/rotated.1"
rotate "$T/sticky/rotated"
exits 1 "--max-size: another user's file where the older part goes is refused"
is "$(cat "$T/sticky/rotated.1")" his "--max-size: another user's file where the older part goes is as it was"
# The file is replaced by a link while it is written: CMD does so before it calls anything.
rm -f "$T"/theirs/*
bb user "$T/busy" leaf -o "$T/theirs/part" --max-size 64K -- sh -c "rm $T/theirs/part; ln -s $T/precious $T/theirs/part; exec $T/busy"
exits 1 '--max-size: a file that was replaced ends the trace'
like "$T/err" 'cannot go on writing to .*part: another program has replaced it' '--max-size: the message says that the file was replaced'
is "$(cat "$T/precious")" precious '--max-size: behind a link that replaced the file nothing is written'
rm -f "$T"/theirs/*
rotate "$T/theirs/part"
is "$status $(cd "$T/theirs" && echo *)" '0 part part.1' "--max-size: in another user's own folder parts are rotated, and nothing else is left"

# ---- formats by the file's name ----
bb user "$T/fib" fib -o "$T/trace" -- "$T/fib"
# suffix FORMAT SUFFIX...: the file's name chooses that format
suffix() {
	local format=$1
	shift
	bb report -q "$T/trace" -F "$format" -o "$T/wanted"
	for suffix; do
		bb report "$T/trace" -o "$T/named$suffix"
		same "$T/named$suffix" "$T/wanted" "report -o x$suffix is what -F $format gives"
		is "$(grep -c "^bbtrace: writing $format to $T/named$suffix, by its name; -F text for text" "$T/err")" \
			"$([[ $format == text ]] && echo 0 || echo 1)" "report -o x$suffix: the note is there unless it would be text by any name"
	done
}
suffix text .txt
suffix json .json .jsonl
suffix html .html
suffix svg .svg
suffix dot .dot .gv
suffix folded .folded
suffix callgrind .callgrind
suffix perfetto .pftrace .perfetto-trace
suffix pprof .pprof .pb.gz
suffix lcov .info
suffix cobertura .xml
suffix drcov .drcov
suffix bolt .fdata
suffix autofdo .prof
suffix autofdo:gcc .afdo
is "$("$BBTRACE" report --help-all | sed -n 's/^  \([^ ]*\) .*(\(\..*\))$/\1 \2/p' | xargs)" \
	'text .txt json .json .jsonl perfetto .pftrace .perfetto-trace dot .dot .gv html .html folded .folded svg .svg callgrind .callgrind pprof .pprof .pb.gz lcov .info cobertura .xml drcov .drcov bolt .fdata autofdo .prof autofdo:gcc .afdo' \
	'--help-all has these suffixes and no others'
named() { bb user "$T/fib" fib -T none "$@" -- "$T/fib"; }
named -o "$T/named.json"
exits 3 'user -o x.json: traced'
is "$(json "$T/named.json" '$e->{event} eq "entry"')" 177 'user -o x.json is JSON'
is "$(grep '^bbtrace: writing' "$T/err")" "bbtrace: writing json to $T/named.json; for a trace file choose another name, or --record FILE" \
	'user -o x.json: a note says so once'
named -q -o "$T/named.json"
is "$(cat "$T/err")" '' 'user -q -o x.json: no note'
named -F text -o "$T/named.html"
is "$(head -1 "$T/named.html" | grep -c ' fib') $(grep -c '^bbtrace: writing' "$T/err")" '1 0' 'user -F text -o x.html is text: -F decides'
named -o "$T/named.html" --record "$T/recorded"
is "$(head -c 9 "$T/named.html") $("$BBTRACE" report -q "$T/recorded" -F json | grep -c '"event":"entry"')" '<!DOCTYPE 177' \
	'user -o x.html --record FILE writes both'
named --armor -o "$T/named.json"
is "$("$BBTRACE" report -q "$T/named.json" -F json | grep -c '"event":"entry"') $(grep -c '^bbtrace: writing' "$T/err")" '177 0' \
	'user --armor -o x.json is a trace file'
named -c -o "$T/counts.txt"
is "$(grep -c . "$T/counts.txt" | grep -vx 0 | wc -l) $(grep -c '^bbtrace: writing' "$T/err")" '1 0' 'user -c -o x.txt is what it would be by any name'
named -c -o "$T/counts.html"
exits 3 'user -c -o x.html: a page of counts'
like "$T/counts.html" '<html' 'it is one'
for name in .json x.trace x.json.old json x.html/trace; do
	mkdir -p "$T/x.html"
	named -o "$T/$name"
	"$BBTRACE" report -q "$T/$name" >/dev/null 2>&1
	ok $? "user -o $name is a trace file"
done
bb report "$T/trace" --info -o "$T/info.html"
is "$(grep -c '^command ' "$T/info.html") $(cat "$T/err")" '1 ' 'report --info -o x.html has the metadata'
bb user "$T/fib" fib -o /dev/stdout --max-size 64K -- "$T/fib"
like "$T/err" 'max-size needs a regular file' '--max-size refuses stdout'
done_testing
