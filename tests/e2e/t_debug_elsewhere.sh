#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debug information that lies or is elsewhere: of functions that the linker has dropped or folded; in .dwo files and packages
# of them; in the supplement of dwz. tests/check/t_linked.sh has the coverage of such programs.
# shellcheck disable=SC2154 # lib.sh sets it
. "$(dirname "$0")/lib.sh"
needs root uprobes
LINKED=$ROOT/tests/check/linked

# built COMPILER COMPILE LINK: the C program as $T/p/prog, from one object file for each source
built() {
	local compile link
	read -ra compile <<<"$2"
	read -ra link <<<"$3"
	rm -rf "$T/p" && mkdir "$T/p"
	command -v "$1" >/dev/null && (cd "$T/p" && for unit in main lib; do
		"$1" -w -g "${compile[@]}" -c "$LINKED/$unit.c" -o $unit.o || exit 1
	done && "$1" main.o lib.o "${link[@]}" -o prog) >"$T/cc" 2>&1
}

# ---- functions that the program doesn't have ----

built gcc '-O1 -ffunction-sections' -Wl,--gc-sections || skip_all 'needs gcc'
bb user "$T/p/prog" '*' -T none -- "$T/p/prog"
exits 0 'a program with dropped functions is traced'
like "$T/out" 'check.*main\.c:' 'lines of the functions that are there'
unlike "$T/out" 'lib\.c:(1[0-9]|3[0-9])' 'no line of a function that the linker has dropped'
bb list "$T/p/prog" lib.c:16
isnt "$status" 0 'a line of a dropped function has no code'

for ld in gold lld; do
	if ! built gcc '-O1 -ffunction-sections' "-fuse-ld=$ld -Wl,--icf=all" || [[ $(symbol "$T/p/prog" alpha) != "$(symbol "$T/p/prog" zeta)" ]]; then
		skip "$ld folds" "it can't"
		continue
	fi
	for name in zeta:10:13 alpha:17:20; do
		IFS=: read -r name first last <<<"$name"
		bb user "$T/p/prog" "$name" -T none --no-fold -- "$T/p/prog"
		is "$(grep "$name" "$T/out" | grep -o 'main\.c:[0-9]*' | cut -d: -f2 | awk -v a="$first" -v b="$last" '{ n++; bad += $1 < a || $1 > b } END { print (n > 0), bad + 0 }')" '1 0' \
			"$ld: of folded functions, $name has its own lines"
		other=$([[ $name == zeta ]] && echo alpha || echo zeta)
		like "$T/out" "$name\(.*folded with (own and 1 more|.*$other)" "$ld: $name says what it was folded with"
		bb user "$T/p/prog" "$name" -F json -o "$T/json" -- "$T/p/prog"
		like <(json_lines "$T/json" '$e->{event} eq "entry" && join " ", @{$e->{src}[0]{folded}}') "$other" "$ld: $name, JSON: the other names"
		is "$(json_lines "$T/json" '$e->{event} eq "branch" && $e->{src} && defined $e->{src}[0]{folded}' | grep -c 1)" 0 "$ld: $name: no branch has them"
	done
	bb user "$T/p/prog" main -T none -- "$T/p/prog"
	unlike "$T/out" 'folded with' "$ld: not of a function that has its own code"
done

# ---- split units ----

arguments() {
	bb user "$T/p/prog" used --args -e entry -T none --no-src --no-fold -- "$T/p/prog"
	grep -o 'used(.*)' "$T/out" | head -1 | sed 's/r=0x[0-9a-f]*/r=P/'
}
SHOWN='used(r=P, m=ON, why="because")'
for cc in gcc clang; do
	for version in 4 5; do
		for form in '-gsplit-dwarf' '-gsplit-dwarf -fdebug-types-section' '-gsplit-dwarf=single' package; do
			[[ $cc == gcc && $form == *single ]] && continue
			if ! built $cc "-O1 -gdwarf-$version ${form/package/-gsplit-dwarf}" ''; then
				skip "$cc, DWARF $version, $form" "can't be built"
				continue
			fi
			if [[ $form == package ]]; then
				(cd "$T/p" && llvm-dwp -e prog -o prog.dwp && rm ./*.dwo) >"$T/cc" 2>&1 || {
					skip "$cc, DWARF $version, package" 'needs llvm-dwp'
					continue
				}
			fi
			is "$(arguments)" "$SHOWN" "$cc, DWARF $version, $form: the arguments have their types"
			unlike "$T/err" 'split-dwarf' 'nothing is missing'
		done
	done
done

built gcc '-O1 -gsplit-dwarf -fdebug-prefix-map='"$T/p"'=.' ''
is "$(arguments)" "$SHOWN" 'files whose folder is relative are beside the program'
built gcc '-O1 -gsplit-dwarf' ''
mkdir "$T/p/other" && mv "$T/p/prog" "$T"/p/*.dwo "$T/p/other" && mv "$T/p/other" "$T/other"
mkdir -p "$T/p" && mv "$T/other/prog" "$T/p/prog" && mv "$T/other" "$T/p/moved" && cp "$T"/p/moved/*.dwo "$T/p"
is "$(arguments)" "$SHOWN" 'files that were moved with the program are found'

rm "$T/p/lib.dwo"
arguments >"$T/shown"
is "$(grep -c 'lib\.dwo' "$T/err")" 1 'a missing .dwo file is named, once'
like "$T/err" '1 of its 2 units' 'it is known how much is missing'
echo 'int other;' >"$T/other.c"
(cd "$T/p" && gcc -g -gsplit-dwarf -c "$T/other.c" -o lib.o)
arguments >"$T/shown"
is "$(grep -c 'lib\.dwo.*of another build\|of another build.*lib\.dwo' "$T/err")" 1 'a .dwo file of another build is not used, and is named'

# ---- the supplement of dwz ----

if command -v dwz >/dev/null && built gcc -O1 '' && cp "$T/p/prog" "$T/p/second" && (cd "$T/p" && dwz -m common.dbg prog second) 2>"$T/cc" &&
	readelf -SW "$T/p/prog" | grep -q gnu_debugaltlink; then
	is "$(arguments)" "$SHOWN" 'debug information that programs share is read'
	unlike "$T/err" 'common\.dbg' 'nothing is missing'
	rm "$T/p/common.dbg"
	arguments >"$T/shown"
	is "$(grep -c 'common\.dbg' "$T/err")" 1 'a missing supplement is named, once'
	strip -g "$T/p/prog"
	bb user "$T/p/prog" used -e entry -- "$T/p/prog"
	unlike "$T/err" 'common\.dbg' 'nor is it missed by a program that has no debug information'
else
	skip 'dwz' 'needs dwz'
fi
done_testing
