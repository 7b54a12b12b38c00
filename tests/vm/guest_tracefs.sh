#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_tracefs.sh [all]: which tracefs is used if none, one or another one is mounted; which definitions a run deletes and
# which it leaves. Linux doesn't guard definitions in use, so the test also checks that the kernel reports no error.

# shellcheck disable=SC2154,SC2034 # guest_lib.sh sets and uses them
. "$(dirname "$0")/guest_lib.sh"
whole=${1:-}
[[ ! $whole ]] || export MATRIX=whole
fib=(user build/progs/fib fib -v -c)
event=("${fib[@]}" --attach uprobe_event)
TRACING=/sys/kernel/tracing
DEBUG=/sys/kernel/debug
diag "Linux $(uname -r)"

mounts() { awk '$3 ~ /tracefs|debugfs/ { print $2 }' /proc/mounts | xargs; }
row() { $BBTRACE doctor | sed -n "s/^tracefs  *//p"; }
traced() { # NAME
	exits 3 "$1: the traced program ends as ever"
	isnt "$(summary events)" 0 "$1: events are seen"
}

# ---- which one ----

bb doctor
is "$(mounts)" '' 'doctor mounts nothing'
like <(row) '^yes .*not mounted; a trace that needs it mounts it' 'doctor says that a trace would mount tracefs'
bb "${event[@]}" -- build/progs/fib
traced 'a trace that needs tracefs'
is "$(mounts)" $TRACING 'a trace mounts tracefs in its place, and it stays'
is "$(row)" "yes  trace events: $TRACING" 'doctor names the tracefs that a trace mounted'
bb "${event[@]}" -- build/progs/fib
is "$(mounts)" $TRACING 'a second trace mounts no second tracefs'

unmount $TRACING
mount -t debugfs none $DEBUG
bb doctor
is "$(mounts)" $DEBUG "looking at debugfs's automount point mounts nothing there"
ls $DEBUG/tracing/ >/dev/null
if [[ $(mounts) == "$DEBUG $DEBUG/tracing" ]]; then
	is "$(row)" "yes  trace events: $DEBUG/tracing" 'doctor names a tracefs that is below debugfs alone'
	bb "${event[@]}" -- build/progs/fib
	traced 'it is used'
	is "$(mounts)" "$DEBUG $DEBUG/tracing" 'with a tracefs below debugfs no other one is mounted'
	unmount $DEBUG/tracing
fi
unmount $DEBUG

# A /sys of somebody's own making, as in a container.
cat >"$T/bare" <<-END
	cp /sys/kernel/btf/vmlinux /tmp/btf
	mount -t tmpfs none /sys/kernel
	"\$@" -b /tmp/btf
	status=\$?
	awk '\$3 ~ /tracefs|debugfs/' /proc/mounts >&2
	exit \$status
END
timeout 240 unshare -m bash "$T/bare" $BBTRACE user build/progs/fib fib --attach uprobe_event -c -t 1 >"$T/out.txt" 2>"$T/err"
status=$?
exits 0 'where tracefs has no place, a trace mounts it where nobody sees it'
is "$(tail -n 1 "$T/err" | cut -d: -f1)" bbtrace 'a mount that nobody sees does not stay'

mount -t tracefs none $TRACING
mount -o remount,bind,ro $TRACING
bb "${event[@]}" -- build/progs/fib
exits 1 'a tracefs that is read-only is refused'
like "$T/err" "tracefs is mounted read-only: mount -o remount,rw $TRACING" 'the refusal of a read-only tracefs says what to do'
mount -o remount,rw $TRACING
bb "${event[@]}" -- build/progs/fib
traced 'which helps'

# ---- what killed tracers leave ----

# begin COMMAND...: a tracer in the background, of fib by a trace event, until its probes are there
begin() {
	: >"$T/tracer" # what the one before said is no sign of this one
	"$@" </dev/null >/dev/null 2>"$T/tracer" &
	tracer=$!
	disown $tracer # bash tells of no kill
	wait_for 240 grep -q '^bbtrace: recording$' "$T/tracer"
}
# How many definitions a file has of tracers that match.
left() { grep -c ":bbtrace_$2" "$TRACING/$1"; }
# none_left WHAT: closing the event of an ordinary end takes a little longer than bbtrace does.
is_none_left() { [[ $(left uprobe_events '') == 0 ]]; }
none_left() {
	wait_for 60 is_none_left
	is "$(left uprobe_events '')" 0 "$1"
}
slain() { ! pgrep -x "$1" >/dev/null; }
slay() { # NAME: all tracers of this name
	pkill -9 -x "$1"
	wait_for 60 slain "$1"
}
# another NAME: a run by what bbtrace chooses
another() {
	bb "${fib[@]}" -- build/progs/fib
	traced "$1"
}

