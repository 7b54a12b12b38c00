#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Watchpoints of programs and of the kernel, in guests. KERNELS="5.10 6.1": on these. ALL=1: with what
# tests/e2e/t_watch.sh has, too.

. "$(dirname "$0")/lib.sh"
needs_guest

${CC:-cc} -g -O2 -pthread -o "$T/watched" tests/progs/watched.c || exit 2
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -f "$T/watched" -- tests/vm/guest_watch.sh "$T/watched" ${ALL:+all}
done
done_testing
