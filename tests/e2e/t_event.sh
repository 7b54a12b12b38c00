#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# event, --with and list --events: tracepoints with their fields, as the kernel's own tracer shows them; live and from a file,
# alone and with branches.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:perl
EVENTS=/sys/kernel/tracing/events
[[ -d $EVENTS ]] || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
[[ -d $EVENTS ]] || skip_all 'tracefs cannot be mounted'
has_cookies() { printf '5.15\n%s\n' "$(uname -r)" | sort -VC; }

# ---- names and fields ----
bb list --events kernel
exits 0 'tracepoints are listed'
find "$EVENTS" -mindepth 3 -maxdepth 3 -name format -not -path '*/bbtrace_*' | wc -l >"$T/number"
is "$(wc -l <"$T/out")" "$(cat "$T/number")" 'as many as tracefs has'
bb list --events kernel -F json -o /dev/null
exits 2 'list has no -o'
bb list --events kernel -F json
# Each field that a format file has, but for the common ones, by name.
find "$EVENTS" -mindepth 3 -maxdepth 3 -name format -print0 | sort -z | xargs -0 awk '
	FNR == 1 { split(FILENAME, part, "/"); n = length(part); event = part[n - 2] ":" part[n - 1] }
	/\tfield:/ { f = $0; sub(/;.*/, "", f); sub(/\[[^]]*\]$/, "", f); sub(/.*[ *]/, "", f); if (f !~ /^common_/) print event " " f }' |
	sort >"$T/wanted"
json_lines "$T/out" 'join "\n", map { "$e->{name} $_->{name}" } @{$e->{fields}}' | sort >"$T/got"
same "$T/got" "$T/wanted" 'with the fields that tracefs has'
bb list --events kernel sched_switch
is "$(cat "$T/out")" 'sched:sched_switch  prev_comm: char[16], prev_pid: pid_t, prev_prio: int, prev_state: long, next_comm: char[16], next_pid: pid_t, next_prio: int' \
	'a tracepoint is found by its name alone'
bb list --events kernel no_such_thing
exits 1 'an unknown name is an error'
like "$T/err" "no event 'no_such_thing'; bbtrace list --events kernel" 'which says how to find one'
bb event -- true
exits 2 'event wants a name'
bb event sched:sched_switch -c -- true
exits 2 'events are not counted by -c'
like "$T/err" 'F summary' 'but by the summary'
bb list --events kernel --sites
exits 2 'list --events has no --sites'

if ! has_cookies; then
	bb event sched:sched_process_fork -- true
	exits 1 'tracepoints need Linux 5.15'
	like "$T/err" 'from Linux 5.15 on' 'which is said'
	done_testing
	exit
fi

# ---- values: a program makes system calls with known arguments ----
source_program calls c <<'END'
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	for (long i = 0; i < 200; i++)
		syscall(SYS_lseek, 1000 + i, -i, i % 3);
	for (int i = 0; i < 5; i++)
		if (fork() == 0)
			_exit(i);
	while (wait(0) > 0)
		;
	return 0;
}
END
bb event raw_syscalls:sys_enter -F json -o "$T/json" -- "$T/calls"
exits 0 'a tracepoint is traced'
nr=$(printf '#include <sys/syscall.h>\nSYS_lseek\n' | cc -E -P - | tail -n 1)
json_lines "$T/json" '$e->{event} eq "tracepoint" && $e->{name} eq "raw_syscalls:sys_enter" && $e->{args}{id} == '"$nr"' &&
	join " ", @{$e->{args}{args}}[0 .. 2]' >"$T/got"
perl -Mbigint -e 'print join(" ", 1000 + $_, $_ ? 2**64 - $_ : 0, $_ % 3), "\n" for 0 .. 199' >"$T/wanted"
same "$T/got" "$T/wanted" 'each event comes once, in order, with the values of its fields'
is "$(tail -n 1 "$T/json" | grep -c '"lost":0')" 1 'none is lost'

