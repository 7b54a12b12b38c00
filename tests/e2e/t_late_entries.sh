#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An entry that a later instruction reports is told as if its first one did, whatever a signal finds in between.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
mechanisms
[[ $(uname -m) == x86_64 ]] || skip_all 'x86-64 only: late.c is in its instructions'

gcc -O1 -o "$T/late" "$E2E/late.c" || exit 99

# What happened, without times and values, of which a late entry has none.
happened() { json_lines "$1" '$e->{event} ne "summary" && join " ", map { $_ // "" } @$e{qw(event depth vaddr symbol taken)}'; }

bb user "$T/late" late -v -- "$T/late" 1 return
like "$T/err" 'late: its entry is told 20 bytes behind its first instruction' '-v says where the entry is told'
bb user "$T/late" late -v -r all -- "$T/late" 1 return
unlike "$T/err" 'is told' 'with all registers it is told at the first instruction'

for how in return jump kill term; do
	for step in 1 2 4 8; do
		bb user "$T/late" late work stepped -r all -F json -o "$T/all" -- "$T/late" $step $how
		bb user "$T/late" late work stepped -r none -F json -o "$T/none" -- "$T/late" $step $how
		is "$(happened "$T/none")" "$(happened "$T/all")" "step $step, $how: the same happened as with a probe on the first instruction"
	done
done
# where the caller isn't traced, a handler may have left the call
bb user "$T/late" late work -r none -F json -o "$T/none" -- "$T/late" 4 return
bb user "$T/late" late work -r all -F json -o "$T/all" -- "$T/late" 4 return
is "$(happened "$T/none" | grep -v unknown)" "$(happened "$T/all")" 'without a traced caller: the same happened'
isnt "$(json "$T/none" '$e->{event} eq "unknown"')" 0 'without a traced caller: the path behind the handlers is unknown'
for mechanism in "${MECHANISMS[@]}"; do
	bb user "$T/late" late --attach $mechanism -r none -F json -o "$T/json" -- "$T/late" 4 kill
	is "$(entries late)" 1 "$mechanism: the entry of a killed call is there"
done
done_testing
