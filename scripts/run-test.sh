#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# prove runs each test through this script: unit tests run without root even if root runs `make check`, and every test
# has a time limit. A test that the limit ends has no plan, so prove reports it as failed. SAID: a folder for the
# output of failed tests. The limit only ends hangs; it suffices on a busy machine.
test=$1
limit=3600
user=()

drop_root() {
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent)

	[[ $(id -u) == 0 ]] && "${nobody[@]}" test -r "$test" 2>/dev/null && user=("${nobody[@]}")
}

case $test in
*/unit/test_* | tests/scripts/* | tests/fuzz/*) drop_root ;;
tests/vm/*) limit=14400 ;;
tests/long/*) limit=$((${SOAK_SECONDS:-3600} + 20 * ${KILLS:-1000})) ;;
esac
[[ $test == */* ]] || test=./$test

run() {
	local status

	timeout -k 10 "$limit" "${user[@]}" "$test" </dev/null
	status=$?
	[[ $status == 124 || $status == 137 ]] && echo "# $test: ended after $limit s" && return 124
	return $status
}

if [[ -z ${SAID:-} ]]; then
	run
	exit
fi
said=$SAID/${test//\//.}
run | tee "$said"
status=${PIPESTATUS[0]}
[[ $status != 0 ]] || rm -f "$said"
exit "$status"
