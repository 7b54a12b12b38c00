#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Objects whose debug information crashes libdw or unpacks endlessly: a note says so, and the trace continues without
# it.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:python3 cmd:objcopy

HOSTILE=$E2E/hostile_elf.py
source_program work c -gdwarf-5 -gz=none -Wl,--build-id=none <<'END'
#include <stdlib.h>
__attribute__((noinline)) int work(int n) { return n > 1 ? rand() : n; }
__attribute__((noinline)) static int inner(int n) { return n > 2 ? rand() : n; }
int main(int argc, char **argv) { return (work(argc) + inner(argc)) & 0; }
END

# peak COMMAND...: runs it; its memory and its children's, in MiB, in $peak; its status in $status.
peak() {
	python3 - "$@" >"$T/peak" 2>"$T/err" <<'END'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
END
	read -r status peak <"$T/peak"
}
# goes_on WHAT FUNC FILE [COMMAND]: both ways that take source lines trace it, in bounded memory.
goes_on() {
	local how

	for how in '-o' '-F annotate -o'; do
		# shellcheck disable=SC2086 # options
		peak timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$3" "$2" $how "$T/trace" -- "${4:-$3}"
		exits 0 "$1, $how: the program is traced"
		((peak < 1400))
		ok $? "$1, $how: memory stays bounded" || diag "$peak MiB"
	done
}

"$HOSTILE" around "$ROOT/tests/fuzz/corpus/lines/libdw-crash" "$T/crash"
goes_on 'what libdw has crashed on' f "$T/crash" true

# the reader ends
objcopy --compress-debug-sections=zlib "$T/work" "$T/ends"
read -r offset size < <(readelf -SW "$T/ends" | sed -n 's/.*\.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\).*/0x\1 0x\2/p')
tr '\0' '\377' </dev/zero | dd of="$T/ends" bs=1 seek=$((offset + 24)) count=$((size - 24)) conv=notrunc 2>"$T/dd"
goes_on 'what ends the reader' work "$T/ends" "$T/work"
like "$T/err" '/ends: its debug information can.t be used .*: continuing without its source lines' 'debug information that ends its reader is named, with what is missing'
is "$(grep -c 'debug information' "$T/err")" 1 'debug information that ends its reader is named once'

"$HOSTILE" lines "$T/work" "$T/lines"
chmod +x "$T/lines"
goes_on '64 million rows in 64 KiB' work "$T/lines"
like "$T/err" '/lines: .*debug information .*: continuing without' 'debug information with too many rows is named, with what is missing'
is "$(summary events)" 3 'with too many rows of lines all is counted: the entry, two branches' || diag "$(cat "$T/err")"

readelf -SW "$T/work" | grep -o '\.debug_[a-z_]*' | sort -u >"$T/sections"
while read -r section; do
	"$HOSTILE" zeros "$T/work" "$T/zeros" "$section"
	chmod +x "$T/zeros"
	peak timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$T/zeros" work -o "$T/trace" -- "$T/zeros"
	((status == 0 && peak < 1400))
	ok $? "$section of 4 GiB: the program is traced" || diag "status $status, $peak MiB; $(cat "$T/err")"
	[[ $section != .debug_info ]] || like "$T/err" 'debug information .*: continuing without' "$section of 4 GiB: a note says that debug information is missing"
	peak timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" list "$T/zeros" work.c:2
	((status < 2 && peak < 1400))
	ok $? "$section of 4 GiB: FILE:LINE is answered in time and memory" || diag "status $status, $peak MiB; $(cat "$T/err")"
done <"$T/sections"
is "$(($(wc -l <"$T/sections") >= 6))" 1 'the program has debug sections to inflate'

# ---- .gnu_debugdata ----
if ! xz -0 </dev/null >/dev/null 2>&1; then
	skip '.gnu_debugdata of 1.5 GB is not unpacked' 'there is no xz that packs'
	done_testing
fi
objcopy --only-keep-debug "$T/work" "$T/symbols" && strip -o "$T/stripped" "$T/work"
xz -k "$T/symbols" && objcopy --add-section .gnu_debugdata="$T/symbols.xz" "$T/stripped" "$T/good"
bb list "$T/good" inner
exits 0 'symbols of an honest .gnu_debugdata are read'
head -c 150M /dev/zero | xz -0 >"$T/zeros.xz"
{ for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$T/zeros.xz"; done && xz -0 <"$T/symbols"; } >"$T/bomb.xz"
objcopy --add-section .gnu_debugdata="$T/bomb.xz" "$T/stripped" "$T/bomb"
peak timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" list "$T/bomb"
exits 0 '.gnu_debugdata of eleven streams, 1.5 GB: the program is traced'
((peak < 1400))
ok $? '.gnu_debugdata of 1.5 GB: memory stays bounded' || diag "$peak MiB"
like "$T/err" '/bomb: its debug information .*: continuing without the symbols' '.gnu_debugdata of 1.5 GB: a note says that symbols are missing'
done_testing
