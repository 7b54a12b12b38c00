#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_growing.sh: kprobes come and go while others of the same event are hit (tests/check/growing.c), and functions by
# bbtrace ctl.

# shellcheck disable=SC2154,SC2034 # guest_lib.sh sets and uses them
. "$(dirname "$0")/guest_lib.sh"
export PATIENCE=600 BB_TIMEOUT=1200
growing=$1 grows=$2 syscalls=$3

# A kprobe runs no program on a CPU where a task was preempted while it used a map. So growing has a real-time priority,
# and the kernel takes no time from it for others: by throttling, or from Linux 6.8 on by the fair server.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
mkdir -p "$T/debugfs" && mount -t debugfs none "$T/debugfs"
for server in "$T"/debugfs/sched/fair_server/cpu*/runtime; do
	[[ ! -e $server ]] || echo 0 >"$server"
done
umount "$T/debugfs"

# grow NAME OPTION...: of getpriority(2), while getppid(2) is traced.
grow() {
	"$growing" -k -n "${rounds:-6}" "${@:2}" "$grows" __x64_sys_getppid "$added" calls >"$T/grown" 2>"$T/err"
	is "$?" 0 "$1"
	calls=$(sed -n 's/ calls$//p' "$T/grown")
	diag "$(cat "$T/grown" "$T/err")"
}
worked() { sed -n 's/^worked \(.*\)/\1/p' "$T/grown"; }
# exact NAME: each call is seen once. An event can be lost where an emulated CPU was stopped while it held the ring's lock
# (reserve() in bpf/): it is counted then. Counters need no lock.
exact() {
	local entered lost

	entered=$(sed -n 's/^entered //p' "$T/grown")
	lost=$(sed -n 's/^stray 0, lost \([0-9]*\), twice 0$/\1/p' "$T/grown")
	[[ $1 != -c || $lost == 0 ]] && ((lost <= 100 && entered <= calls && entered + lost >= calls))
	ok $? "$1: each call is seen once" || diag "$calls calls, $entered seen, ${lost:-?} lost"
}

choose added traceable 'what getpriority(2) runs through' __x64_sys_getpriority __do_sys_getpriority
for row in '' -c; do
	# shellcheck disable=SC2086 # words
	grow "kprobes ${row:-with events} are added and removed" $row
	is "$(worked)" '6, refused 0, breakpoints left 0' 'each time they work, and their definitions are gone'
	exact "${row:-events}"
	# shellcheck disable=SC2086 # words
	grow "kprobes ${row:-with events} leave an event" -s $row
	like "$T/grown" '^worked 6, refused 0, breakpoints left [03]$' 'each is removed alone, unless it is the last of its event'
	exact "${row:-events}"
done
grow 'kprobes are added without any capability' -d
is "$(worked)" '6, refused 0, breakpoints left 0' 'without capabilities they work'

# ---- functions of a running trace, by bbtrace ctl ----
mkfifo "$T/in" "$T/did"
"$syscalls" <"$T/in" >"$T/did" &
worker=$!
exec 8>"$T/in" 9<"$T/did"
say() {
	echo "$1" >&8
	read -r -t "$PATIENCE" <&9
}
does() {
	timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" ctl "$trace" "$@" >"$T/said by ctl" 2>&1 </dev/null
	ok $? "$name: $*" || diag "$(cat "$T/said by ctl")"
}
# stages NAME OPTION...: what is traced of the worker, by the calls that it makes in the meantime.
stages() {
	name=$1
	: >"$T/said" # what the one before said is no sign of this one
	"$BBTRACE" kernel __x64_sys_getppid -p "$worker" "${@:2}" -v >"$T/trace" 2>"$T/said" </dev/null &
	trace=$!
	wait_for "$PATIENCE" grep -qs 'probes attached' "$T/said"
	does status
	say 10
	does add __x64_sys_getuid
	say 20
	does add kernel:__x64_sys_getgid
	say 40
	does remove __x64_sys_getppid
	say 80
	does add __x64_sys_getppid
	say 160
	does quit --wait
	kill "$trace" 2>/dev/null # if it could not be told
	wait "$trace"
	is $? 0 "$name: the trace ends with status 0"
	diag "$(tail -n 3 "$T/said")"
}
wanted='__x64_sys_getgid=280 __x64_sys_getppid=230 __x64_sys_getuid=300 '
stages events -F json
is "$(jq -r 'select(.event == "entry") | .symbol' "$T/trace" | sort | uniq -c | awk '{ printf "%s=%s ", $2, $1 }')" "$wanted" \
	'each call is shown while its function is traced'
is "$(jq -r 'select(.event == "unknown" or .event == "lost") | .event' "$T/trace" | wc -l)" 0 'no path is unknown'
stages counts -c -F summary
is "$(awk '$1 ~ /^[0-9]+$/ { print $NF "=" $1 }' "$T/trace" | sort | tr '\n' ' ')" "$wanted" 'and counted'
done_testing
