#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Kernel mode in a guest: refusals and their reasons, the functions that names mean, the traced processes, system
# calls' arguments. ALL=1: also what has its like beside it: each function that has static calls and jump labels, not three;
# --uid, --cgroup; tail calls of a module; another bbtrace's probes.

. "$(dirname "$0")/lib.sh"
needs_guest
helper kernel_work
guest -c 1 -m loop -m xfs -f "$T/kernel_work" -- tests/vm/guest_accounts.sh "$T/kernel_work" ${ALL:+all}
done_testing
