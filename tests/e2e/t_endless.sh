#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Files without an end, or without a beginning, where bbtrace takes a file: each is refused, with a message, in bounded
# memory. The limits in seconds only end hangs; what is read is counted in tests/unit/test_file_endless.c.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program fib -O1
mkfifo "$T/silent" "$T/fifo"
truncate -s 1T "$T/sparse"
# limited WORD...: within so much memory, and so many seconds
limited() {
	(
		ulimit -v 1500000
		exec timeout -k 5 60 "$BBTRACE" "$@"
	) >"$T/out" 2>"$T/err" </dev/null
	status=$?
}
# refused NAME WORD...: an error, and a message
refused() {
	local name=$1
	shift
	limited "$@"
	((status != 0 && status < 124)) && [[ -s $T/err ]]
	ok $? "$name is refused: $(head -n 1 "$T/err" | cut -c 1-100)" || diag "status $status"
}

for file in /dev/zero "$T/silent" "$T/sparse"; do
	refused "report ${file##*/}" report "$file"
	like "$T/err" 'not a trace file|nobody writes to' 'the message says what it is'
	refused "merge ${file##*/}" merge "$file" -o "$T/merged"
	refused "diff ${file##*/}" diff "$file" "$file"
	refused "points of ${file##*/}" list "$T/fib" "@$file"
	refused "core ${file##*/}" core "$file"
	refused "--profile ${file##*/}" user "$T/fib" fib --placement witness --profile "$file" -- "$T/fib" 3
done

yes bbtrace >"$T/fifo" &
writer=$!
refused 'a FIFO of text without an end' report "$T/fifo"
like "$T/err" 'not a trace file' 'the message says so'
wait "$writer" 2>/dev/null
{ head -c 30 "$BBTRACE" && yes bbtrace; } 2>/dev/null | timeout 60 "$BBTRACE" report - >"$T/out" 2>"$T/err"
is "${PIPESTATUS[1]}" 1 'text without an end on standard input is refused'

# a pipe that has a writer is read
"$BBTRACE" report <(sleep 0.2 && cat "$E2E/kernel_trace.txt") -F text >"$T/out" 2>"$T/err"
ok "$([[ -s $T/out ]]; echo $?)" 'a writer that begins later is waited for' || diag "$(head -3 "$T/err")"
cat "$E2E/kernel_trace.txt" >"$T/fifo" & # waits for the reader
"$BBTRACE" report "$T/fifo" -F text >"$T/again" 2>"$T/err"
same "$T/again" "$T/out" 'a FIFO that has a writer is read'
done_testing
