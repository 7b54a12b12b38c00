#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs in the guest of t_named.sh: what bbtrace shows is what the kernel's own tracer shows, what it has counted, or what
# the programs print. $1: where they are. $2: all, or nothing.

. "$(dirname "$0")/guest_lib.sh"

P=$1
whole=${2:-}
TRACING=/sys/kernel/tracing
json() { jq -rc "$1" "$T/json"; }
named() { json "select(.event == \"tracepoint\" and .name == \"$1\") | $2"; }

# ---- the kernel's own tracer: an instance for what is done by a thread and its children ----
instance() { # PID of the thread; '': all; EVENT...
	local pid=$1 e
	shift

	mountpoint -q $TRACING || mount -t tracefs none $TRACING
	I=$TRACING/instances/named-$((++instances))
	mkdir "$I"
	echo 1 >"$I/options/event-fork"
	[[ ! $pid ]] || echo "$pid" >"$I/set_event_pid"
	for e; do echo 1 >"$I/events/$e/enable"; done
}
# A command that waits until it may run: started as $waiting; go: it runs.
waits() {
	rm -f "$T/go"
	mkfifo "$T/go"
	bash -c 'read -r _ <"$1"; shift; exec "$@"' bash "$T/go" "$@" >"$T/printed" &
	waiting=$!
}
go() { echo go >"$T/go"; }
# begin ARG...: bbtrace in the background, recording. finish: its status, when it has ended.
begin() {
	timeout -k 10 600 $BBTRACE "$@" -v -F json -o "$T/json" >/dev/null 2>"$T/err" </dev/null &
	tracer=$!
	wait_for 120 grep -q '^bbtrace: recording' "$T/err"
}
finish() {
	wait $tracer
	status=$?
}

# ---- a kernel without attach cookies says so ----
if ! printf '5.15\n%s\n' "$(uname -r)" | sort -VC; then
	bb event sched:sched_process_fork -- true
	exits 1 'a tracepoint is refused'
	like "$T/err" '5\.15' 'with the reason'
	bb event "usdt:$P/probes:twice" -- "$P/probes"
	exits 1 'a static probe is refused'
	like "$T/err" '5\.15' 'with the reason'
	bb profile -- true
	exits 1 'samples are refused'
	like "$T/err" '5\.15' 'with the reason'
	done_testing
	exit
fi

# ---- tracepoints ----
waits "$P/named_work" fork 20
instance $waiting sched/sched_process_{fork,exec,exit}
begin event sched:sched_process_fork sched_process_exec sched_process_exit -f -p $waiting
go
finish
ok $status 'tracepoints of a process and its children'
named sched:sched_process_fork '.args | "fork \(.parent_pid) \(.child_pid)"' >"$T/got"
same "$T/got" "$T/printed" 'the forks are those that the program has made'
named sched:sched_process_fork '.args | "\(.parent_comm) \(.parent_pid) \(.child_comm) \(.child_pid)"' >"$T/got"
sed -n 's/.*sched_process_fork: comm=\(.*\) pid=\([0-9]*\) child_comm=\(.*\) child_pid=\([0-9]*\)$/\1 \2 \3 \4/p' "$I/trace" >"$T/wanted"
same "$T/got" "$T/wanted" 'with the fields that tracefs shows'
named sched:sched_process_exec '.args | "\(.filename) \(.pid)"' >"$T/got"
sed -n 's/.*sched_process_exec: filename=\(.*\) pid=\([0-9]*\) old_pid=.*/\1 \2/p' "$I/trace" >"$T/wanted"
same "$T/got" "$T/wanted" 'a dynamic field: the file of the exec'
is "$(cut -d' ' -f1 "$T/wanted")" "$P/named_work" 'which is that of the program'
is "$(named sched:sched_process_exit .pid | sort)" "$(sed -n 's/.*sched_process_exit: .*pid=\([0-9]*\) .*/\1/p' "$I/trace" | sort)" 'exits'

[[ ! $whole ]] || {
	instance '' sched/sched_process_fork
	begin event sched:sched_process_fork
	"$P/named_work" fork 5 >"$T/printed"
	kill -INT $tracer
	finish
	named sched:sched_process_fork 'select(.comm == "named_work").args | "fork \(.parent_pid) \(.child_pid)"' >"$T/got"
	same "$T/got" "$T/printed" 'those of all processes'
	is "$(wc -l <"$T/got")" 5 'five of them'
}