begin $BBTRACE "${event[@]}"
isnt "$(left uprobe_events "$tracer/")" 0 'a tracer of a program has definitions'
another 'a run beside another tracer'
unshare --pid --fork --mount-proc $BBTRACE "${event[@]}" -- build/progs/fib >"$T/out.txt" 2>"$T/err"
isnt "$(left uprobe_events "$tracer/")" 0 "another tracer, in another PID namespace too, leaves a running one's definitions alone"
slay bbtrace
isnt "$(left uprobe_events "$tracer/")" 0 'the definitions of a killed tracer of a program are left behind'
unshare --pid --fork --mount-proc $BBTRACE "${event[@]}" -- build/progs/fib >"$T/out.txt" 2>"$T/err"
isnt "$(left uprobe_events "$tracer/")" 0 'a tracer that does not see all processes deletes no definitions of theirs'
n=$(left uprobe_events "$tracer/")
another 'the run after a tracer was killed'
like "$T/err" "deleted $n probe definitions that killed tracers left behind" "the next tracer counts the definitions that it deletes, whatever it attaches by: $n"
none_left 'the next tracer deletes all definitions that a killed one left'

[[ ! $whole ]] || {
	cp $BBTRACE "$T/renamed"
	begin "$T/renamed" "${event[@]}"
	another 'a run beside a tracer that goes by another name'
	isnt "$(left uprobe_events "$tracer/")" 0 "a tracer's definitions are left alone while it has them locked"
	slay renamed
	another 'the run after a renamed tracer was killed'
	none_left 'definitions of a killed tracer that went by another name are deleted'

	sleep 1000 &
	sleeper=$!
	echo "p:bbtrace_$sleeper/user_$sleeper build/progs/fib:0x1000" >>$TRACING/uprobe_events
	another 'a number that is somebody else'"'"'s by now'
	none_left "definitions with a number that is another process's by now are deleted"
	kill $sleeper

	begin unshare --pid --fork --mount-proc $BBTRACE "${event[@]}"
	isnt "$(left uprobe_events '1_[0-9]*/')" 0 "a tracer in a PID namespace of its own has that namespace's number in its definitions"
	another 'a run outside'
	isnt "$(left uprobe_events '1_[0-9]*/')" 0 'definitions of a tracer in a PID namespace of its own are left alone while it runs'
	slay bbtrace
	isnt "$(left uprobe_events '1_[0-9]*/')" 0 'definitions of a killed tracer in a PID namespace of its own are left behind'
	another 'the next run outside'
	none_left 'the next tracer deletes what one in a PID namespace of its own left'
}

choose opening traceable 'what open(2) runs through' do_filp_open path_openat
begin $BBTRACE kernel "$opening" -v -c -e entry,return
n=$(left kprobe_events "$tracer/")
isnt "$n" 0 'a tracer of the kernel has definitions'
another 'a run of user mode, meanwhile'
none_left 'its definitions are gone before all tracers are killed, the process that deletes them among them'
isnt "$(left kprobe_events "$tracer/")" 0 "another tracer leaves a kernel tracer's definitions alone"
slay bbtrace
isnt "$(left kprobe_events "$tracer/")" 0 'the definitions of a killed kernel tracer are left behind'
another 'the next run of user mode'
is "$(left kprobe_events '')" 0 'the next tracer deletes what a killed kernel tracer left'
like "$T/err" "deleted $n probe definitions that" "the next tracer counts what a killed kernel tracer left: $n"

unmount $TRACING
begin $BBTRACE "${event[@]}" -p $$
umount -l $TRACING
slay bbtrace
if $BBTRACE doctor | grep -q '^uprobe_multi *yes'; then
	bb "${fib[@]}" --attach uprobe_multi -- build/progs/fib
	traced 'a run that needs no tracefs'
	is "$(mounts)" '' 'uprobe_multi mounts no tracefs to look for leftovers'
fi
if $BBTRACE doctor | grep -q '^kprobe_multi *yes'; then
	mapfile -t several < <(listed traceable ksys_read vfs_read ksys_write vfs_open do_filp_open do_file_open)
	# what is called, in which order, and with what where that is the same each time
	calls() { jq -c 'select(.event == "entry") | [.symbol, if .symbol == "ksys_read" then .regs.rdi, .regs.rdx else empty end]' "$1"; }
	bb kernel "${several[@]}" -e entry -v -F json -o "$T/multi" -- cat /etc/passwd
	exits 0 'entries of kernel functions are traced'
	like "$T/err" 'probes attached by kprobe_multi' 'entries of kernel functions are attached to by one link'
	is "$(mounts)" '' 'entries of kernel functions need no tracefs'
	isnt "$(calls "$T/multi" | wc -l)" 0 'calls of kernel functions are seen by one link'
	bb kernel "${several[@]}" -e entry -v -F json -o "$T/event" --attach kprobe_event -- cat /etc/passwd
	same <(calls "$T/multi") <(calls "$T/event") 'one link shows the calls that trace events show'
	n=0
	for more in '-e entry -r all' '-e entry -k' '-e entry,return' "-e entry --record $T/trace"; do
		in_part $((n++)) || continue
		# shellcheck disable=SC2086 # options
		bb kernel "${several[0]}" $more -v -F json -o "$T/json" -- true
		like "$T/err" 'probes attached by kprobe_event' "$more: a link doesn't tell that"
	done
	bb kernel "${several[0]}" --attach kprobe_multi -- true
	exits 1 'branches by kprobe_multi are refused'
	like "$T/err" 'it shows entries only: -e entry' 'the refusal of branches by kprobe_multi says what it can do'
	unmount $TRACING
fi
bb "${event[@]}" -- build/progs/fib
traced 'a trace that mounts tracefs'
none_left 'a trace that mounts tracefs deletes the leftovers that it finds'
is "$(complaints)" 0 'the kernel has nothing to complain of'
done_testing
