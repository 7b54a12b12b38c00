#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_detach.sh: hundreds of kprobes come and go: by Ctrl-C, by the end of CMD, by SIGKILL, with two tracers at once.
# What is there is read in the kernel's own files; nothing is timed.

# shellcheck disable=SC2154,SC2034 # guest_lib.sh sets and uses them
. "$(dirname "$0")/guest_lib.sh"
choose opening traceable 'what open(2) runs through' path_openat do_filp_open
# sites FUNC...: how many there are
sites() { $BBTRACE list kernel "$@" -F json | jq -s 'map(.sites) | add'; }
many=("$opening")
for name in $(listed traceable do_epoll_ctl copy_process link_path_walk tcp_sendmsg_locked tcp_ack); do
	(($(sites "${many[@]}") >= 550)) || many+=("$name") # over 500, and some that the kernel refuses
done
diag "${many[*]}: $(sites "${many[@]}") sites"
mkdir -p "$T/tracefs" "$T/debugfs"
mount -t tracefs none "$T/tracefs"
mount -t debugfs none "$T/debugfs"
definitions=$T/tracefs/kprobe_events

# Probes that fire: neither disabled nor gone.
armed() { grep -vc 'DISABLED\|GONE' "$T/debugfs/kprobes/list"; }
nothing_defined() { [[ ! -s $definitions ]]; }
nothing_armed() { [[ $(armed) == 0 ]]; }

begin() { # FUNC...
	$BBTRACE kernel "$@" --placement full -v -F json -o "$T/json" >"$T/out.txt" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for 1200 grep -q ' probes attached' "$T/err"
}

healthy() {
	[[ $(cat /etc/passwd | wc -l) -gt 0 && $(seq 1 1000 | tail -n 1) == 1000 ]] && (exit 7)
	[[ $? == 7 ]]
	ok $? "$1: the system works"
}

# Something that runs through the probed functions all the time.
while :; do cat /etc/passwd; done >/dev/null 2>&1 &
at_end "kill $!"

# ---- Ctrl-C ----

begin "${many[@]}"
ok $? 'attached'
diag "$(grep ' probes attached' "$T/err")"
is "$(($(armed) >= 500))" 1 "$(armed) probes are armed"
# An event in use is not deleted: so what comes first is seen.
event=$(echo "$T"/tracefs/events/bbtrace_"$tracer"/kernel_"$tracer")
echo 1 >"$event/enable"
kill -INT $tracer
wait $tracer
is $? 0 'Ctrl-C: status 0'
like "$T/err" "^bbtrace: ${#many[@]} functions, [0-9]+ probes .* events, [0-9]+ lost, [0-9]+ unmatched returns(, .*)?\$" 'the summary is there'
is "$(tail -n 1 "$T/json" | jq -r .event)" summary 'in the file as well'
isnt "$(wc -l <"$definitions")" 0 'bbtrace has ended, its event is still defined'
ok "$(pgrep -x bbtrace >/dev/null; echo $?)" 'a child of its sees to it'
echo 0 >"$event/enable"
wait_for 1200 nothing_defined
ok $? 'then it is deleted'
wait_for 1200 eval '! pgrep -x bbtrace >/dev/null'
ok $? 'and the child ends'
healthy 'Ctrl-C'

# ---- Ctrl-C while it attaches ----

mapfile -t most < <(listed traceable path_openat do_epoll_ctl copy_process link_path_walk tcp_sendmsg_locked tcp_ack \
	tcp_rcv_established ext4_map_blocks ext4_fill_super begin_new_exec)
strace -o "$T/calls" -e trace=write $BBTRACE kernel "${most[@]}" -F json -o "$T/json" >"$T/out.txt" 2>"$T/err" </dev/null &
some_defined() { (($(wc -l <"$definitions") >= 20)); }
wait_for 1200 some_defined
ok $? 'some of very many probes are defined'
pkill -INT -x bbtrace
wait $!
is $? 0 'Ctrl-C while attaching: status 0'
like "$T/err" 'interrupted before the probes were in place' 'which is said'
is "$(($(sed -n '/--- SIGINT/,$p' "$T/calls" | grep -c 'write([0-9]*, "p:bbtrace') <= 1))" 1 'no more are defined'
wait_for 1200 nothing_defined
ok $? 'none is left'
is "$(armed)" 0 'none is armed'
read -r all few < <(sed -n 's/.*: \([0-9]*\) probes would take long to attach: \([0-9]*\) tell the same path.*/\1 \2/p' "$T/err")
is "$((few > 0 && few < all))" 1 "${all:-no} probes are very many: ${few:-none} are attached"

# ---- the end of CMD ----

bb kernel "${many[@]}" --placement full -F json -o "$T/json" -- cat /etc/passwd
exits 0 'CMD ended'
is "$(armed)" 0 'nothing is armed when bbtrace has ended'
bb kernel "${many[@]}" --placement full -F json -o "$T/again" -- cat /etc/passwd
exits 0 'the same again at once'
paths() { jq -c 'select(.event != "summary") | [.event, .vaddr, .taken]' "$1"; }
same <(paths "$T/again") <(paths "$T/json") 'shows the same'
wait_for 1200 nothing_defined
ok $? 'no definition is left'

# ---- SIGKILL ----

begin "${many[@]}"
kill -KILL $tracer
wait $tracer
wait_for 1200 nothing_armed
ok $? 'SIGKILL: nothing stays armed'
healthy SIGKILL
is "$(($(grep -c "bbtrace_$tracer/" "$definitions") >= 500))" 1 'its definitions are left'
bb kernel __x64_sys_close -v -- true
exits 0 'the next start'
like "$T/err" 'deleted .* that killed tracers left' 'deletes them'
is "$(grep -c "bbtrace_$tracer/" "$definitions")" 0 'all'

# ---- two at once ----

begin "${many[@]}"
bb kernel __x64_sys_close -F json -o "$T/other" -- true
exits 0 'another tracer, of other functions'
isnt "$(count "$T/other" '.event == "return"')" 0 'sees them'
bb kernel "$opening" --placement full -F json -o "$T/both" -- cat /etc/passwd
exits 0 'of the same function: what the first has put there is no hindrance'
isnt "$(count "$T/both" '.event == "branch"')" 0 'its branches are seen'
kill -TERM $tracer
wait $tracer
is $? 0 'SIGTERM: status 0'
bb kernel "$opening" --placement full -F json -o "$T/alone" -- cat /etc/passwd
exits 0 'the same when it is alone'
probes() { jq -c 'select(.event == "summary") | [.probes, .skipped]' "$1"; }
is "$(probes "$T/both")" "$(probes "$T/alone")" 'has as many probes'
same <(paths "$T/both") <(paths "$T/alone") 'and shows the same'

# ---- a reader that goes away ----

choose reading traceable 'what read(2) runs through' vfs_read ksys_read
$BBTRACE kernel "$reading" 2>"$T/err" </dev/null | head -n 3 >"$T/out.txt"
is "${PIPESTATUS[0]}" 0 'a reader that closes the pipe: status 0'
is "$(wc -l <"$T/out.txt")" 3 'has got its lines'
wait_for 1200 nothing_defined
ok $? 'no definition is left at the end'
is "$(armed)" 0 'nothing armed'
umount "$T/tracefs" "$T/debugfs"
is "$(awk '$3 ~ /tracefs|debugfs/ { print $2 }' /proc/mounts)" /sys/kernel/tracing 'tracefs stays mounted in its place, debugfs does not'
done_testing
