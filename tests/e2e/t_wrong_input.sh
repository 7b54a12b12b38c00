#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What can't be traced: status 1, CMD doesn't run, and a message names the cause and the next step.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:setpriv

chmod 755 "$T"
# riscv64's linker exports what crt1 takes from the GOT, main
program fib -O1 -fvisibility=hidden
touch "$T/unchanged"

refused() { # NAME REGEX ARG...
	local name=$1 regex=$2
	shift 2
	bb "$@"
	exits 1 "$name is refused"
	like "$T/err" "^bbtrace: .*$regex" "$name: the message says what is wrong"
	is "$(wc -l <"$T/err")$(cat "$T/out")" 1 "$name: one line on stderr, and CMD has not run"
}
run=(-- "$T/fib")

# ---- no root ----
cp "$BBTRACE" "$T/bbtrace"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups "$T/bbtrace")
"${nobody[@]}" user "$T/fib" fib -- "$T/fib" >"$T/out" 2>"$T/err" </dev/null
is $? 1 'bbtrace user without root is refused'
like "$T/err" '^bbtrace: cannot trace: .*(CAP_BPF|CAP_PERFMON|CAP_SYS_ADMIN).*sudo' 'without root the missing capability is named, and sudo'
is "$(cat "$T/out")" '' 'without root CMD does not run'
"${nobody[@]}" list "$T/fib" fib >"$T/out" 2>"$T/err" </dev/null
is "$? $(grep -c ' fib$' "$T/out")" '0 1' 'list needs no root'
"${nobody[@]}" doctor >"$T/out" 2>"$T/err" </dev/null
is $? 0 'doctor needs no root'
like "$T/out" '^capabilities +no ' 'doctor without root tells what is missing'
like "$T/out" 'remedy: .*sudo' 'doctor without root tells the remedy'
like "$T/out" '^bpf_program +yes .*: clang [0-9]+\.[0-9]+\.[0-9]+$' 'doctor shows by which clang the BPF program was built'
"${nobody[@]}" doctor -F json >"$T/json" 2>"$T/err" </dev/null
is "$(json_lines "$T/json" '$e->{mechanism} eq "bpf_program" ? $e->{detail} : ""')" "$(sed -n 's/^bpf_program.*: //p' "$T/out")" \
	'doctor -F json has the same compiler'

# ---- the kernel ----
if [[ -e /sys/bus/event_source/devices/kprobe ]]; then
	skip 'a kernel without kprobes is refused' 'this one has them'
else
	refused 'a kernel without kprobes' 'without CONFIG_KPROBE_EVENTS; boot a kernel with CONFIG_KPROBES and CONFIG_KPROBE_EVENTS.*linux-image-amd64' \
		kernel vfs_read "${run[@]}"
fi

# ---- objects ----
refused 'a file that is not there' "no file $T/nothing" user "$T/nothing" fib "${run[@]}"
refused 'a soname that is not there' 'no object libnothing.so.9: tried .*name it by its path' user libnothing.so.9 fib "${run[@]}"
refused 'a folder as OBJECT' 'is not a regular file: name a program or a shared library' user "$T" fib "${run[@]}"
echo 'echo hello' >"$T/script"
refused 'a file that is not ELF' 'script.*(ELF|not a program)' user "$T/script" fib "${run[@]}"
: >"$T/empty"
refused 'an empty file' 'empty.*(ELF|not a program)' user "$T/empty" fib "${run[@]}"
for n in 4 16 63 64 100 1000 5000; do
	head -c $n "$T/fib" >"$T/cut"
	bb user "$T/cut" fib "${run[@]}"
	exits 1 "a program cut off after $n bytes is refused"
	like "$T/err" '^bbtrace: .*cut' "a program cut off after $n bytes: the message says that it is cut"
done
machine='\xb7' other=arm64
[[ $(uname -m) != aarch64 ]] || machine='\x3e' other=x86-64
cp "$T/fib" "$T/other"
printf "$machine\x00" | dd of="$T/other" bs=1 seek=18 conv=notrunc status=none
refused "a program for $other" "other is for $other and can.t be traced on this machine: bbtrace list shows" user "$T/other" fib "${run[@]}"
cp "$T/fib" "$T/narrow"
printf '\x01' | dd of="$T/narrow" bs=1 seek=4 conv=notrunc status=none
bb user "$T/narrow" fib "${run[@]}"
exits 1 'a 32-bit program is refused'
printf '\x7fELF' >"$T/object.o"
cp "$T/fib" "$T/secret"
chmod 0 "$T/secret"
"${nobody[@]}" list "$T/secret" fib >"$T/out" 2>"$T/err"
is $? 1 'a file that may not be read is refused'
like "$T/err" "^bbtrace: .*$T/secret.*Permission denied" 'a file that may not be read: the message says why'
mkfifo "$T/fifo"
bb user "$T/fifo" fib "${run[@]}"
exits 1 'a fifo as OBJECT is refused without waiting'
bb user /dev/zero fib "${run[@]}"
exits 1 'an endless device as OBJECT is refused'

