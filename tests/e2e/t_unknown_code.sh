#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Code that belongs to no known function is counted and named wherever all functions are asked for; packed programs say that
# they are.
# shellcheck disable=SC2154,SC2016 # lib.sh sets it; not for the shell
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:readelf
[[ $(uname -m) == x86_64 ]] || skip_all 'the program is x86-64'

# 14 bytes by the entry point, 6 by its call, 41 that nothing leads to; the rest is padding
cat >"$T/dead.S" <<'END'
	.globl _start
_start:
	call f
	mov $231, %eax
	xor %edi, %edi
	syscall
f:	test %edi, %edi
	je 1f
	nop
1:	ret
	.p2align 4
	.rept 20
	add %eax, %ecx
	.endr
	ret
END
cc -nostdlib -static -s -Wl,--build-id=none -o "$T/dead" "$T/dead.S"

NOTE="$T/dead: 41 of 73 bytes of \.text belong to no known function"
bb list "$T/dead"
like "$T/err" "$NOTE" 'list'
is "$(grep -c '^ *0x' "$T/out")" 2 'both functions that control flow leads to are listed'
bb user "$T/dead" '*' -- "$T/dead"
like "$T/err" "$NOTE" 'a trace of all functions'
like "$T/err" '41 of 73 bytes of code in no known function' 'the summary'
bb user "$T/dead" '*' -F json -- "$T/dead"
is "$(json_lines "$T/out" '$e->{event} eq "summary" && "$e->{unknown_code} $e->{all_code}"')" '41 73' 'JSON'
bb user "$T/dead" '*' -F lcov -o "$T/info" -- "$T/dead"
like "$T/err" "$NOTE" 'coverage'
bb user "$T/dead" 0x1000 -- "$T/dead"
unlike "$T/err" 'no known function' 'nothing of it where one function is asked for'

# ---- main ----
program loops -O1
for link in -pie -no-pie; do
	program loops -O1 "$link"
	address=$(printf '0x%x' "$(symbol "$T/loops" main)")
	strip -s "$T/loops"
	bb list "$T/loops" main -F json
	is "$(json_lines "$T/out" '$e->{vaddr}')" "$address" "$link: main is known without a symbol"
	bb user "$T/loops" main -e entry -- "$T/loops"
	is "$(grep -c 'first entry' "$T/out")" 1 "$link: and is traced"
done
bb user "$T/loops" mains -- "$T/loops"
isnt "$status" 0 'other names are not'
program loops -O1 -static
strip -s "$T/loops"
bb user "$T/loops" main -- "$T/loops"
isnt "$status" 0 'nor is it in a static program, whose start code calls what has no name'
like "$T/err" 'no name main' 'which the error says'

# ---- packed programs ----

# UPX leaves its mark behind the headers of the segments
segments=$(readelf -hW "$T/dead" | awk '/Number of program/ { print $5 }')
printf 'UPX!' | dd of="$T/dead" bs=1 seek=$((64 + segments * 56 + 4)) conv=notrunc status=none
bb user "$T/dead" main -- "$T/dead"
isnt "$status" 0 'packed: no function by name'
like "$T/err" 'is packed by UPX.*upx -d' 'the error says what to trace'
bb user "$T/dead" '*' -- "$T/dead"
exits 0 'packed: the code that unpacks it is traced'
like "$T/err" 'is packed by UPX' 'which is said'
bb list "$T/dead"
like "$T/err" 'is packed by UPX' 'list, too'
if command -v upx >/dev/null; then
	cp /bin/gzip "$T/gzip" && upx -q "$T/gzip" >"$T/upx" 2>&1
	bb user "$T/gzip" main -- "$T/gzip" --version
	like "$T/err" 'is packed by UPX' 'what UPX itself packed'
else
	skip 'what UPX itself packed' 'no upx'
fi
done_testing
