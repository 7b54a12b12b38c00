#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_listed.sh SIZES MODULE...: bbtrace's list of the whole of overlay, loop, xfs …, and their code from memory;
# tests/check/modules.py compares both. SIZES/MODULE: lines "SECTION SIZE" for the sections with code. A module
# without such a file is built in; then it is the functions whose names begin with its name.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. "$(dirname "$0")/guest_lib.sh"
SIZES=$1
shift

thunks() { sorted_symbols | awk '$3 ~ /_thunk/ { print $3, "0x" $1, 0 }'; }

code_of_module() { # MODULE
	local section size address

	while read -r section size; do
		address=$(<"/sys/module/$1/sections/$section")
		echo "$section $address"
		live_text "$OUT/$1/$address" "$address" "$size" || return
	done <"$SIZES/$1" >"$OUT/$1.sections"
}

# What only a starting kernel needs stands after its text, and is freed.
in_text() {
	awk -v from="$(sorted_symbols | awk '$3 == "_stext" { print "0x" $1 }')" \
		-v to="$(sorted_symbols | awk '$3 == "_etext" { print "0x" $1 }')" '$2 "" >= from && $2 "" < to'
}

# Functions that stand close together in one piece: to look for each in /proc/kcore would take minutes.
code_of_kernel() { # PREFIX
	local start size from='' to

	mapfile -t names < <(functions "$1_[^[:space:]]*")
	ranges "${names[@]}" | in_text | tee -a "$OUT/$1.symbols" | LC_ALL=C sort -k2 >"$T/ranges"
	while read -r _ start size; do
		if [[ $from ]] && ((start - to > 65536)); then
			live_text "$OUT/$1/$from" "$from" $((to - from)) || return
			from=
		fi
		: "${from:=$start}"
		to=$((start + size))
	done < <(cat "$T/ranges" && echo end 0xffffffffffffffff 0)
}

for module; do
	mkdir -p "$OUT/$module"
	thunks >"$OUT/$module.symbols"
	pattern="$module:*" of=module
	[[ -e $SIZES/$module ]] || pattern="${module}_*" of=kernel
	bb list kernel "$pattern" -F json
	cp "$T/out.txt" "$OUT/$module.functions"
	exits 0 "$module: its functions are listed"
	bb list kernel "$pattern" --sites -F json
	cp "$T/out.txt" "$OUT/$module.sites"
	exits 0 "$module: its branches are listed"
	build/batches 65536 "kernel:$pattern" >"$T/batches"
	like "$T/batches" '^same ' "$module: by batches as at once, $(tail -n 1 "$T/batches" | sed 's/.*: //')"
	"code_of_$of" "$module"
	ok $? "$module: its code is in /proc/kcore"
done
bring_back
done_testing
