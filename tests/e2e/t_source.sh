#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Source lines on every step, live, from trace files, in counts and of functions that were added while a trace ran: what
# addr2line -f -i says (tests/check/src.py). And FILE:LINE wherever a function is named.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:addr2line cmd:c++filt cmd:llvm-addr2line cmd:python3
. "$(dirname "$0")/ctl.sh"

# as_addr2line FILE OBJECT LEAST NAME
as_addr2line() {
	tests/check/src.py "$1" "$2" "$3" >"$T/said" 2>&1
	ok $? "$4: $(tail -1 "$T/said")" || diag "$(cat "$T/said" "$T/err")"
}

# ---- live, recorded, counted ----
for program in 'switch 10' 'carried 25 -lpthread'; do
	read -r name least flag <<<"$program"
	program "$name" ${flag:+"$flag"}
	bb user "$T/$name" '*' -F json -o "$T/json" -- "$T/$name"
	as_addr2line "$T/json" "$T/$name" "$least" "$name, live"
	is "$(json "$T/json" '$e->{event} =~ /^(entry|branch|return)$/ && $e->{symbol} =~ /^(main|pick|thrower|catcher)$/ && !$e->{src}')" 0 \
		"$name: each entry, branch and return of a function with debug information has src"
	bb user "$T/$name" '*' -o "$T/trace" -- "$T/$name"
	bb report "$T/trace" -F json -o "$T/report"
	as_addr2line "$T/report" "$T/$name" "$least" "$name, from a trace file"
	bb user "$T/$name" '*' -c --record "$T/counts" -F json -o "$T/json" -- "$T/$name"
	as_addr2line "$T/json" "$T/$name" "$least" "$name, counts"
	bb merge "$T/counts" "$T/counts" -o "$T/merged"
	bb report "$T/merged" -F json -o "$T/report"
	as_addr2line "$T/report" "$T/$name" "$least" "$name, merged counts"
	bb report "$T/trace" "$T/trace" -F json -o "$T/report"
	as_addr2line "$T/report" "$T/$name" "$least" "$name, two trace files"
done
bb user "$T/carried" '*' --no-src -o "$T/trace" -- "$T/carried"
bb report "$T/trace" -F json -o "$T/report"
is "$status $(grep -c '"src"' "$T/report")" '0 0' '--no-src: a trace file has no source lines'

# ---- functions by line ----
cat >"$T/half.h" <<'END'
static inline __attribute__((always_inline)) int half(int n)
{
	if (n & 1)
		__asm__ volatile("nop" ::: "memory");
	return n / 2;
}
END
source_program lines c -O2 -I"$T" <<'END'
#include "half.h"
__attribute__((noipa)) int one(int n)
{
	return half(n) + 1;
}
__attribute__((noipa)) int two(int n)
{
	return n > 3 ? half(n + 1) : n;
}
__attribute__((noipa)) int three(int n)
{
	return n > 5 ? n : -n;
}
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += one(i) + two(i) + three(i);
	return sum == 0;
}
END
functions() { json_lines "$T/json" '$e->{symbol}' | sort -u | xargs; }
listed() { json_lines "$T/out" '$e->{symbol}' | sort -u | xargs; }
# half.h:1, where a function begins that has only inlined copies, and half.h:3, a line of it
for line in half.h:1 half.h:3; do
	bb list "$T/lines" "$line" -F json
	is "$status $(listed)" '0 one two' "list $line"
	bb list "$T/lines" --sites "$line" -F json
	is "$status $(listed)" '0 one two' "list --sites $line"
	bb list "$T/lines" one two three --exclude "$line" -F json
	is "$status $(listed)" '0 three' "list --exclude $line"
	bb user "$T/lines" "$line" -F json -o "$T/json" -- "$T/lines"
	is "$status $(functions)" '0 one two' "user $line"
	bb user "$T/lines:$line" -F json -o "$T/json" -- "$T/lines"
	is "$status $(functions)" '0 one two' "user OBJECT:$line"
	bb trace "user:$T/lines:$line" -F json -o "$T/json" -- "$T/lines"
	is "$status $(functions)" '0 one two' "trace user:OBJECT:$line"
	bb user "$T/lines" one two three --exclude "$line" -F json -o "$T/json" -- "$T/lines"
	is "$status $(functions)" '0 three' "user --exclude $line"
	bb user "$T/lines" one two three -o "$T/trace" -- "$T/lines"
	bb report "$T/trace" "$line" -F json -o "$T/json"
	is "$status $(functions)" '0 one two' "report $line"
	bb report "$T/trace" --exclude "$line" -F json -o "$T/json"
	is "$status $(functions)" '0 three' "report --exclude $line"
done
bb report "$T/trace" lines.c:10 -F json -o "$T/json"
is "$status $(functions)" '0 three' 'report lines.c:10, where a function begins'
bb report "$T/trace" lines.c:99 -F json -o "$T/json"
is "$status" 1 'report of a line that no function has is refused'

# ---- of a running trace ----
mechanisms
if ! has_mechanism uprobe_multi; then
	skip 'functions that are added' 'this kernel has no uprobe_multi'
	done_testing
fi
# steps.c: work() is at line 3, other() at 12; line 19 is of main()
start
trace by_line -F json
steps 1
ctl "$trace" add steps.c:12
exits 0 'add FILE:LINE'
steps 1
ctl "$trace" remove steps.c:3
exits 0 'remove FILE:LINE'
steps 1
# a line within a function: its branches, and no more
ctl "$trace" add steps.c:19
exits 0 'add a line of a function'
steps 1
ctl "$trace" remove steps.c:19
exits 0 'and remove it'
steps 1
ctl "$trace" add steps.c:2
like "$T/err" 'steps\.c' 'add of a line without code is refused'
ends 'by_line'
entries() { json "$T/by_line.out" "\$e->{event} eq 'entry' && \$e->{symbol} eq '$1'"; }
is "$(entries work) $(entries other)" '2 4' 'functions are added and removed by line'
is "$(json_lines "$T/by_line.out" '$e->{symbol} eq "main" && "$e->{event}:$e->{src}[0]{line}"' | sort -u | xargs)" branch:19 \
	'of a line its branches are added'
as_addr2line "$T/by_line.out" "$T/steps" 5 'functions that were added'
done_testing
