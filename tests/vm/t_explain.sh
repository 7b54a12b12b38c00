#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bbtrace why, in guests: the branches by which system calls fail, as the kernel's source has them. Here a few of them.
# ALL=1: all; CASES="dup3|lseek": those whose names begin so. KERNELS="6.1": on these.

. "$(dirname "$0")/lib.sh"
needs_guest

[[ ${ALL:-} ]] || : "${CASES:=pipe2|read}"
helper failing
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -c 1 -f "$T/failing" -- tests/vm/guest_explain.sh "$T/failing" "${CASES:-}"
done
done_testing