# ---- functions ----
refused 'an unknown function' "no function named fibb in $T/fib.*fib.*bbtrace list" user "$T/fib" fibb "${run[@]}"
bb user libc.so.6 mallok -- ls
like "$T/err" 'malloc' 'for an unknown function close names are suggested'
refused 'a glob without matches' "no function matches xyz\* in $T/fib.*bbtrace list" user "$T/fib" 'xyz*' "${run[@]}"
refused 'a glob that matches with more before it' "no function matches ib\* in .*; did you mean '\*ib\*'[?]" user "$T/fib" 'ib*' "${run[@]}"
refused 'a regular expression' "no function matches f[.][*]b[$] in .*; did you mean 'f[*]b'[?] .bbtrace list" user "$T/fib" 'f.*b$' "${run[@]}"
refused 'names in a list' 'no function named fib,main in .*; names are separated by spaces; .bbtrace list' user "$T/fib" fib,main "${run[@]}"
refused 'a list of unknown names' "no function named foo,bar in $T/fib; .bbtrace list" user "$T/fib" foo,bar "${run[@]}"
refused 'a number without 0x' 'no function named 11a9 in .*; a file offset is written 0x11a9; .bbtrace list' user "$T/fib" 11a9 "${run[@]}"
refused 'a C function with parameters' 'no function named fib.int. in .*; did you mean fib[?]' user "$T/fib" 'fib(int)' "${run[@]}"
refused "another object's function" "has no function printf of its own, it calls another object's" user "$T/fib" printf "${run[@]}"
strip -o "$T/stripped" "$T/fib"
refused 'a stripped program' 'stripped is stripped, so no name fib: .bbtrace list .*stripped. shows its functions; .\*. means all of them, 0xOFF .*debug symbols' \
	user "$T/stripped" fib "${run[@]}"
"${CC:-cc}" -O1 -rdynamic -fvisibility=hidden -s -o "$T/exports" -x c - <<<'
	__attribute__((visibility("default"))) int exported(int n) { return n ? n * 3 : 5; }
	__attribute__((noinline)) int own(int n) { return exported(n) + 1; }
	int main(int n, char **a) { return own(n); }'
refused 'a function that a stripped program does not export' 'no function named own in .*, which is stripped: only exported functions have names; .bbtrace list' \
	user "$T/exports" own "${run[@]}"
# Nothing leads into the library's code; the program's starts at its entry point.
bare=(-nostdlib -fno-asynchronous-unwind-tables -fno-unwind-tables -s -x c -)
"${CC:-cc}" -shared -fPIC -fvisibility=hidden -o "$T/bare.so" "${bare[@]}" <<<'int f(int n) { return n > 3 ? n * 5 : n; }'
refused 'an object without symbols and .eh_frame' 'bare.so has neither symbols nor .eh_frame, so no function of it is known; they come with its debug symbols' \
	list "$T/bare.so"
start=$(readelf -SW "$T/bare.so" | sed -n 's/.* \.text *PROGBITS *0*\([0-9a-f]*\) .*/0x\1/p')
bb list "$T/bare.so" "$(file_offset "$T/bare.so" "$start")+0x4" --sites
is "$status $(cat "$T/err")" "1 bbtrace: address $start is in no function that is known" 'a range in an object without symbols and .eh_frame'
"${CC:-cc}" -o "$T/bare" "${bare[@]}" <<<'void _start(void) { for (;;) {} }'
start=$(readelf -hW "$T/bare" | sed -n 's/.*Entry point address: *//p')
bb list "$T/bare"
is "$status $(awk 'NR > 1 { print $1, $4 }' "$T/out")" "0 $start $start" 'of a program without symbols and .eh_frame the entry point is known'
strip -g -o "$T/symbols" "$T/fib"
refused 'a program without debug information, but with symbols' "no function named fibb in $T/symbols; did you mean fib[?]" user "$T/symbols" fibb "${run[@]}"
bb list "$T/stripped" '*'
is "$status $(grep -c ' 0x' "$T/out" | grep -vx 0 | wc -l)" '0 1' 'a stripped program has functions by address, as its message says'