# Where the kernel runs them: softirq_entry is called when one begins, hrtimer_expire_entry in the timer's interrupt.
bb event irq:softirq_entry timer:hrtimer_expire_entry -k -t 1 -F json -o "$T/json"
is "$(named irq:softirq_entry '.context // "none"' | sort -u | xargs) $(named timer:hrtimer_expire_entry '.context // "none"' | sort -u | xargs)" \
	'softirq hardirq' 'the context is that of the interrupt'

# ---- the scheduler ----
# flat: $T/flat, of each event of $T/json: TID EVENT NAME TIME OFF DURATION STATE | the stack's names, those of the kernel in brackets
flat() {
	json 'select(.tid) | "\(.tid) \(.event) \(.name // "-") \(.ts) \(.off_cpu_ns // -1) \(.duration_ns // -1) \(.args.state? // "-") | " + ([
		.stack[]? | if .object == "kernel" then "[\(.symbol // "?")]" else .symbol // "" end] | join(" "))' >"$T/flat"
}
# switches: "TID off STATE" and "TID on", by thread; of tracefs, of the same threads. A zombie may be reaped between the
# two: X is Z.
switches() {
	awk '$2 == "sched" { print $1, $3 == "off-cpu" ? "off " $7 : "on" }' "$T/flat" | sed 's/X$/Z/' | sort -s -n -k 1,1 >"$T/got"
	sed -n 's/.*sched_switch: .*prev_pid=\([0-9]*\) .*prev_state=\([^ +]*\)+* ==> .*next_pid=\([0-9]*\) .*/\1 off \2\n\3 on/p' "$I/trace" | sed 's/X$/Z/' |
		awk 'NR == FNR { seen[$1]; next } $1 in seen' "$T/got" - | sort -s -n -k 1,1 >"$T/wanted"
}
# Each return's time on no CPU is what the thread's switches between the call's times add up to. (A thread may be preempted
# in a probe that has taken the time already.)
added_up() {
	sort -s -k 1,1n -k 4,4n "$T/flat" | awk '
		$2 == "sched" && $3 == "off-cpu" { off[$1] = $4; next }
		$2 == "sched" && $1 in off {
			for (i = 1; i <= depth[$1]; i++)
				sum[$1, i] += $4 - off[$1]
			delete off[$1]
		}
		$2 == "entry" { sum[$1, ++depth[$1]] = 0 }
		$2 == "return" && depth[$1] {
			is = $5 == sum[$1, depth[$1]] && $5 <= $6
			if (!is)
				print "# wanted " sum[$1, depth[$1]] ": " $0 >"/dev/stderr"
			right += is
			wrong += !is
			depth[$1]--
		}
		END { print right + 0 " right, " wrong + 0 " wrong" }'
}
# asleep NAME FUNC WAY WHAT: these events are below FUNC, all by this way
asleep() {
	awk -v name="$1" '$3 == name' "$T/flat" | grep -wF -- "$2" >"$T/stacks"
	ok $(($(grep -cE "$3" "$T/stacks") < 300 || $(grep -cvE "$3" "$T/stacks") > 0)) "$4" ||
		diag "$(sed 's/.*| //' "$T/stacks" | sort | uniq -c | sort -rn | head -5)"
}
[[ ! $whole ]] || {
	waits "$P/naps"
	instance $waiting sched/sched_switch
	begin user "$P/naps" both nap spin -e entry,return,sched -k -f -p $waiting
	go
	finish
	is "$(summary lost)" 0 'nothing is lost'
	flat
	switches
	same "$T/got" "$T/wanted" 'each leaving and each coming of each thread, as tracefs shows them'
	ok $(($(wc -l <"$T/got") < 700)) "hundreds of them: $(wc -l <"$T/got")"
	is "$(added_up)" '800 right, 0 wrong' 'each return says how long its call was on no CPU'
	asleep off-cpu '[do_nanosleep]' 'schedule\] .*\[do_nanosleep\] .*\[entry_SYSCALL_64[^ ]*\] [^[]* nap both run' \
		'-k: the kernel from schedule() to the system call, then the program'
}

