#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -k: call stacks by unwind tables, without frame pointers. Each frame's address is compared with gdb's unwinder, in ways to
# be called that only the tables tell; where a stack can't be followed, it says why.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:gdb cmd:g++
gdb -nx -batch -ex 'python print(1)' 2>/dev/null | grep -q 1 || skip_all 'gdb has no Python'

# by_gdb FUNC PROGRAM ARG...: a line for each call, FILE:ADDRESS of each frame, the first where bbtrace is: an entry may be
# reported after an endbr64.
by_gdb() {
	local late

	late=$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{stack}[0]{offset} == 4 && "+4"' | sort -u)
	BREAK=$1$late STACKS=$T/gdb timeout -k 5 "$BB_TIMEOUT" gdb -nx -batch -x "$ROOT/tests/check/gdb_stacks.py" \
		--args "${@:2}" >"$T/gdb.out" 2>&1 </dev/null || { cat "$T/gdb.out" && exit 2; }
}
# The same of bbtrace's JSON; ends: why each ends.
places() {
	json_lines "$1" '$e->{event} eq "entry" && join " ", map { "$_->{object}:$_->{vaddr}" } @{$e->{stack}}'
}
ends() { json_lines "$1" '$e->{event} eq "entry" && ($e->{stack_end} // "whole")' | sort | uniq -c | awk '{ print $2 "=" $1 }' | xargs; }
names() { json_lines "$1" '$e->{event} eq "entry" && join " ", map { $_->{symbol} // "?" } @{$e->{stack}}'; }
run() { bb user "$1" "$2" -k -e entry -F json -o "$T/json" "${@:3}"; }
same() {
	by_gdb "$2" "$3" "${@:4}"
	places "$T/json" >"$T/places"
	[[ -s $T/gdb ]] || { echo "gdb: no stacks" && cat "$T/gdb.out" && exit 2; }
	is "$(cat "$T/places")" "$(cat "$T/gdb")" "$1: frame by frame what gdb says"
}

g++ -O2 -g -fomit-frame-pointer -pthread -o "$T/unwound" "$E2E/unwound.cc" || exit 2
run "$T/unwound" here --record "$T/trace" -- "$T/unwound"
same 'alloca, a rounded stack, qsort, signals, exceptions, a thread' here "$T/unwound"
is "$(wc -l <"$T/places") $(ends "$T/json")" '9 whole=9' 'all stacks are whole'
bb report "$T/trace" -F json -o "$T/again"
is "$(names "$T/again" | md5sum) $(places "$T/again" | md5sum)" "$(names "$T/json" | md5sum) $(places "$T/json" | md5sum)" \
	'a trace file has the same stacks'
is "$(names "$T/json" | grep -c '^here leaves() ends(int) main ')" 1 'what does not return is named by its call, not by what follows it'
is "$(names "$T/json" | grep -cE '^here handler\(int\) [^ ]* faults\(int volatile\*\) signals\(\) main ')" 1 \
	'an instruction that faults is its function'\''s first one'

# ---- the tables elsewhere, or missing ----
if gcc -c -x c++ -O2 -g -fomit-frame-pointer -fno-exceptions -fno-asynchronous-unwind-tables -o /dev/null /dev/null 2>/dev/null; then
	cat >"$T/plain.c" <<-'END'
		volatile int sink;
		__attribute__((noinline, noclone)) void here(int n) { sink += n; }
		__attribute__((noinline, noclone)) int middle(int n) { here(n); return sink + 1; }
		__attribute__((noinline, noclone)) int outer(int n) { return middle(n) + sink; }
		int main(void) { return outer(3) & 0; }
	END
	flags=(-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables)
	gcc "${flags[@]}" -g -o "$T/debug_frame" "$T/plain.c" && gcc "${flags[@]}" -o "$T/none" "$T/plain.c" || exit 2
	run "$T/debug_frame" here -- "$T/debug_frame"
	same '.debug_frame' here "$T/debug_frame"
	is "$(ends "$T/json") $(names "$T/json" | cut -d' ' -f-4)" 'whole=1 here middle outer main' '.debug_frame leads on to the outermost'
	cp "$T/debug_frame" "$T/separate"
	objcopy --only-keep-debug "$T/separate" "$T/separate.debug" && strip -g "$T/separate" &&
		objcopy --add-gnu-debuglink="$T/separate.debug" "$T/separate" || exit 2
	run "$T/separate" here -- "$T/separate"
	is "$(ends "$T/json") $(names "$T/json" | cut -d' ' -f-4)" 'whole=1 here middle outer main' '.debug_frame of a separate debug file'
	run "$T/none" here -- "$T/none"
	is "$(ends "$T/json") $(names "$T/json")" 'no_unwind_table=1 here middle' 'without any table there is only the caller, and the stack says so'
	bb user "$T/none" here -k -e entry -- "$T/none"
	like "$T/out" '> -- no unwind table leads on --' 'in text, too'
	is "$(json_lines "$T/json" '$e->{event} eq "entry" && scalar @{$e->{stack}}')" 2 'and no frame is guessed'
