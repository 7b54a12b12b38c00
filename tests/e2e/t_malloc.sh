#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The README's first example, malloc of libc in ls: every call is in the trace, also the first.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

mkdir "$T/dir"
touch "$T/dir/"{one,two,three}
ls "$T/dir" >"$T/plain"
libc=$(realpath "$(ldd /bin/ls | awk '/libc\.so/ { print $3 }')")

bb user libc.so.6 malloc -F json -o "$T/json" -- ls "$T/dir"
exits 0 'malloc of libc is traced in ls'
same "$T/out" "$T/plain" 'traced, ls prints what it always does'
entries=$(entries malloc)
isnt "$entries" 0 'calls of malloc are shown'
is "$(returns malloc)" "$entries" 'each call of malloc returns'
is "$(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "ret"')" "$entries" 'each return of malloc stands behind a ret'
isnt "$(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "jcc" && $e->{taken}')" 0 'malloc has branches that were taken'
isnt "$(json "$T/json" '$e->{event} eq "branch" && $e->{kind} eq "jcc" && !$e->{taken}')" 0 'malloc has branches that were not taken'
is "$(json "$T/json" '$e->{event} =~ /^(entry|branch|return)$/ && $e->{object} ne "'"$libc"'"')" 0 'all events of malloc are in libc'
is "$(json_lines "$T/json" '$e->{event}' | head -1)" entry 'the first event of a trace is an entry'
is "$(summary lost) $(summary unmatched)" '0 0' 'nothing of malloc is lost or unmatched'

# What gdb counts, from the moment on when libc is mapped.
count_by_gdb() {
	local address
	address=0x$(nm -D "$libc" | awk '$3 ~ /^malloc(@|$)/ { print $1 }')

	cat >"$T/gdb" <<-END
		set confirm off
		set env LINES
		set env COLUMNS
		catch load libc
		run
		delete
		python
		base = [int(l.split("-")[0], 16) for l in open("/proc/%d/maps" % gdb.selected_inferior().pid) if "$libc" in l][0]
		gdb.execute("break *%#x" % (base + $address))
		end
		ignore 2 1000000
		continue
		info breakpoints
	END
	env -u LINES -u COLUMNS gdb -nx -batch -iex 'set debuginfod enabled off' -x "$T/gdb" --args ls "$T/dir" 2>&1 |
		sed -n 's/.*already hit \([0-9]*\) time.*/\1/p'
}
if command -v gdb >/dev/null; then
	is "$entries" "$(count_by_gdb)" 'gdb counts as many calls of malloc'
else
	skip 'as many as gdb counts' 'no gdb'
fi

# ---- as text ----
bb user libc.so.6 malloc --no-fold --no-src -- ls "$T/dir"
exits 0 'malloc is traced as text'
like "$T/out" '^ +[0-9]+\.[0-9]{9} ls-[0-9]+ +malloc\([a-z]+=[0-9]+\)  first entry$' 'text shows an entry with its arguments'
like "$T/out" '^ +[0-9]+\.[0-9]{9} ls-[0-9]+ +malloc\+0x[0-9a-f]+  j[a-z]+  taken -> malloc\+0x[0-9a-f]+$' 'text shows a branch that was taken'
like "$T/out" ' malloc\+0x[0-9a-f]+  j[a-z]+  not taken -> malloc\+0x[0-9a-f]+$' 'text shows a branch that was not taken'
like "$T/out" ' malloc\+0x[0-9a-f]+  ret  -> .*\[ls\]$' 'text shows a ret to another object'
like "$T/out" ' malloc returns 0x[0-9a-f]+  [0-9.]+(ns|us|ms|s)(, net [0-9.]+(ns|us|ms|s))?$' 'text shows a return with value and duration'
grep -vE '^ *[0-9]+\.[0-9]{9} ls-|^ +ls-' "$T/out" >"$T/rest"
same "$T/rest" "$T/plain" "what stdout has besides the trace is ls's own"
is "$(grep -c '  first entry$\|since last$' "$T/out")" "$entries" 'text shows the same calls as JSON'
done_testing
