#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace core: the stacks of a core dump are gdb's, each beside the last branches of a trace of the process, with the frame
# where the two meet; what doesn't fit is reported.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them, and reads status
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:gdb cmd:gcore
pattern=$(</proc/sys/kernel/core_pattern)
engines=(probe)
[[ $(uname -m) != x86_64 ]] || engines+=(inline)

cc -g -O1 -pthread -o "$T/crash" "$ROOT/tests/crash/crash.c" || exit 2
strip -o "$T/strip" "$T/crash"
mkdir "$T/dumps"

# dump PROGRAM HOW ENGINE OPTION...: the dump is $T/dumps/core, the trace $T/dumps/x.bbt.
dump() {
	local program=$1 how=$2 engine=$3
	shift 3

	rm -f "$T"/dumps/*
	(cd "$T/dumps" && ulimit -c unlimited -s 512 && exec timeout -k 10 "$BB_TIMEOUT" "$BBTRACE" user "$T/$program" '*' --engine "$engine" --last 10 \
		--placement full --record x.bbt "$@" -- "$T/$program" "$how") >"$T/shown" 2>"$T/traced" </dev/null
	for file in "$T"/dumps/core*; do [[ ! -e $file || $file == "$T/dumps/core" ]] || mv "$file" "$T/dumps/core"; done
}
# by_gdb PROGRAM: TID FRAME PC LINE of frames that aren't inlined
by_gdb() {
	gdb -nx -batch -x "$ROOT/tests/check/gdb_core.py" "$1" "$T/dumps/core" 2>"$T/gdb_err" | awk '$1 == "FRAME" && $5 == "-" { print $2, $3, $4, $6 }'
}
# stacks FILE: the same of bbtrace
stacks() {
	json_lines "$1" '$e->{event} eq "stack" ? do { my $i = 0; join "\n", map { join " ", $e->{tid}, $i++, $_->{addr},
		($_->{src} ? $_->{src}[-1]{line} // 0 : 0) } @{$e->{stack}} } : ""'
}
# Those that bbtrace has are the first ones of gdb's, of each thread; it may know when to stop. Where bbtrace has no line, gdb
# may know the symbol's file.
are_gdbs() { # BBTRACE GDB
	awk 'NR == FNR { pc[$1, $2] = $3; line[$1, $2] = $4; next }
		pc[$1, $2] != $3 { print "differs:", $0, "gdb:", pc[$1, $2] }
		$4 && line[$1, $2] != $4 { print "line differs:", $0, "gdb:", line[$1, $2] }' "$2" "$1"
}
ends() { json_lines "$1" '$e->{event} eq "stack" ? "$e->{tid} " . ($e->{stack_end} // "-") : ""'; }
# The number of frames of the first thread by gdb, up to where bbtrace ends with a reason
whole() {
	local tid

	tid=$(json_lines "$1" '$e->{event} eq "stack" && $e->{killed} ? $e->{tid} : ""' | head -1)
	[[ $(ends "$1" | sed -n "s/^$tid //p") != - ]] || [[ $(grep -c "^$tid " "$T/stacks") == "$(grep -c "^$tid " "$T/gdb")" ]]
}

if [[ $pattern == [\|/]* || $pattern == */* ]]; then
	skip 'dumps of the kernel' "core_pattern is $pattern"
elif ! may_dump; then
	skip 'dumps of the kernel' "$NO_DUMPS"
