#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_detach.sh N: more than N kprobes are attached and detached: by Ctrl-C, by the end of CMD, by SIGKILL, with two
# tracers at once. The kernel's own files show what is there; nothing is timed.

# shellcheck disable=SC2154,SC2034 # guest_lib.sh sets and uses them
. "$(dirname "$0")/guest_lib.sh"
N=$1
if ((N < 100)); then
	choose opening traceable 'what open(2) runs through' do_filp_open path_openat # the latter has hundreds of sites
	more=(do_dentry_open getname_flags alloc_empty_file vfs_read)
else
	choose opening traceable 'what open(2) runs through' path_openat do_filp_open
	more=()
fi
# sites FUNC...: how many there are
sites() { $BBTRACE list kernel "$@" -F json | jq -s 'map(.sites) | add'; }
many=("$opening")
for name in $(listed traceable "${more[@]}" do_epoll_ctl copy_process link_path_walk tcp_sendmsg_locked tcp_ack); do
	(($(sites "${many[@]}") >= N + N / 10)) || many+=("$name") # over N, and some that the kernel refuses
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
	: >"$T/err" # what the one before said is no sign of this one
	$BBTRACE kernel "$@" --placement full -v -F json -o "$T/json" >"$T/out.txt" 2>"$T/err" </dev/null &
	tracer=$!
	wait_for 1200 grep -q '^bbtrace: recording$' "$T/err"
}

healthy() {
	[[ $(cat /etc/passwd | wc -l) -gt 0 && $(seq 1 1000 | tail -n 1) == 1000 ]] && (exit 7)
	[[ $? == 7 ]]
	ok $? "$1: the system works"
}

# Something that runs through the probed functions again and again; the guest has one CPU, which bbtrace needs, too.
mkfifo "$T/never"
while :; do cat /etc/passwd && read -r -t 0.2; done >/dev/null 2>&1 <>"$T/never" &
at_end "kill $!"

# ---- while nothing is recorded ----

$BBTRACE kernel "${many[@]}" --placement full --paused --control-socket "$T/sock" -F json -o "$T/json" 2>"$T/err" </dev/null &
tracer=$!
wait_for 1200 test -S "$T/sock"
$BBTRACE ctl -t 1200 "$T/sock" status >/dev/null
ok "$(nothing_armed; echo $?)" 'paused: no probe is armed'
isnt "$(wc -l <"$definitions")" 0 'paused: they are defined'
for round in 1 2; do
	$BBTRACE ctl -t 1200 "$T/sock" start
	ok $(($(armed) < N)) "$round: started, $(armed) probes are armed"
	wait_for 1200 grep -q '"entry"' "$T/json"
	$BBTRACE ctl -t 1200 "$T/sock" stop
	ok "$(nothing_armed; echo $?)" "$round: stopped, $(armed) are"
done
$BBTRACE ctl "$T/sock" quit
wait $tracer
is "$? $(jq -r 'select(.event | test("st(art|op)")) | .event' "$T/json" | xargs)" '0 stop start stop start stop' 'the trace has each start and stop'

# ---- Ctrl-C ----

begin "${many[@]}"
ok $? 'bbtrace attaches hundreds of kprobes'
diag "$(grep ' probes attached' "$T/err")"
is "$(($(armed) >= N))" 1 "$(armed) probes are armed"
# An event in use is not deleted: so what comes first is seen.
event=$(echo "$T"/tracefs/events/bbtrace_"$tracer"/kernel_"$tracer")
echo 1 >"$event/enable"
kill -INT $tracer
wait $tracer
is $? 0 'Ctrl-C ends a trace of hundreds of kprobes with 0'
like "$T/err" "^bbtrace: ${#many[@]} functions, [0-9]+ probes .* events, [0-9]+ lost, [0-9]+ unmatched returns(, .*)?\$" 'Ctrl-C: the summary is on stderr'
is "$(tail -n 1 "$T/json" | jq -r .event)" summary 'Ctrl-C: the summary is in the file'
isnt "$(wc -l <"$definitions")" 0 'Ctrl-C: bbtrace has ended while its event is still defined'
ok "$(pgrep -x bbtrace >/dev/null; echo $?)" "Ctrl-C: a child of bbtrace's waits to delete the event"
echo 0 >"$event/enable"
wait_for 1200 nothing_defined
ok $? 'Ctrl-C: the event is deleted'
wait_for 1200 eval '! pgrep -x bbtrace >/dev/null'
ok $? 'Ctrl-C: the child that deletes the event ends'
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
is $? 0 'Ctrl-C while attaching ends with 0'
like "$T/err" 'interrupted before the probes were in place' 'Ctrl-C while attaching: the message says that no trace was made'
is "$(($(sed -n '/--- SIGINT/,$p' "$T/calls" | grep -c 'write([0-9]*, "p:bbtrace') <= 1))" 1 'Ctrl-C while attaching: no more probes are defined'
wait_for 1200 nothing_defined
ok $? 'Ctrl-C while attaching: no definition is left'
is "$(armed)" 0 'Ctrl-C while attaching: no probe is left armed'
read -r all few < <(sed -n 's/.*: \([0-9]*\) probes would take long to attach; using \([0-9]*\), which show the same path.*/\1 \2/p' "$T/err")
is "$((few > 0 && few < all))" 1 "${all:-no} probes are very many: ${few:-none} are attached"

