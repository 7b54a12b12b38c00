#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Traces of all kinds, two at a time, through merge, report and diff under AddressSanitizer: no finding, and what merge
# writes can be read. Here each kind meets a few others; PAIRS=all (make check-long): each meets each.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes
SANITIZED=$BUILD/san/bbtrace
[[ -x $SANITIZED ]] || skip_all 'needs build/san/bbtrace: make build/san/bbtrace'
export ASAN_OPTIONS=exitcode=99:disable_coredump=1 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99

program parts -O1
program naps -O1
program threads -O1 -pthread
mkdir "$T/other" && "${CC:-cc}" -g -O2 -o "$T/other/parts" "$ROOT/tests/progs/parts.c"

kinds=()
# kind NAME OBJECT WORD...: a trace, $T/NAME.bbt
kind() {
	local name=$1
	shift
	timeout "$BB_TIMEOUT" "$BBTRACE" user "$@" >"$T/$name.out" 2>"$T/$name.err" </dev/null
	[[ -s $T/$name.bbt ]]
	ok $? "$name is recorded" && kinds+=("$name") && return
	diag "$(<"$T/$name.err")"
}
# parts NAME WORD... -- ARG...: of that program
parts() { kind "$1" "$T/parts" "${@:2}"; }
run=(-- "$T/parts" 0 1 3)

parts plain main choose -o "$T/plain.bbt" -- "$T/parts" 0 1 2
parts others even odd -o "$T/others.bbt" -- "$T/parts" 0 4 5
parts stacks main choose even odd -k -o "$T/stacks.bbt" -- "$T/parts" 1 2 3
parts named main choose even --with 'sched:sched_switch' --with 'syscalls:sys_exit_write' -k -o "$T/named.bbt" "${run[@]}"
parts counts main odd -c --record "$T/counts.bbt" --tag one -o "$T/counts.txt" "${run[@]}"
parts writes main choose --with 'syscalls:sys_enter_write' --placement witness -o "$T/writes.bbt" "${run[@]}"
parts args main odd --args -o "$T/args.bbt" "${run[@]}"
parts armored main odd -k --armor=redundant -o "$T/armored.bbt" "${run[@]}"
if [[ ${PAIRS:-} == all ]]; then
	kind build2 "$T/other/parts" main choose even odd -o "$T/build2.bbt" -- "$T/other/parts" 0 4 5
	parts frames main choose even -k --stack-size 0 -o "$T/frames.bbt" "${run[@]}"
	parts counts2 even odd -c --record "$T/counts2.bbt" -o "$T/counts2.txt" "${run[@]}"
	parts loaded main odd --args='argv[0],argc' -o "$T/loaded.bbt" "${run[@]}"
	parts why main odd --why -o "$T/why.bbt" "${run[@]}"
	parts last main odd even --last 3 --record "$T/last.bbt" "${run[@]}"
	parts registers main odd -r all -o "$T/registers.bbt" "${run[@]}"
	parts samples main choose --freq 999 -k -o "$T/samples.bbt" "${run[@]}"
	parts if main odd --if 'argc > 1' -o "$T/if.bbt" "${run[@]}"
	parts entries main odd -e entry -o "$T/entries.bbt" "${run[@]}"
	kind sched "$T/naps" main -e sched,entry,return -o "$T/sched.bbt" -- "$T/naps"
	kind threads "$T/threads" '*' -k -o "$T/threads.bbt" -- "$T/threads"
	kind copies "$T/threads" '*' --engine inline -o "$T/copies.bbt" -- "$T/threads"
	for old in "$E2E"/format*.txt; do
		name=$(basename "$old" .txt)
		cp "$old" "$T/$name.bbt"
		kinds+=("$name")
	done
	head -c 1500 "$T/stacks.bbt" >"$T/cut.bbt"
	kinds+=(cut)
fi

findings=0 runs=0
# sanitized WORD...: its exit status in $status
sanitized() {
	timeout -k 10 "$BB_TIMEOUT" "$SANITIZED" "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
	((++runs))
	((status > 3)) || return 0
	((++findings > 3)) || diag "status $status: $*"$'\n'"$(grep -v '^bbtrace:' "$T/err" | head -20)"
}
unread=0
# pair A B FORMAT
pair() {
	local a=$T/$1.bbt b=$T/$2.bbt merged

	sanitized merge "$a" "$b" -o "$T/merged"
	merged=$status
	if [[ $merged == 0 ]]; then
		sanitized report "$T/merged" -F json
		[[ $status == 0 ]] || { ((++unread)) && diag "$1 and $2, merged: $(tail -n 1 "$T/err")"; }
	fi
	sanitized report "$a" "$b" -F "$3"
	sanitized diff "$a" "$b" -F json -n 3
	[[ ${PAIRS:-} != all ]] || sanitized diff "$a" "$b" -F "${5:-html}"
}
formats=(text json html folded chrome callgrind pprof summary lcov annotate perfetto paths dot)
n=${#kinds[@]}
for ((i = 0; i < n; i++)); do
	for ((k = 0; k < n; k++)); do
		[[ ${PAIRS:-} == all ]] || ((k == (i + 1) % n)) || continue
		pair "${kinds[i]}" "${kinds[k]}" "${formats[(7 * i + k) % ${#formats[@]}]}"
	done
done
is "$findings" 0 "$n kinds of traces, $runs runs: the sanitizers find nothing"
is "$unread" 0 'what merge writes can be read'

# events that both have, functions that one has
bb report "$T/plain.bbt" -F json -o "$T/plain.json"
bb report "$T/others.bbt" -F json -o "$T/others.json"
bb merge "$T/plain.bbt" "$T/others.bbt" -o "$T/merged"
bb report "$T/merged" -F json -o "$T/merged.json"
exits 0 'events of other functions, merged: they can be read'
taken() { json_lines "$1" '$e->{event} eq "edge" ? "$e->{symbol} $e->{offset} $e->{taken_count}" : undef' | sort; }
branches() { json_lines "$1" '$e->{event} eq "branch" && (!exists $e->{taken} || $e->{taken}) ? $e->{symbol} : undef'; }
is "$(json_lines "$T/merged.json" '$e->{taken_count}' | awk '{ n += $1 } END { print n }')" \
	"$(($(branches "$T/plain.json" | wc -l) + $(branches "$T/others.json" | wc -l)))" \
	'and each branch that was taken in them is counted'
done_testing
