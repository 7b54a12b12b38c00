#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What handlers see of copied functions is what they see without tracing: all registers and flags at random instructions
# that fault, and where signals are sent; what becomes of it when they skip, continue elsewhere, leave or throw.
# SEEDS="1 2 3": other random programs; ALL=1: with more options.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:python3 cmd:gcc cmd:g++
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

few=('-c' '-F json') sent=('-c') # sent: of that there is much
if [[ ${ALL:-} ]]; then
	few+=('--last 9 -F json' '-F summary' '--why -F json')
	sent+=('--last 9' '-F summary')
fi

build() { # KIND SEED: to $T/KIND; what it prints is in $T/KIND.plain
	local level=-O$((1 + $2 % 3))

	"$ROOT/tests/check/faulting.py" "$2" "$1" >"$T/$1.c" &&
		case $1 in
		throw) g++ $level -w -fnon-call-exceptions -x c++ "$T/$1.c" -o "$T/$1" ;;
		*) gcc -O1 -w "$T/$1.c" -o "$T/$1" ;;
		esac && "$T/$1" >"$T/$1.plain"
}

check() { # KIND SEED OPTIONS...
	local kind=$1 seed=$2 options
	shift 2

	if ! build "$kind" "$seed"; then
		ok 1 "$kind, seed $seed: it is built and runs"
		return
	fi
	for options; do
		# shellcheck disable=SC2086 # words
		bb user "$T/$kind" 'f*' --engine auto -v -o "$T/trace" $options -- "$T/$kind"
		exits 0 "$kind, seed $seed, $options: it is traced"
		[[ $(sed -n 's/.* \([0-9]*\) functions are copied/\1/p' "$T/err") -ge 4 ]]
		ok $? "$kind, seed $seed, $options: functions are copied" || diag "$(grep cop "$T/err")"
		same "$T/out" "$T/$kind.plain" "$kind, seed $seed, $options: handlers see what they see without tracing"
	done
}

for seed in ${SEEDS:-2}; do
	check asm "$seed" "${few[@]}"
	check throw "$seed" "${few[@]}"
	check sent "$seed" "${sent[@]}"
done
done_testing
