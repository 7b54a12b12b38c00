#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace stack: each thread of a process waits for what the program says, and its stack is gdb's; deadlocks; nothing of the
# process changes. 32-bit programs are in guests: tests/vm/t_stack.sh.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root cmd:gdb

# start PROGRAM ROLE...: $pid; $T/said has the roles, when all threads are where they wait
start() {
	: >"$T/said"
	"$@" >"$T/said" </dev/null 2>"$T/complaints" &
	pid=$!
	wait_for "$PATIENCE" grep -q '^main ' "$T/said"
	wait_for "$PATIENCE" all_wait "$pid"
}
# The main thread has said so before it waits; others may still be on their way.
all_wait() {
	local task

	for task in /proc/"$1"/task/*; do
		[[ $(awk '{ print $3 }' "$task/stat") == S ]] || grep -q "^spins ${task##*/} " "$T/said" || return 1
	done
}
end() {
	awk '$1 == "child" { print $3 }' "$T/said" | xargs kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}
tid() { awk -v role="$1" '$1 == role { print $2 }' "$T/said"; }
what() { awk -v role="$1" '$1 == role { print $3, $4 }' "$T/said" | sed 's/ *$//'; }
# waits ROLE: for, symbol, owner, pid, call of that thread
waits() { jq -r --argjson tid "$(tid "$1")" 'select(.event == "stack" and .tid == $tid) | .waits | "\(.for) \(.symbol // "-") \(.owner // .pid // "-") \(.call // "-")"' "$T/json"; }
text() { jq -r --argjson tid "$(tid "$1")" 'select(.event == "stack" and .tid == $tid) | .waits.text // "-"' "$T/json"; }

# gdb says what the stacks are, frame by frame, by address.
compare_stacks() { # NAME
	gdb -nx -batch -p "$pid" -x "$ROOT/tests/check/gdb_core.py" >"$T/gdb" 2>"$T/gdb_err" </dev/null
	perl -lane '$F[0] eq "FRAME" && $F[4] eq "-" and print "$F[1] $F[2] " . hex $F[3]' "$T/gdb" | sort >"$T/by_gdb"
	jq -r 'select(.event == "stack") | .tid as $tid | .stack | to_entries[] | "\($tid) \(.key) \(.value.addr)"' "$T/json" |
		perl -lane 'print "$F[0] $F[1] " . hex $F[2]' | sort >"$T/by_bbtrace"
	[[ -z ${spinner:-} ]] || sed -i "/^$spinner 0 /d" "$T/by_gdb" "$T/by_bbtrace"
	isnt "$(wc -l <"$T/by_gdb")" 0 "$1: gdb has stacks" || diag "$(tail -5 "$T/gdb_err")"
	is "$(comm -13 "$T/by_gdb" "$T/by_bbtrace" | head -5)" '' "$1: each of the $(wc -l <"$T/by_bbtrace") frames is gdb's"
	is "$(comm -23 "$T/by_gdb" "$T/by_bbtrace" | head -5)" '' "$1: each of gdb's frames is there"
}

check_roles() { # NAME
	is "$(waits first)" "mutex lock_b $(tid second) futex" "$1: a mutex, and who holds it"
	is "$(waits second)" "mutex lock_a $(tid first) futex" "$1: the other mutex, and who holds it"
	is "$(waits mutex)" "mutex held $(tid holder) futex" "$1: a mutex of a thread that waits for something else"
	is "$(waits checked)" "mutex error_lock $(tid holder) futex" "$1: a mutex that checks for errors"
	is "$(waits reader)" "rwlock table $(tid holder) futex" "$1: a read-write lock that a writer has"
	like <(waits condition) '^condition never(\+0x[0-9a-f]+)? - futex$' "$1: a condition variable"
	like <(waits semaphore) '^(semaphore|futex) items(\+0x[0-9a-f]+)? - futex$' "$1: a semaphore"
	like <(waits barrier) '^barrier all(\+0x[0-9a-f]+)? - futex$' "$1: a barrier"
	like <(waits naps) '^time - - (clock_)?nanosleep$' "$1: a time"
	is "$(text naps)" '5000 s' "$1: how long"
	is "$(waits reads)" 'file - - read' "$1: a descriptor"
	like <(text reads) "^[0-9]+ \($(what reads | sed 's/[][]/\\&/g')\)$" "$1: which file it is"
	like <(waits polls) '^files - - p?poll$' "$1: polled descriptors"
	read -r fd address <<<"$(what polls)"
	is "$(text polls)" "$fd (tcp $address, listening)" "$1: which socket it is"
	like <(waits selects) '^files - - p?select6?$' "$1: selected descriptors"
	like <(text selects) "^$(what selects) \(pipe:" "$1: which they are"
	like <(waits epolls) '^files - - epoll_p?wait$' "$1: descriptors of epoll"
	like <(text epolls) "^$(what epolls) \(pipe:" "$1: which these are"
	like <(waits accepts) '^file - - accept4?$' "$1: a connection"
	like <(text accepts) "^[0-9]+ \(unix @$(what accepts)\)$" "$1: at which address"
	is "$(waits child)" "child - $(what child) wait4" "$1: a child"
	is "$(waits signals)" "$(waits holder)" "$1: a signal"
	like <(waits signals) '^signal - - (pause|rt_sigsuspend|ppoll)$' "$1: by which call"
	is "$(jq -c 'select(.event == "stacks") | .deadlock | sort' "$T/json")" \
		"$(printf '%s\n' "$(tid first)" "$(tid second)" | sort -n | jq -cs .)" "$1: who waits for each other"
}

# ---- what each waits for, and where ----

