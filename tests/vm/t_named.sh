#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Named events on other kernels: tracepoints, the scheduler, static probes and samples, in guests. KERNELS="5.10 6.1": on
# these.

. "$(dirname "$0")/lib.sh"
needs_guest

helper named_work
for name in naps probes; do
	${CC:-cc} -O1 -g -w -pthread -o "$T/$name" "tests/progs/$name.c" || exit 2
done
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -f "$T/named_work" -f "$T/naps" -f "$T/probes" -- tests/vm/guest_named.sh "$T"
done
done_testing
