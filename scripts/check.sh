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
export SAID=$B/failed
# A folder that nobody may write: the output goes elsewhere.
if ! { rm -rf "$SAID" && mkdir -p "$SAID"; } 2>/dev/null; then
	SAID=$(mktemp -d)
fi
# more than two cores: some wait most of the time
prove --directives --timer -j3 --exec scripts/run-test.sh "${tests[@]}" | tee "$SAID/summary"
status=${PIPESTATUS[0]}

# What failed, once more, where it is found: in front of the count.
if [[ $status != 0 ]]; then
	for file in "$SAID"/*.*; do
		[[ -f $file ]] || continue
		echo "---- ${file##*/}: its last words, all of them in $file"
		grep -A 30 '^not ok' "$file" | head -n 60
		grep -q '^not ok' "$file" || tail -n 20 "$file"
	done
	tail -n 2 "$SAID/summary"
fi
scripts/own.sh "$B"
exit "$status"
