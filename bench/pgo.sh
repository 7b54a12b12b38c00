#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# pgo.sh [PROGRAM...]: what a program gains by a profile of bbtrace's, and by one of the compiler's own instrumentation:
# how many instructions fewer it executes than with -O2 alone, by callgrind, for other data than it was profiled with.
# For each of the COMPILERS a line; share: of the instrumented profile's gain. Root. The programs are Debian's sources, from
# `apt-get source` (deb-src in sources.list), kept in $B/pgo.
set -u
cd "$(dirname "$0")/.." || exit 1
B=$(realpath "${B:-build}")
BBTRACE=${BBTRACE:-$B/bbtrace}
DIR=$B/pgo
mkdir -p "$DIR"
for tool in apt-get dpkg-source strip valgrind; do
	command -v "$tool" >/dev/null || { echo "pgo.sh needs $tool" >&2 && exit 1; }
done

# source_of PACKAGE: its folder
source_of() {
	if ! compgen -G "$DIR/$1-*/" >/dev/null; then
		(cd "$DIR" && apt-get source --download-only "$1" && dpkg-source --no-check -x "$1"_*.dsc) >"$DIR/said" 2>&1
	fi
	compgen -G "$DIR/$1-*/" | head -n 1
}

# compile FILE COMPILER OPTION...: the program, in the folder of its source
compile() {
	local out=$1 options=()

	shift
	case $program in
	lua)
		echo '#define DEB_HOST_MULTIARCH "here"' >"$DIR/lua5.4-deb-multiarch.h"
		cd src && options=(-std=gnu99 -DLUA_USE_POSIX "-I$DIR")
		for file in *.c; do [[ $file == luac.c ]] || options+=("$file"); done
		options+=(-lm)
		;;
	bzip2) options=(-D_FILE_OFFSET_BITS=64 bzip2.c blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c) ;;
	zlib) options=(-DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE=1 -I. ./*.c test/minigzip.c) ;;
	expat) cd expat && options=(-DXML_CONTEXT_BYTES=1024 -DXML_NS -DXML_DTD -DHAVE_GETRANDOM -DHAVE_MMAP -DHAVE_UNISTD_H
		-DBYTEORDER=1234 -Ilib lib/xml{parse,role,tok}.c xmlwf/{xmlwf,xmlfile,codepage,unixfilemap}.c) ;;
	esac
	"$@" -w -o "$out" "${options[@]}"
}

# work WHICH COMMAND...: has it do its work, with the data of training (1) or another (2)
work() {
	local data=$DIR/data.$1

	shift
	case $program in
	lua) "$@" "$data.lua" >/dev/null ;;
	bzip2) "$@" -c "$data" >"$DIR/packed" && "$@" -dc "$DIR/packed" >/dev/null ;;
	zlib) "$@" <"$data" >"$DIR/packed" && "$@" -d <"$DIR/packed" >/dev/null ;;
	expat) "$@" "$data.xml" ;;
	esac
}

make_data() { # the sources of bbtrace, a program and a document of two sizes
	cat src/output/*/*.c >"$DIR/data.1"
	cat src/plan/*.c >"$DIR/data.2"
	for n in 1 2; do
		cat >"$DIR/data.$n.lua" <<-END
			local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
			local seed = $n
			local function random(m) seed = (seed * 1103515245 + 12345) % 2147483648; return seed % m end
			local P = {}
			P.__index, P.__add = P, function(a, b) return setmetatable({x = a.x + b.x}, P) end
			for round = 1, 2 * $n do
				local t, words, p = {}, {}, setmetatable({x = 0}, P)
				print(fib(18))
				for i = 1, 2000 do t[i] = random(100000) end
				table.sort(t, function(a, b) return a > b end)
				for w in ("the quick brown fox jumps over the lazy dog "):rep(20):gmatch("%a+") do words[w] = (words[w] or 0) + 1 end
				for k, v in pairs(words) do t[#t + 1] = k .. v end
				for i = 1, 2000 do p = p + setmetatable({x = i}, P) end
				print(p.x, #table.concat(t, " "), (("abc"):rep(200):gsub("b", "xx")))
				local next = coroutine.wrap(function() for i = 1, 500 do coroutine.yield(i) end end)
				for i = 1, 500 do p.x = p.x + next() end
			end
		END
		{
			echo '<root xmlns:a="urn:x">'
			for ((i = 0; i < 8000 * n; i++)); do
				echo "<a:item id=\"$i\" kind=\"k$((i * n % 7))\">text &amp; more of it, $((i * i * n))<!-- $i --><sub/></a:item>"
			done
			echo '</root>'
		} >"$DIR/data.$n.xml"
	done
}

# instructions FILE: valgrind doesn't read all debug information
instructions() {
	rm -f "$DIR"/callgrind.*
	strip -g -o "$1.bare" "$1" &&
		work 2 valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$DIR/callgrind.%p" "$1.bare"
	sed -n 's/.*Collected : //p' "$DIR"/callgrind.* | awk '{ n += $1 } END { print n + 0 }'
}

# Each build has the same name: gcc finds its counts by it.
by_clang() {
	local options=(clang -O2 -g -fdebug-info-for-profiling)

	build plain "${options[@]}" && build counting clang -O2 -fprofile-instr-generate || return
	rm -f "$DIR"/*.profraw
	LLVM_PROFILE_FILE="$DIR/%p.profraw" work 1 "$DIR/counting/$program"
	llvm-profdata merge "$DIR"/*.profraw -o "$DIR/counts" && build instrumented clang -O2 -fprofile-instr-use="$DIR/counts" &&
		trace autofdo && build sampled "${options[@]}" -fprofile-sample-use="$DIR/prof"
}

by_gcc() {
	build plain gcc -O2 -g && rm -rf "$DIR/instrumented" &&
		build instrumented gcc -O2 -fprofile-generate -fprofile-update=single && work 1 "$DIR/instrumented/$program" &&
		build instrumented gcc -O2 -fprofile-use && trace autofdo:gcc &&
		{ build sampled gcc -O2 -g -fauto-profile="$DIR/prof" ||
			build sampled gcc -O2 -g -fauto-profile="$DIR/prof" -fvect-cost-model=very-cheap; } # gcc 12 may crash
}

build() { # NAME COMPILER OPTION...
	mkdir -p "$DIR/$1" && (cd "$source" && compile "$DIR/$1/$program" "${@:2}")
}

trace() { # FORMAT
	"$BBTRACE" user -q "$DIR/plain/$program" '*' -f -F "$1" -o "$DIR/prof" -- bash -c "work 1 '$DIR/plain/$program'"
}

export DIR program
export -f work
make_data
printf '%-8s %-6s %13s %13s %9s %7s\n' program by instructions instrumented profiled share
(($#)) || set -- lua bzip2 zlib expat
for program; do
	case $program in lua) package=lua5.4 ;; *) package=$program ;; esac
	source=$(source_of "$package")
	[[ $source ]] || { echo "$program: no source: $(tail -n 1 "$DIR/said")" && continue; }
	for compiler in ${COMPILERS:-clang gcc}; do
		command -v "$compiler" >/dev/null || { echo "$program $compiler: not installed" && continue; }
		"by_$compiler" 2>"$DIR/said" || { echo "$program $compiler: $(tail -n 1 "$DIR/said")" && continue; }
		echo "$program $compiler $(instructions "$DIR/plain/$program") $(instructions "$DIR/instrumented/$program") $(
			instructions "$DIR/sampled/$program")"
	done
done | awk 'NF != 5 { print; next } { a = 1 - $4 / $3; b = 1 - $5 / $3
	printf "%-8s %-6s %13d %12.1f%% %8.1f%% %7s\n", $1, $2, $3, 100 * a, 100 * b, (a > 0 ? sprintf("%.2f", b / a) : "-") }'
