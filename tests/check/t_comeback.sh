#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# t_comeback.sh: random programs in which control comes back where no edge of the graph leads (comeback.py). With fewer
# probes, by copies and in counts they show the branches that a probe at each branch shows, or say what is missing: each program
# by two of these ways; MATRIX=whole: by all.
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

WAYS=('same --engine probe --placement witness' 'same --engine probe --placement implied' 'same --engine inline'
	'counts -c --engine probe' 'counts -c --engine inline')

# Prints what differs; nothing if nothing does. By two of the ways, in turn; MATRIX=whole: by each.
differences() { # NUMBER
	local i kind use others=()

	shows "$T/full" --engine probe --placement full || echo "full: $(tail -n 1 "$T/err")"
	for i in "${!WAYS[@]}"; do
		in_part $(((2 * $1 + i) % 5 / 2)) 0 3 || continue
		read -r kind use <<<"${WAYS[i]}"
		# shellcheck disable=SC2086 # options
		shows "$T/${use// /}" $use || echo "$use: $(tail -n 1 "$T/err")"
		others+=("$kind=$T/${use// /}")
	done
	"$CHECK" compare "$T/full" "${others[@]}" 2>&1
}

n=0
for seed in ${SEEDS:-1}; do
	for kind in pointer builtin nested own context handler mixed; do
		"$CHECK" make "$seed" "$kind" >"$T/prog.c"
		level=${LEVELS[n++ % ${#LEVELS[@]}]}
		# shellcheck disable=SC2086 # options
		cc -w $level -Wl,-z,execstack -o "$T/prog" "$T/prog.c" || { ok 1 "$kind $seed $level: it can be built" && continue; }
		is "$(differences $n)" '' "$kind $seed $level: the same branches by each means, or gaps that are said"
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
	is "$(differences $((n++)))" '' "pointer $level: the same branches by each means"
done
done_testing
