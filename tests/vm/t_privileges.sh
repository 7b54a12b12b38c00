#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Kernel mode in a guest, by a user with the capabilities that it needs and no more.

. "$(dirname "$0")/lib.sh"
needs_guest setpriv
guest -c 1 -- tests/vm/guest_privileges.sh
done_testing
