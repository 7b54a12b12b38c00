#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# prove runs each test through this script: unit tests run without root even if root runs `make check`, and every test
# has a time limit. A test that the limit ends has no plan, so prove reports it as failed. SAID: a folder for the
# output of failed tests, and for `times`. The limit only ends hangs; it suffices on a busy machine. A test also fails if
# bash met a mistake in it: bash continues after the line, without what was to be checked there.
test=$1
limit=1200 # three minutes are the longest on a slow machine
user=()

# Not where nobody may enter: in a clone under /root, absolute paths of the tests' own files would be refused.
drop_root() {
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent)

	[[ $(id -u) == 0 ]] && "${nobody[@]}" test -r "$(realpath "$test")" 2>/dev/null && user=("${nobody[@]}")
}

case $test in
*/unit/test_* | tests/scripts/* | tests/fuzz/*) drop_root ;;
tests/vm/*) limit=2400 ;;
tests/arch/*) limit=14400 ;;
tests/long/*) limit=$((${SOAK_SECONDS:-3600} + 20 * ${KILLS:-1000})) ;;
esac
[[ ! ${MATRIX:-}${ALL:-} ]] || limit=$((limit > 14400 ? limit : 14400))
[[ $test == */* ]] || test=./$test

errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
mistakes='\.sh: line [0-9]+: .*(syntax error|unbound variable|command not found|bad substitution|expression expected|operator expected|division by 0|bad array subscript|readonly variable|ambiguous redirect|too many arguments)'

run() {
	local status

	timeout -k 10 "$limit" "${user[@]}" "$test" </dev/null 2>"$errors"
	status=$?
	cat "$errors" >&2
	[[ $status == 124 || $status == 137 ]] && echo "# $test: ended after $limit s" && return 124
	grep -qE "$mistakes" "$errors" && echo "# $test: a mistake of the script: $(grep -m 1 -E "$mistakes" "$errors")" && return 123
	return $status
}

if [[ -z ${SAID:-} ]]; then
	run
	exit
fi
said=$SAID/${test//\//.}
run | tee "$said"
status=${PIPESTATUS[0]}
# CPU seconds of this test, its children included, how long it took, and when it began. (prove's figures include those of tests
# that ran beside it; `times` in a pipeline would be a subshell's.)
times >"$errors"
awk -v wall="$SECONDS" -v test="$test" -v begun="$((EPOCHSECONDS - SECONDS))" 'NR == 2 { split($0, t, /[ms ]+/)
	printf "%.1f %d %s %d\n", 60 * t[1] + t[2] + 60 * t[3] + t[4], wall, test, begun }' "$errors" >>"$SAID/times"
[[ $status != 0 ]] || rm -f "$said"
exit "$status"
