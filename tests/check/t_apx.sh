#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Are instructions of APX as long as objdump says? OBJDUMP: one of binutils 2.43 or newer, if objdump in PATH is older
# (OBJDUMP='chroot /some/root objdump').
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
read -ra objdump <<<"${OBJDUMP:-objdump}"

printf '\xd5\x18\x89\xf8' >"$T/rex2"
if [[ ! ${OBJDUMP:-} ]] && ! objdump -D -b binary -m i386:x86-64 "$T/rex2" | grep -q r16; then
	skip_all 'objdump is older than 2.43'
fi
"$ROOT/tests/check/apx.py" "$BUILD/lengths" "${objdump[@]}" >"$T/said"
last=$(tail -n 1 "$T/said")
ok $(($(sed 's/.* forms, \([0-9]*\) of the same.*/\1/' <<<"$last") <= 40000)) "$last"
is "$(grep -c '^WRONG' "$T/said")" 0 'none of another length' || diag "$(head -n 20 "$T/said")"
done_testing
