#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Kprobes that are attached and detached while a trace runs.

. "$(dirname "$0")/lib.sh"
needs_guest
[[ -x $BUILD/growing ]] || skip_all "needs $BUILD/growing: make $BUILD/growing"
${CC:-cc} -D_GNU_SOURCE -std=gnu11 -O1 -pthread -o "$T/grows" tests/e2e/grows.c || exit 2
helper syscalls
guest --turns -f "$BUILD/growing" -f "$T/grows" -f "$T/syscalls" -- tests/vm/guest_growing.sh "$BUILD/growing" "$T/grows" "$T/syscalls"
done_testing
