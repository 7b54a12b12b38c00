#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace list follows the code of large objects in batches. The rows are those of all code at once: functions, branches,
# blocks and undecoded bytes. Batches are small here, so that control crosses them. BATCHES=all: every executable and
# library of this machine from 200 KB to 30 MB.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)

# C and C++, and python3, in which functions share cold parts without a symbol.
{
	readlink -f /usr/bin/python3
	ldd "$BUILD/bbtrace" | awk '$3 ~ "/libc[.]so" { print $3 }' | xargs readlink -f
	find /usr/lib -name 'libstdc++.so.6.*' ! -name '*.py' | head -n 1
} >"$T/files"
files() { # links to one file count once
	"$ROOT/tests/check/machine.sh" | xargs -d '\n' sh -c 'find "$@" -size +200k -size -30000k -printf "%i %p\n"' - |
		sort -u -k1,1n | cut -d' ' -f2-
}
[[ ${BATCHES:-} == all ]] && files >"$T/files"
wanted=$(wc -l <"$T/files")
xargs -d '\n' "$BUILD/batches" "${BATCH:-65536}" <"$T/files" >"$T/said"
is "$(grep -c -E '^(same|DIFFERS|unread)' "$T/said")" "$wanted" 'each file was compared'
is "$(grep -c '^DIFFERS' "$T/said")" 0 "the plan by batches is that of all code at once: $(grep -c '^same' "$T/said") files" ||
	diag "$(grep -B10 '^DIFFERS' "$T/said" | head -n 100)"
like "$T/said" '^same.*, in batches$' "batches: $(grep -c 'in batches$' "$T/said") files"
if [[ ${BATCHES:-} != all ]]; then
	is "$(grep -c '^same.*, in batches$' "$T/said")" "$wanted" 'libc, libstdc++ and python3'
fi
done_testing
