#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_lockdown.sh: in a guest that is booted with lockdown=confidentiality.

. "$(dirname "$0")/guest_lib.sh"

mount -t securityfs none /sys/kernel/security
like /sys/kernel/security/lockdown '\[confidentiality\]' 'the kernel is locked down'
for mode in 'kernel vfs_read' 'user build/progs/fib fib'; do
	# shellcheck disable=SC2086 # words
	bb $mode -- touch "$T/has_run"
	exits 1 "$mode is refused"
	like "$T/err" '^bbtrace: cannot trace: the kernel is locked down \(confidentiality\).*boot without' 'with the reason and the next step'
	[[ ! -e $T/has_run ]]
	ok $? 'before anything has run'
done
bb doctor -F json
exits 0 'doctor'
for row in lockdown uprobe_event kprobe_event; do
	like <(jq -r "select(.mechanism == \"$row\" and (.available | not)) | .reason" "$T/out.txt") 'locked down' "$row: why"
done
bb list build/progs/fib fib
exits 0 'what is not traced can still be listed'
done_testing
