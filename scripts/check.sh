#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `make check`, once everything is built: runs the tests of scripts/tests.sh by prove. A test that
# can't run is skipped, with its name and the reason. B: the build folder. TESTS="FILE...": runs only these.
set -u
cd "$(dirname "$0")/.." || exit 1
B=$(realpath -m --relative-to=. "${B:-build}")
export B LC_ALL=C.UTF-8 HARNESS_RULESFILE=tests/testrules.yml

if [[ -n ${TESTS:-} ]]; then
	read -ra tests <<<"$TESTS"
else
	mapfile -t tests < <(scripts/tests.sh all)
fi
if [[ $(id -u) != 0 ]]; then
	echo "check: not root: the tests that trace will skip. All of them: sudo make check"
fi
echo "check: Linux $(uname -r), $(nproc) CPUs, $(. /etc/os-release && echo "$PRETTY_NAME")"
# SAID: what failed, and `times`. It is elsewhere where nobody may write the folder, or while another run has it.
SAID=$B/failed
if ! { mkdir -p "$SAID" && [[ -w $SAID ]] && exec 8>"$SAID.lock" && flock -n 8; } 2>/dev/null; then
	SAID=$(mktemp -d "$B/failed.XXXXXX" 2>/dev/null || mktemp -d)
	own_folder=yes
fi
rm -rf "${SAID:?}"/*
: >"$SAID/times"
export SAID
# more than there are cores: some wait most of the time
prove --directives --timer -j$(($(nproc) + 2)) --exec scripts/run-test.sh "${tests[@]}" 8>&- | tee "$SAID/summary"
status=${PIPESTATUS[0]}
awk '{ cpu += $1 } END { printf "check: %d CPU seconds. The most expensive tests, CPU and wall seconds:\n", cpu }' "$SAID/times"
sort -rn "$SAID/times" | head -n 5

# What failed is repeated at the end, where it is found, before the count.
if [[ $status != 0 ]]; then
	for file in "$SAID"/*.*; do
		[[ -f $file ]] || continue
		echo "---- ${file##*/}: the end of its output, all of it in $file"
		grep -A 30 '^not ok' "$file" | head -n 60
		grep -q '^not ok' "$file" || tail -n 20 "$file"
	done
	tail -n 2 "$SAID/summary"
elif [[ ${own_folder:-} ]]; then
	rm -rf "$SAID"
fi
scripts/own.sh "$B"
exit "$status"
