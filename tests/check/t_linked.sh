#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Coverage of programs whose debug information lies or is elsewhere: with functions that the linker has dropped or folded, with
# link-time optimization, with split debug information; by gcc and clang, ld.bfd, gold and lld. lcov has no function and no line
# that nm, gdb and objdump don't have, and none less (linked.py). MATRIX=whole: all of them.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
BBTRACE=${BBTRACE:-$BUILD/bbtrace}
SOURCES=$ROOT/tests/check/linked
for tool in nm objdump gdb c++filt python3 gcc; do
	command -v "$tool" >/dev/null || skip_all "needs $tool"
done

# name: options of the compiler: options of the linker: folded, if the linker folds
MODES=(
	'gc -O1:-O1 -ffunction-sections -fdata-sections:-Wl,--gc-sections'
	'gc -O0 4:-O0 -gdwarf-4 -ffunction-sections:-Wl,--gc-sections'
	'gc -O2 no-pie:-O2 -ffunction-sections -fno-pie:-Wl,--gc-sections -no-pie'
	'icf -O1:-O1 -ffunction-sections:-Wl,--icf=all -Wl,--gc-sections:folded'
	'icf -O2 4:-O2 -gdwarf-4 -ffunction-sections:-Wl,--icf=all:folded'
	'lto -O2:-O2 -flto:-O2 -flto -g:folded'
	'split 5 -O1:-O1 -gdwarf-5 -gsplit-dwarf -ffunction-sections:-Wl,--gc-sections'
	'split 4 -O2:-O2 -gdwarf-4 -gsplit-dwarf -ffunction-sections:-Wl,--gc-sections'
	'split types:-O1 -gdwarf-4 -gsplit-dwarf -fdebug-types-section:'
	'split icf:-O1 -gdwarf-5 -gsplit-dwarf -ffunction-sections:-Wl,--icf=all -Wl,--gc-sections:folded'
	'single:-O1 -gsplit-dwarf=single -ffunction-sections:-Wl,--gc-sections'
	'package:-O1 -gsplit-dwarf -ffunction-sections:-Wl,--gc-sections'
)

# build COMPILER LINKER KIND COMPILE LINK: the program $T/p/prog; by units, since each has a .dwo file
build() {
	local cc=$1 compile link
	read -ra compile <<<"$4"
	read -ra link <<<"$5"
	rm -rf "$T/p" && mkdir "$T/p" || return 1
	[[ $3 == c ]] || { cc=${cc/gcc/g++} && cc=${cc/clang/clang++}; }
	(cd "$T/p" && for unit in main lib; do
		"$cc" -w -g "${compile[@]}" -c "$SOURCES/$unit.$3" -o $unit.o || exit 1
	done && "$cc" -fuse-ld="$2" main.o lib.o "${link[@]}" -o prog) >"$T/cc" 2>&1
}

# pack: the package instead of the files. unpack: the files again, since gdb before 14 can't read all packages.
pack() {
	command -v llvm-dwp >/dev/null && (cd "$T/p" && llvm-dwp -e prog -o prog.dwp && mkdir dwo && mv ./*.dwo dwo) >>"$T/cc" 2>&1
}
unpack() { (cd "$T/p" && rm prog.dwp && mv dwo/*.dwo .); }

number=0 programs=0
for kind in c cc; do
	for mode in "${MODES[@]}"; do
		IFS=: read -r name compile link folded <<<"$mode"
		for cc in gcc clang; do
			for ld in bfd gold lld; do
				case "$name,$cc,$ld,$kind" in
				*icf*,bfd,* | single,gcc,* | lto*,gcc,lld,*) continue ;; # they can't
				split\ types,clang,*,cc) continue ;;			# gdb 13 doesn't find what was inlined
				esac
				in_part $((number++)) 3 12 || continue
				what="$kind: $name, $cc, $ld"
				if ! command -v "$cc" >/dev/null || ! build $cc $ld $kind "$compile" "$link" ||
					{ [[ $name == package ]] && ! pack; }; then
					skip "$what" "can't be built"
					continue
				fi
				(cd "$T/p" && timeout 60 "$BBTRACE" user ./prog '*' -F lcov -o l.info -- ./prog) >"$T/out" 2>"$T/err" </dev/null
				[[ $name != package ]] || unpack
				timeout 60 "$ROOT/tests/check/linked.py" "$T/p/prog" "$T/p/l.info" "$SOURCES" $folded >"$T/said" 2>&1
				ok $? "$what: $(tail -1 "$T/said")" || diag "$(cat "$T/said" "$T/err")"
				programs=$((programs + 1))
			done
		done
	done
done
ok $((programs < 8)) "$programs programs were compared"
done_testing
