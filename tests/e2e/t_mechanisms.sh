#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# All mechanisms show the same events, and so do all placements.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms

# What doesn't depend on the moment. The address space is the same each time.
trace() { # PROGRAM FUNC... OPTION...
	local prog=$1
	shift
	timeout "$BB_TIMEOUT" setarch -R "$BBTRACE" user "$T/$prog" "$@" -F json -o "$T/json" -- "$T/$prog" >"$T/out" 2>"$T/err" </dev/null
	status=$?
	json_lines "$T/json" '
		$e->{event} ne "summary" && join " ", map { $_ // "-" } @$e{qw(event symbol offset kind taken depth value)},
			$e->{to} && "$e->{to}{object} $e->{to}{symbol} $e->{to}{vaddr}",
			$e->{regs} && map { "$_=$e->{regs}{$_}" } sort keys %{$e->{regs} // {}}'
	echo "status $status, $(json_lines "$T/json" '$e->{event} eq "summary" && join " ", @$e{qw(events lost unmatched_returns unknown)}')"
	cat "$T/out"
}

program fib -O0
program ladder -O2
program switch -O2
program mutual -O1
program tail -O2
program longjmp -O1
program fptr -O1
for case in 'fib fib main' 'ladder classify' 'switch pick' 'mutual is_even is_odd ackermann' 'tail direct indirect chain down' \
	'longjmp dive calm attempt' 'fptr operands one two'; do
	has_mechanism uprobe_multi || break
	read -ra what <<<"$case"
	trace "${what[@]}" -r rdi --attach uprobe_multi >"$T/multi"
	trace "${what[@]}" -r rdi --attach uprobe_event >"$T/event"
	same "$T/event" "$T/multi" "$case: uprobe_event tells what uprobe_multi tells"
	is "$(head -1 "$T/multi" | cut -d' ' -f1)" entry "$case: both mechanisms tell something"
done

# tracefs takes blanks for the end of a path
mkdir "$T/a folder"
cp "$T/fib" "$T/a folder/of a name"
for attach in "${MECHANISMS[@]}"; do
	bb user "$T/a folder/of a name" fib --attach $attach -F json -o "$T/json" -- "$T/a folder/of a name"
	is "$status $(entries fib)" '3 177' "$attach: a program with blanks in its path is traced"
	is "$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{object}' | sort -u)" "$T/a folder/of a name" "$attach: an object with blanks in its path is shown by its name"
done

# two at once
for attach in "${MECHANISMS[@]}"; do
	"$BBTRACE" user "$T/fib" fib --attach $attach -F json -o "$T/other.json" -- "$T/fib" >"$T/other.out" 2>"$T/other.err" &
	bb user "$T/fib" fib main --attach $attach -F json -o "$T/json" -- "$T/fib"
	wait $!
	is "$? $status" '3 3' "$attach: two traces of one program at the same time end well"
	is "$(entries fib) $(json "$T/other.json" '$e->{event} eq "entry"')" '177 177' "$attach: of two traces at the same time each sees its own calls"
done
done_testing
