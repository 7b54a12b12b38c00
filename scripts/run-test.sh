#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# prove runs each test through this: unit tests without root even when root runs `make check`, and none for ever.
# A test that is ended by the clock has no plan, so prove calls it failed. SAID: a folder where what a failed one said
# is kept. The limit is a net for hangs, and wide enough for a machine that is busy with many other things.
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
