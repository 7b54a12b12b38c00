#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What make builds is whole at any time: a test that runs meanwhile finds the old program or the new one.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=${B:-build}
[[ -x $B/bbtrace ]] || skip_all "nothing is built in $B"

# The linker makes its output executable at the end, and timeout(1) has status 126 for what is not.
make -n -W src/main.c B="$B" CC=linker all >"$T/recipes" 2>"$T/err"
ok $? 'make says what it would do' || diag "$(<"$T/err")"
is "$(grep -c "^linker .* -o $B/bbtrace " "$T/recipes")" 0 'bbtrace is not linked in its place'
like "$T/recipes" "^linker .* -o $B/bbtrace[.]new .* && mv -f $B/bbtrace[.]new $B/bbtrace\$" 'bbtrace is renamed to its name when it is whole'
done_testing
