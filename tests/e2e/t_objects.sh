#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The files that a process has mapped are traced, whatever their paths name now: replaced, deleted, in memory only,
# opened again at another address, mapped twice.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes

build_served -ldl
# library VERSION FILE: lib_work() of version 2 lies elsewhere and has other branches.
library() {
	"${CC:-cc}" -g -O1 -fPIC -shared -Wl,-soname,libver.so.1 -DVERSION="$1" -x c -o "$2" - <<-'EOF' || exit 2
		int lib_work(int n), padding(int n);
		#if VERSION == 2
		__attribute__((noipa)) int padding(int n) { return n % 7 ? n * 31 : 5; }
		#endif
		__attribute__((noipa)) int lib_work(int n)
		{
			int sum = VERSION * 1000;

			for (int i = 0; i < (VERSION == 2 ? n : 1); i++)
				sum += i;
			return sum;
		}
	EOF
}
# lib_calls [PERL]: entries of lib_work in the watch.
lib_calls() { json "$T/watch.json" "\$e->{event} eq 'entry' && \$e->{symbol} eq 'lib_work' && (${1:-1})"; }
# whole NAME: each call has its return, and nothing was unknown.
whole() {
	is "$(lib_calls)" "$(json "$T/watch.json" '$e->{event} eq "return" && $e->{symbol} eq "lib_work"')" "$1: each call returns"
	is "$(json "$T/watch.json" '$e->{event} eq "unknown"')" 0 "$1: no path is unknown"
}

mkdir "$T/a" "$T/b"
library 1 "$T/a/libver.so.1"
library 2 "$T/b/libver.so.1"
serve one "$T/served"

# ---- opened, closed, opened again ----
watch_object "$T/served:tick" "$T/a/libver.so.1:lib_work" -p "$pid_one"
for i in 1 2 3; do
	tell one "open again $T/a/libver.so.1"
	tell one 'call again 2'
	tell one 'shut again'
done
stop_watching INT
is "$status $(lib_calls)" '0 6' 'a library that was not there yet, opened three times'
whole 'opened again'

# ---- two of one soname at once ----
tell one "open old $T/a/libver.so.1"
tell one "open new $T/b/libver.so.1"
watch_object "$T/served:tick" "$T/a/libver.so.1:lib_work" "$T/b/libver.so.1:lib_work" -p "$pid_one"
tell one 'call old 2'
tell one 'call new 3'
stop_watching INT
is "$status $(lib_calls "\$e->{object} eq '$T/a/libver.so.1'") $(lib_calls "\$e->{object} eq '$T/b/libver.so.1'")" '0 2 3' \
	'two versions of a library at once: each by its path'
whole 'two versions'
bb user libver.so.1 lib_work -p "$pid_one"
exits 1 'two versions of a library by their one soname are refused'
like "$T/err" "process $pid_one has several files mapped as libver\.so\.1: $T/[ab]/libver\.so\.1 \(/proc/.*\), $T/[ab]/libver\.so\.1 \(" \
	'the message about two versions of a library names both, and how to name each'
tell one 'shut new'

# ---- replaced on disk ----
library 2 "$T/a/next"
mv "$T/a/next" "$T/a/libver.so.1"
watch_object "$T/served:tick" "libver.so.1:lib_work" -p "$pid_one"
tell one 'call old 2'
stop_watching INT
is "$status $(lib_calls)" '0 2' 'a library replaced on disk: by soname the mapped one is traced'
whole 'by soname'
is "$(lib_calls "\$e->{object} ne '$T/a/libver.so.1'")" 0 'a library replaced on disk is shown under the path that the process has for it'
watch_object "$T/served:tick" "$T/a/libver.so.1:lib_work" -p "$pid_one"
tell one 'call old 2'
tell one "open new $T/b/../a/libver.so.1"
tell one 'call new 4'
stop_watching INT
is "$status $(lib_calls)" '0 2' 'a library replaced on disk: by path the mapped one is traced, too'
whole 'by path'
bb user libver.so.1 lib_work -p "$pid_one"
exits 1 'two libraries mapped under the same path are refused'
like "$T/err" 'several files' 'the message says that two libraries are mapped under the same path'
grep -o '/proc/[^ )]*' "$T/err" >"$T/names"
while read -r name; do
	watch_object "$T/served:tick" "$name:lib_work" -p "$pid_one"
	tell one 'call old 2'
	tell one 'call new 5'
	stop_watching INT
	is "$status" 0 "of two libraries mapped under one path one is traced by the name that was given: ${name##*/}"
	lib_calls >>"$T/both"
	whole "as ${name##*/}"
done <"$T/names"
is "$(sort "$T/both" | xargs)" '2 5' 'the names given for two libraries mapped under one path mean different ones'

# ---- deleted ----
rm "$T/a/libver.so.1"
tell one 'shut new'
watch_object "$T/served:tick" "libver.so.1:lib_work" -p "$pid_one"
tell one 'call old 3'
stop_watching INT
is "$status $(lib_calls)" '0 3' 'a deleted library is traced by its soname'
whole 'deleted'

