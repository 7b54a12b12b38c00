#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Functions of fs, mm, net, sched and of modules, traced in a guest: each thread's events are a path through the code
# as it was in memory, conditionals agree with the values that are known, and a missing event would be noticed.
# PLACEMENT=witness: with fewer probes. ALL=1: all traces, of more
# functions and events.

. "$(dirname "$0")/lib.sh"
needs_guest objdump perl
helper kernel_work

# The code of one trace, as objdump reads it.
disassemble() { # NAME
	local name start

	while read -r name start _; do
		objdump -D -b binary -m i386:x86-64 --adjust-vma="$start" "$T/back/code/$start"
	done <"$T/back/$1.ranges" >"$T/$1.listing"
}

flow() { # NAME [OPTION...]
	local name=$1
	shift

	tests/check/flow.pl "$@" --symbols "$T/back/thunks" --ranges "$T/back/$name.ranges" \
		"$T/back/$name.json" "$T/$name.listing" >"$T/said" 2>&1
}

figures() { # NAME
	sed -n 's/^bbtrace: \([^ ]*: [0-9]* branches, .* cannot be probed\).*/\1/p; s/.*\(the BPF program is.*\)/\1/p; $p' \
		"$T/back/$1.err"
}

judge() { # NAME [OPTION of flow.pl...]
	local name=$1

	[[ -s $T/back/$name.json ]] || { ok 1 "$name: events arrived" && return; }
	disassemble "$name"
	flow "$@"
	ok $? "$name: each thread's events are a path from entry to return"
	diag "$(cut -c1-300 "$T/said")"
	tests/vm/values.pl "$T/back/$name.json" "$T/$name.listing" >"$T/said" 2>&1
	ok $? "$name: conditionals agree with registers and returned values"
	diag "$(cut -c1-300 "$T/said")"
	diag "$(figures "$name")"
}

traces=(tcp dummy timer)
[[ -z ${ALL:-} ]] || traces+=(loop mount file fault wake memory fork exec pipe poll udp unix sched)
# The timer trace has a function of the interrupt entry, and ftrace attaches beside it: see threads() of run.sh.
guest --turns -b "$T/back" -m loop -m dummy -f "$T/kernel_work" -- tests/vm/guest_flow.sh "$T/kernel_work" "${PLACEMENT:-full}" "${traces[*]}" ${ALL:+all}
for name in "${traces[@]}"; do
	case $name in
	timer) judge timer --async ;;
	wake) judge wake --async --whole ;;
	exec) judge exec ;; # CMD is in the middle of its own exec when the trace begins
	*) judge "$name" --whole ;;
	esac
done

# Every event counts: each dropped, doubled, swapped or changed makes the path impossible.
mutated=(dummy)
[[ ! ${ALL:-} ]] || mutated+=(loop)
for name in "${mutated[@]}"; do
	PATHS=1 tests/check/mutate.pl "$T/back/$name.json" tests/check/flow.pl --whole --symbols "$T/back/thunks" \
		--ranges "$T/back/$name.ranges" @ "$T/$name.listing" >"$T/said" 2>/dev/null
	ok $? "$name: no change of one event stays unseen" || diag "$(head -20 "$T/said" | cut -c1-200)"
	diag "$(head -1 "$T/said")"
done
done_testing
