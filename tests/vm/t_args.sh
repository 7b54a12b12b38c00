#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Arguments and results of kernel functions by their types, in guests. KERNELS="6.1 6.12": on these.

. "$(dirname "$0")/lib.sh"
needs_guest

for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -f "$(command -v comm)" -f "$(command -v perl)" -- tests/vm/guest_args.sh
done
done_testing
