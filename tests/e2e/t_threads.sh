#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two thousand threads that come and go: each has its own calls, even if thread IDs are reused.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

program crowd -O1 -pthread
count=2000

# What the last trace has, "TID EVENT SYMBOL DEPTH" a line.
reduce() {
	json_lines "$T/json" '"$e->{tid} $e->{event} ".($e->{symbol} // "-")." $e->{depth}"
		if $e->{event} !~ /^(branch|summary)$/' >"$T/lines"
}
number() { grep -cE "^[0-9]+ $1" "$T/lines"; } # EVENT SYMBOL
outermost() { sed -n 's/ entry member 0$//p' "$T/lines"; }
# Returns of another function than the innermost that is open; by thread, a new one at member.
mispaired() {
	awk '$3 == "member" && $2 == "entry" { depth[$1] = 0 }
		$2 == "entry" { open[$1, depth[$1]] = $3; wrong += depth[$1]++ != $4 }
		$2 == "return" { wrong += --depth[$1] != $4 || open[$1, depth[$1]] != $3 }
		END { print wrong + 0 }' "$T/lines"
}

for placement in full witness; do
	"$T/crowd" $count >"$T/plain"
	bb user "$T/crowd" member triangle --placement $placement -F json -o "$T/json" -- "$T/crowd" $count
	exits 0 "$placement: $count threads, sixteen at a time, are traced"
	reduce
	same "$T/out" "$T/plain" "$placement: a program of many threads prints what it always does"
	is "$(number 'entry member') $(number 'return member') $(outermost | sort -u | wc -l)" "$count $count $count" "$placement: each thread has its call, which returns"
	is "$(number 'entry triangle')" "$(number 'return triangle')" "$placement: each call within a thread's call returns"
	is "$(mispaired)" 0 "$placement: each return is of the innermost call of its thread"
	is "$(number '(unknown|lost)') $(summary lost)" '0 0' "$placement: nothing of many threads is unknown or lost"

	"$T/crowd" $count leave >"$T/plain"
	bb user "$T/crowd" member triangle --placement $placement -F json -o "$T/json" -- "$T/crowd" $count leave
	exits 0 "$placement: a program is traced of whose threads a third ends within its calls"
	reduce
	same "$T/out" "$T/plain" "$placement: a program whose threads end within calls prints what it always does"
	is "$(number 'entry member') $(number 'return member') $(number 'return triangle')" "$count $((count - (count + 2) / 3)) 0" \
		"$placement: a call that its thread left without a ret has no return"
	is "$(mispaired)" 0 "$placement: where threads end within calls, each return is of the innermost call of its thread"
done

# In a PID namespace that has a few hundred numbers only. Before 6.14 the figure was the whole machine's.
cat >"$T/few" <<EOF
echo 400 >/proc/sys/kernel/pid_max && exec "\$@"
EOF
within() { unshare --pid --fork --mount-proc --propagation private bash "$T/few" "$@"; }
if ! own_namespaces; then
	skip 'a program is traced whose thread numbers are used again' "$NO_NAMESPACES"
elif printf '6.14\n%s\n' "$(uname -r)" | sort -VC; then
	within "$BBTRACE" user "$T/crowd" member triangle -F json -o "$T/json" -- "$T/crowd" $count leave >"$T/out" 2>"$T/err"
	status=$?
	exits 0 'a program is traced whose thread numbers are used again'
	reduce
	same "$T/out" "$T/plain" 'a program whose thread numbers are used again prints what it always does'
	is "$(number 'entry member') $(outermost | wc -l)" "$count $count" 'a thread with a used number begins with no call open'
	[[ $(outermost | sort -u | wc -l) -lt 400 ]]
	ok $? 'thread numbers were used again'
	is "$(mispaired)" 0 'with used numbers each return is of the innermost call of its thread'
	is "$(number 'return member') $(number 'return triangle')" "$((count - (count + 2) / 3)) 0" 'with used numbers a call that was not left by a ret has no return'
else
	skip 'a program is traced whose thread numbers are used again' 'a PID namespace has no pid_max of its own before Linux 6.14'
fi
done_testing
