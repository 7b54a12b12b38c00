#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -e sched: each time a traced thread leaves its CPU and comes back, as the kernel's own tracer and its counters say; and the
# part of a call's time that it was on none.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:perl

program naps -O1 -pthread

# ---- as tracefs shows the same run: each thread's switches, in order, with their states ----
if tracefs_instance 8192; then
	mkfifo "$T/go"
	background sh -c 'exec "$1" wait <"$2"' sh "$T/naps" "$T/go"
	exec 7>"$T/go"
	wait_for "$PATIENCE" grep -q '^naps$' "/proc/$background/comm"
	echo "$background" >"$instance/set_event_pid"
	echo 1 >"$instance/events/sched/sched_switch/enable"
	timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$T/naps" both nap spin -p "$background" -e entry,return,sched -o "$T/trace" 2>"$T/err" &
	tracer=$!
	wait_for "$PATIENCE" grep -qs . "$T/trace"
	sleep 1
	echo >"$instance/trace"
	echo x >&7
	wait $tracer
	ok $? 'the trace ends with the process' || diag "$(cat "$T/err")"
	exec 7>&-
	bb report "$T/trace" -F json -o "$T/json"
	is "$(tail -n 1 "$T/json" | grep -c '"lost":0')" 1 'nothing is lost'
	# "TID off S", "TID on": by thread, in order. What was before the read returned was before the trace, or not.
	# A zombie may be reaped between the two: X is Z.
	json_lines "$T/json" '$e->{event} eq "sched" && "$e->{tid} " . ($e->{name} eq "off-cpu" ? "off " . $e->{args}{state} =~ s/X/Z/r : "on")' |
		sort -s -n -k 1,1 >"$T/got"
	perl -ne '/prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+) / or next;
		my ($prev, $state, $next) = ($1, $2, $3);
		$state =~ s/\+//; # preempted
		$state =~ s/X/Z/;
		print "$prev off $state\n$next on\n"' "$instance/trace" >"$T/all"
	cut -d' ' -f1 "$T/got" | sort -u | while read -r tid; do grep "^$tid " "$T/all"; done | sort -s -n -k 1,1 >"$T/wanted"
	# Some kernels' tracers leave out switches from the idle task; what is left of those to it differs by one per CPU.
	idle=$(($(grep -c 'next_comm=swapper' "$instance/trace") - $(grep -c 'prev_comm=swapper' "$instance/trace")))
	if ((idle > $(nproc))); then
		diag "tracefs has left out $idle switches from the idle task: each leaving is compared"
		sed -i '/ on$/d' "$T/got" "$T/wanted"
	fi
	same "$T/got" "$T/wanted" 'each leaving and each coming of each thread, as tracefs shows them' || diag "$(diff "$T/got" "$T/wanted" | head -20)"
	ok "$(($(grep -c off "$T/got") < 350))" 'hundreds of them'
else
	skip 'as tracefs shows it' 'tracefs has no instances here'
fi

# ---- the kernel's counter of the thread ----
bb user "$T/naps" both nap spin -e entry,return,sched -F json -o "$T/json" --record "$T/recorded" -- "$T/naps"
exits 0 'a command is traced'
voluntary=$(sed -n 's/voluntary //p' "$T/out")
pid=$(json_lines "$T/json" '$e->{event} eq "entry" && $e->{pid} == $e->{tid} && $e->{pid}' | head -n 1)
got=$(json "$T/json" '$e->{event} eq "sched" && $e->{tid} == '"$pid"' && $e->{name} eq "off-cpu" && $e->{args}{state} =~ /^[SD]$/')
# The counter begins before the exec, and reading it is before the end: it can only have a few more.
ok "$((got > voluntary || got < voluntary - 20))" 'no more waits of the main thread than the kernel has counted, and hardly less' ||
	diag "$got of $voluntary"

