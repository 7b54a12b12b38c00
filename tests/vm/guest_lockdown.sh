#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_lockdown.sh: runs in a guest that was booted with lockdown=confidentiality.

. "$(dirname "$0")/guest_lib.sh"

# refused: in each mode, before anything has run
refused() {
	for mode in 'kernel vfs_read' 'user build/progs/fib fib' 'user build/progs/fib fib --attach uprobe_event'; do
		# shellcheck disable=SC2086 # words
		bb $mode -- touch "$T/has_run"
		exits 1 "$mode is refused"
		like "$T/err" '^bbtrace: cannot trace: the kernel is locked down \(confidentiality\).*boot without' "$mode: the refusal has the reason and the next step"
		[[ ! -e $T/has_run ]]
		ok $? "$mode is refused before anything has run"
	done
}
# rows FILE: doctor's about tracefs
rows() {
	bb doctor -F json
	exits 0 'doctor ends well where the kernel is locked down'
	for row in lockdown tracefs uprobe_event kprobe_event; do
		like <(jq -r "select(.mechanism == \"$row\" and (.available | not)) | .reason" "$T/out.txt") 'locked down' "doctor says of $row that the kernel is locked down"
	done
}

diag "Linux $(uname -r)"
is "$(grep -c securityfs /proc/mounts)" 0 'the kernel tells it in securityfs, which is not mounted, as in a container'
refused
mount -t securityfs none /sys/kernel/security
like /sys/kernel/security/lockdown '\[confidentiality\]' 'the kernel is locked down'
rows
bb list build/progs/fib fib
exits 0 'list of a program works where the kernel is locked down'
bb list kernel vfs_read
is "$(awk '$3 ~ /tracefs|debugfs/' /proc/mounts)" '' 'where the kernel is locked down nothing stays mounted'
is "$(complaints)" 0 'the locked-down kernel has nothing to complain of'
done_testing
