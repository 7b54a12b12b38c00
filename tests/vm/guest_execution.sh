#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_execution.sh PROGRAM: see t_execution.sh. PROGRAM: built from execution.c.

. "$(dirname "$0")/guest_lib.sh"
program=$1
functions=(moves pops ends jumps by_table clears deep)
executing=(executed_multi executed_event)
stepping=(uprobe_multi uprobe_event)

bb doctor
for mechanism in "${executing[@]}"; do
	grep -q "^$mechanism  *yes" "$T/out.txt" || skip_all "Linux $(uname -r) lets no program of a uprobe write registers"
done

# ---- what the kernel steps, by a tracer of its own ----

TRACING=/sys/kernel/tracing
[[ -e $TRACING/kprobe_events ]] || mount -t tracefs none $TRACING
echo 'p:steps arch_uprobe_pre_xol' >>$TRACING/kprobe_events
echo 1 >$TRACING/events/kprobes/steps/enable
steps() { awk '$1 == "steps" { print $2 }' $TRACING/kprobe_profile; }
# stepped COMMAND...: sets $stepped to how often the kernel single-stepped an instruction meanwhile
stepped() {
	local before

	before=$(steps)
	"$@"
	stepped=$(($(steps) - before))
}

# ---- its own program ----

for mode in run storm faults step; do
	setarch -R "$program" $mode 20 >"$T/plain.$mode"
done

# traced MODE OPTION...: what the program prints is what it prints untraced; the events are in $T/json
traced() {
	local mode=$1

	shift
	stepped bb user "$program" "${functions[@]}" ${more[@]+"${more[@]}"} -f -F json -o "$T/json" "$@" -- setarch -R "$program" "$mode" 20
	# counts are reported on stdout or in the file, the rest of it is the program's
	grep '^[a-z]*: \|^signal ' "$T/out.txt" | grep -v '^bbtrace: ' >"$T/printed"
	same "$T/printed" "$T/plain.$mode" "$mode, $*: the program prints what it prints untraced"
	is "$(summary lost)" 0 "$mode, $*: nothing is lost"
}
events() {
	jq -c 'select(.event != "summary") | [.event, .symbol, .offset, .kind, .taken, .depth, .value, .to.symbol, .to.vaddr, .regs]' "$T/json"
}

for placement in full implied witness; do
	for mechanism in "${stepping[@]}" "${executing[@]}"; do
		traced run --attach "$mechanism" --placement $placement --regs args
		events >"$T/events.$mechanism"
		diag "$stepped instructions single-stepped"
		same "$T/events.$mechanism" "$T/events.uprobe_multi" "$placement: $mechanism shows the same events"
		if [[ $mechanism == executed_* ]]; then
			is "$stepped" 0 "$placement: with $mechanism the kernel steps nothing"
		else
			isnt "$stepped" 0 "$placement: with $mechanism it does"
		fi
	done
done
for mechanism in "${stepping[@]}" "${executing[@]}"; do
	traced run --attach "$mechanism" -c
	jq -c 'select(.event != "summary") | if .targets then .targets |= sort else . end' "$T/json" >"$T/events.$mechanism"
	same "$T/events.$mechanism" "$T/events.uprobe_multi" "counted: $mechanism tells the same"
	diag "$stepped instructions single-stepped"
done
isnt "$(head -n 1 "$T/events.uprobe_multi")" '' 'it tells something'

for mechanism in "${executing[@]}"; do
	traced storm --attach "$mechanism"
	is "$stepped" 0 "$mechanism: signals make the kernel step nothing"
	traced step --attach "$mechanism"
	isnt "$stepped" 0 "$mechanism: the kernel steps what a debugger steps ($stepped)"
	more=(fault_pop fault_ret fault_jump fault_where)
	traced faults --attach "$mechanism"
	traced faults --attach "$mechanism" -c
	more=()
done

# ---- others at the same instructions ----

both() { # OPTION...: of a tracer that traces this one's program as well, all the time
	bb user "$program" "${functions[@]}" --placement full --regs args -f -F json -o "$T/other.json" "$@" -- \
		$BBTRACE user "$program" "${functions[@]}" --placement full --regs args --attach executed_multi -F json -o "$T/json" -- \
		setarch -R "$program" run 20
	grep -v '^bbtrace: ' "$T/out.txt" >"$T/printed"
	same "$T/printed" "$T/plain.run" "two tracers ($*): the program prints what it prints untraced"
	events >"$T/events.both"
	same "$T/events.both" "$T/events.uprobe_multi.full" "with another tracer ($*) the events are the same"
	mv "$T/other.json" "$T/json"
	events >"$T/events.other"
	same "$T/events.other" "$T/events.uprobe_multi.full" "so are those of that tracer"
}
traced run --attach uprobe_multi --placement full --regs args
events >"$T/events.uprobe_multi.full"
for mechanism in "${executing[@]}" "${stepping[@]}"; do
	both --attach "$mechanism"
done

# A return probe of the kernel's own tracer, at an entry and at what moves the stack pointer.
at=$((16#$(nm "$program" | awk '$3 == "moves" { print $1 }')))
echo "r:back $program:$(printf 0x%x $at)" >>$TRACING/uprobe_events
echo 1 >$TRACING/events/uprobes/back/enable
traced run --attach executed_multi
is "$(awk '$2 == "back" { print $3 } $1 == "back" { print $2 }' $TRACING/uprobe_profile | head -n 1)" 20 'its return probe sees each return'
echo 0 >$TRACING/events/uprobes/back/enable
echo '-:back' >>$TRACING/uprobe_events
traced run --attach executed_multi --returns probe
traced run --attach executed_event

skip 'a debugger that watches the stack' 'under TCG 7.2 locks up where uprobe_multi and a debug register meet'
if grep -q '^flags.* user_shstk' /proc/cpuinfo; then
	diag 'this processor has shadow stacks'
else
	skip 'threads with a user shadow stack' 'the processor that QEMU emulates has none'
fi

# ---- what it saves ----

cp "$(command -v gzip)" "$T/gzip"
seq 20000 >"$T/text"
libc=$(find -L /usr/lib /lib -name libc.so.6 2>/dev/null | head -n 1)
saved() { # NAME, then the arguments of bbtrace user
	local mechanism name=$1 counts=()

	shift
	for mechanism in uprobe_multi executed_multi; do
		stepped bb user --attach $mechanism -F json -o "$T/json" --limit 1000000 "$@"
		counts+=("$stepped")
	done
	((counts[1] < counts[0]))
	ok $? "$name: ${counts[0]} instructions were single-stepped, ${counts[1]} with executed_multi"
	diag "$name: ${counts[0]} before, ${counts[1]} after"
}
mkdir "$T/lib"
cp "$libc" "$T/lib/"
saved "libc's malloc" "$T/lib/libc.so.6" malloc -f -- env LD_LIBRARY_PATH="$T/lib" "$(realpath "$(command -v python3)")" -S -c 'print(sum(range(100)))'
saved gzip "$T/gzip" '*' -- "$T/gzip" -c "$T/text"
saved python3 "$(realpath "$(command -v python3)")" 'PyObject_*' -- "$(realpath "$(command -v python3)")" -S -c 'print(sum(range(100)))'

echo 0 >$TRACING/events/kprobes/steps/enable
echo '-:steps' >>$TRACING/kprobe_events
is "$(complaints)" 0 'the kernel has no complaints'
done_testing
