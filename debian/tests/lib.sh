# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# For the tests of the installed package: ends at the first failure, and says what it was.
set -eu

fail() {
	echo "FAIL: $1" >&2
	exit 1
}

# shows FILE REGEX WHAT
shows() {
	grep -qE "$2" "$1" || {
		sed 's/^/	/' "$1" >&2
		fail "$3"
	}
	echo "ok: $3"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
