#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `make check`, once everything is built: runs every test by prove. A test that can't run here is skipped, with its
# name and the reason. B: the build folder. TESTS="FILE...": runs only these.
set -u
cd "$(dirname "$0")/.." || exit 1
B=$(realpath -m --relative-to=. "${B:-build}")
export B LC_ALL=C.UTF-8 HARNESS_RULESFILE=tests/testrules.yml

# In the order of tests/testrules.yml, in each group the longest ahead. Some guests are in check-long alone:
# tests/long/t_guests.sh.
collect() {
	local file long=' t_calibrate t_diff t_execution t_growing t_kernel_coverage t_lockdown t_paths '

	for file in tests/check/t_{flow,compare}.sh "$B"/unit/test_* scripts/lint.sh tests/{scripts,fuzz}/t_*.sh \
		tests/vm/t_{e2e,flow,accounts,programs}.sh tests/arch/t_short.sh tests/vm/t_*.sh \
		tests/e2e/t_{reference,diff}.sh tests/check/t_{stepref,whole}.sh tests/e2e/t_{diff_sets,trace_file,hostile,go}.sh \
		tests/{e2e,formats,check}/t_*.sh; do
		[[ $file == tests/vm/* && $long == *" $(basename "$file" .sh) "* ]] && continue
		[[ -f $file && -x $file && $file != *.[od] ]] && echo "$file"
	done | awk '!seen[$0]++'
}

if [[ -n ${TESTS:-} ]]; then
	read -ra tests <<<"$TESTS"
else
	mapfile -t tests < <(collect)
fi
if [[ $(id -u) != 0 ]]; then
	echo "check: not root: the tests that trace will skip. All of them: sudo make check"
fi
echo "check: Linux $(uname -r), $(nproc) CPUs, $(. /etc/os-release && echo "$PRETTY_NAME")"
export SAID=$B/failed
rm -rf "$SAID"
mkdir -p "$SAID"
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
