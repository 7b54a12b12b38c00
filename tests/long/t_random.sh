#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random programs by csmith, with several compilers and options: all their functions compared with the single-stepping
# reference, with every placement. SEEDS="1 2 3": only these; each is built by one row of the table.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:csmith cmd:python3 cmd:setarch cmd:readelf "file:$BUILD/stepref"

builds=('gcc -O0' 'gcc -O1' 'gcc -O2' 'gcc -O3' 'gcc -Os' 'gcc -O2 -fcf-protection=full -fno-pie -no-pie'
	'gcc -O2 -mindirect-branch=thunk -mfunction-return=thunk' 'clang -O1' 'clang -O2' 'clang -O3 -fno-pie -no-pie'
	'gcc -O2 -static' 'gcc -O2 -march=x86-64-v3' 'gcc -O2 -fno-asynchronous-unwind-tables' 'gcc -O2 -flto -s')

random() { # SEED BUILD...
	local seed=$1
	shift

	# it leaves a platform.info where it runs
	(cd "$T" && csmith --seed "$seed" --max-funcs 6 --max-block-depth 3 --no-argc) >"$T/p.c" 2>/dev/null
	if ! "$@" -w -I/usr/include/csmith "$T/p.c" -o "$T/p"; then
		skip "seed $seed, $*" 'it cannot be built'
	elif ! timeout 5 "$T/p" >/dev/null 2>&1; then
		skip "seed $seed, $*" 'it runs for too long'
	else
		"$ROOT/tests/check/whole.py" "$BUILD" "$T/whole" "$T/p" -- "$T/p" >"$T/said" 2>&1
		ok $? "seed $seed, $*: $(grep -o '[0-9]* of [0-9]* events' "$T/said" | tail -1)" || diag "$(grep -v '^ok' "$T/said")"
	fi
	rm -rf "${T:?}/whole"
}

for seed in ${SEEDS:-$(seq 1 42)}; do
	# shellcheck disable=SC2086 # words
	random "$seed" ${builds[seed % ${#builds[@]}]}
done
done_testing