cp "$T/served" "$T/gone"
serve gone "$T/gone"
rm "$T/gone"
for name in "$T/gone" "/proc/$pid_gone/exe"; do
	watch_object "$name" tick work -p "$pid_gone"
	tell gone 'work 3'
	stop_watching INT
	is "$status $(calls) $(calls "\$e->{object} eq '$T/gone'")" '0 3 3' "a deleted program is traced as ${name##*/}"
	is "$(json "$T/watch.json" '$e->{event} eq "branch" && $e->{kind} eq "ret" && $e->{symbol} eq "work" && $e->{to}{symbol} =~ /^(work_times|main|obey)$/')" \
		2 'with the names of its symbols' # an odd number makes it end in rand()
done
bb list "/proc/$pid_gone/exe" work
is "$status $(grep -c ' work$' "$T/out")" '0 1' 'a deleted program is listed'

cd "$T" || exit 1
for name in "$T/gone" ./gone ../"${T##*/}"/gone; do
	bb list "$name" work
	exits 1 "a deleted program is not found without -p: ${name/#*"${T##*/}"/}"
	is "$(cat "$T/err")" "bbtrace: no file $name; it was deleted, but process $pid_gone still runs it: name it /proc/$pid_gone/exe" \
		"a deleted program is not found without -p, and the message says how to name it: ${name/#*"${T##*/}"/}"
	bb list "$name" work -p "$pid_gone"
	is "$status $(grep -c ' work$' "$T/out")" '0 1' "a deleted program is listed with -p: ${name/#*"${T##*/}"/}"
done
serve gone_too "/proc/$pid_gone/exe"
bb list gone work
like "$T/err" "^bbtrace: no object gone; it was deleted, but process [0-9]+ and 1 more still run it: name it /proc/($pid_gone|$pid_gone_too)/exe" \
	'a deleted program that runs twice is found by its name'
cp "$T/served" "$T/gone"
bb list ./gone work
is "$status $(grep -c ' work$' "$T/out")" '0 1' 'a program that was replaced is the new one'
rm "$T/gone"
cd "$ROOT" || exit 1

# ---- not found, but near ----
bb list libc malloc
is "$status $(cat "$T/err")" '0 ' 'libc is libc.so.6'
for name in libc.so libc.so.5 c; do
	bb list "$name" malloc
	is "$status $(cat "$T/err")" "1 bbtrace: no object $name; did you mean libc.so.6?" "$name is libc.so.6"
done
bb user libstdc -p "$pid_one" x
like "$T/err" '^bbtrace: no object libstdc: tried the process.s maps' 'what is near nothing is not found'
bb user libver -p "$pid_one" x
like "$T/err" '^bbtrace: no function named x in .*/libver.so.1; ' 'with -p a name without its suffix is that of what the process has mapped'
bb user malloc -p "$pid_one"
like "$T/err" '^bbtrace: no function named malloc in .*/served; .*a library.s function comes after the library: bbtrace user libc.so.6 malloc$' 'a function without object: the message says what is missing'
for swapped in "tick $T/served" "tick $T/served 5"; do
	# shellcheck disable=SC2086 # words
	bb user $swapped
	like "$T/err" "^bbtrace: no object tick: .*; a function of the command: bbtrace user tick -- $T/served$" "a function before its object: the message says how to write it"
done
for name in linux-vdso.so.1 '[vdso]'; do
	bb user "$name" __vdso_time -p "$pid_one"
	like "$T/err" "^bbtrace: no object .*: the vdso is memory of the kernel's, not a file" "$name: the message says why it can't be traced"
done
bb list vmlinux
like "$T/err" '^bbtrace: no object vmlinux: the running kernel has its own commands: ' 'vmlinux: the message says what is meant'

# ---- memory only ----
if command -v python3 >/dev/null; then
	cat >"$T/memfd.py" <<-'EOF'
		import os, sys
		fd = os.memfd_create("inmemory", 0)
		os.write(fd, open(sys.argv[1], "rb").read())
		os.execv(f"/proc/self/fd/{fd}", sys.argv[1:])
	EOF
	serve memory python3 "$T/memfd.py" "$T/served"
	watch_object "/proc/$pid_memory/exe" tick work -p "$pid_memory"
	tell memory 'work 4'
	stop_watching INT
	is "$status $(calls) $(calls '$e->{object} eq "/memfd:inmemory"')" '0 4 4' 'a program that is in memory only is traced'
	is "$(json "$T/watch.json" '$e->{event} eq "branch" && $e->{kind} eq "ret" && $e->{symbol} eq "work" && $e->{to}{symbol} =~ /^(work_times|main|obey)$/')" \
		2 'a program that is in memory only is shown with the names of its symbols'
	watch_object memfd:inmemory tick work -p "$pid_memory"
	tell memory 'work 2'
	stop_watching INT
	is "$status $(calls)" '0 2' 'a program that is in memory only is traced by the name that its maps show'
else
	skip 'a program that is in memory only' 'needs python3'
fi
done_testing
