#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_kernel_counts.sh WORK [all]: runs WORK (kernel_work) under -c, and under a trace of every branch. Both times each
# branch is taken and not taken as often, indirect calls lead to the same functions, and each function is entered as
# often.

. "$(dirname "$0")/guest_lib.sh"
WORK=$1
whole=${2:-}

# Lines "PLACE how N": of a trace, and of counts. What never ran isn't in a trace. Where an indirect call led is not
# always known.
branches_of() { # TRACE
	jq -r 'select(.event == "branch") | "\(.symbol)+\(.offset) " + (if .taken == false then "not" else "taken" end),
		(select(.kind == "icall" and .to) | "\(.symbol)+\(.offset) to:\(.to.vaddr)")' "$1" | sort | uniq -c | awk '{ print $2, $3, $1 }'
}
counts_of() { # COUNTS
	jq -r 'select(.event == "edge") | "\(.symbol)+\(.offset)" as $at |
		"\($at) taken \(if has("taken_count") then .taken_count else "?" end)",
		(select(.kind == "jcc" or .kind == "loop") | "\($at) not \(if has("not_taken_count") then .not_taken_count else "?" end)"),
		(select(.kind == "icall") | .targets[] | "\($at) to:\(.to.vaddr) \(.count)")' "$1" | awk '$3 != "0"' | sort
}
# Lines "FUNCTION N".
entries_of() { jq -r 'select(.event == "entry") | .symbol' "$1" | sort | uniq -c | awk '{ print $2, $1 }'; }

# The lines of events.json and counts.json, as branches and counts.
extract() {
	branches_of "$T/events.json" | sort >"$T/branches"
	counts_of "$T/counts.json" >"$T/counts"
}
# agree NAME: the counts that were extracted are those of the events
agree() {
	local name=$1

	is "$(grep -c '?$' "$T/counts")" 0 "$name: each count is known" || diag "$(grep '?$' "$T/counts" | head -20)"$'\n'"$(grep refuses "$T/err")"
	cmp -s "$T/branches" "$T/counts"
	ok $? "$name: $(wc -l <"$T/branches") counts are those of the events" || diag "$(diff "$T/branches" "$T/counts" | head -20)"
	ok $(($(wc -l <"$T/branches") < ${least:-10})) "$name: there are enough of them"
	is "$(grep '"event":"summary"' "$T/counts.json" | jq '.residue // 0')" 0 "$name: no count contradicts another one"
}

# compare NAME OPTION... -- COMMAND...: traces and counts $functions. The kernel may look a path up again since something
# else has changed meanwhile, so two runs may differ: then once more.
compare() {
	local name=$1 try traced
	shift

	for try in 1 2 3; do
		# shellcheck disable=SC2086 # a list
		bb kernel $functions --placement full -F json -o "$T/events.json" "$@"
		# shellcheck disable=SC2154 # bb sets it
		traced="$status $(summary lost) $(count "$T/events.json" '.event == "unknown" or .event == "lost"')"
		# shellcheck disable=SC2086
		bb kernel $functions -c -v -F json -o "$T/counts.json" "$@"
		extract
		cmp -s "$T/branches" "$T/counts" && break
		[[ $try == 3 ]] || diag "$name: two runs differ, once more: $(diff "$T/branches" "$T/counts" | head -6)"
	done
	is "$traced" '0 0 0' "$name: traced, and no event is missing"
	exits 0 "$name: counted"
	diag "$name: $(tail -n 1 "$T/err")"
	agree "$name"
}

# The first of a|b that this kernel has, of each.
known() {
	local names name had

	# shellcheck disable=SC2068 # alternatives are separated
	had=$(traceable ${@//|/ })
	for names; do
		for name in ${names//|/ }; do
			[[ $'\n'$had$'\n' == *$'\n'$name$'\n'* ]] && echo "$name" && break
		done
	done
}

# What the first run finds in no cache.
"$WORK" file mount close unix sched pipe

[[ ! $whole ]] || {
	functions=$(known __x64_sys_mount path_mount '__x64_sys_umount|__x64_sys_oldumount')
	compare mount -- "$WORK" mount
}
functions=$(known ${whole:+do_sys_openat2 do_filp_open path_openat link_path_walk} getname_flags do_dentry_open vfs_read vfs_write)
compare file -- "$WORK" file
[[ ! $whole ]] || {
	# each of them is counted below, too
	functions=$(known __x64_sys_getppid __x64_sys_close)
	least=1 compare close -- "$WORK" close
	functions=$(known set_user_nice __x64_sys_setpriority)
	compare sched -- "$WORK" sched
	functions=$(known unix_stream_sendmsg unix_stream_read_generic)
	compare unix -- "$WORK" unix
}

# Four processes at once, on both CPUs. No indirect call: while bbtrace reads its targets, the kernel may skip hits (and
# the summary says so).
functions=$(known do_sys_openat2 getname_flags)
compare 'four processes' -f -- bash -c "for i in 1 2 3 4; do for j in 1 2 ${whole:+3 4 5 6 7 8}; do \"\$0\" close; done & done; wait" "$WORK"

# A process that runs already, and calls getppid until it may begin.
functions=$(known set_user_nice __x64_sys_setpriority)
# attached FILE OPTION...: traces it; FILE has something as soon as the tracer has begun
attached() {
	local file=$1 pid tracer
	shift

	"$WORK" wait sched &
	pid=$!
	# shellcheck disable=SC2086
	timeout -k 10 1800 $BBTRACE kernel $functions __x64_sys_getppid "$@" -p $pid >"$file" 2>"$T/err" &
	tracer=$!
	wait_for 1200 test -s "$file"
	kill -USR1 $pid
	wait $tracer
}
attached "$T/events.txt" --placement full -F json
ok $? '-p: traced'
attached "$T/counts.txt" -c --interval 1s -F json
ok $? '-p: counted'
grep -v sys_getppid "$T/events.txt" >"$T/events.json"
awk '/"event":"interval"/ { set = ""; next } { set = set $0 "\n" } END { printf "%s", set }' "$T/counts.txt" |
	grep -v sys_getppid >"$T/counts.json"
extract
agree '-p'

# Calls alone, by function.
functions=$(known do_sys_openat2 ${whole:+do_filp_open path_openat} getname_flags)
# shellcheck disable=SC2086
bb kernel $functions -e entry -F json -o "$T/events.json" -- "$WORK" file
exits 0 'calls: traced'
# shellcheck disable=SC2086
bb kernel $functions -e entry -c -F summary -o "$T/counts.txt" -- "$WORK" file
exits 0 'calls: counted'
for function in $functions; do
	calls=$(count "$T/events.json" ".event == \"entry\" and .symbol == \"$function\"")
	like "$T/counts.txt" "^ *$calls .*$function" "$function: $calls calls"
done
done_testing
