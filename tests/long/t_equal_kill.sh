#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each of bbtrace's processes is killed 300 times (KILLS), at any time, while it traces programs of tests/equal: bbtrace, its
# supervisor, and what parses, opens and writes for it. The programs run on to the same output and status, and nothing is left:
# no process, no definition of a probe. A program that had not begun when bbtrace was killed doesn't begin.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
. "$ROOT/tests/equal/equal.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

rows=()
while IFS='|' read -r name _ file command; do
	name=${name#quick } && name=${name// /}
	file=$(command -v "$(eval echo "$file")" 2>/dev/null)
	[[ $name =~ ${PROGRAMS:-.} && -x $file ]] && rows+=("$name|$(realpath "$file")|$command")
done < <(equal_prepare && grep '^quick' "$EQUAL/programs.list")
equal_prepare
uses=(count last summary file probe)

# What the command leaves when it has ended: its status is there last.
cat >"$T/wrap" <<'END2'
: >"$1.began"
sh -c "$2" >"$1.out" 2>"$1.err" </dev/null
echo $? >"$1.new"
mv "$1.new" "$1.status"
END2
ours() { grep -lsz "equal_kill=$1" /proc/[0-9]*/environ | cut -d/ -f3; }
# those of bbtrace, not of the command
tracers() { ours "$1" | while read -r pid; do [[ $(readlink "/proc/$pid/exe") == "$BBTRACE_FILE" ]] && echo "$pid"; done; }
none_left() { [[ -z $(ours "$1") ]]; }
BBTRACE_FILE=$(realpath "$BBTRACE")

wrong=0 left=0 began=0 tracers=()
declare -A killed=()
RANDOM=${SEED:-17}
hits=0
for ((n = 0; hits < ${KILLS:-300} && n < 4 * ${KILLS:-300}; n++)); do
	IFS='|' read -r name file command <<<"${rows[RANDOM % ${#rows[@]}]}"
	use=${uses[RANDOM % ${#uses[@]}]}
	if [[ ! -e $T/plain.$name.out ]]; then
		rm -rf "$OUT" && mkdir -p "$OUT"
		sh "$T/wrap" "$T/plain.$name" "$command"
	fi
	rm -rf "$OUT" "$T"/now.*
	mkdir -p "$OUT"
	equal_specs "$use" "$file"
	# shellcheck disable=SC2086 # options
	equal_kill=$n "$BBTRACE" trace "${SPECS[@]/#/user:}" -q ${EQUAL_USES[$use]} -- sh "$T/wrap" "$T/now" "$command" \
		>/dev/null 2>&1 </dev/null &
	tracer=$!
	tracers+=("$tracer")
	((RANDOM % 3)) && for ((wait = 0; wait < 600; wait++)); do [[ -e $T/now.began || ! -e /proc/$tracer ]] && break; sleep 0.1; done
	sleep 0.$((RANDOM % 5))$((RANDOM % 10))
	mapfile -t all < <(tracers $n)
	victim=$tracer
	((RANDOM % 4 && ${#all[@]})) && victim=${all[RANDOM % ${#all[@]}]}
	comm=$(cat "/proc/$victim/comm" 2>/dev/null)
	killed[${comm:-ended}]+=x
	kill -9 "$victim" 2>/dev/null && ((++hits))
	wait $tracer 2>/dev/null
	if [[ -e $T/now.began ]]; then
		((began++))
		wait_for "$PATIENCE" test -e "$T/now.status"
		for what in out err status; do
			cmp -s "$T/now.$what" "$T/plain.$name.$what" || { ((++wrong)) && diag "$n: $name, $use: $what"; }
		done
	fi
	wait_for "$PATIENCE" none_left $n || ((left++))
done
is $hits "${KILLS:-300}" "so many of $n runs were hit before they had ended"
is $wrong 0 "$began of them after the program had begun: output and status are its own each time"
is $left 0 'no process is left'
# what the last ones have left the next one deletes
"$BBTRACE" user "$CRASHES" '*' --attach uprobe_event -q -o /dev/null -- "$CRASHES" >/dev/null 2>&1 </dev/null
unlike /sys/kernel/tracing/uprobe_events "bbtrace_($(IFS='|' && echo "${tracers[*]}"))/" 'no probe is left'
for name in "${!killed[@]}"; do diag "killed: $name ${#killed[$name]} times"; done
done_testing
