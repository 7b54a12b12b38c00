#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/vm/t_flow.sh with fewer probes, and on other kernels.
. "$(dirname "$0")/lib.sh"

# Linux 6.12 wants QEMU 10: tests/vm/README.md.
for run in '6.1 full' '6.1 witness' 'newest full' 'newest witness'; do
	read -r kernel placement <<<"$run"
	KERNEL=$kernel PLACEMENT=$placement ALL=1 tests/vm/t_flow.sh >"$T/out" 2>&1
	judge $? "Linux $kernel, $placement"
done
done_testing
