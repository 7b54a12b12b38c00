#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --tid, --comm, --uid, --cgroup: only the selected processes and threads, with each mechanism.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes cmd:setpriv
mechanisms

chmod 755 "$T"
build_served
serve one "$T/served"
serve nobody setpriv --reuid 65534 --regid 65534 --clear-groups "$T/served"
tell one 'spawn first'
tell one 'spawn second'
first=$(sed -n 's/^first //p' "$T/one.out")

all_work() {
	tell one 'work 3'
	tell one 'thread first 4'
	tell one 'thread second 5'
	tell nobody 'work 7'
}

# watch_thread OPTION...: as watch, for filters that tick does not pass: the thread works until there is something to
# see. Those calls have the argument 0.
watch_thread() {
	rm -f "$T/watch.json"
	"$BBTRACE" user "$T/served" tick work "$@" -F json -o "$T/watch.json" >"$T/out" 2>"$T/err" </dev/null &
	watching=$!
	at_end "kill -9 $watching 2>/dev/null"
	wait_for $PATIENCE thread_works || exit 2
}
thread_works() { tell one 'thread first 1' && is_live; }
later_calls() { calls 'hex($e->{regs}{'"$ARGUMENT"'}) > 0'; }

for attach in "${MECHANISMS[@]}"; do
	watch_thread --tid "$first" --attach $attach
	all_work
	stop_watching INT
	exits 0 "$attach: a trace with --tid ends well"
	is "$(later_calls)" 3 "$attach: --tid shows the calls of the thread"
	is "$(calls "\$e->{tid} != $first")" 0 "$attach: --tid shows the calls of no other thread"

	watch_thread --comm first,nobody-at-all --attach $attach
	all_work
	stop_watching INT
	exits 0 "$attach: a trace with --comm ends well"
	is "$(later_calls)" 3 "$attach: --comm shows the calls of the thread of that name"
	is "$(calls '$e->{comm} ne "first"')" 0 "$attach: --comm shows the calls of no other thread"

	watch --uid 65534 --attach $attach
	all_work
	stop_watching INT
	exits 0 "$attach: a trace with --uid ends well"
	is "$(calls) $(calls "\$e->{pid} == $pid_nobody")" '7 7' "$attach: --uid shows the calls of that user's process alone"

	watch --uid nobody -p "$pid_one,$pid_nobody" --attach $attach
	all_work
	stop_watching INT
	is "$status $(calls) $(calls "\$e->{pid} == $pid_nobody")" '0 7 7' "$attach: -p and --uid show the calls of the process that passes both"
done

# ---- cgroup v2 ----
hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$hierarchy/bbtrace-test-$$
if [[ $hierarchy ]] && mkdir -p "$group/below" 2>/dev/null; then
	serve below "$T/served"
	at_end "rmdir $group/below $group"
	at_end "{ kill -9 $pid_one $pid_below; wait $serving_one $serving_below; } 2>/dev/null"
	echo "$pid_one" >"$group/cgroup.procs"
	echo "$pid_below" >"$group/below/cgroup.procs"
	for attach in "${MECHANISMS[@]}"; do
		watch --cgroup "$group" --attach $attach
		all_work
		tell below 'work 6'
		stop_watching INT
		exits 0 "$attach: a trace with --cgroup ends well"
		is "$(calls) $(calls "\$e->{pid} == $pid_below") $(calls "\$e->{pid} == $pid_nobody")" '18 6 0' \
			"$attach: --cgroup shows the calls of processes in the cgroup and below it"
	done
	watch --cgroup "$group/below"
	all_work
	tell below 'work 6'
	stop_watching INT
	is "$status $(calls)" '0 6' '--cgroup of a cgroup below another shows the calls of its own processes alone'
else
	skip '--cgroup shows the calls of processes in the cgroup and below it' 'no cgroup v2 hierarchy to make a group in'
fi

# ---- wrong ones ----
bb user "$T/served" work --cgroup "$T"
exits 1 '--cgroup of a folder that is no cgroup is refused'
like "$T/err" "^bbtrace: $T is not a cgroup v2 folder; they are mostly below /sys/fs/cgroup" '--cgroup of a folder that is no cgroup: the message says so'
bb user "$T/served" work --cgroup "$T/none"
exits 1 '--cgroup of a folder that is not there is refused'
bb user "$T/served" work --uid no-such-user-here
exits 2 '--uid with an unknown user is refused'
like "$T/err" "no such user: 'no-such-user-here'" '--uid with an unknown user: the message names the user'
done_testing
