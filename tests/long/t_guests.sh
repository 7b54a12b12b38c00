#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The tests in guests that `make check` runs on one or two kernels, on the others.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1

export SITES=500 # of t_detach
while read -r name kernels; do
	KERNELS=$kernels "tests/vm/$name.sh" >"$T/out" 2>&1 </dev/null
	ok $? "$name, Linux $kernels: $(grep -c '^ok' "$T/out") checks, $(grep -c '# SKIP' "$T/out") skipped" ||
		diag "$(grep -A8 '^not ok' "$T/out")"
done <<'ROWS'
t_calibrate 6.1 6.12
t_detach 6.1 newest
t_programs 6.1 6.12
t_kernel_counts 6.1
t_kernel_coverage 6.1
t_refused newest
t_tracefs 6.12 newest
t_lockdown 6.1 6.12
ROWS
done_testing
