#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The cost of kprobes, measured in a guest: every class has a row. KERNELS="6.1 6.12": on these. With one CPU: what is
# measured is patched all the time, and an emulated CPU once ran into a breakpoint that another one had just removed.

. "$(dirname "$0")/lib.sh"
needs_guest
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" && guest -c 1 -- tests/vm/guest_calibrate.sh
done
done_testing
