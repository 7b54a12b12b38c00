#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A kernel that is locked down: what is refused, and why, in each mode.

. "$(dirname "$0")/lib.sh"
needs_guest
guest -a 'lockdown=confidentiality lsm=lockdown' -- tests/vm/guest_lockdown.sh
done_testing
