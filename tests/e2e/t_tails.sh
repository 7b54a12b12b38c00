#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tail calls: the return of a function that was reached through a slot or a pointer also ends the call that jumped
# there. Where that can't be recorded it is counted separately, and never as unmatched. The programs of progs.list
# test the same event by event.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:python3
mechanisms

python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
library=$(ldd "$python" | awk '/libpython/ { print $3 }')
script='print(sum(len(str(i)) for i in range(300)))'

count() { grep -c '"event":"'"$1"'".*"symbol":"_Py_Dealloc"' "$T/json"; }

# _Py_Dealloc ends in a jump to the type's tp_dealloc.
for mechanism in "${MECHANISMS[@]}"; do
	bb user "${library:-$python}" _Py_Dealloc --attach $mechanism -F json -o "$T/json" -- "$python" -S -E -c "$script"
	exits 0 "$mechanism: python3 is traced"
	is "$(grep -v '^bbtrace' "$T/out")" 790 "$mechanism: python3 prints what it always does"
	# thousands of calls: the parser of JSON would take minutes on an emulated processor
	entries=$(count entry) unseen=$(summary 'unseen returns of tail calls')
	isnt "$entries" 0 "$mechanism: python3 frees objects"
	is "$(($(count return) + ${unseen:-0})) $(summary unmatched)" "$entries 0" \
		"$mechanism: each call returned or was counted as the tail call that it is"
	tail -n 1 "$T/json" >"$T/last"
	is "$(json_lines "$T/last" '$e->{unseen_tail_returns}')" "${unseen:-0}" "$mechanism: JSON counts unseen tail calls as the summary does"
done
"${BBTRACE:-$BUILD/bbtrace}" list -q "${library:-$python}" _Py_Dealloc -F json >"$T/list"
jumps=$(objdump -d "${library:-$python}" --disassemble=_Py_Dealloc | grep -cE '(jmp +\*|\sbr\s|\sjr\s)')
is "$(json_lines "$T/list" '$e->{pointer_tails}')" "$jumps" 'list has the number of tail calls through pointers'
done_testing
