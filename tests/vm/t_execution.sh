#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Instructions that the probes' programs do instead of the kernel's single-stepping them: nothing in a program can tell
# (faults, a storm of signals, a debugger that steps it or watches its stack, another tracer's probes and return probes),
# the events are those of other mechanisms, and the kernel steps none of them. It counts steps by a kprobe of its own.

. "$(dirname "$0")/lib.sh"
KERNEL=${KERNEL:-newest}
PATH=$PATH:/usr/sbin needs_guest setarch gzip nm mke2fs dpkg-query
dpkg -s python3-minimal >/dev/null 2>&1 || skip_all 'needs the package python3-minimal'
helper execution

guest -t 3600 -M 1024 -p python3-minimal -f "$T/execution" -f "$(command -v setarch)" -f "$(command -v gzip)" -f "$(type -P nm)" \
	-- tests/vm/guest_execution.sh "$T/execution"
done_testing
