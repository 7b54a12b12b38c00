#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs in the guest of t_refused.sh. The kernel refuses kprobes in cold parts like do_execveat_common.isra.0.cold, since
# there is no do_execveat_common (docs/internals/placement.md): there the cheapest placement would have a probe.

. "$(dirname "$0")/guest_lib.sh"

# Functions with a cold part whose name up to the first dot is no symbol.
candidates() {
	awk '{ known[$3] } $3 ~ /[.]cold$/ { cold[$3] } END {
		for (c in cold) {
			base = function_ = c
			sub(/[.].*/, "", base)
			sub(/[.]cold$/, "", function_)
			if (!(base in known) && function_ in known)
				print function_
		}
	}' /proc/kallsyms
}
function=$(candidates | grep '^do_execveat_common' | head -1)
[[ -n $function ]] || function=$(candidates | head -1)
diag "the function is $function"

# Steps from the first entry on: the trace begins in a call, that of CMD.
steps() {
	jq -r 'select(.event != "summary") | "\(.event) \(.vaddr) \(.taken) \(.to.vaddr)"' "$1" | sed -n '/^entry/,$p'
}
for placement in full witness; do
	bb kernel "$function" --placement $placement -v -f -F json -o "$T/$placement.json" -- bash -c 'ls / >/dev/null; ls /none 2>/dev/null; /none 2>/dev/null; true'
	exits 0 "$placement: traced"
	steps "$T/$placement.json" >"$T/$placement"
done
like "$T/err" "the kernel refuses $function.cold" 'a probe in its cold part is refused'
like "$T/err" "^bbtrace: probing $function\\+0x[0-9a-f]+ instead of what the kernel refused" 'another one is probed instead'
ok $(($(grep -c ^entry "$T/full") < 3)) 'the function was called'
is "$(grep -c ^unknown "$T/witness")" 0 'no path is unknown'
cmp "$T/full" "$T/witness"
ok $? "the steps are those of probes on every branch: $(wc -l <"$T/full")" || diag "$(diff "$T/full" "$T/witness" | head)"
done_testing
