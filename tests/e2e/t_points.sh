#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# list --points writes what user @POINTS reads: both give the same branches.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program ladder -O1
# what riscv64's crt1 has between them, load_gp, is in no function
[[ $(uname -m) != riscv64 ]] || together=-fno-reorder-functions
program switch -O2 ${together:-}

branches() { json_lines "$T/json" '$e->{event} eq "branch" && join " ", @$e{qw(object vaddr kind taken)}, $e->{to}{vaddr}'; }

for case in 'ladder classify' 'switch pick'; do
	read -r prog func <<<"$case"
	bb user "$T/$prog" "$func" -F json -o "$T/json" -- "$T/$prog"
	branches >"$T/by_name"
	bb list --points "$T/$prog" "$func"
	exits 0 "$prog: list --points ends well"
	cp "$T/out" "$T/points"
	is "$(head -1 "$T/points")" "# objname=$T/$prog" "$prog: list --points names the object"
	bb list --sites "$T/$prog" "$func" -F json
	is "$(sed 1d "$T/points" | wc -l)" "$(json "$T/out" 1)" "$prog: list --points has a line for each site"
	bb user "@$T/points" -F json -o "$T/json" -- "$T/$prog"
	exits 0 "$prog: user @POINTS ends well"
	branches >"$T/by_points"
	same "$T/by_points" "$T/by_name" "$prog: user @POINTS shows the branches that the function has by name"
	is "$(json "$T/json" '$e->{event} =~ /^(entry|return)$/')" 0 "$prog: user @POINTS shows no entry and no return"
	bb user "$T/$prog" "@$T/points" -F json -o "$T/json" -- "$T/$prog"
	branches >"$T/by_points"
	same "$T/by_points" "$T/by_name" "$prog: user OBJECT @POINTS shows the same branches"
done

# ---- one point of many ----
bb list --points "$T/ladder" classify
sed -n '1p;2p' "$T/out" >"$T/points"
bb user "@$T/points" -F json -o "$T/json" -- "$T/ladder"
is "$status $(branches | cut -d' ' -f2 | sort -u)" "0 $(sed -n '2s/+.*//p' "$T/points")" 'user @POINTS of one point shows its branch'

