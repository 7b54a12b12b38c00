#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_reference.sh FILE PLACEMENT...: traces the programs of FILE (rows as in tests/arch/programs) in the guest with each placement, and sends the trace files back.

. tests/vm/guest_lib.sh
rows=$1
shift

while IFS='|' read -r name functions input command; do
	read -r name input <<<"$name $input"
	[[ $name && $name != '#'* ]] || continue
	[[ $input != - ]] || input=/dev/null
	read -ra functions <<<"$functions"
	read -ra command <<<"$command"
	for placement; do
		to=$OUT/$name.$placement
		env -i PATH="$PATH" LC_ALL=C PYTHONHASHSEED=0 timeout -k 10 3000 setarch -R "$BBTRACE" user "${command[0]}" "${functions[@]}" \
			--engine probe --placement "$placement" --buffer 64M -o "$to.bbt" -- "${command[@]}" <"$input" >"$to.out" 2>"$to.err"
		echo $? >"$to.status"
	done
	ok 0 "$name was traced: $(tail -n 1 "$to.err")"
done <"$rows"
bring_back
done_testing