# (choose would sort all symbols, which takes longer than what is tested)
SLEEPS=$(grep -woE -m 1 'hrtimer_nanosleep|do_nanosleep' /proc/kallsyms)
diag "what sleeps: $SLEEPS"
bb kernel "$SLEEPS" -e entry,return,sched --with sched:sched_switch -k -F json -o "$T/json" -- "$P/naps"
flat
is "$(added_up)" '400 right, 0 wrong' 'so does each return of a function of the kernel'
ok $(($(awk '$2 == "return" && $5 > 0' "$T/flat" | wc -l) < 300)) 'most were on none'
way="schedule\\] .*\\[$SLEEPS\\] .*\\[entry_SYSCALL_64[^ ]*\\]"
asleep off-cpu "[$SLEEPS]" "$way" '-k: the kernel, of -e sched'
asleep sched:sched_switch "[$SLEEPS]" "$way" 'and of --with sched:sched_switch'
is "$(grep -cF '[?]' "$T/flat")" 0 'each frame of the kernel has a name'

# Where calls of the kernel's wait.
bb kernel "$SLEEPS" -e entry,branch,return,sched -F slow -o "$T/slow" -- "$P/naps"
exits 0 'slow, of a function of the kernel'
ok $((!$(grep -cE "^$SLEEPS: [0-9]+ calls, [0-9.]+m?s, of which [0-9.]+m?s on no CPU\$" "$T/slow"))) 'the calls that sleep, and that they waited' ||
	diag "$(<"$T/slow")"
ok $((!$(grep -cE "^  waited [0-9.]+m?s in [0-9]+ waits? after .*$SLEEPS\+0x[0-9a-f]+ " "$T/slow"))) 'after which of its branches' || diag "$(<"$T/slow")"

[[ $whole ]] || {
	done_testing
	exit
}

# ---- static probes, by uprobe_multi where the kernel has it ----
mechanism=uprobe_event
! printf '6.6\n%s\n' "$(uname -r)" | sort -VC || mechanism=uprobe_multi
bb event "usdt:$P/probes:*" --attach $mechanism -F json -o "$T/json" -- "$P/probes"
exits 0 "static probes, by $mechanism"
json 'select(.event == "usdt") | (.name | sub("test:"; "")) + " " + (.args | if .arg11 then
	([.arg0, .arg1, .arg2, .arg3, .arg4, .arg5_text // "?", .arg6, .arg7, .arg8, .arg9, .arg11] | map(tostring) | join(" "))
	else "\(.arg0)" end)' >"$T/got"
sed -n '/^texts/d; /^forms/s/ \(x\|\) -7 7/ ? -7 7/; p' "$T/out.txt" >"$T/wanted"
same "$T/got" "$T/wanted" 'each has the arguments that were passed, in order'
is "$(wc -l <"$T/got")" 120 '120 of them'

mkfifo "$T/asks"
"$P/named_work" ask <"$T/asks" >"$T/printed" &
asked=$!
exec 7>"$T/asks"
printed() { (($(wc -l <"$T/printed") == $1)); }
ask() { # N: that many times, and waits for what is printed
	local lines

	lines=$(($(wc -l <"$T/printed") + $1))
	printf "%$1s" '' >&7
	wait_for 60 printed $lines
}
ask 2
begin event "usdt:$P/named_work:ask" --attach $mechanism -p $asked
ask 30
kill -INT $tracer
finish
ask 2
exec 7>&-
wait $asked
is "$(cut -d' ' -f2 "$T/printed" | uniq -c | xargs)" '2 0 30 1 2 0' 'the semaphore is set while it is traced, and cleared'
is "$(json 'select(.event == "usdt") | .args.arg0' | xargs)" "$(seq 1 30 | xargs)" 'each time that it was passed'

# ---- samples ----
bb profile --freq 397 -F json -o "$T/json" -- "$P/named_work" random 1
exits 0 'a profile'
share=$(cat "$T/out.txt")
json 'select(.stack and .comm == "named_work") | [.stack[] | .symbol // "?"] | join(" ")' | grep -E ' main( |$)' >"$T/stacks"
total=$(wc -l <"$T/stacks")
inside=$(grep -cE 'getrandom.* (do_syscall_64 )?entry_SYSCALL_64[^ ]* .*reads .*main' "$T/stacks")
diag "$inside of $total samples in getrandom, by the thread's clock $share %"
ok $((total < 100)) 'a hundred samples'
ok $((100 * inside < (share - 15) * total || 100 * inside > (share + 15) * total)) \
	'as many of them in the system call as its time, with the names of the kernel and of the program' ||
	diag "$(sort "$T/stacks" | uniq -c | sort -rn | head -8)"
done_testing