cc -g -O1 -pthread -o "$T/waits" tests/stack/waits.c || exit 2
start "$T/waits"
bb stack "$pid" -F json
cp "$T/out" "$T/json"
exits 0 'stack of a process'
is "$(cat "$T/err")" '' 'there is nothing to note'
is "$(jq -s 'map(select(.event == "stack")) | length' "$T/json")" "$(ls /proc/"$pid"/task | wc -l)" 'each thread is shown'
spinner=$(tid spins)
check_roles glibc
is "$(waits spins)" 'nothing - - -' 'a thread that runs waits for nothing'
is "$(waits main)" "thread - $spinner futex" 'the end of a thread'
is "$(jq -r --argjson tid "$spinner" 'select(.tid == $tid) | .stack[0].symbol' "$T/json")" spins 'a thread that runs is where it is'
is "$(cat "$T/complaints")$(ls /proc/"$pid"/task | wc -l)" "$(grep -c . "$T/said")" 'the process runs on'
compare_stacks glibc # interrupts some of the calls
bb stack "$pid"
like "$T/out" "^deadlock  thread $(tid first) waits for 0x[0-9a-f]+ \(lock_b\) of thread $(tid second), which waits for 0x[0-9a-f]+ \(lock_a\) of thread $(tid first)$" \
	'as text: the deadlock'
like "$T/out" "^thread $(tid mutex) \(waits\) waits for the mutex 0x[0-9a-f]+ \(held\), which thread $(tid holder) holds$" 'as text: a mutex'
like "$T/out" '^  #[0-9]+ +mutex\+0x[0-9a-f]+  waits.c:[0-9]+$' 'as text: a frame with its line'
bb stack "$(tid mutex)"
like "$T/err" "^bbtrace: $(tid mutex) is a thread of process $pid: all its threads are shown$" "a thread's number is taken for its process"
bb stack -p "$pid" -k
if [[ -e /proc/$pid/stack ]]; then
	like "$T/out" '^  k +(__)?do_?futex|^  k +futex_' "-k: the kernel's part"
else
	skip "-k: the kernel's part" 'this kernel shows no stacks of its own'
fi
kill -STOP "$pid"
wait_for "$PATIENCE" eval '[[ $(awk "{ print \$3 }" /proc/$pid/stat) == T ]]'
bb stack "$pid" -F json
is "$(jq -r 'select(.event == "stack") | .waits.for' "$T/out" | sort -u)" stopped 'a process that is stopped says so'
kill -CONT "$pid"
end
spinner=

# ---- no symbols; deleted; in a PID namespace; musl ----

strip -o "$T/bare" "$T/waits"
start "$T/bare" first second holder mutex
bb stack "$pid"
cp "$T/out" "$T/before"
rm "$T/bare"
bb stack "$pid"
is "$(cat "$T/out")" "$(cat "$T/before")" 'a file that was deleted: the same stacks as before'
bb stack "$pid" -F json
cp "$T/out" "$T/json"
is "$(waits mutex | cut -d' ' -f1,3)" "mutex $(tid holder)" 'a file without symbols that was deleted: a mutex, and who holds it'
end
if own_namespaces; then
	start unshare -fp --mount-proc "$T/waits" first second holder reader signals
	outer=$pid
	pid=$(pgrep -P "$outer")
	bb stack "$pid" -F json
	own() { awk -v own="$(tid "$1")" '$1 == "NSpid:" && $NF == own { print $2 }' /proc/"$pid"/task/*/status; }
	is "$(jq -r --argjson tid "$(own first)" 'select(.tid == $tid) | .waits.owner' "$T/out")" "$(own second)" \
		'in a PID namespace: who holds a mutex'
	is "$(jq -r --argjson tid "$(own reader)" 'select(.tid == $tid) | .waits.owner' "$T/out")" "$(own holder)" \
		'in a PID namespace: who holds a read-write lock'
	kill -KILL "$pid"
	wait "$outer" 2>/dev/null
else
	skip 'in a PID namespace' "$NO_NAMESPACES"
fi
if musl-gcc -g -O1 -o "$T/musl" tests/stack/waits.c 2>"$T/cc"; then
	start "$T/musl" first second holder checked
	bb stack "$pid" -F json
	cp "$T/out" "$T/json"
	like <(waits checked) "^mutex error_lock(\+0x4)? $(tid holder) futex$" 'musl: a mutex that has its owner, and who holds it'
	like <(waits first) '^futex lock_b(\+0x4)? - futex$' 'musl: a mutex that has none'
	end
else
	skip 'musl' 'needs musl-gcc'
fi

# ---- threads that come, go, run and wait ----

program crowd -O1 -pthread
"$T/crowd" 1000000 >/dev/null 2>&1 &
busy=$!
for i in 1 2 3 4 5; do
	kill -0 $busy 2>/dev/null || break
	bb stack $busy -F json
	[[ $status == 0 ]] || { grep -q 'has ended\|runs no program\|no process' "$T/err" && break; }
	is "$status $(jq -r 'select(.event == "stack") | .waits.for' "$T/out" | grep -c .)" \
		"0 $(jq -s 'map(select(.event == "stack")) | length' "$T/out")" "threads that come and go, $i: each has an answer"
done
kill -KILL $busy 2>/dev/null
wait $busy 2>/dev/null

# ---- refusals ----

for wrong in 2:'runs no program: it is one of the kernel' 4194400:'there is no process 4194400' \
	nosuchname:'there is no process nosuchname: give its PID, or its name'; do
	bb stack "${wrong%%:*}"
	exits 1 "${wrong%%:*} is refused"
	like "$T/err" "${wrong#*:}" "${wrong%%:*}: with the reason"
done
bb stack
exits 2 'no process is wrong usage'
bb stack 1 2
exits 2 'two processes, too'
done_testing
