#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What kprobes cost, measured in a guest: each class of them is there. KERNELS="6.1 newest": just those.

. "$(dirname "$0")/lib.sh"
needs_guest
for KERNEL in ${KERNELS:-6.1 newest}; do
	has_kernel "$KERNEL" && guest -- tests/vm/guest_calibrate.sh
done
done_testing
