#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A kernel that is locked down: what is refused in each mode, and why; and the kernel survives, since an unmount of
# tracefs is an oops in these two. KERNELS="6.1 newest": only these.

. "$(dirname "$0")/lib.sh"
needs_guest
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" && guest -a 'lockdown=confidentiality lsm=lockdown' -- tests/vm/guest_lockdown.sh
done
done_testing
