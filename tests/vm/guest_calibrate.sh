#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_calibrate.sh: doctor --calibrate with kprobes: it says how the kernel implements them. No figure is checked:
# the CPU is emulated.

# shellcheck disable=SC2154 # guest_lib.sh sets it
. "$(dirname "$0")/guest_lib.sh"
bb doctor --calibrate -F json
is "$status" 0 "Linux $(uname -r): doctor --calibrate ends well"
is "$(wc -c <"$T/err")" 0 'doctor --calibrate writes nothing to stderr'
kprobes() { jq -r "select(.mechanism == \"kprobe_event\" and .insn) | $1" "$T/out.txt"; }
is "$(kprobes .class | sort -u | xargs)" 'ftrace int3 jump' 'kprobes of each class are measured'
is "$(kprobes .record | sort | uniq -c | awk '{ print $1 }' | uniq | wc -l)" 1 'kprobes of each class are measured with both records'
is "$(kprobes 'select(.insn == "call") | .class' | sort -u | xargs)" int3 'a kprobe on a call is an int3'
is "$(kprobes 'select(.record == "branch" and (.ns | type != "number")) | .insn' | xargs)" '' 'each kprobe that is measured has a figure'
if $BBTRACE doctor | grep -q '^executed_event  *yes'; then # what the program does is no single-step
	is "$(jq -r 'select(.mechanism == "executed_event" and .insn == "ret") | .class' "$T/out.txt" | sort -u)" emulated 'a ret that the program does is measured'
	is "$(jq -r 'select(.mechanism == "uprobe_event" and .insn == "ret") | .class' "$T/out.txt" | sort -u)" stepped 'and one that the kernel steps'
fi
mkdir "$T/debugfs" && mount -t debugfs none "$T/debugfs"
is "$(wc -l <"$T/debugfs/kprobes/list")" 0 'doctor --calibrate leaves no kprobe'
umount "$T/debugfs"
done_testing
