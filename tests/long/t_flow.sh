#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/vm/t_flow.sh with fewer probes, and on other kernels.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1

# Linux 6.12 wants QEMU 10: tests/vm/README.md.
for run in '6.1 full' '6.1 witness' 'newest full' 'newest witness'; do
	read -r kernel placement <<<"$run"
	KERNEL=$kernel PLACEMENT=$placement ALL=1 tests/vm/t_flow.sh >"$T/out" 2>&1
	ok $? "Linux $kernel, $placement: $(grep -c '^ok' "$T/out") checks, $(grep -c '# SKIP' "$T/out") skipped" ||
		diag "$(grep -A8 '^not ok' "$T/out")"
done
done_testing
