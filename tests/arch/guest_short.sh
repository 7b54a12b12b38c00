#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_short.sh: in a guest of another architecture, fib(10), which is 2 * 89 - 1 calls, and the same steps in the other
# placements, of which each program has one in turn; a system call that a program makes a known number of times. Besides fib
# each architecture has one of the programs. MATRIX=whole: all of them, in each placement.

. tests/vm/guest_lib.sh
export MATRIX=${1:-}
function='' # choose sets it
machine=$(uname -m)

# The steps of the only thread, without what differs from run to run.
steps() { jq -c 'select(.event != "summary") | {event, symbol, offset, kind, taken, to: .to?.vaddr?}' "$1"; }

programs=('fib 3 354 fib')
[[ ! $MATRIX && $machine != aarch64 ]] || programs+=('switch 0 20 pick')
[[ ! $MATRIX && $machine == aarch64 ]] || programs+=('except-O2 0 20 thrower through cleanup rethrow catcher')
turn=0
for program in "${programs[@]}"; do
	read -r name wanted branches functions <<<"$program"
	read -ra functions <<<"$functions"
	mapfile -t placements < <(part_of $((turn % 2)) 2 implied witness)
	((++turn))
	for placement in full "${placements[@]}"; do
		bb user "build/progs/$name" "${functions[@]}" --placement $placement -F json -o "$T/$placement" -- "build/progs/$name"
		exits "$wanted" "$machine $name: traced with $placement"
		is "$(summary lost)" 0 "$machine $name: nothing lost with $placement"
		steps "$T/$placement" >"$T/$placement.steps"
		cmp -s "$T/full.steps" "$T/$placement.steps"
		ok $? "$machine $name: $placement shows the steps of full" ||
			diag "$(diff "$T/full.steps" "$T/$placement.steps" | head -n 20)"
	done
	read -r found entries returns <<<"$(counts "$T/full" '.event == "branch"' '.event == "entry"' '.event == "return"')"
	((found >= branches))
	ok $? "$machine $name: there are branches" || diag "$(head -n 20 "$T/full.steps")"
	[[ $name != fib ]] ||
		is "$entries $returns $(summary unmatched)" '177 177 0' \
			"$machine fib: so many calls"
done

perl -e 'sleep 1000' &
dormant=$!
wait_for 600 eval '[[ $(awk "{ print \$3 }" /proc/$dormant/stat) == S ]]'
bb stack $dormant -F json
exits 0 "$machine: the stack of a process"
cp "$T/out.txt" "$T/stack"
kill $dormant
is "$(jq -r 'select(.event == "stack") | "\(.waits.for) \(.waits.text) \(.stack_end)"' "$T/stack")" 'time 1000 s null' \
	"$machine: what it waits for, and its stack is whole"
is "$(jq -r 'select(.event == "stack") | .stack[] | .symbol | select(. == "perl_run" or . == "_start")' "$T/stack" | xargs)" \
	'perl_run _start' "$machine: the stack has perl's functions"

# calls N: entries, returns and branches of the function in a program that makes N such system calls; some are the start's.
named() { grep -E ' [tT] __(arm64|riscv)_sys_lseek$' /proc/kallsyms | cut -d' ' -f3; }
choose function named 'the function of lseek(2)' __arm64_sys_lseek __riscv_sys_lseek
calls() {
	bb kernel "$function" -F json -o "$T/kernel" -- perl -e "open my \$f, '<', '/etc/passwd'; sysseek \$f, \$_ % 2, 0 for 1 .. $1"
	exits 0 "$machine $function: traced"
	is "$(summary lost) $(summary unmatched)" '0 0' "$machine $function: nothing lost or unmatched"
	read -r entries returns branches <<<"$(counts "$T/kernel" '.event == "entry"' '.event == "return"' '.event == "branch"')"
}
calls 20
before=("$entries" "$returns" "$branches")
calls 60
is "$((entries - before[0])) $((returns - before[1]))" '40 40' "$machine $function: so many calls more"
is "$(((branches - before[2]) % 40)) $((branches > before[2]))" '0 1' "$machine $function: each with the same branches"
done_testing
