#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_reference.sh FOLDER MARK PLACEMENT...: traces the programs of FOLDER/rows (as in tests/arch/programs), which run in
# FOLDER, with each placement, and sends the trace files back. MARK: kernel_mark; each run is a window of tests/vm/logged.c.

. tests/vm/guest_lib.sh
BBTRACE=$(realpath "$BBTRACE")
cd "$1" || exit 1
MARK=$2
shift 2
window=0

while IFS='|' read -r name functions input command; do
	read -r name input <<<"$name $input"
	[[ $name && $name != '#'* ]] || continue
	[[ $input != - ]] || input=/dev/null
	read -ra functions <<<"$functions"
	read -ra command <<<"$command"
	for placement; do
		to=$OUT/$name.$placement
		echo $((++window)) >"$to.window"
		"$MARK" 1 env -i PATH=/usr/bin:/bin LC_ALL=C PYTHONHASHSEED=0 timeout -k 10 3000 setarch -R \
			"$BBTRACE" user "${command[0]}" "${functions[@]}" --engine probe --placement "$placement" --buffer 64M -o "$to.bbt" -- "${command[@]}" <"$input" >"$to.out" 2>"$to.err"
		echo $? >"$to.status"
	done
	ok 0 "$name was traced: $(tail -n 1 "$to.err")"
done <rows
bring_back
done_testing
