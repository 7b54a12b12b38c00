#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Applies the mutants of tests/mutants/list one after the other, in a copy of the tree under the build folder: a unit
# test must fail for each. A mutant that doesn't compile or link is an error, not a survivor. ONLY="words": only mutants
# whose line contains them. B: the build folder. TAP.
#
#   mutants.sh stale   builds nothing, and prints the mutants that can't be applied: part of `make check`
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
B=${B:-build}
tree=$B/mutants
# A mutant may never end, or take all memory. AddressSanitizer can't run under a limit of memory, so it stays out.
seconds=60 # of a processor
kilobytes=2000000
sanitizers='-O1 -g -fsanitize=undefined -fno-sanitize-recover=undefined'

# What an earlier run broke is compiled again: the copied source is older than the broken object.
copy_tree() {
	mkdir -p "$tree/tests" && cp -a Makefile src bpf vmlinux debian scripts "$tree/" && cp -a tests/unit "$tree/tests/" &&
		cut -d: -f1 tests/mutants/list | grep '^src/' | sort -u | (cd "$tree" && xargs touch)
}

build() { # TEST...
	make -C "$tree" B=build SAN="$sanitizers" CAPSTONE= JUMBO= -j2 "${@/#/build/unit/test_}" >"$T/build.log" 2>&1
}

run() (
	ulimit -v "$kilobytes" -t "$seconds" -c 0
	exec timeout $((seconds * 10)) "$tree/build/unit/test_$1" >"$T/out" 2>&1
)

# The whole file with one anchor replaced, to stdout; false: the anchor isn't there just once.
broken() {
	local text without

	text=$(cat "$1" && echo x)
	text=${text%x}
	without=${text//"$2"/}
	((${#text} - ${#without} == ${#2})) || return
	printf '%s' "${text/"$2"/"$3"}"
}

# What became of a mutant: "killed by", "survives", "can't be built".
fate() { # TESTS
	local test

	for test in $1; do
		build "$test" || {
			echo "can't be built"
			return
		}
		run "$test" || {
			echo "killed by test_$test"
			return
		}
	done
	echo "survives"
}

try() { # FILE TESTS WHAT FROM TO
	local fate

	broken "$1" "$4" "$5" >"$T/broken" || {
		ok 1 "$1: $3: its anchor stands there once"
		return
	}
	cp "$T/broken" "$tree/$1"
	fate=$(fate "$2")
	cp "$1" "$tree/$1"
	[[ $fate == killed* ]]
	ok $? "$1: $3: $fate" || [[ $fate == survives ]] || diag "$(tail -n 5 "$T/build.log")"
}

# Without a mutant all of them pass.
sound() {
	local test all

	mapfile -t all < <(grep '^src/' tests/mutants/list | grep -F -e "${ONLY:-}" | cut -d: -f2 | tr -s ' ' '\n' |
		grep . | sort -u)
	build "${all[@]}"
	ok $? "the unit tests are built" || diag "$(tail -n 5 "$T/build.log")"
	for test in "${all[@]}"; do
		run "$test"
		ok $? "unbroken, test_$test passes" || diag "$(grep -A 3 '^not ok' "$T/out" | tail -n 12)"
	done
}

lines() { printf '%s' "${1//'\n'/$'\n'}"; }

# each COMMAND: runs it with FILE TESTS WHAT FROM TO of each mutant.
each() {
	local line file tests what from

	while IFS= read -r line; do
		case $line in
		'' | '#'*) ;;
		-*) from=$(lines "${line#-}") ;;
		+*) [[ "$file:$tests:$what" != *${ONLY:-}* ]] || "$1" "$file" "$tests" "$what" "$from" "$(lines "${line#+}")" ;;
		*)
			IFS=: read -r file tests what <<<"$line"
			what=${what# }
			;;
		esac
	done <tests/mutants/list
}

stale() { # FILE TESTS WHAT FROM TO
	local test

	broken "$1" "$4" "$5" >/dev/null 2>&1 || echo "$1: $3: its anchor isn't there once"
	for test in $2; do
		[[ -e tests/unit/test_$test.c ]] || echo "$1: $3: there is no test_$test"
	done
}

if [[ ${1:-} == stale ]]; then
	each stale
	# shellcheck disable=SC2034 # tap.sh reads it
	tap_finished=1
	exit
fi
copy_tree || exit 1
sound
each try
done_testing
