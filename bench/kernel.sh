#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# kernel.sh WORK BPFTRACE ROUNDS N: runs in a guest, started by bench.py. Kprobes on all branches of a kernel function
# that WORK calls N times, by bbtrace and its peers at the same sites, interleaved. Prints a line `NAME NS` for each run,
# the thread's CPU time for one call; a line `probes NUMBER`; `skipped NAME WHY` for peers that can't run.
set -u
work=$1 bpftrace=$2 rounds=$3 n=$4
function=do_sys_openat2
bbtrace=build/bbtrace
export BENCH_OUT=/tmp/times BPFTRACE_MAX_PROBES=2048

mount -t tracefs none /sys/kernel/tracing
mount -t debugfs none /sys/kernel/debug
mapfile -t offsets < <($bbtrace list kernel $function --sites -F json | jq -r 'select(.probe == "yes") | .offset')
echo "probes ${#offsets[@]}"
sites=$(printf "kprobe:$function+%d, " "${offsets[@]}")

# told NAME: what the work itself says it took; nothing: it did not run.
told() { # NAME
	local cpu

	read -r _ cpu <$BENCH_OUT && echo "$1 $((cpu / n))" || echo "skipped $1 $(tail -n 1 /tmp/err)"
	rm -f $BENCH_OUT
}

by_bbtrace() { # NAME OPTION...
	$bbtrace kernel $function "${@:2}" -o /dev/null -- "$work" open "$n" 2>/tmp/err
	told "$1"
}

by_bpftrace() { # NAME ACTION
	"$bpftrace" -o /dev/null -e "${sites%, } $2" -c "$work open $n" 2>/tmp/err >/dev/null
	told "$1"
}

by_function_graph() {
	local t=/sys/kernel/tracing

	echo $function >$t/set_graph_function && echo function_graph >$t/current_tracer && echo 1 >$t/tracing_on ||
		{ echo "skipped $1 no function_graph here" && return; }
	cat $t/trace_pipe >/dev/null 2>&1 &
	"$work" open "$n" 2>/tmp/err
	kill $!
	wait $! 2>/dev/null
	echo nop >$t/current_tracer
	told "$1"
}

for ((i = 0; i < rounds; i++)); do
	"$work" open "$n" 2>/tmp/err
	told bare
	by_bbtrace 'bbtrace, full' --placement full
	by_bbtrace 'bbtrace, witness' --placement witness
	by_bpftrace 'bpftrace printf' '{ printf("%d %llu %lx\n", tid, nsecs, reg("sp")); }'
	by_bpftrace 'bpftrace count' '{ @[reg("ip")] = count(); }'
	by_function_graph function_graph
done