# ---- durations ----
check() { # FILE: each return's time on no CPU is what the switches within the call add up to
	perl -I"$ROOT/tests/check" -MJson -e '
		my (%open, %off, $returns, $wrong, $known);
		# a thread may be preempted in a probe that has taken the time already
		for my $e (sort { ($a->{ts} // 0) <=> ($b->{ts} // 0) } map { Json::parse($_) } <>) {
			my $t = $e->{tid} // next;
			if ($e->{event} eq "sched" && $e->{name} eq "off-cpu") {
				$off{$t} = $e->{ts};
			} elsif ($e->{event} eq "sched" && defined $off{$t}) {
				$_->[0] += $e->{ts} - $off{$t} for @{$open{$t}};
				delete $off{$t};
			} elsif ($e->{event} eq "entry") {
				push @{$open{$t}}, [0];
			} elsif ($e->{event} eq "return") {
				my $call = pop @{$open{$t}} // next;
				$returns++;
				$known += exists $e->{off_cpu_ns};
				$wrong += ($e->{off_cpu_ns} // -1) != $call->[0] || $e->{off_cpu_ns} > $e->{duration_ns};
			}
		}
		print "$returns returns, $known known, ", $wrong + 0, " wrong\n"' "$1"
}
is "$(check "$T/json")" '800 returns, 800 known, 0 wrong' 'each return says how long its call was on no CPU'
ok "$(($(json "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "nap" && $e->{off_cpu_ns}') < 300))" 'most naps were'
bb report "$T/recorded" -F json -o "$T/again"
same "$T/again" "$T/json" 'a trace file shows the same'
bb user "$T/naps" both nap spin --engine inline -e entry,return,sched -F json -o "$T/json" -- "$T/naps"
is "$(check "$T/json")" '800 returns, 800 known, 0 wrong' 'so does a trace of copies'
bb report "$T/recorded" -F summary
like "$T/out" ' off-CPU ' 'the summary has it'
like "$T/out" '^ +[0-9]+  (off|on)-cpu$' 'and how often'
bb report "$T/recorded" -F folded
like "$T/out" 'both;nap;\[off-CPU\] [0-9]+$' 'a flame graph has it as a frame'
bb report "$T/recorded" -F json -o "$T/json"
off_of() { json_lines "$T/json" '$e->{event} eq "return" && $e->{symbol} eq "'"$1"'" && $e->{off_cpu_ns} || 0' | awk '{ n += $1 } END { print n + 0 }'; }
bb report "$T/recorded" -F callgrind
is "$(sed -n '/^cfn=.* nap$/,+2s/^0x[0-9a-f]* [0-9]* [0-9]* [0-9]* //p' "$T/out") $(sed -n 's/^totals: .* //p' "$T/out")" \
	"$(off_of nap) $(off_of both)" 'callgrind has it, of calls and in all'
bb report "$T/recorded" -F html
is "$(grep -o '"name":"\(both\|nap\)".*"off":[0-9]*' "$T/out" | sed 's/.*://' | sort -n | xargs)" "$(printf '%s\n' "$(off_of nap)" "$(off_of both)" | sort -n | xargs)" 'and html'
bb report "$T/recorded"
like "$T/out" 'nap returns -?[0-9]+.*, off-CPU [0-9.]+[mu]s' 'so does text'
like "$T/out" 'off-cpu state="S"' 'which shows the leaving'
like "$T/out" 'on-cpu after [0-9.]+[mu]s' 'and the coming back'
bb report "$T/recorded" -F chrome
grep -q '"off_cpu_ns":' "$T/out"
ok $? 'chrome has it'
bb user "$T/naps" nap -e sched -F json -o "$T/json" -- "$T/naps"
ok "$(json "$T/json" '$e->{event} eq "branch"' | grep -c '^0$')" '-e sched alone is in addition to the others'

# ---- stacks: with the kernel's names, which is open for them alone ----
bb user "$T/naps" nap -e entry,return,sched -k -F json -o "$T/json" --record "$T/stacks" -- "$T/naps"
naps=$(json "$T/json" '$e->{event} eq "sched" && (grep { ($_->{symbol} // "") eq "nap" } @{$e->{stack} // []})')
is "$(json "$T/json" '$e->{event} eq "sched" && (grep { ($_->{object} // "") eq "kernel" && ($_->{symbol} // "") eq "schedule" } @{$e->{stack} // []}) &&
	(grep { ($_->{symbol} // "") eq "nap" } @{$e->{stack} // []})')" "$naps" '-k: each leaving in nap is of schedule()'
ok "$((naps < 300))" 'hundreds of them' || diag "$naps"
is "$(json "$T/json" '$e->{event} eq "sched" && grep { !$_->{object} && $_->{vaddr} =~ /^0xffff/ } @{$e->{stack} // []}')" 0 'each frame of the kernel has a name'
unlike "$T/err" 'interrupts' 'without what concerns functions of the kernel'
bb report "$T/stacks" -F json -o "$T/again"
same "$T/again" "$T/json" '-k: a trace file shows the same'
bb report "$T/recorded" -e sched
exits 2 'report has no -e sched'
done_testing
