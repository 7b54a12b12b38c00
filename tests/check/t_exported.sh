#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# list --exported compared with readelf, and its names given back, for a sample of this machine's executables and
# libraries. EXPORTED=all: every file.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)

# those with versions, with C++ names, and with many names
ldd /usr/bin/python3 "$BUILD/bbtrace" | awk '$3 ~ "^/" { print $3 }' | xargs readlink -f | sort -u >"$T/certain"
find /usr/lib -name 'libstdc++.so.6' -exec readlink -f {} + >>"$T/certain"
if [[ ${EXPORTED:-} == all ]]; then
	"$ROOT/tests/check/machine.sh" >"$T/files"
else
	{ cat "$T/certain"; "$ROOT/tests/check/machine.sh" /usr/bin /usr/sbin /usr/libexec | awk 'NR % 200 == 0'; } | sort -u >"$T/files"
fi
"$ROOT/tests/check/exported.py" "$BUILD/bbtrace" <"$T/files" >"$T/said" 2>&1
functions=$(sed -n '$s/.* files, \([0-9]*\) functions.*/\1/p' "$T/said")
! grep -q '^BAD' "$T/said" && ((${functions:-0} > 2000))
ok $? "exported functions are those of .dynsym: $(tail -n 1 "$T/said")" || diag "$(head -n 20 "$T/said")"
done_testing
