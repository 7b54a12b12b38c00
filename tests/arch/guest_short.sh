#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_short.sh: in a guest of another architecture, fib(10), which is 2 * 89 - 1 calls, and the same steps in each
# placement; a system call that a program makes so many times.

. tests/vm/guest_lib.sh
machine=$(uname -m)

# The steps of the only thread, without what differs from run to run.
steps() { jq -c 'select(.event != "summary") | {event, kind, func, offset, taken, to: .to?.func?}' "$1"; }

for program in 'fib 3 fib' 'switch 0 pick' 'except-O2 0 thrower through cleanup rethrow catcher'; do
	read -r name wanted functions <<<"$program"
	read -ra functions <<<"$functions"
	for placement in full implied witness; do
		bb user "build/progs/$name" "${functions[@]}" --placement $placement -F json -o "$T/$placement" -- "build/progs/$name"
		exits "$wanted" "$machine $name: traced with $placement"
		is "$(summary lost) $(summary unmatched)" '0 0' "$machine $name: nothing lost or unmatched with $placement"
		steps "$T/$placement" >"$T/$placement.steps"
		cmp -s "$T/full.steps" "$T/$placement.steps"
		ok $? "$machine $name: $placement shows the steps of full" ||
			diag "$(diff "$T/full.steps" "$T/$placement.steps" | head -n 20)"
	done
	[[ $(count "$T/full" '.event == "branch"') -gt 100 ]]
	ok $? "$machine $name: there are branches" || diag "$(head -n 20 "$T/full.steps")"
	[[ $name != fib ]] ||
		is "$(count "$T/full" '.event == "entry"') $(count "$T/full" '.event == "return"')" '177 177' "$machine fib: so many calls"
done

# calls N: entries, returns and branches of the function in a program that makes N such system calls; some are the start's.
choose function traceable 'a function of lseek(2)' ksys_lseek "__se_sys_lseek" vfs_llseek
calls() {
	bb kernel "$function" -F json -o "$T/kernel" -- perl -e "open my \$f, '<', '/etc/passwd'; sysseek \$f, \$_ % 2, 0 for 1 .. $1"
	exits 0 "$machine $function: traced"
	is "$(summary lost) $(summary unmatched)" '0 0' "$machine $function: nothing lost or unmatched"
	read -r entries returns branches <<<"$(count "$T/kernel" '.event == "entry"') $(count "$T/kernel" '.event == "return"') $(count "$T/kernel" '.event == "branch"')"
}
calls 100
before=($entries $returns $branches)
calls 300
is "$((entries - before[0])) $((returns - before[1]))" '200 200' "$machine $function: so many calls more"
is "$(((branches - before[2]) % 200)) $((branches > before[2]))" '0 1' "$machine $function: each with the same branches"
done_testing
