#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bench/bench.py names what it can't measure, with the reason, and continues.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
command -v python3 >/dev/null || skip_all 'needs python3'

# Work.link(), where bbtrace ends without having attached anything.
printf '#!/bin/sh\necho "bbtrace: not permitted" >&2\nexit 1\n' >"$T/bbtrace"
chmod +x "$T/bbtrace"
BBTRACE=$T/bbtrace PYTHONDONTWRITEBYTECODE=1 python3 - >"$T/out" 2>&1 <<'END'
import sys
sys.path.insert(0, "bench")
import bench

try:
    bench.Work("one", "", [], "/bin/true", ["main"]).link()
except bench.Skip as why:
    print("skipped:", why)
END
is "$(tail -n 1 "$T/out")" 'skipped: no uprobe_multi link: bbtrace: not permitted' \
	'a workload that bbtrace cannot attach to is skipped, with what bbtrace says'
done_testing
