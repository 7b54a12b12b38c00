# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For tests that run other tests, to be sourced: tests/tap.sh, and the root of the tree as the current folder.

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# judge STATUS NAME: one result for a test whose output is in $T/out. One that was skipped as a whole is skipped here, too.
judge() {
	local reason

	if reason=$(sed -n 's/^1\.\.0 # SKIP //p' "$T/out") && [[ $reason ]]; then
		skip "$2" "$reason"
		return
	fi
	ok "$1" "$2: $(grep -c '^ok' "$T/out") checks, $(grep -c '# SKIP' "$T/out") skipped" || diag "$(grep -A8 '^not ok' "$T/out")"
}