else
	# HOW, its signal, which frame the newest branch meets and how; - : none
	n=0
	while read -r how signal frame newest inlined; do
		for engine in "${engines[@]}"; do
			for program in crash strip; do
				in_part $((n++)) 0 5 || continue
				name="$how, $program, $engine"
				dump $program "$how" "$engine"
				bb core "$T/dumps/core" -F json
				exits 0 "$name: is shown"
				cp "$T/out" "$T/json"
				by_gdb "$T/$program" >"$T/gdb"
				stacks "$T/json" >"$T/stacks"
				[[ $(wc -l <"$T/stacks") -gt 0 ]]
				ok $? "$name: has stacks"
				is "$(are_gdbs "$T/stacks" "$T/gdb" | head -5)" '' "$name: the frames are gdb's"
				whole "$T/json"
				ok $? "$name: all of them, or it says why not" || diag "$(ends "$T/json")"
				is "$(json_lines "$T/json" '$e->{event} eq "core" ? $e->{signal} : ""')" "$signal" "$name: the signal"
				is "$(json_lines "$T/json" '$e->{event} eq "stack" && $e->{killed} ? ($e->{frame} // "-") . " $e->{newest}" : ""')" \
					"$frame $([[ $engine == inline ]] && echo "${inlined:-$newest}" || echo "$newest")" "$name: where the newest branch meets the stack"
				is "$(json_lines "$T/json" '$e->{event} eq "core" ? $e->{trace} =~ s,.*/,,r : ""')" x.bbt "$name: the trace beside it"
				# what was kept when it was killed is what is shown beside the stack
				bb core "$T/dumps/core" --last 10 -F text -T none
				grep -v ' -- path unknown --' "$T/out" >"$T/text"
				sed -n "/ killed /,\$p" "$T/text" | grep -E '0x[0-9a-f]+  [a-z]+  .*->' | head -5 >"$T/beside"
				bb report "$T/dumps/x.bbt" --last 10 -T none
				sed -n "/ killed /,\$p" "$T/out" | grep -E '0x[0-9a-f]+  [a-z]+  .*->' | head -5 >"$T/kept"
				[[ -s $T/kept ]]
				ok $? "$name: branches were kept"
				[[ $how == thread ]] || same "$T/beside" "$T/kept" "$name: and its last branches"
			done
		done
	done <<'END'
null SIGSEGV 0 leads
overflow SIGSEGV 0 leads
abort SIGABRT 3 call
double SIGABRT 7 call
zero SIGFPE 0 leads
illegal SIGILL 0 leads
jump SIGSEGV 0 leads
thread SIGSEGV 0 leads
handled SIGSEGV - apart missing
END

	# ---- what doesn't fit ----
	dump crash null probe
	bb core "$T/dumps/core"
	like "$T/out" '^core      of process [0-9]+ \(crash\), killed by SIGSEGV SEGV_MAPERR at 0x0$' 'text: the signal'
	like "$T/out" '#0   null_pointer\+0x[0-9a-f]+  crash.c:37  <- the newest branch leads here: null_pointer' 'where they meet'
	like "$T/out" '#1   choose\+0x[0-9a-f]+  crash.c:197$' 'the callers'
	cp "$T/dumps/x.bbt" "$T/first.bbt"
	cp "$T/dumps/core" "$T/first.core"
	bb core "$T/dumps/core" "$T/dumps/core"
	exits 1 'no trace file'
	like "$T/out" '#1   choose' 'the stack is shown even so'
	dump crash null probe
	bb core "$T/dumps/core" "$T/first.bbt"
	exits 1 'a trace of another process'
	like "$T/err" 'first.bbt is of another process: it has no process [0-9]+' 'is told'
	like "$T/out" '#1   choose' 'and the stack is shown'
	rm "$T/dumps/x.bbt"
	cp "$T/first.bbt" "$T/dumps"
	bb core "$T/dumps/core"
	exits 0 'without a trace'
	like "$T/err" 'no trace of process [0-9]+ \(\*\.bbt\) is beside ' 'it says so'
	unlike "$T/out" ' jne ' 'no branch is shown'

	# branches that are not probed follow the newest one
	dump crash null "${engines[-1]}" --placement witness
	bb core "$T/dumps/core"
	like "$T/out" '#1   choose.*  <- the newest branch is this call: choose' 'a call is, whatever followed without a probe'

	dump crash null probe -e entry
	bb core "$T/dumps/core"
	like "$T/out" 'the trace has no branch of this thread' 'a trace without branches'

	dump crash double probe
	size=$(stat -c %s "$T/dumps/core")
	for part in 1 2 3; do
		head -c $((size * part / 4)) "$T/dumps/core" >"$T/cut"
		bb core "$T/cut" "$T/dumps/x.bbt"
		exits 0 "$part/4 of a core dump"
		like "$T/err" "is cut off: it has $((size * part / 4)) of $size bytes" 'which is reported'
		"$BBTRACE" core "$T/cut" "$T/dumps/x.bbt" -F json 2>/dev/null >"$T/json"
		stacks "$T/json" >"$T/stacks"
		"$BBTRACE" core "$T/dumps/core" -F json 2>/dev/null >"$T/json"
		stacks "$T/json" >"$T/all"
		is "$(are_gdbs "$T/stacks" "$T/all")" '' 'the frames that it has are right'
	done
	head -c 600 "$T/dumps/core" >"$T/cut"
	bb core "$T/cut"
	exits 1 'the beginning of a core dump'
	# where its notes begin, and half of them
	cut=$(readelf -lW "$T/dumps/core" | awk '$1 == "NOTE" { print $2, $5 }' | { read -r at size && echo $((at + size / 2)); })
	head -c "$cut" "$T/dumps/core" >"$T/cut"
	bb core "$T/cut"
	exits 1 'a core dump that ends within its notes'
	like "$T/err" "is cut off within the notes on its process: it has $cut of [0-9]+ bytes" 'which is reported'

	# the program is another one by now
	dump crash null probe
	cp "$T/crash" "$T/kept_crash"
	cc -g -O2 -pthread -o "$T/crash" "$ROOT/tests/crash/crash.c" || exit 2
	bb core "$T/dumps/core"
	exits 0 'the program was compiled again'
	like "$T/err" 'crash is another build than the one that was running: it is not used' 'which is reported'
	unlike "$T/out" '#[0-9]+ +null_pointer' 'and has no names'
	rm "$T/crash"
	bb core "$T/dumps/core" -F json
	exits 0 'the program is gone'
	is "$(json_lines "$T/out" '$e->{event} eq "stack" ? join(" ", map { $_->{vaddr} eq $_->{addr} && !$_->{object} ? "address" : "other" } grep { $_->{file} } @{$e->{stack}}) : ""' |
		tr ' ' '\n' | sort -u)" address 'its frames have the addresses that they had, and the name of the file'
	cp "$T/kept_crash" "$T/crash"
