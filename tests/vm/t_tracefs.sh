#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Which tracefs bbtrace uses, and what becomes of the definitions of a tracer that was killed, whatever namespaces it and
# the next one are in. KERNELS="6.1 newest": just those.

. "$(dirname "$0")/lib.sh"
needs_guest
for KERNEL in ${KERNELS:-6.1 newest}; do
	has_kernel "$KERNEL" && guest -- tests/vm/guest_tracefs.sh
done
done_testing
