#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Which tracefs bbtrace uses, and what happens to the definitions of a tracer that was killed, in any combination of
# namespaces with the next one. KERNELS="6.12 newest": on these. ALL=1: of tracers that
# went by another name, of a PID namespace's own, and of numbers that are another process's, too.

. "$(dirname "$0")/lib.sh"
needs_guest
for KERNEL in ${KERNELS:-6.1}; do
	has_kernel "$KERNEL" && guest -c 1 -- tests/vm/guest_tracefs.sh ${ALL:+all}
done
done_testing
