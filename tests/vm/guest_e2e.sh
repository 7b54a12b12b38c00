#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_e2e.sh NAME...: runs test files, one after the other, with a result for each. A name may have arguments
# ("e2e/t_examples 9").

. "$(dirname "$0")/guest_lib.sh"
export PATIENCE=600 BB_TIMEOUT=1200 KILLS=20
# as the kernel's own default is; Debian's 3 is the subject of t_privileges.sh beside this file
echo 2 >/proc/sys/kernel/perf_event_paranoid

# skips: what was skipped in the last file, and why, once each.
skips() { sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/skipped: \1: \2/p' "$T/tap" | sort | uniq -c | sed -E 's/^ +1 //; s/^ +([0-9]+) (.*)/\2 (\1 times)/'; }

for name; do
	began=$SECONDS
	read -ra test <<<"$name"
	"tests/${test[0]}.sh" "${test[@]:1}" >"$T/tap" 2>"$T/err" </dev/null
	status=$?
	passed=$(grep '^ok' "$T/tap" | grep -vc '# SKIP') failed=$(grep -c '^not ok' "$T/tap") skipped=$(grep -c '^ok.*# SKIP' "$T/tap")
	if why=$(sed -n 's/^1\.\.0 # SKIP //p' "$T/tap") && [[ $why ]]; then
		skip "$(uname -r) $name" "$why"
		continue
	fi
	[[ $status == 0 && $failed == 0 && $passed -gt 0 && $(tail -n 1 "$T/tap") == "1..$((passed + skipped))" ]]
	ok $? "$(uname -r) $name: $passed passed, $failed failed, $skipped skipped" ||
		diag "status $status"$'\n'"$(grep -A25 '^not ok' "$T/tap" | cut -c1-300)"$'\n'"$(tail -n 20 "$T/err" | cut -c1-300)"
	diag "$(skips && echo $((SECONDS - began)) s)"
done
done_testing
