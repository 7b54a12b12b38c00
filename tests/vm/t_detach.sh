#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Attaching and detaching many kprobes in a guest, by Ctrl-C, SIGKILL and the end of CMD. SITES=500: so many.

. "$(dirname "$0")/lib.sh"
needs_guest
guest -c 1 -- tests/vm/guest_detach.sh "${SITES:-60}"
done_testing