# ---- a selection is in its function: that names it, and offsets count from its start ----
# FUNC...: by each output that shows places.
selects() {
	local what=${1##*/} functions

	bb user "$T/switch" "$@" -F json -o "$T/json" -- "$T/switch"
	exits 0 "$what: the points are traced"
	in_place "$T/json" "$T/switch" "$what: symbols and offsets are what nm says"
	functions=$(summary functions)
	bb user "$T/switch" "$@" -c -F json -o "$T/json" -- "$T/switch"
	in_place "$T/json" "$T/switch" "$what: with -c symbols and offsets are what nm says"
	bb list --sites "$T/switch" "$@" -F json
	in_place "$T/out" "$T/switch" "$what: in list --sites symbols and offsets are what nm says"
	bb list "$T/switch" "$@" -F json
	in_place "$T/out" "$T/switch" "$what: in list symbols and offsets are what nm says"
	is "$functions" "$(json_lines "$T/out" '$e->{symbol}' | sort -u | wc -l)" "$what: functions are counted, not their ranges"
}
bb list --points "$T/switch" pick main
cp "$T/out" "$T/points"
selects "@$T/points"
main=$(symbol "$T/switch" main) pick=$(symbol "$T/switch" pick)
# from the one to the end of the other, with all that is between them
from=$((main < pick ? main : pick))
to=$((main < pick ? pick + $(symbol_size "$T/switch" pick) : main + $(symbol_size "$T/switch" main)))
selects "$(file_offset "$T/switch" "$from")+$(printf 0x%x $((to - from)))"
point=$(sed -n '4s/+.*//p' "$T/points")
selects "$(file_offset "$T/switch" "$point")+0x1"
line=$(addr2line -e "$T/switch" "$point" | sed 's/.*:\([0-9]*\).*/\1/')
selects "switch.c:$line"

# ---- each format that shows places; out of a file, too ----
read -r name offset < <(nm -S "$T/switch" | perl -ne 'BEGIN { $at = hex shift }
	printf "%s %x\n", $3, $at - hex $1 if /^(\w+) (\w+) [tT] (\S+)/ && $at >= hex $1 && $at < hex($1) + hex $2' "$point")
bb user "$T/switch" "@$T/points" -o "$T/trace" -- "$T/switch"
while read -r format pattern; do
	bb report "$T/trace" -F "$format"
	like "$T/out" "$pattern" "report -F $format shows $name+0x$offset"
done <<END
text $name\\+0x$offset  [a-z]+ 
annotate \\+0x$offset  +[a-z]+ 
html "$point","\\+0x$offset",
dot (^|[^a-z])$name\\+0x
callgrind ^$point $line 
END
bb report "$T/trace" -F json
in_place "$T/out" "$T/switch" 'report -F json: symbols and offsets are what nm says'
for func in "$name" "switch.c:$line"; do
	bb report "$T/trace" "$func" -F json
	is "$status $(json_lines "$T/out" '$e->{event} eq "branch" && $e->{symbol}' | sort -u)" "0 $name" "report $func shows the branches that were selected there"
done
bb user "$T/switch" "@$T/points" --exclude "switch.c:$line" -F json -o "$T/json" -- "$T/switch"
is "$status $(json "$T/json" "\$e->{event} eq 'branch' && \$e->{vaddr} eq '$point'")" '0 0' '--exclude FILE:LINE leaves a point out'

# ---- two objects in a file; comments of one's own ----
bb list --points "$T/ladder" classify
cp "$T/out" "$T/points"
bb list --points "$T/switch" pick
cat "$T/out" >>"$T/points"
bb user "@$T/points" -F json -o "$T/json" -- "$T/switch"
exits 0 'points of two objects are traced'
is "$(branches | cut -d' ' -f1 | sort -u)" "$T/switch" 'of points of two objects those of what runs are shown'

# ---- wrong ones ----
bb user "@$T/nothing" -- "$T/ladder"
exits 1 'a points file that is not there is refused'
like "$T/err" "^bbtrace: .*$T/nothing" 'a points file that is not there: the message names it'
printf '# objname=%s\nhello\n' "$T/ladder" >"$T/points"
bb user "@$T/points" -- "$T/ladder"
exits 1 'a line that is no point is refused'
like "$T/err" "^bbtrace: .*$T/points.*2" 'a line that is no point: the message has its number'
printf '0x1139+0x2\n' >"$T/points"
bb user "@$T/points" -- "$T/ladder"
exits 1 'a point without an object is refused'
first=$(symbol "$T/ladder" classify)
printf '# objname=%s\n0x%x+0x2\n' "$T/ladder" $((first + 1)) >"$T/points"
bb user "@$T/points" -- "$T/ladder"
exits 1 'a point inside an instruction is refused'
is "$(cat "$T/out")" '' 'a point inside an instruction is refused before anything runs'

# ---- places, as output shows them ----
bb user "$T/ladder" classify -F json -o "$T/json" -- "$T/ladder"
place=$(json_lines "$T/json" '$e->{event} eq "branch" && sprintf "%s+0x%x %s", @$e{qw(symbol offset vaddr)}' | tail -n 1)
bb user "$T/ladder" "${place% *}" -F json -o "$T/json" -- "$T/ladder"
is "$status $(branches | cut -d' ' -f2 | sort -u)" "0 ${place#* }" 'FUNC+0xOFF is the branch there'
bb user "$T/ladder:classify+0x0" -F json -o "$T/json" -- "$T/ladder"
isnt "$(json "$T/json" '$e->{event} eq "entry"')" 0 'FUNC+0x0 is the function'
bb user "$T/ladder" classify+0x100000 -- "$T/ladder"
like "$T/err" 'classify\+0x100000 is not in classify, which has 0x[0-9a-f]+ bytes' 'a place after the end is refused'

# ---- paths with colons ----
mkdir "$T/d:1"
cp "$T/ladder" "$T/d:1/lad:der"
for spec in "user $T/d:1/lad:der classify" "user $T/d:1/lad:der:classify" "trace user:$T/d:1/lad:der:classify"; do
	read -ra words <<<"$spec"
	bb "${words[@]}" -F json -o "$T/json" -- "$T/d:1/lad:der"
	isnt "$status $(json "$T/json" '$e->{event} eq "entry"')" '0 0' "${spec%% *} ${spec##*/}: a path with colons"
done

bb user @ -- "$T/ladder"
exits 1 '@ without a file is refused'
done_testing