# ---- as the kernel's own tracer shows the same run ----
if tracefs_instance 4096; then
	# the shell waits until it is traced, then becomes the program
	mkfifo "$T/go"
	background sh -c 'read -r _ <"$1"; exec "$2"' sh "$T/go" "$T/calls"
	echo "$background" >"$instance/set_event_pid"
	for e in sched_process_fork sched_process_exec sched_process_exit sched_process_free; do
		echo 1 >"$instance/events/sched/$e/enable"
	done
	timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" event 'sched:sched_process_fork' sched:sched_process_exec sched_process_exit -f \
		-p "$background" -o "$T/trace" 2>"$T/err" &
	tracer=$!
	listens() { test -e "/run/bbtrace/$(pgrep -P $tracer -x bbtrace | head -n 1).sock"; }
	wait_for "$PATIENCE" listens || sleep 3
	wait_for "$PATIENCE" grep -q . "$T/trace"
	sleep 0.5
	echo >"$instance/trace"
	echo go >"$T/go"
	wait $tracer
	ok $? 'the trace ends with the process' || diag "$(cat "$T/err")"
	bb report "$T/trace" -F json -o "$T/json"
	json_lines "$T/json" '$e->{event} eq "tracepoint" && $e->{name} eq "sched:sched_process_fork" &&
		"fork $e->{pid} $e->{args}{parent_comm} $e->{args}{parent_pid} $e->{args}{child_comm} $e->{args}{child_pid}"' >"$T/got"
	sed -n 's/.*-\([0-9]*\) .*sched_process_fork: comm=\([^ ]*\) pid=\([0-9]*\) child_comm=\([^ ]*\) child_pid=\([0-9]*\)$/fork \1 \2 \3 \4 \5/p' \
		"$instance/trace" >"$T/wanted"
	same "$T/got" "$T/wanted" 'forks are those that tracefs shows, with their fields'
	is "$(wc -l <"$T/wanted")" 5 'five of them'
	json_lines "$T/json" '$e->{event} eq "tracepoint" && $e->{name} eq "sched:sched_process_exec" &&
		"$e->{args}{filename} $e->{args}{pid}"' >"$T/got"
	sed -n 's/.*sched_process_exec: filename=\([^ ]*\) pid=\([0-9]*\) old_pid=.*/\1 \2/p' "$instance/trace" >"$T/wanted"
	same "$T/got" "$T/wanted" 'the exec has its file name, which is a dynamic field'
	is "$(json "$T/json" '$e->{event} eq "tracepoint" && $e->{name} eq "sched:sched_process_exit"')" \
		"$(grep -c 'sched_process_exit:' "$instance/trace")" 'exits are those that tracefs shows'
else
	skip 'as tracefs shows it' 'tracefs has no instances here'
fi

# ---- stacks ----
bb event sched:sched_process_fork -k -F json -o "$T/json" -- "$T/calls"
is "$(json "$T/json" '$e->{event} eq "tracepoint" && (grep { ($_->{symbol} // "") eq "kernel_clone" && $_->{object} eq "kernel" }
	@{$e->{stack}}) && grep { ($_->{object} // "") =~ m{/libc} } @{$e->{stack}}')" 5 \
	'-k: the stack has the kernel and the program'

# ---- with functions, in one stream: order, depth, and the same from a file ----
program fib -O1 -fno-inline
bb user "$T/fib" main -e entry,return --with raw_syscalls:sys_enter -F json -o "$T/json" --record "$T/trace" -- "$T/fib" 3
exits 3 'functions and tracepoints are traced together'
json_lines "$T/json" '$e->{event} =~ /entry|return|tracepoint/ && "$e->{event} $e->{depth}"' | uniq >"$T/got"
like "$T/got" '^entry 0$' 'the stream has the call'
awk '/entry 0/ { in_main = 1 } /return 0/ { in_main = 0 } /tracepoint/ && in_main { n++ } END { exit !n }' "$T/got"
ok $? 'and system calls within it'
bb report "$T/trace" -F json -o "$T/again"
same "$T/again" "$T/json" 'a trace file shows the same'
for format in text summary chrome perfetto folded html svg pprof; do
	bb report "$T/trace" -F $format -o "$T/x.$format"
	exits 0 "-F $format takes named events"
done
like "$T/x.text" 'raw_syscalls:sys_enter id=[0-9]+ args=\[' 'text has the fields'
grep -q 'raw_syscalls:sys_enter' "$T/x.chrome"
ok $? 'chrome has the events'
grep -q 'raw_syscalls:sys_enter' "$T/x.summary"
ok $? 'the summary counts them'
bb user "$T/fib" main --engine inline --with raw_syscalls:sys_enter -e entry,return -F json -o "$T/inline" -- "$T/fib" 3
json_lines "$T/inline" '$e->{event} =~ /entry|return|tracepoint/ && "$e->{event} $e->{depth}"' | uniq >"$T/inlined"
is "$(grep -v tracepoint "$T/inlined")" "$(grep -v tracepoint "$T/got")" 'copies and tracepoints together'
awk '/entry 0/ { in_main = 1 } /return 0/ { in_main = 0 } /tracepoint/ && in_main { n++ } END { exit !n }' "$T/inlined"
ok $? 'merged in order'
done_testing
