#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Processes that aren't traced are not slowed down: with each filter that names processes, another process, a forked
# child and the program that it execs keep their speed and contain no breakpoint. Where that is impossible, a note
# says so.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
. "$E2E/served.sh"
needs root uprobes cmd:setpriv cmd:timeout
mechanisms
has() { grep -q "^$1  *yes" "$T/doctor"; }

chmod 755 "$T"
build_served
serve one "$T/served"
serve two "$T/served"
serve other "$T/served"
tell one 'spawn first'
first=$(sed -n 's/^first //p' "$T/one.out")

calls_a_round=20000
measured() { sed -n "s/^$2 //p" "$T/$1.out" | tail -n 1; } # NAME WHAT
tell other "rate $calls_a_round"
alone=$(measured other rate)

# A trap costs a thousand times what a call does, and what a busy machine adds is less than a hundred.
keeps_pace() { # NAME WHAT TEXT
	local now

	now=$(measured "$1" "$2")
	((now < 100 * alone))
	ok $? "$3" || diag "alone $alone, now $now (hundredths of ns a call)"
}

bystander_is_spared() {
	tell other "rate $calls_a_round"
	keeps_pace other rate "$1: another process keeps its pace"
	is "$(armed "$pid_other" "$T/served" work)" no "$1: a process that is not traced has no breakpoint"
}

family_is_spared() {
	tell one "family $calls_a_round"
	keeps_pace one forked "$1: a child that is forked and not traced keeps its pace"
	keeps_pace one execd "$1: a child that is forked and becomes another program keeps its pace"
}

# ---- processes that are named ----
if has uprobe_event; then
	for filter in "-p $pid_one" "-p $pid_one,$pid_two" "--tid $first,$pid_one"; do
		# shellcheck disable=SC2086 # words
		watch $filter
		is "$(armed "$pid_one" "$T/served" work)" yes "$filter: what is traced has its breakpoints"
		bystander_is_spared "$filter"
		family_is_spared "$filter"
		tell one 'work 4'
		tell two 'work 5'
		stop_watching INT
		is "$status $(calls) $(summary lost)" "0 $([[ $filter == *,"$pid_two" ]] && echo 9 || echo 4) 0" \
			"$filter: each call of those that are traced is shown, and no other"
		unlike "$T/err" 'slowed' "$filter: where nobody else is slowed, nothing is said of it"
	done
else
	skip '-p, --tid: nobody else pays' 'this kernel has no tracefs with uprobe_events'
fi

# ---- and followed ----
if has uprobe_event && has inherited_events; then
	watch -f -p "$pid_one"
	bystander_is_spared '-f'
	tell one 'family 50'
	tell one 'work 3'
	tell one 'fork 4'
	stop_watching INT
	is "$status $(calls) $(calls "\$e->{pid} != $pid_one") $(summary lost)" '0 507 504 0' \
		'-f: each call of the child, from its first on, of what it becomes, and of the next child'

	serve shell bash -c "'$T/served'; :"
	isnt "$serving_shell" "$pid_shell" 'a shell whose child runs already'
	watch -f -p "$serving_shell"
	tell shell 'work 6'
	bystander_is_spared '-f of its parent'
	stop_watching INT
	is "$status $(calls) $(calls "\$e->{pid} == $pid_shell")" '0 6 6' '-f of a parent: and the children that it has'

	# children of children, that end while others continue
	program fib -O1
	cat >"$T/tree" <<-END
		for n in 1 2 3 4 5 6 7 8; do
			(sh -c "'$T/fib'; sh -c \"'$T/fib'; '$T/fib' & wait\"; '$T/fib'" & '$T/fib' & (:; '$T/fib'); wait)
		done
	END
	bb user "$T/fib" fib -f -F json -o "$T/json" -- bash "$T/tree"
	is "$status $(json "$T/json" '$e->{event} eq "entry"') $(summary lost) $(summary unmatched)" "0 $((8 * 6 * 177)) 0 0" \
		'-f: each call in a tree of processes'