# ---- the end of CMD ----

bb kernel "${many[@]}" --placement full -F json -o "$T/json" -- cat /etc/passwd
exits 0 'a trace of hundreds of kprobes ends with CMD'
is "$(armed)" 0 'nothing is armed when bbtrace has ended'
bb kernel "${many[@]}" --placement full -F json -o "$T/again" -- cat /etc/passwd
exits 0 'hundreds of kprobes are attached again at once'
paths() { jq -c 'select(.event != "summary") | [.event, .vaddr, .taken]' "$1"; }
# shows_path_of JSON WHAT FUNCTION...: does a trace of cat show that path, too? What a kernel does for one open(2) and for
# the next may differ (a retry, an entry of a cache that is gone): one in six is enough.
shows_path_of() {
	local json=$1 what=$2 i

	shift 2
	for ((i = 0; i < 5; i++)); do
		cmp -s <(paths "$T/again") <(paths "$json") && break
		bb kernel "$@" --placement full -F json -o "$T/again" -- cat /etc/passwd
	done
	same <(paths "$T/again") <(paths "$json") "$what"
}
# where the first took another path, the next ones are compared with each other
for _ in {1..5}; do
	cmp -s <(paths "$T/again") <(paths "$T/json") && break
	mv "$T/again" "$T/json"
	bb kernel "${many[@]}" --placement full -F json -o "$T/again" -- cat /etc/passwd
done
same <(paths "$T/again") <(paths "$T/json") 'a second trace at once shows the path of the first'
wait_for 1200 nothing_defined
ok $? 'no definition is left when CMD has ended'

# ---- SIGKILL ----

begin "${many[@]}"
kill -KILL $tracer
wait $tracer
wait_for 1200 nothing_armed
ok $? 'SIGKILL: nothing stays armed'
healthy SIGKILL
is "$(($(grep -c "bbtrace_$tracer/" "$definitions") >= N))" 1 'the definitions of a killed tracer are left'
bb kernel __x64_sys_close -v -- true
exits 0 "a trace after another one's SIGKILL ends well"
like "$T/err" 'deleted .* that killed tracers left' 'the next trace says that it deletes what a killed tracer left'
is "$(grep -c "bbtrace_$tracer/" "$definitions")" 0 'the next trace deletes all that a killed tracer left'

# ---- two at once ----

begin "${many[@]}"
bb kernel __x64_sys_close -F json -o "$T/other" -- true
exits 0 'another tracer, of other functions, ends well'
isnt "$(count "$T/other" '.event == "return"')" 0 'another tracer, of other functions, sees their returns'
bb kernel "$opening" --placement full -F json -o "$T/both" -- cat /etc/passwd
exits 0 'a second tracer of the same function ends well'
isnt "$(count "$T/both" '.event == "branch"')" 0 'a second tracer of the same function sees its branches'
kill -TERM $tracer
wait $tracer
is $? 0 'SIGTERM ends the first tracer with 0'
bb kernel "$opening" --placement full -F json -o "$T/again" -- cat /etc/passwd
exits 0 'the same function is traced by one tracer alone'
probes() { jq -c 'select(.event == "summary") | [.probes, .skipped]' "$1"; }
is "$(probes "$T/both")" "$(probes "$T/again")" 'a second tracer of a function has as many probes as one alone'
shows_path_of "$T/both" 'a second tracer of a function shows the path that one alone shows' "$opening"

# ---- a reader that goes away ----

choose reading traceable 'what read(2) runs through' vfs_read ksys_read
$BBTRACE kernel "$reading" 2>"$T/err" </dev/null | head -n 3 >"$T/out.txt"
is "${PIPESTATUS[0]}" 0 'a reader that closes the pipe ends a kernel trace with 0'
is "$(wc -l <"$T/out.txt")" 3 'a reader that closes the pipe has got its lines'
wait_for 1200 nothing_defined
ok $? 'no definition is left behind a closed pipe'
is "$(armed)" 0 'no probe is left armed behind a closed pipe'
umount "$T/tracefs" "$T/debugfs"
is "$(awk '$3 ~ /tracefs|debugfs/ { print $2 }' /proc/mounts)" /sys/kernel/tracing 'tracefs stays mounted in its place, debugfs does not'
done_testing
