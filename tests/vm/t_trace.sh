#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# User and kernel branches of one thread in one tree, in a guest: each read(2) of cat is a call of libc's read that
# contains one call of the kernel's vfs_read with the same arguments, and nothing else. nested.pl checks that. ALL=1: with
# ten times as many calls, each engine in both placements, several processes and losses by probes, too, and each function that
# the kernel exports.

. "$(dirname "$0")/lib.sh"
needs_guest perl

reads=${ALL:+1000} reads=${reads:-100}
guest -b "$T/back" -c 1 -- tests/vm/guest_trace.sh $reads ${ALL:+all}

names=(probe-full inline-witness)
[[ ! ${ALL:-} ]] || names=({probe,inline}-{full,witness})
for name in "${names[@]}"; do
	tests/vm/nested.pl --calls $((reads + 1)) --outer read --inner vfs_read --fd 3 "$T/back/$name.json" >"$T/said" 2>&1
	ok $? "$name: all $((reads + 1)) calls of read have their own vfs_read in them" || diag "$(head -20 "$T/said")"
	diag "$(tail -1 "$T/said")"
done
declare -A reads=([inline]='--calls 101') # what is lost in the kernel is not lost in libc, if that is copied
for engine in ${ALL:+probe} inline; do
	tests/vm/nested.pl --full ${reads[$engine]} --outer read --inner vfs_read "$T/back/$engine-lost.json" >"$T/said" 2>&1
	ok $? "$engine: losses are told where they happened" || diag "$(head -20 "$T/said")"
	diag "$(tail -1 "$T/said")"
	for call in read write; do
		tests/vm/nested.pl --lossy --outer $call --inner vfs_$call "$T/back/$engine-forks.json" >"$T/said" 2>&1
		ok $? "$engine: each $call of four processes has its own vfs_$call in it" || diag "$(head -20 "$T/said")"
		diag "$(tail -1 "$T/said")"
	done
done
cmp "$T/back/live.txt" "$T/back/report.txt" >"$T/said" 2>&1
ok $? 'the recorded trace is reported as it was shown' || diag "$(cat "$T/said"; diff "$T/back/live.txt" "$T/back/report.txt" | head -10)"
done_testing