else
	skip '-f: nobody else pays' 'this kernel swaps the perf events that tasks inherit, or has no uprobe_event'
	watch -f -p "$pid_one"
	stop_watching INT
	like "$T/err" 'every process that maps the traced file is slowed at each hit.*6[.]13' 'where -f slows everybody, a note says so'
fi

# ---- the first thread ends ----
source_program headless c -pthread <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int step(int n) { __asm__ volatile("" : "+r"(n)); return n > 3 ? n - 1 : n; }
static void *rest(void *unused)
{
	usleep(700000);
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += step(i);
	exit(sum > 1000 ? 3 : 1);
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, rest, 0);
	step(0);
	pthread_exit(0);
}
END
for attach in "${MECHANISMS[@]}"; do
	bb user "$T/headless" step --attach "$attach" -F json -o "$T/json" -- "$T/headless"
	is "$status $(json "$T/json" '$e->{event} eq "entry"') $(summary lost)" '3 1001 0' "$attach: each call of a process whose first thread has ended is shown"
done

# ---- another user's program ----
goes_on() { (($(wc -l <"$T/watch.json") > before)); }
cp "$T/served" "$T/setuid"
chmod 4755 "$T/setuid"
if [[ $(findmnt -no OPTIONS -T "$T" 2>/dev/null) == *nosuid* ]]; then
	skip 'a program that becomes root' "$T is mounted nosuid"
else
	for attach in "${MECHANISMS[@]}"; do
		serve "user_$attach" setpriv --reuid 65534 --regid 65534 --clear-groups "$T/setuid"
		pid=pid_user_$attach fd=fd_user_$attach
		watch_object "$T/setuid" tick work -p "${!pid}" --attach "$attach"
		tell "user_$attach" 'work 2'
		echo exec >&"${!fd}"
		wait_for $PATIENCE eval "((\$(grep -c '^ready' '$T/user_$attach.out') == 2))"
		before=$(wc -l <"$T/watch.json")
		wait_for $PATIENCE goes_on
		tell "user_$attach" 'work 3'
		stop_watching INT
		is "$status $(calls)" '0 5' "$attach: what becomes another user's program is traced further"
	done
fi

# As CMD: from its first call on, and with what it forks while it is followed.
cp "$T/fib" "$T/setuid-fib" 2>/dev/null || { program fib -O1 && cp "$T/fib" "$T/setuid-fib"; }
chmod 4755 "$T/setuid-fib"
if [[ $(findmnt -no OPTIONS -T "$T" 2>/dev/null) != *nosuid* ]]; then
	for attach in "${MECHANISMS[@]}"; do
		bb user "$T/setuid-fib" fib -u nobody --attach "$attach" -F json -o "$T/json" -- "$T/setuid-fib"
		is "$status $(json "$T/json" '$e->{event} eq "entry"') $(json "$T/json" '$e->{event} eq "unknown"')" '3 177 0' \
			"$attach: a set-user-ID program as CMD, from its first call on" || diag "$(cat "$T/err")"
	done
fi

# ---- the price is reported ----
for filter in '--comm served' "--uid $(id -u)"; do
	# shellcheck disable=SC2086 # words
	watch $filter
	stop_watching INT
	like "$T/err" 'every process that maps the traced file is slowed at each hit' "$filter: names no process, and says so"
done
if has_mechanism uprobe_multi && has uprobe_multi_pid; then
	watch -p "$pid_one,$pid_two" --attach uprobe_multi
	bystander_is_spared 'uprobe_multi, two processes'
	tell one 'work 2'
	tell two 'work 3'
	stop_watching INT
	is "$status $(calls)" '0 5' 'two processes by -p: each call of both is shown'
	like "$T/err" 'children of the traced processes are slowed .*--attach uprobe_multi' 'two processes by -p: a note says that their children are slowed'
	watch -f -p "$pid_one" --attach uprobe_multi
	stop_watching INT
	like "$T/err" 'every process that maps the traced file is slowed at each hit' '-p with -f: a note says that every process is slowed'
fi
done_testing
