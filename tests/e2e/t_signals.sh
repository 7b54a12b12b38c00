#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# SIGINT, SIGTERM, SIGHUP: a clean end. SIGKILL: the traced program is unharmed, and nothing is left behind.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes
mechanisms

build_served
serve one "$T/served"

# definitions_of PID: how many probe definitions that bbtrace has.
definitions_of() {
	unshare -m sh -c 'mount -t tracefs none /mnt && cat /mnt/uprobe_events' | grep -c ":bbtrace_$1/"
}
# defined PID WANT NAME: it has this many; `some`: any.
defined() {
	local n

	own_namespaces || { skip "$3" "$NO_NAMESPACES" && return; }
	n=$(definitions_of "$1")
	[[ $2 == some && $n -gt 0 ]] && n=some
	is "$n" "$2" "$3"
}
# A shell's background job ignores SIGINT, and so would CMD.
heeding='$SIG{INT} = "DEFAULT"; exec @ARGV'

for attach in "${MECHANISMS[@]}"; do
	# ---- a process ----
	for signal in INT TERM HUP; do
		watch -p "$pid_one" --attach $attach
		tell one 'work 3'
		stop_watching $signal
		exits 0 "$attach: SIG$signal ends a trace of a process with 0"
		is "$(calls) $(summary lost)" '3 0' "$attach: SIG$signal: what happened before is all there"
		like "$T/err" '^bbtrace: 2 functions, ' "$attach: SIG$signal: the summary comes"
		is "$(armed "$pid_one" "$T/served" work)" no "$attach: SIG$signal: the probes are gone"
	done
	tell one 'work 1'
	ok $? "$attach: SIG$signal: the traced process lives on"

	# ---- CMD ----
	for signal in INT TERM; do
		rm -f "$T/watch.json"
		mkfifo "$T/fifo"
		exec {fd}<>"$T/fifo"
		"$BBTRACE" user "$T/served" tick work --attach $attach -F json -o "$T/watch.json" -- \
			perl -e "$heeding" "$T/served" <"$T/fifo" >"$T/cmd.out" 2>"$T/err" &
		watching=$!
		wait_for $PATIENCE is_live
		cmd=$(sed -n 's/^ready //p' "$T/cmd.out")
		kill -$signal $watching
		wait $watching
		is $? $((128 + $(kill -l $signal))) "$attach: SIG$signal sent to bbtrace alone reaches CMD; the status is CMD's"
		like "$T/err" '^bbtrace: 2 functions, ' "$attach: SIG$signal sent to bbtrace alone: the summary comes"
		kill -0 "$cmd" 2>/dev/null
		isnt $? 0 "$attach: SIG$signal sent to bbtrace alone: CMD has ended"
		exec {fd}<&-
		rm "$T/fifo" "$T/watch.json"
	done
done

# ---- before the probes are there ----
# So many functions that attaching takes its time; bbtrace has forked by then.
child_of() { child=$(ps -o pid= --ppid "$1" | head -1 | tr -d ' ') && [[ $child ]]; }
# What nobody has waited for yet has ended, too: CMD's parent is gone, and whoever adopts it may take its time.
ended() { [[ $(ps -o stat= -p "$1") == @(|Z*) ]]; }
start() {
	"$BBTRACE" user /usr/bin/perl 'Perl_*' "$@" -o "$T/trace" -- touch "$T/ran" 2>"$T/err" </dev/null &
	starting=$!
	wait_for $PATIENCE child_of $starting
}
for attach in "${MECHANISMS[@]}"; do
	start --attach $attach
	kill -TERM $starting
	wait $starting
	is $? 143 "$attach: SIGTERM while it attaches ends bbtrace"
	wait_for $PATIENCE ended "$child"
	ok $? "$attach: SIGTERM while it attaches: CMD that waits ends"
	defined $starting 0 'no definition is left behind'
done

# ---- SIGKILL ----
for attach in "${MECHANISMS[@]}"; do
	rm -f "$T/watch.json"
	mkfifo "$T/fifo"
	exec {fd}<>"$T/fifo"
	"$BBTRACE" user "$T/served" tick work --attach $attach -F json -o "$T/watch.json" -- "$T/served" \
		<"$T/fifo" >"$T/cmd.out" 2>"$T/err" &
	watching=$!
	wait_for $PATIENCE is_live
	cmd=$(sed -n 's/^ready //p' "$T/cmd.out")
	[[ $attach == *_event ]] && defined $watching some "$attach: there are definitions"
	kill -9 $watching
	wait $watching 2>/dev/null
	kill -0 "$cmd"
	ok $? "$attach: CMD lives on when bbtrace is killed"
	gone() { [[ $(armed "$cmd" "$T/served" work) == no ]]; }
	wait_for $PATIENCE gone
	ok $? "$attach: the probes of a killed bbtrace are gone"
	printf 'work 5\nfork 2\nquit\n' >&$fd
	wait_for $PATIENCE ended "$cmd"
	ok $? "$attach: CMD of a killed bbtrace ends when it is told to"
	is "$(sed -n 's/ [0-9]*$//;s/^child$/child/;p' "$T/cmd.out" | xargs)" 'ready did work child did fork' "$attach: CMD of a killed bbtrace did all it was told"
	exec {fd}<&-
	if [[ $attach == *_event ]]; then
		defined $watching some 'its definitions are left behind'
		bb user "$T/served" work --attach "${MECHANISMS[0]}" -v -- true
		defined $watching 0 "and deleted by the next run, by ${MECHANISMS[0]}"
	fi
	rm "$T/fifo" "$T/watch.json"
done
# closing the event takes longer than bbtrace does; other tracers of this machine may have definitions all the time
"$BBTRACE" user "$T/served" work --attach uprobe_event -- true >"$T/out" 2>"$T/err" </dev/null &
ordinary=$!
wait $ordinary
none_defined() { [[ $(definitions_of $ordinary) == 0 ]]; }
own_namespaces && wait_for $PATIENCE none_defined
defined $ordinary 0 'an ordinary end leaves none behind'

# ---- SIGKILL before CMD was let go ----
start
disown $starting # or bash tells that it was killed
if kill -STOP $starting && [[ ! -e $T/ran ]]; then
	kill -9 $starting
	wait_for $PATIENCE ended "$child"
	ok $? 'CMD that waits ends when bbtrace is killed'
	[[ ! -e $T/ran ]]
	ok $? 'CMD that waits when bbtrace is killed has not run'
else
	kill -9 $starting
	skip 'CMD that waits ends when bbtrace is killed' 'it was too fast'
fi
done_testing