# ---- processes ----
sleep 0 &
gone=$!
wait $gone
refused 'a process that is not there' "no such process: $gone" user "$T/fib" fib -p $gone
refused 'a thread that is not there' "no such thread: $gone" user "$T/fib" fib --tid $gone
sleep 1000 &
sleeper=$!
at_end "{ kill $sleeper; wait $sleeper; } 2>/dev/null"
bb user libnothing.so fib -p $sleeper
exits 1 'an object that the process has not mapped is refused'
cp /sys/kernel/btf/vmlinux "$T/btf" # truncated, it is still BTF at its beginning
truncate -s 100000 "$T/btf"
for file in fib empty script btf; do
	refused "-b with a file without kernel types ($file)" "$T/$file has no valid BTF: give the running kernel's vmlinux" \
		user "$T/fib" fib -b "$T/$file" "${run[@]}"
done
if command -v clang >/dev/null; then
	echo 'struct { int a; } b; int c(void) { return b.a; }' | clang -g -O1 -target bpf -x c -c - -o "$T/other.o"
	refused '-b with types that are not the running kernel'"'s" "with the types of $T/other.o: .*must be the running kernel's" \
		user "$T/fib" fib -b "$T/other.o" "${run[@]}"
else
	skip '-b with types that are not the running kernel'"'s" 'needs clang'
fi
rm "$T/btf"
refused 'a BTF file that is not there' "--btf: can.t open $T/btf" user "$T/fib" fib -b "$T/btf" "${run[@]}"

# ---- output ----
refused 'an output in a folder that is not there' "cannot write to $T/no/where: No such file" user "$T/fib" fib -o "$T/no/where" "${run[@]}"
refused 'a folder as output' "cannot write to $T: Is a directory" user "$T/fib" fib -o "$T" "${run[@]}"
"$BBTRACE" user "$T/fib" fib "${run[@]}" >&- 2>"$T/err"
is $? 1 'bbtrace whose stdout is closed is refused'
like "$T/err" '^bbtrace: stdout is closed; write to a file with -o' 'bbtrace whose stdout is closed says what to do'

# A full disk: the trace is not taken for whole.
full() {
	exits 1 "$1 is an error"
	like "$T/err" '^bbtrace: cannot write to .*: No space left on device' "$1: the message says that no space is left"
}
bb user "$T/fib" fib -o /dev/full "${run[@]}"
full 'a full device with -o'
timeout "$BB_TIMEOUT" "$BBTRACE" user "$T/fib" fib "${run[@]}" >/dev/full 2>"$T/err"
status=$?
full 'a full device as stdout'

# A file that may not grow further (SIGXFSZ): an error, and no death.
large() { # NAME
	is "$status" 1 "$1 is an error"
	like "$T/err" '^bbtrace: cannot write to .*: File too large; raise the limit, ulimit -f' "$1: the message says that the file is too large"
}
program million -O1
limited() { (ulimit -f 64 && exec timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" "$@" 2>"$T/err" </dev/null); }
limited user "$T/million" spin -F json -o "$T/large" -- "$T/million" >"$T/out"
status=$?
large 'a JSON file at its limit of size'
is "$(stat -c %s "$T/large") $(cat "$T/out")" '65536 0' 'a file is filled up to its limit, and CMD runs to its end'
like "$T/err" '^bbtrace: 1 function, .* events, ' "a trace that reached its file's limit has a summary"
limited user "$T/million" spin -F json -- "$T/million" >"$T/large"
status=$?
large 'a trace on stdout at its limit of size'
limited user "$T/million" spin -o "$T/large" -- "$T/million" >"$T/out"
status=$?
large 'a trace file at its limit of size'
like "$T/err" '^bbtrace: 1 function, .* events, ' 'a trace file that reached its limit has a summary'
bb user "$T/million" spin -o "$T/recorded" -- "$T/million"
limited report "$T/recorded" -F json >"$T/large"
status=$?
large 'a report at its limit of size'
limited user "$T/million" spin -o /dev/null -- grep SigIgn /proc/self/status >"$T/out"
is "$((0x$(sed 's/.*\t//' "$T/out") >> 24 & 1))" 0 'CMD does not ignore SIGXFSZ'

mkdir "$T/tiny"
if mount -t tmpfs -o size=64k none "$T/tiny" 2>/dev/null; then
	at_end "umount $T/tiny"
	bb user "$T/million" spin -f -F json -o "$T/tiny/trace" -- sh -c "'$T/million'; sleep 1; echo end"
	full 'a full disk'
	is "$(xargs <"$T/out")" '0 end' 'where the disk is full CMD runs to its end, and is waited for'
else
	skip 'a full disk' 'no tmpfs can be mounted'
fi
done_testing
