#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Files whose tables point to the same bytes again and again take only memory and processor time in proportion to
# their size. Each has some megabytes, and gets a gigabyte and a minute (it needs a second); a naive reader would need
# hours or all memory. Not under the sanitizers, which take more of both.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
BBTRACE=${BBTRACE:-$(realpath -m "${B:-build}")/bbtrace}
command -v python3 >/dev/null || skip_all 'needs python3'

while read -r kind count; do
	tests/fuzz/large.py "$kind" "$count" "$T/large" || exit 2
	(
		ulimit -v 1048576 -t 60
		exec "$BBTRACE" list "$T/large" '*' >"$T/out" 2>"$T/err"
	)
	[[ $? == 0 && $(wc -l <"$T/out") -gt 1 ]]
	ok $? "list ends well with $count $kind, in $(($(stat -c %s "$T/large") >> 10)) KiB" || diag "$(head -3 "$T/err" | cut -c1-300)"
done < <(tests/fuzz/large.py)

# The same for a file of points.
tests/fuzz/large.py covered 100000 "$T/large"
"$BBTRACE" list --points "$T/large" '*' >"$T/points"
(
	ulimit -v 1048576 -t 60
	exec "$BBTRACE" list "$T/large" "@$T/points" >"$T/out" 2>"$T/err"
)
ok $? "list ends well with $(grep -c +0x "$T/points") points" || diag "$(head -3 "$T/err" | cut -c1-300)"
done_testing
