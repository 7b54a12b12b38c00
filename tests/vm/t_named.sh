#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Named events on other kernels: tracepoints, the scheduler, static probes and samples, in guests. KERNELS="5.10 6.1": on
# these. ALL=1: with two CPUs, and with what tests/e2e/t_event.sh, t_sched.sh and t_profile.sh have on this machine's kernel, too.

. "$(dirname "$0")/lib.sh"
needs_guest

helper named_work
for name in naps probes; do
	${CC:-cc} -O1 -g -w -pthread -o "$T/$name" "tests/progs/$name.c" || exit 2
done
for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	guest -c "$(if [[ ${ALL:-} ]]; then echo 2; else echo 1; fi)" -f "$T/named_work" -f "$T/naps" -f "$T/probes" -- tests/vm/guest_named.sh "$T" ${ALL:+all}
done
done_testing
