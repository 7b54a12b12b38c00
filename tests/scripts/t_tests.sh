#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/tests.sh: no test is left out of `make check`, and make builds what a test needs.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
export B=build

scripts/tests.sh all >"$T/all"
scripts/tests.sh quick >"$T/quick"
is "$(sort "$T/all" | uniq -d)" '' 'no test runs twice'
is "$(sort "$T/quick" | uniq -d)$(grep -vxFf "$T/all" "$T/quick")" '' 'check-quick is a part of check'
is "$(grep -c vm/ "$T/quick")" 0 'check-quick has no guest'
for file in tests/{check,e2e,formats,scripts,fuzz,vm}/t_*.sh; do
	grep -qxF "$file" "$T/all" || grep -qwF "$(basename "$file" .sh)" tests/long/t_guests.sh || echo "$file"
done >"$T/missing"
is "$(<"$T/missing")" '' 'each test is in check, or a guest of tests/long/t_guests.sh'
for file in tests/unit/test_*.c; do
	file=${file##*/}
	grep -qxF "build/unit/${file%.c}" "$T/all" || echo "$file"
done >"$T/missing"
is "$(<"$T/missing")" '' 'each unit test is in check'
grep -v '/unit/' "$T/all" "$T/quick" -h | while read -r file; do [[ -x $file ]] || echo "$file"; done >"$T/missing"
is "$(<"$T/missing")" '' 'each of them can be run'
sed -n "s|.*'tests/e2e/t_{\([a-z_,]*\)}.*|\1|p" tests/testrules.yml | tr ',' '\n' | while read -r name; do
	[[ -x tests/e2e/t_$name.sh ]] || echo "$name"
done >"$T/missing"
is "$(<"$T/missing")" '' 'the tests that run alone are there'

needs() { echo "$(scripts/tests.sh targets "$1" | xargs) $(scripts/tests.sh programs "$1")"; }
is "$(needs build/unit/test_util)" 'build/unit/test_util ' 'a unit test needs itself alone'
is "$(needs tests/e2e/t_pairs.sh)" 'all build/san/bbtrace ' 'a test of the sanitized program needs that'
is "$(needs tests/e2e/t_paths.sh)" 'all yes' 'a test of programs of tests/progs needs these'
is "$(needs tests/check/t_flow.sh)" 'all yes' 'a test of the reference needs it and these programs'
is "$(needs tests/vm/t_growing.sh)" 'all build/growing yes' 'a guest needs what it takes along'
is "$(needs tests/scripts/t_tests.sh)" ' ' 'a test of a script needs nothing'
is "$(scripts/tests.sh match 'vm/t_gro')" tests/vm/t_growing.sh 'a pattern finds guests of check-long, too'
done_testing