fi

# ---- what was not copied ----
run "$T/unwound" here --stack-size 1K -- "$T/unwound" 30
is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{stack_end}' | head -n 1)" cut 'a deep stack is cut where the copy ends'
names "$T/json" | head -n 1 >"$T/deep"
like "$T/deep" '^here( varies\(int\)){5,29}$' 'and has the frames before that'
run "$T/unwound" here --stack-size 64K -- "$T/unwound" 30
same 'a larger copy' here "$T/unwound" 30
program frames -O2 -fomit-frame-pointer
run "$T/frames" leaf -- "$T/frames" 100
is "$(ends "$T/json") $(names "$T/json" | tail -n 1 | wc -w)" 'limit=1 whole=2 64' 'no more than 64 frames'
program altstack -O2 -fomit-frame-pointer
run "$T/altstack" count -- "$T/altstack"
if [[ $(uname -m) == x86_64 ]]; then
	is "$(ends "$T/json")" 'whole=11' "after a handler's own stack comes the interrupted one"
	same 'across stacks' count "$T/altstack"
else
	is "$(ends "$T/json")" 'cut=6 whole=5' "after a handler's own stack comes the interrupted one, which was not copied"
	is "$(names "$T/json" | grep -c '^count.* handler [^ ]* [^ ]*$')" 6 'its stacks have what was interrupted, and no more'
fi

# ---- a PLT's entry, where the call has pushed nothing yet ----
gcc -O2 -fomit-frame-pointer -Wl,-z,lazy -o "$T/lazy" -x c - <<-'END' || exit 2
	#include <stdio.h>
	int main(int argc, char **argv) { return puts(argv[argc - 1]) < 0; }
END
run "$T/lazy" puts@plt -- "$T/lazy" hello
is "$(ends "$T/json") $(names "$T/json" | cut -d' ' -f-2)" 'whole=1 puts@plt main' "a PLT's entry"

# ---- interpreters, of the distribution, without frame pointers ----
# interpreter PROGRAM FUNCTION ARG...
interpreter() {
	[[ -x $1 ]] || { skip "$1" 'it is not there' && return; }
	cp "$(readlink -f "$1")" "$T/${1##*/}" || exit 2
	run "$T/${1##*/}" "$2" -- "$T/${1##*/}" "${@:3}"
	same "$1" "$2" "$T/${1##*/}" "${@:3}"
	ends "$T/json" >"$T/ends"
	like "$T/ends" '^(limit=[0-9]+ )?whole=[1-9][0-9]*$' "$1: no stack breaks off"
}
PYTHONHOME=/usr interpreter /usr/bin/python3 PyObject_Repr -S -c 'def f(n): return f(n - 1) if n else sorted([3, 1], key=lambda x: repr(x))
f(5)'
# exported by each version, unlike Perl_pp_sort
interpreter /usr/bin/perl Perl_sv_2pv_flags -e 'sub f { $_[0] ? f($_[0] - 1) : length("n$_[0]") } f(5)'

