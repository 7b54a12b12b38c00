#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# list --points writes what user @POINTS reads: the same branches.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program ladder -O1
program switch -O2

branches() { json_lines "$T/json" '$e->{event} eq "branch" && join " ", @$e{qw(object vaddr kind taken)}, $e->{to}{vaddr}'; }

for case in 'ladder classify' 'switch pick'; do
	read -r prog func <<<"$case"
	bb user "$T/$prog" "$func" -F json -o "$T/json" -- "$T/$prog"
	branches >"$T/by_name"
	bb list --points "$T/$prog" "$func"
	exits 0 "$prog: list --points"
	cp "$T/out" "$T/points"
	is "$(head -1 "$T/points")" "# objname=$T/$prog" 'names the object'
	bb list --sites "$T/$prog" "$func" -F json
	is "$(sed 1d "$T/points" | wc -l)" "$(json "$T/out" 1)" 'a line for each site'
	bb user "@$T/points" -F json -o "$T/json" -- "$T/$prog"
	exits 0 "$prog: user @POINTS"
	branches >"$T/by_points"
	same "$T/by_points" "$T/by_name" 'the same branches'
	is "$(json "$T/json" '$e->{event} =~ /^(entry|return)$/')" 0 'no entry, no return'
	bb user "$T/$prog" "@$T/points" -F json -o "$T/json" -- "$T/$prog"
	branches >"$T/by_points"
	same "$T/by_points" "$T/by_name" 'the same with the object named'
done

# ---- one point of many ----
bb list --points "$T/ladder" classify
sed -n '1p;2p' "$T/out" >"$T/points"
bb user "@$T/points" -F json -o "$T/json" -- "$T/ladder"
is "$status $(branches | cut -d' ' -f2 | sort -u)" "0 $(sed -n '2s/+.*//p' "$T/points")" 'one point: its branch'

# ---- two objects in a file; comments of one's own ----
bb list --points "$T/ladder" classify
cp "$T/out" "$T/points"
bb list --points "$T/switch" pick
cat "$T/out" >>"$T/points"
bb user "@$T/points" -F json -o "$T/json" -- "$T/switch"
exits 0 'points of two objects'
is "$(branches | cut -d' ' -f1 | sort -u)" "$T/switch" 'what runs is traced'

# ---- wrong ones ----
bb user "@$T/nothing" -- "$T/ladder"
exits 1 'no such points file'
like "$T/err" "^bbtrace: .*$T/nothing" 'is named'
printf '# objname=%s\nhello\n' "$T/ladder" >"$T/points"
bb user "@$T/points" -- "$T/ladder"
exits 1 'a line that is no point'
like "$T/err" "^bbtrace: .*$T/points.*2" 'is named with its number'
printf '0x1139+0x2\n' >"$T/points"
bb user "@$T/points" -- "$T/ladder"
exits 1 'a point without an object'
first=$(symbol "$T/ladder" classify)
printf '# objname=%s\n0x%x+0x2\n' "$T/ladder" $((first + 1)) >"$T/points"
bb user "@$T/points" -- "$T/ladder"
exits 1 'a point inside an instruction'
is "$(cat "$T/out")" '' 'is refused before anything runs'
bb user @ -- "$T/ladder"
exits 1 '@ without a file'
done_testing
