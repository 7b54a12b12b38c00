#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Named events on other kernels: tracepoints, the scheduler, static probes and samples, in guests. KERNELS="5.10 6.1": on
# these.

. "$(dirname "$0")/lib.sh"
needs_guest

helper named_work
# program_of TEST NAME [OPTION...]: the program that a test of tests/e2e has in it, as $T/NAME.
program_of() {
	local test=$1 name=$2
	shift 2

	sed -n "/^source_program $name /,/^END\$/{/^source_program/d;/^END\$/d;p}" "tests/e2e/$test" >"$T/$name.c"
	${CC:-cc} -D_GNU_SOURCE -O1 -g "$@" -o "$T/$name" "$T/$name.c" || exit 2
}
program_of t_sched.sh naps -pthread
program_of t_usdt.sh probes -Wno-unused
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -f "$T/named_work" -f "$T/naps" -f "$T/probes" -- tests/vm/guest_named.sh "$T"
done
done_testing