fi

# ---- gcore: of a process that continues ----
for engine in "${engines[@]}"; do
	rm -f "$T"/dumps/* "$T/pid"
	"$BBTRACE" user "$T/crash" '*' --engine "$engine" -o "$T/dumps/x.bbt" -- "$T/crash" wait "$T/pid" 2>"$T/traced" >/dev/null &
	tracer=$!
	wait_for "$PATIENCE" test -s "$T/pid"
	pid=$(<"$T/pid")
	[[ $engine == probe ]] && { gcore -o "$T/dumps/core" "$pid" >/dev/null 2>&1; mv "$T/dumps/core.$pid" "$T/dumps/core"; }
	kill -TERM "$pid"
	wait $tracer
	[[ $engine == probe ]] || continue # one ptracer is enough
	bb core "$T/dumps/core" -F json
	exits 0 'gcore'
	cp "$T/out" "$T/json"
	like "$T/err" 'the process went on after the dump' 'it went on'
	is "$(json_lines "$T/json" '$e->{event} eq "stack" ? $e->{newest} : ""')" call 'and waited in the call that the newest branch is'
	by_gdb "$T/crash" >"$T/gdb"
	stacks "$T/json" >"$T/stacks"
	is "$(are_gdbs "$T/stacks" "$T/gdb")" '' "the frames are gdb's"
done

# ---- gdb's generate-core-file: of a program that a breakpoint stopped ----
gdb -batch -nx -ex 'break main' -ex run -ex "generate-core-file $T/stopped" "$T/crash" >"$T/log" 2>&1
bb core "$T/stopped"
exits 0 'a dump that gdb made'
like "$T/out" ' stopped in a debugger by SIGTRAP' 'the program was stopped, not killed'
unlike "$T/out" 'killed' 'nothing says that it was'

bb core
exits 2 'core without a file'
bb core "$T/crash"
exits 1 'a program is no core dump'
bb core /dev/null
exits 1 'nor is a device'
done_testing
