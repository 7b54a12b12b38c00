#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Applies the mutants of tests/mutants/list one after the other, in a copy of the tree under the build folder: a unit
# test must fail for each. ONLY="words": only mutants whose line contains them. B: the build folder. TAP.
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
B=${B:-build}
tree=$B/mutants
limit=60 # seconds for a test: a mutant may never end, or take all memory
export ASAN_OPTIONS=hard_rss_limit_mb=2000:detect_leaks=0

copy_tree() {
	mkdir -p "$tree/build" "$tree/tests" || return
	cp -a Makefile src bpf vmlinux "$tree/" && cp -a tests/unit "$tree/tests/" || return
	[[ -d $tree/build/san || ! -d $B/san ]] || cp -a "$B/san" "$tree/build/"
}

build() { make -C "$tree" B=build -j2 "build/unit/test_$1" >"$T/build.log" 2>&1; }

# The whole file with one anchor replaced, to stdout; false: the anchor isn't there just once.
broken() {
	local text without

	text=$(cat "$1" && echo x)
	text=${text%x}
	without=${text//"$2"/}
	((${#text} - ${#without} == ${#2})) || return
	printf '%s' "${text/"$2"/"$3"}"
}

# The first of the tests that fails: its name; none: nothing.
killer() {
	local test

	for test in $1; do
		build "$test" || {
			echo "does not build"
			return
		}
		timeout "$limit" "$tree/build/unit/test_$test" >"$T/out" 2>&1 || {
			echo "test_$test"
			return
		}
	done
}

try() { # FILE TESTS WHAT FROM TO
	local by

	broken "$1" "$4" "$5" >"$T/broken" || {
		ok 1 "$1: $3: its anchor stands there once"
		return
	}
	cp "$T/broken" "$tree/$1"
	by=$(killer "$2")
	cp "$1" "$tree/$1"
	[[ $by == test_* ]]
	ok $? "$1: $3${by:+: killed by $by}" || tail -n 5 "$T/build.log" | sed 's/^/# /'
}

# Without a mutant all of them pass.
sound() {
	local test

	for test in $(grep -v '^[-+#]' tests/mutants/list | cut -d: -f2 | tr ' ' '\n' | sort -u); do
		build "$test" && timeout "$limit" "$tree/build/unit/test_$test" >"$T/out" 2>&1
		ok $? "unbroken, test_$test passes" || tail -n 5 "$T/build.log" "$T/out" | sed 's/^/# /'
	done
}

copy_tree || exit 1
sound
while IFS= read -r line; do
	case $line in
	'' | '#'*) ;;
	-*) from=${line#-} ;;
	+*) [[ "$file $what" == *${ONLY:-}* ]] && try "$file" "$tests" "$what" "$from" "${line#+}" ;;
	*)
		IFS=: read -r file tests what <<<"$line"
		what=${what# }
		;;
	esac
done <tests/mutants/list
done_testing
