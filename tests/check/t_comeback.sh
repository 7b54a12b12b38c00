#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# t_comeback.sh: random programs in which control comes back where no edge of the graph leads (comeback.py). With fewer
# probes, by copies and in counts they show the branches that a probe at each branch shows, or say what is missing.
# SEEDS="1 2 ..." tests these.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:python3
[[ $(uname -m) == x86_64 ]] || skip_all 'the programs have x86-64 assembler'
CHECK=$ROOT/tests/check/comeback.py
LEVELS=(-O0 -O1 -O2 '-O2 -fcf-protection' '-O1 -fno-plt' '-O2 -static' '-O1 -fomit-frame-pointer -no-pie')

shows() { # FILE OPTION...
	local file=$1
	shift
	bb user "$T/prog" 'f[0-9]*' deep coroutine "$@" -F json -o "$file" -- "$T/prog"
	[[ $status == 0 && -s $file ]]
}

# Prints what differs; nothing if nothing does.
differences() {
	local use
	shows "$T/full" --engine probe --placement full || echo "full: $(tail -n 1 "$T/err")"
	for use in '--engine probe --placement witness' '--engine probe --placement implied' '--engine inline'; do
		# shellcheck disable=SC2086 # options
		shows "$T/other" $use && "$CHECK" same "$T/full" "$T/other" >"$T/said" || echo "$use: $(<"$T/said")"
	done
	for use in '-c --engine probe' '-c --engine inline'; do
		# shellcheck disable=SC2086 # options
		shows "$T/other" $use && "$CHECK" counts "$T/full" "$T/other" >"$T/said" || echo "$use: $(<"$T/said")"
	done
}

n=0
for seed in ${SEEDS:-1}; do
	for kind in pointer builtin nested own context handler mixed; do
		"$CHECK" make "$seed" "$kind" >"$T/prog.c"
		level=${LEVELS[n++ % ${#LEVELS[@]}]}
		# shellcheck disable=SC2086 # options
		cc -w $level -Wl,-z,execstack -o "$T/prog" "$T/prog.c" || { ok 1 "$kind $seed $level: it can be built" && continue; }
		is "$(differences)" '' "$kind $seed $level: the same branches by each means, or gaps that are said"
	done
done

# The compiler's own means.
for level in '-O1 -mindirect-branch=thunk-inline -fcf-protection=none' '-O2 -mcmodel=large -no-pie -fno-pie' '-O1 -fsplit-stack'; do
	"$CHECK" make 1 pointer >"$T/prog.c"
	# shellcheck disable=SC2086 # options
	if ! cc -w $level -o "$T/prog" "$T/prog.c" 2>"$T/err"; then
		skip "pointer $level" "$(head -n 1 "$T/err")"
		continue
	fi
	is "$(differences)" '' "pointer $level: the same branches by each means"
done
done_testing
