#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# record.sh: makes the files of tests/recorded again, as root, by the tests that read them. B: the build folder.
cd "$(dirname "$0")/../.." || exit 1
[[ $(id -u) == 0 ]] || { echo 'record.sh: needs root' >&2 && exit 1; }
find tests/recorded -name '*.bbt' -delete
grep -lE '^needs recorded' tests/{e2e,formats}/t_*.sh | while read -r test; do
	echo "$test"
	RECORD=1 "$test" </dev/null | grep '^not ok'
done
du -bsh tests/recorded