# ---- named events: where the program entered the kernel, and static probes ----
cat >"$T/sys.c" <<'END'
	#include <unistd.h>
	#include <sys/syscall.h>
	volatile int sink;
	__attribute__((noinline, noclone)) int inner(int n) { return sink += syscall(SYS_getpriority, 0, n); }
	__attribute__((noinline, noclone)) int outer(int n) { return inner(n) + sink; }
	int main(void) { return outer(0) & 0; }
END
gcc -O2 -g -w -fomit-frame-pointer -o "$T/sys" "$T/sys.c" || exit 2
# has EVENT FRAMES COMMAND...: the program's frames, live and from a trace file
has() {
	local file

	bb event "$1" -k -F json --record "$T/trace" -o "$T/json" -- "${@:3}"
	bb report "$T/trace" -F json -o "$T/again"
	for file in json again; do
		is "$(json_lines "$T/$file" '$e->{stack} && join " ", (map { $_->{symbol} // "?" } grep { $_->{object} ne "kernel" } @{$e->{stack}}), $e->{stack_end} // "whole"' |
			sed 's/ main .* whole$/ main whole/')" "$2 main whole" "${1##*/}: the program's frames ($file)"
	done
}
if grep -q sys_enter_getpriority /sys/kernel/{,debug/}tracing/available_events 2>/dev/null; then
	has syscalls:sys_enter_getpriority 'syscall inner outer' "$T/sys"
else
	skip 'a tracepoint' 'this kernel has no syscalls:sys_enter_getpriority'
fi
library=$(ldd "$T/unwound" | sed -n 's/.*=> \(.*libstdc++[^ ]*\) .*/\1/p')
cp -L "$library" "$T/"
if readelf -n "$library" 2>/dev/null | grep -q 'Name: throw'; then
	has usdt:"$T/${library##*/}":throw '__cxa_throw throws(int) [clone .cold] catches()' env LD_LIBRARY_PATH="$T" "$T/unwound"
else
	skip 'a static probe' 'libstdc++ has none'
fi

# ---- wrong input ----
bb user "$T/frames" leaf -k --stack-size 65K -- "$T/frames"
is "$status $(grep -c 'use 1K to 64K' "$T/err")" '2 1' 'a copy that is too large is refused'
bb user "$T/frames" leaf --stack-size 4K -- "$T/frames"
is "$status $(grep -c 'give -k, too' "$T/err")" '2 1' '--stack-size without -k is refused'
# ---- a large object, whose tables are read in parts ----
perl -e '
	my $n = 9000;
	print "volatile int sink;\n__attribute__((noinline, noclone)) void here(int n) { sink += n; }\n";
	print "int f$_(int);\n" for 0 .. $n - 1;
	print "static int (*const next[])(int) = {", join(",", map { "f" . ($_ * 7919 + 13) % $n } 0 .. $n - 1), "};\n";
	for (0 .. $n - 1) {
		my $room = $_ % 61 + 1;
		print "__attribute__((noinline)) int f$_(int n) { volatile char room[$room]; room[n % $room] = n; ";
		print "if (n) return next[$_](n - 1) + room[n % $room]; here(n); return sink; }\n";
	}
	print "int main(void) { return next[5](50) & 0; }\n"' >"$T/large.c"
gcc -O1 -fomit-frame-pointer -o "$T/large" "$T/large.c" || exit 2
run "$T/large" here -- "$T/large"
same 'more than 8192 functions' here "$T/large"
is "$(ends "$T/json") $(names "$T/json" | wc -w)" 'whole=1 56' 'a stack through 51 of them is whole'
gcc "${flags[@]}" -g -c -o "$T/plain.o" -Dmain=plain_main "$T/plain.c" &&
	sed 's/void here(int n) { sink += n; }/void here(int n); int plain_main(void);/; s/here(n); return sink/return plain_main()/; s/^volatile int sink;/extern volatile int sink;/' \
		"$T/large.c" >"$T/other.c" && gcc -O1 -fomit-frame-pointer -o "$T/mixed" "$T/other.c" "$T/plain.o" || exit 2
run "$T/mixed" here -- "$T/mixed"
same 'some functions in .debug_frame alone' here "$T/mixed"
is "$(ends "$T/json") $(names "$T/json" | cut -d' ' -f-4)" 'whole=1 here middle outer plain_main' 'these are found, too'
done_testing
