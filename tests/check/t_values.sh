#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Parameters of each kind (values.c), built by each compiler at each level, against gdb: what is shown is what gdb shows of a build
# that has all of them; nothing is shown where gdb has none at the function's entry; the rest is declared. Half of the builds;
# MATRIX=whole: all.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
BB=${BBTRACE:-$BUILD/bbtrace}
here=$ROOT/tests/check

[[ $(id -u) == 0 ]] || skip_all 'needs root'
[[ $(uname -m) == x86_64 ]] || skip_all 'not x86-64'
[[ -e /sys/bus/event_source/devices/uprobe/type ]] || skip_all 'this kernel has no uprobes'
for tool in gdb gcc clang python3; do command -v $tool >/dev/null || skip_all "needs $tool"; done
cd "$T" || exit 2

debugged() { # PROGRAM AT OUT: what gdb shows
	FUNCS=$functions AT=$2 OUT=$3 timeout -k 10 300 gdb -nx -batch -ex "source $here/gdb_values.py" "$1" >gdb.log 2>&1 </dev/null
}

gcc -w -g -O0 -o all "$here/values.c" || exit 2
functions=$(sed -n 's/^\(static \)\?K [a-z_0-9 ]* \([a-z_]*\)(.*/\2/p' "$here/values.c" | tr '\n' ' ')
debugged ./all body truth
number=0
for compiler in gcc clang; do
	for level in -O0 -O1 -O2; do
		in_part $((number++)) 0 2 || continue
		$compiler -w -g $level -o program "$here/values.c" || exit 2
		debugged ./program entry entry
		for engine in probe inline; do
			# shellcheck disable=SC2086 # words
			"$BB" user ./program $functions --engine $engine --args -e entry -T none --no-src --no-fold \
				-- ./program >text 2>err </dev/null
			read -r calls shown declared wrong rest < <(python3 "$here/same_values.py" truth entry text | tee said)
			diag "$compiler $level, $engine: $calls calls, $shown values, $declared declared"
			is "${wrong:-none}$rest" 0 "$compiler $level, $engine: no value is another one" || diag "$(head -n 20 said)"
			ok $((${calls:-0} < 30 || ${shown:-0} < 2 * declared)) 'most are shown'
		done
	done
done
done_testing
