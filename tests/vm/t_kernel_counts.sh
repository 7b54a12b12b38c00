#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Counts of kernel functions (-c), in a guest with two CPUs: they are those of the events of the same work.
# KERNELS="6.1": on these. ALL=1: of functions with hundreds of branches, and of
# those alone that are counted with others, too.

. "$(dirname "$0")/lib.sh"
needs_guest
helper kernel_work

for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -f "$T/kernel_work" -- tests/vm/guest_kernel_counts.sh "$T/kernel_work" ${ALL:+all}
done
done_testing
