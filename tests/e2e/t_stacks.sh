#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -k --stack-size 0: frames are shown where frame pointers lead to them, and data that looks like a frame is not shown.
# Compared with gdb, which uses .eh_frame, and with Go's runtime; the stacks of Go are so by default.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes cmd:gdb

program frames -O1 -fno-omit-frame-pointer
run() { bb user "$T/$1" leaf -k --stack-size 0 -e entry -F json -o "$T/json" -- "$T/$1" "${@:2}"; }
stacks() { json_lines "$T/json" '$e->{event} eq "entry" && join " ", (map { $_->{symbol} } @{$e->{stack}}), $e->{stack_end} // "whole"'; }
# The names of each stack: whole, up to main.
by_gdb() {
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set disable-randomization on' -ex 'break *leaf' -ex run \
		-ex bt -ex continue -ex bt -ex continue -ex bt "$T/frames" 2>/dev/null </dev/null |
		sed -n 's/^#\([0-9]*\) .*\(in \| \)\([a-z]*\) (.*/\1 \3/p' |
		awk '$1 == 0 && NR > 1 { print line; line = "" } { line = line (line ? " " : "") $2 } END { print line }'
}
# Frames beyond the first caller.
followed() {
	is "$(sed -n '1,2p' "$T/stacks")" $'leaf inner spoiled no_frame_pointer\nleaf spoiled no_frame_pointer' \
		'-k cuts a stack where a frame pointer is missing'
	like "$T/stacks" "^$(sed -n 3p "$T/gdb") .*" '-k shows all frames where each has a frame pointer'
	run frames 100
	is "$(stacks | tail -n 1)" "leaf$(printf ' down%.0s' {1..63}) limit" '-k says that a stack with too many frames was cut'
	bb user "$T/frames" leaf -k --stack-size 0 -e entry -o "$T/trace" -- "$T/frames" 100
	bb report "$T/trace" -F json -o "$T/json"
	is "$(stacks | tail -n 1)" "leaf$(printf ' down%.0s' {1..63}) limit" 'report of a trace file says that a stack was cut'
	bb report "$T/trace"
	is "$(grep -cE '^ .*> -- (no frame pointer leads on|and more callers) --$' "$T/out")" 3 'text says that a stack was cut'
	cc -O1 -fno-omit-frame-pointer -DWHOLE -static -nostdlib -o "$T/whole" "$ROOT/tests/progs/frames.c" || exit 2
	run whole
	is "$(stacks)" 'leaf down down down down begin _start whole' 'a stack to its outermost frame is whole'
}

run frames
by_gdb >"$T/gdb"
stacks >"$T/stacks"
is "$(cat "$T/gdb")" "$(printf '%s\n' 'leaf inner spoiled outer main' 'leaf spoiled outer main' 'leaf down down down down main')" \
	'what gdb says by .eh_frame'
is "$(grep -c never "$T/stacks")" 0 '-k shows no frame that never was'
if [[ $(uname -m) == x86_64 ]]; then
	followed
else
	# what their rules say of a frame doesn't show where its frame pointer is set (src/arch: fp_at); the link register has the caller
	is "$(cat "$T/stacks")" "$(sed -E 's/^([^ ]+ [^ ]+) .*/\1 no_frame_pointer/' "$T/gdb")" '-k shows the caller, and says that no frame pointer leads on'
	skip '-k shows all frames where each has a frame pointer' "frame pointers of C programs aren't followed on $(uname -m)"
fi

# ---- Go ----
if command -v go >/dev/null; then
	cat >"$T/calls.go" <<-'END'
		package main

		import (
			"fmt"
			"runtime"
		)

		//go:noinline
		func leaf(n int) int { return n * 3 }

		//go:noinline
		func mid(n int) int {
			if n > 0 {
				return mid(n-1) + 1
			}
			pcs := make([]uintptr, 100)
			frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
			fmt.Print("main.leaf")
			for {
				f, more := frames.Next()
				fmt.Print(" ", f.Function)
				if !more {
					break
				}
			}
			fmt.Println()
			return leaf(n)
		}

		type named struct{}

		func (named) String() string { return fmt.Sprint(mid(2)) }

		func main() {
			c := make(chan int)
			go func() { c <- mid(3) }()
			<-c
			fmt.Println(named{})
		}
	END
	GOCACHE=$T/go.cache CGO_ENABLED=0 GO111MODULE=off go build -gcflags=all=-l -o "$T/calls" "$T/calls.go" || exit 2
	bb user "$T/calls" main.leaf -k -e entry -F json -o "$T/json" -- "$T/calls"
	# what the compiler wraps around a method is a frame that Go does not tell
	is "$(stacks | sed 's/[.]abi0//g; s/ main\.(\*named)\.String//; s/ whole$//')" "$(grep '^main.leaf' "$T/out")" \
		"a program of Go: what its runtime says, and whole"
	bb user "$T/calls" main.leaf -k --stack-size 8K -e entry -F json -o "$T/json" -- "$T/calls"
	is "$(stacks | sed 's/[.]abi0//g; s/ main\.(\*named)\.String//; s/ whole$//')" "$(grep '^main.leaf' "$T/out")" \
		"by its unwind tables, too"
else
	skip 'a program of Go' 'no go'
fi
done_testing
