#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The cost of kprobes, measured in a guest: every class has a row. KERNELS="6.1 6.12": on these.

. "$(dirname "$0")/lib.sh"
needs_guest
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" && guest -- tests/vm/guest_calibrate.sh
done
done_testing
