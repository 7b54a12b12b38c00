#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Attaching and detaching hundreds of kprobes in a guest, by Ctrl-C, SIGKILL and the end of CMD.

. "$(dirname "$0")/lib.sh"
needs_guest
guest -c 1 -- tests/vm/guest_detach.sh
done_testing
