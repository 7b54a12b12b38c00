#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Arguments and results of kernel functions by their types, in guests. KERNELS="6.1 6.12": on these. ALL=1: all of the
# table, not each third.

. "$(dirname "$0")/lib.sh"
needs_guest

for KERNEL in ${KERNELS:-6.1}; do
	has_kernel "$KERNEL" || continue
	guest -c 1 -f "$(command -v comm)" -f "$(command -v perl)" -- tests/vm/guest_args.sh ${ALL:+all}
done
done_testing
