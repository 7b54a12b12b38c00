#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Where the kernel refuses a kprobe, others tell the same steps, in a guest. KERNELS="6.1": on these.

. "$(dirname "$0")/lib.sh"
needs_guest

for KERNEL in ${KERNELS:-6.1}; do
	has_kernel "$KERNEL" || continue
	guest -c 1 -- tests/vm/guest_refused.sh
done
done_testing
