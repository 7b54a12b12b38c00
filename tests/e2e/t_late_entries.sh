#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An entry that a later instruction reports is reported as if its first one did, whatever a signal finds in between.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes "file:$BUILD/progs/faults"
mechanisms
[[ $(uname -m) == x86_64 ]] || skip_all 'x86-64 only: late.c is in its instructions'

gcc -O1 -o "$T/late" "$E2E/late.c" || exit 99

# What happened, without times and values, of which a late entry has none.
happened() { json_lines "$1" '$e->{event} ne "summary" && join " ", map { $_ // "" } @$e{qw(event depth vaddr symbol taken)}'; }

bb user "$T/late" late -v -- "$T/late" 1 return
like "$T/err" 'late: its entry is reported 20 bytes after its first instruction' '-v says where the entry is reported'
bb user "$T/late" late -v -r all -- "$T/late" 1 return
unlike "$T/err" 'is reported' 'with all registers it is told at the first instruction'

for how in return jump kill term; do
	for step in 1 2 4 8; do
		bb user "$T/late" late work stepped -r all -F json -o "$T/all" -- "$T/late" $step $how
		bb user "$T/late" late work stepped -r none -F json -o "$T/none" -- "$T/late" $step $how
		is "$(happened "$T/none")" "$(happened "$T/all")" "step $step, $how: the same happened as with a probe on the first instruction"
	done
done
# the stack pointer and the memory that it points to change in front of the probe
for how in return jump kill; do
	for step in 1 2 3 4 6 7; do
		bb user "$T/late" lowers work stepped_lowers -r all -F json -o "$T/all" -- "$T/late" $step $how lowers
		bb user "$T/late" lowers work stepped_lowers -r none -F json -o "$T/none" -- "$T/late" $step $how lowers
		is "$(happened "$T/none")" "$(happened "$T/all")" "lowered, step $step, $how: the same happened as with a probe on the first instruction"
	done
done
# told by the push, the conditional and the call after loads, stores and a lower stack pointer
functions="behind branches calls indirect"
bb user "$BUILD/progs/faults" $functions -v -r rsp -- "$BUILD/progs/faults"
for delay in behind:12 branches:20 calls:18 indirect:19; do
	like "$T/err" "${delay%:*}: its entry is reported ${delay#*:} bytes after its first instruction" "-v: where ${delay%:*}'s entry is reported"
done
pointers() { json_lines "$1" '$e->{event} eq "entry" && !$e->{implied} && "$e->{symbol} $e->{regs}{rsp}"' | sort -u; }
for regs in rsp all; do
	setarch -R "$BBTRACE" user "$BUILD/progs/faults" $functions -r $regs -F json -o "$T/$regs" -- "$BUILD/progs/faults" >"$T/out" 2>"$T/err"
done
is "$(pointers "$T/rsp" | wc -l)" 4 'each of them has one stack pointer'
is "$(pointers "$T/rsp")" "$(pointers "$T/all")" 'the one that it had at the first instruction'
# where the caller isn't traced, a handler may have left the call
bb user "$T/late" late work -r none -F json -o "$T/none" -- "$T/late" 4 return
bb user "$T/late" late work -r all -F json -o "$T/all" -- "$T/late" 4 return
is "$(happened "$T/none" | grep -v unknown)" "$(happened "$T/all")" 'without a traced caller: the same happened'
isnt "$(json "$T/none" '$e->{event} eq "unknown"')" 0 'without a traced caller: the path behind the handlers is unknown'
for mechanism in "${MECHANISMS[@]}"; do
	bb user "$T/late" late --attach $mechanism -r none -F json -o "$T/json" -- "$T/late" 4 kill
	is "$(entries late)" 1 "$mechanism: the entry of a killed call is there"
	for function in behind first branches calls indirect returns; do
		bb user "$BUILD/progs/faults" $function --attach $mechanism -r none -F json -o "$T/json" -- "$BUILD/progs/faults" $function
		exits 139 "$mechanism, $function: a fault without handler kills the program"
		is "$(entries $function)" 1 "$mechanism, $function: the entry of the call that faulted is there"
	done
done
done_testing
