#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What kprobes cost, measured in a guest: each class of them is there. KERNELS="6.1 newest": just those.

. "$(dirname "$0")/lib.sh"
needs_guest
for KERNEL in ${KERNELS:-6.1 newest}; do
	if "$VM/kernel.sh" "$KERNEL" >"$T/kernel" 2>&1; then
		guest -- tests/vm/guest_calibrate.sh
	else
		skip "Linux $KERNEL" "$(tail -n 1 "$T/kernel")"
	fi
done
done_testing
