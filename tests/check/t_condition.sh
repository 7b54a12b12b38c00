#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is reported of conditional branches: is what set the flags what objdump shows there, and do the operands have the relation
# that the way which control went proves? For libc, and for a program that is single-stepped; with PROGRAMS=all for libstdc++
# and four more programs, too.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
BB=${BBTRACE:-$BUILD/bbtrace}
libc=$(ldd "$(command -v bash)" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
loader=$(ldd "$(command -v bash)" | sed -n 's/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\).*/\1/p')
library=$("$BB" list -q -F json libstdc++.so.6 2>/dev/null | sed -n '1s/.*"object":"\([^"]*\)".*/\1/p')

if [[ $(uname -m) != x86_64 ]]; then
	skip 'what is told of conditionals' 'not x86-64'
	done_testing
fi

field() { sed -n "\$s/.* \([0-9][0-9]*\) $1.*/\1/p" "$T/said"; } # WORD: the number before it in the last line

[[ ${PROGRAMS:-} == all ]] || library=''
for file in "$libc" $library; do
	"$ROOT/tests/check/conditions.py" text "$BB" "$(readlink -f "$file")" >"$T/said"
	diag "$(tail -n 2 "$T/said")"
	is "$(field wrong)" 0 "${file##*/}: each comparison is the one that objdump shows" || diag "$(head -n 20 "$T/said")"
	ok $(($(field compares) * 100 < $(field conditionals) * 95)) "${file##*/}: nearly all conditionals have one"
	ok $(($(field relations) * 100 < $(field conditionals) * 90)) "${file##*/}: nearly all of them prove something"
done

steps() { "$ROOT/tests/check/conditions.py" run "$BB" "$libc" "$loader" "$@" >"$T/said"; } # OBJECT... -- CMD...

seq 1 3000 >"$T/numbers"
told=0 least=10000
[[ ${PROGRAMS:-} != all ]] || least=30000
check() { # NAME OBJECT... -- CMD...
	local name=$1

	shift
	steps "$@"
	diag "$name: $(tail -n 1 "$T/said")"
	is "$(field wrong)" 0 "$name: control went as the operands say" || diag "$(head -n 20 "$T/said")"
	ok $(($(field told) * 10 < $(field conditionals) * 9)) "$name: of nearly all conditionals it is told"
	told=$((told + $(field told)))
}
check sort "$(command -v sort)" -- sort -n -r "$T/numbers"
if [[ ${PROGRAMS:-} == all ]]; then
	check ls "$(command -v ls)" -- ls -l /usr/lib
	check gzip "$(command -v gzip)" -- "$(command -v gzip)" -c "$T/numbers"
	check awk "$(readlink -f "$(command -v awk)")" -- awk '{ s += $1 / 3; if (s > 1000) s = 0 } END { printf "%.3f\n", s }' "$T/numbers"
	check bash "$(readlink -f "$(command -v bash)")" -- bash -c 'for ((i = 0; i < 50; i++)); do x+=${i/3/y}; done; echo "$x"'
fi
ok $((told < least)) "$told conditionals were executed"

# Could it fail?
cat >"$T/wrong" <<-END
	#!/bin/sh
	"$BB" "\$@" | sed 's/"if_taken"/"if_not"/; s/"if_not_taken"/"if_taken"/; s/"if_not":/"if_not_taken":/'
END
chmod +x "$T/wrong"
LIMIT=2000 "$ROOT/tests/check/conditions.py" run "$T/wrong" "$loader" -- true >"$T/said"
ok $(($(field wrong) == 0)) 'the sides exchanged: that is wrong'
done_testing
