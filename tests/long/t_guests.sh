#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The tests in guests that `make check` runs on one or two kernels, on the others, or in parts, whole.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1

judge() { # STATUS NAME
	ok "$1" "$2: $(grep -c '^ok' "$T/out") checks, $(grep -c '# SKIP' "$T/out") skipped" || diag "$(grep -A8 '^not ok' "$T/out")"
}

while read -r name kernels; do
	KERNELS=$kernels "tests/vm/$name.sh" >"$T/out" 2>&1 </dev/null
	judge $? "$name, Linux $kernels"
done <<'ROWS'
t_calibrate 6.1 6.12
t_programs 6.1 6.12
t_kernel_counts 6.1
t_kernel_coverage 6.1
t_refused newest
t_tracefs 6.12 newest
t_lockdown 6.1 6.12
t_args 6.1 6.12
t_paths 6.1 6.12
ROWS
for kernel in 6.1 newest; do
	KERNEL=$kernel SITES=500 tests/vm/t_detach.sh >"$T/out" 2>&1
	judge $? "t_detach, Linux $kernel, 500 probes"
done
HOWS='executed_multi.full executed_multi.witness executed_event' ALL=1 KERNELS=newest tests/vm/t_programs.sh >"$T/out" 2>&1
judge $? 't_programs, each program, newest, where programs do instructions'
E2E=e2e/t_forms,10 KERNELS=newest tests/vm/t_e2e.sh >"$T/out" 2>&1
judge $? 't_forms, each tenth, newest'
ALL=1 KERNELS='6.1 6.12 newest' tests/vm/t_explain.sh >"$T/out" 2>&1
judge $? 't_explain, each case, each kernel'
done_testing
