#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace stack on other kernels, and of a 32-bit program: tests/e2e/t_stack.sh has all else.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs_guest cc
cc -g -O1 -pthread -o "$T/waits" tests/stack/waits.c || exit 2
cc -m32 -g -O1 -fno-pie -no-pie -nostdlib -static -fasynchronous-unwind-tables -o "$T/narrow" tests/stack/narrow.c || exit 2

for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -c 1 -f "$T/waits" -f "$T/narrow" -- tests/vm/guest_stack.sh "$T/waits" "$T/narrow"
done
done_testing
