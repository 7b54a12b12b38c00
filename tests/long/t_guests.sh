#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The tests in guests that `make check` runs on one or two kernels, on the others, or in parts, whole.
. "$(dirname "$0")/lib.sh"

while read -r name kernels; do
	ALL=1 KERNELS=$kernels "tests/vm/$name.sh" >"$T/out" 2>&1 </dev/null
	judge $? "$name, Linux $kernels"
done <<'ROWS'
t_calibrate 6.1 6.12 newest
t_programs 6.1 6.12 newest
t_kernel_counts 6.1 newest
t_kernel_coverage 6.1 newest
t_refused newest
t_tracefs 6.1 6.12 newest
t_lockdown 6.1 6.12 newest
t_args 6.1 6.12 newest
t_diff 6.1 6.12 newest
t_explain 6.1 6.12 newest
t_stack 6.1 6.12 newest
t_named 6.1 6.12 newest
t_watch 6.1 6.12 newest
ROWS
for name in t_accounts t_trace t_net t_privileges; do
	ALL=1 "tests/vm/$name.sh" >"$T/out" 2>&1 </dev/null
	judge $? "$name, whole"
done
ALL=some KERNELS='6.1 newest' tests/vm/t_e2e.sh >"$T/out" 2>&1
judge $? 't_e2e, some, Linux 6.1 and newest'
for kernel in 6.1 newest; do
	KERNEL=$kernel SITES=500 tests/vm/t_detach.sh >"$T/out" 2>&1
	judge $? "t_detach, Linux $kernel, 500 probes"
	KERNEL=$kernel tests/vm/t_paths.sh >"$T/out" 2>&1
	judge $? "t_paths, Linux $kernel"
	KERNEL=$kernel tests/vm/t_growing.sh >"$T/out" 2>&1
	judge $? "t_growing, Linux $kernel"
done
HOWS='executed_multi.full executed_multi.witness executed_event' ALL=1 KERNELS=newest tests/vm/t_programs.sh >"$T/out" 2>&1
judge $? 't_programs, newest, where programs do instructions, by each placement'
tests/vm/t_execution.sh >"$T/out" 2>&1
judge $? t_execution
E2E=e2e/t_forms,10 KERNELS=newest tests/vm/t_e2e.sh >"$T/out" 2>&1
judge $? 't_forms, each tenth, newest'
done_testing
