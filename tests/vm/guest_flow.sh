#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_flow.sh WORK PLACEMENT TRACES [all]: traces kernel functions while WORK (kernel_work) makes system calls, and sends
# back the traces, the functions' ranges, and their code from memory. t_flow.sh checks them. TRACES: a list of names.

. "$(dirname "$0")/guest_lib.sh"
WORK=$1
PLACEMENT=$2
TRACES=" $3 "
whole=${4:-}
mkdir -p "$OUT/code"

# Of each a|b the name that this kernel has.
known() {
	local names name had

	had=$(symbols | LC_ALL=C grep -oE " [tTwW] ($(tr ' ' '|' <<<"$*"))(\.[a-z]*\.[0-9])?(\$|	)" |
		sed 's/^ . //; s/[.	].*//')
	for names; do
		for name in ${names//|/ }; do
			[[ $'\n'$had$'\n' == *$'\n'$name$'\n'* ]] && echo "$name" && break
		done
	done
}

dump() { # FOLDER RANGES
	local name start size

	mkdir -p "$1"
	while read -r name start size; do
		live_text "$1/$start" "$start" "$size" || echo "# cannot read $name at $start"
	done <"$2"
}

# trace NAME FUNCTIONS OPTION... -- COMMAND...
trace() {
	local name=$1 functions

	[[ $TRACES == *" $name "* ]] || return 0
	# shellcheck disable=SC2046,SC2086 # lists of names
	functions=$(known $2)
	shift 2

	diag "$name: ${functions//$'\n'/ }"
	# shellcheck disable=SC2086
	ranges $functions >"$OUT/$name.ranges"
	dump "$OUT/code" "$OUT/$name.ranges"
	# shellcheck disable=SC2086
	bb kernel $functions -v -r all --placement "$PLACEMENT" -F json -o "$OUT/$name.json" "$@"
	cp "$T/err" "$OUT/$name.err"
	exits 0 "$name: functions are traced"
}

# Something for the loop driver to show.
make_disk() {
	mount -t tmpfs none /mnt
	truncate -s 8M /mnt/disk
	/bb/mke2fs -F /mnt/disk >/dev/null
	mkdir /mnt/on
}

make_dummy() {
	ip link add dummy0 type dummy 2>/dev/null
	ip link set dummy0 up
	ip addr add 10.9.9.1/24 dev dummy0
}

# A tracer that waits all the time: the tracepoints of fork, exec and exit are on, in the code that is dumped as well.
$BBTRACE kernel __x64_sys_reboot -v -f -p $$ >"$T/waiting" 2>&1 &
waiting=$!
wait_for 1200 grep -q attached "$T/waiting"
ok $? "another tracer waits while functions are traced"

trace mount '__x64_sys_mount path_mount do_add_mount' -- "$WORK" mount
trace file 'link_path_walk path_openat do_filp_open getname_flags vfs_read vfs_write' -- "$WORK" file
trace memory 'do_mmap do_mas_align_munmap|do_vmi_align_munmap mprotect_fixup do_brk_flags' -f -- "$WORK" memory
trace fault 'handle_mm_fault __handle_mm_fault' -f -- "$WORK" memory
trace fork 'kernel_clone copy_process dup_mmap' -f -- "$WORK" fork
trace exec 'bprm_execve begin_new_exec' -f -- "$WORK" exec
trace pipe 'pipe_read|anon_pipe_read pipe_write|anon_pipe_write do_pipe2' -f -- "$WORK" pipe
trace poll 'do_sys_poll do_epoll_wait|ep_send_events do_epoll_ctl' -- "$WORK" poll
trace tcp "${whole:+tcp_sendmsg_locked tcp_recvmsg_locked }tcp_v4_rcv inet_csk_accept" -- "$WORK" tcp
trace udp 'udp_sendmsg udp_recvmsg ip_route_output_key_hash_rcu' -- "$WORK" udp
trace unix 'unix_stream_sendmsg unix_stream_read_generic' -- "$WORK" unix
trace sched '__sched_setscheduler set_user_nice sched_setaffinity do_sched_yield' -- "$WORK" sched
trace wake 'try_to_wake_up select_task_rq_fair' -f -- "$WORK" pipe
make_disk
trace loop 'loop_configure lo_ioctl' -f -- mount -o loop /mnt/disk /mnt/on
make_dummy
trace dummy 'dummy_xmit dev_hard_start_xmit' -- bash -c 'echo hello >/dev/udp/10.9.9.2/9'
# In interrupts, of whatever runs, idle threads included.
trace timer 'hrtimer_interrupt run_local_timers|update_process_times' -l "$([[ $whole ]] && echo 3000 || echo 1000)" -t 60
kill -INT $waiting
wait $waiting

# ---- interrupts ----

# contexts NAME CONDITION: of the events of a trace
contexts() { jq -r "select(.kind or .value or .regs) | select($2) | .context // \"task\"" "$OUT/$1.json" | sort -u | xargs; }
is "$(contexts timer .)" hardirq 'each event of the timer interrupt is shown in a hardirq'
is "$(contexts tcp '.symbol == "tcp_v4_rcv"')" softirq 'what tcp receives is shown in a softirq'
is "$(contexts tcp '.symbol == "tcp_sendmsg_locked" or .symbol == "inet_csk_accept"')" task 'what tcp sends and accepts is shown in a task'
bb kernel "$(known 'hrtimer_interrupt')" -e entry -l 3 -t 60
like "$T/out.txt" '\[hardirq\] hrtimer_interrupt\(' 'text marks an event in a hardirq'

# Wakers are in all contexts. ftrace shows of the same hits what was theirs, in the third of its flags.
[[ -e /sys/kernel/tracing/trace ]] || mount -t tracefs none /sys/kernel/tracing
cd /sys/kernel/tracing || exit 1
echo 8192 >buffer_size_kb
echo p:waker try_to_wake_up >kprobe_events
echo 1 >events/kprobes/waker/enable
cd /src || exit 1
bb kernel try_to_wake_up -e entry,branch -F json -o "$OUT/waker.json" -l "$([[ $whole ]] && echo 20000 || echo 2000)" -t 30
echo 0 >/sys/kernel/tracing/events/kprobes/waker/enable
flags='{"h": "hardirq", "H": "hardirq", "s": "softirq", "z": "nmi", "Z": "nmi"}'
for cpu in 0 1; do
	grep -v ' bbtrace-' /sys/kernel/tracing/trace | sed -n "s/^.*-\([0-9]*\) *\[00$cpu\] ..\(.\).* waker:.*/\1 \2/p" |
		jq -Rr --argjson flags "$flags" 'split(" ") | .[0] + ":" + ($flags[.[1]] // "task")' | xargs >"$T/by_ftrace"
	jq -r "select(.event == \"entry\" and .cpu == $cpu) | \"\\(.tid):\\(.context // \"task\")\"" "$OUT/waker.json" | xargs >"$T/by_bbtrace"
	grep -qF -- "$(cat "$T/by_bbtrace")" "$T/by_ftrace"
	ok $? "CPU $cpu: $(wc -w <"$T/by_bbtrace") wakers have the contexts that ftrace shows" ||
		diag "$(cut -c1-2000 "$T/by_bbtrace")"$'\n'"$(cut -c1-2000 "$T/by_ftrace")"
done
diag "$(jq -r 'select(.event == "entry") | .context // "task"' "$OUT/waker.json" | sort | uniq -c | xargs)"
is "$(jq -r 'select(.implied | not) | select(.event == "entry" or .event == "branch") | [.event, "\(.tid).\(if .tid == 0 then .cpu else 0 end)", .depth, .context // "task"] | join(" ")' "$OUT/waker.json" |
	awk '$1 == "entry" { was[$2, $3] = $4 } $1 == "branch" && ($2, $3) in was && was[$2, $3] != $4' | sort | uniq -c | head -5)" '' \
	'each branch has the context of its call'
sorted_symbols | awk '$3 ~ /thunk/' >"$OUT/thunks"
bring_back
done_testing
