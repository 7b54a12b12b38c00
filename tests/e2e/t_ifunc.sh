#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The name of an indirect function (IFUNC) means all its implementations; the one that runs is traced.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

source_program lengths c -O0 -fno-builtin <<'END'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	size_t n = 0;
	for (int i = 0; i < 100; i++)
		n += strlen(argv[0]);
	return n == 0;
}
END
run() { bb user libc.so.6 strlen -F json -o "$T/json" "$@"; }

bb list libc.so.6 strlen -F json
exits 0 'list of an IFUNC ends well'
implementations=$(json "$T/out" 1)
isnt "$implementations" 0 'list of an IFUNC shows an implementation'
isnt "$implementations" 1 'list of an IFUNC shows more than one implementation'
names=$(json_lines "$T/out" '$e->{symbol}')
is "$(json_lines "$T/out" '$e->{vaddr}' | sort -u | wc -l)" "$implementations" 'list of an IFUNC shows each implementation once'
# libc's own table doesn't name them, that of its debug symbols does
id=$(readelf -n "$(json_lines "$T/out" '$e->{object}' | head -n 1)" | sed -n 's/.*Build ID: //p')
if [[ -e /usr/lib/debug/.build-id/${id::2}/${id:2}.debug ]]; then
	is "$(sort -u <<<"$names" | wc -l)" "$implementations" 'list of an IFUNC shows each implementation under a name of its own'
else
	is "$(sort -u <<<"$names")" strlen 'list of an IFUNC without symbols shows the implementations under the name that is known'
fi

run -- "$T/lengths"
exits 0 'an IFUNC is traced'
ran=$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{symbol}' | sort | uniq -c | awk '$1 >= 100')
is "$(wc -l <<<"$ran")" 1 'one implementation of a traced IFUNC runs a hundred times'
name=$(awk '{ print $2 }' <<<"$ran")
grep -qxF "$name" <<<"$names"
ok $? 'the implementation that runs is one that list shows'
is "$(returns "$name")" "$(entries "$name")" "each call of an IFUNC's implementation returns"

# ---- a program's own ----
program ifunc -O1
bb user "$T/ifunc" pick -F json -o "$T/json" -- "$T/ifunc"
exits 0 "a program's own IFUNC is traced"
is "$(json "$T/json" '$e->{event} eq "entry"')" 5 "each call of the implementation that a program's own IFUNC chose is shown"
done_testing
