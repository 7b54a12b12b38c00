#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A reader of trace files that knows only what bbtrace-trace(5) says finds each branch that report shows.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes cmd:python3
program threads -O1 -pthread
program forks -O1
program switch -O1
program fib -O1

# The branches as trace_page.py prints them, from JSON.
branches() {
	python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    if e["event"] == "branch" and "ts" in e:
        taken = int(e["taken"]) if e["kind"] in ("jcc", "loop") else "-"
        print(e["ts"], e["pid"], e["tid"], e["cpu"], e["vaddr"], taken)'
}

# agrees NAME ARG...: records what bbtrace does with these
agrees() {
	local name=$1
	shift

	bb user "$@"
	bb report -q "$T/trace" -F json -T abs
	branches <"$T/out" | sort >"$T/wanted"
	python3 "$ROOT/tests/formats/trace_page.py" "$ROOT/man/bbtrace-trace.5" "$T/trace" 2>"$T/err" | sort >"$T/read"
	same "$T/read" "$T/wanted" "by the page, each branch is read of $name ($(wc -l <"$T/wanted"))" || diag "$(tail -n 3 "$T/err")"
	[[ -s $T/wanted ]] || ok 1 "branches of $name were recorded"
}

agrees 'threads' "$T/threads" '*' -k -o "$T/trace" -- "$T/threads"
agrees 'forked processes' "$T/forks" '*' -f -o "$T/trace" -- "$T/forks"
agrees 'jump tables' "$T/switch" '*' -o "$T/trace" -- "$T/switch"
agrees 'what conditionals test' "$T/switch" '*' --why -o "$T/trace" -- "$T/switch"
agrees 'returns by return probes' "$T/fib" '*' --returns probe -o "$T/trace" -- "$T/fib"
agrees 'functions among named events' "$T/threads" '*' --with 'raw_syscalls:*' --with sched:sched_process_fork -e entry,branch,return,sched -k -o "$T/trace" -- "$T/threads"
agrees 'libc in ls' libc.so.6 'mall*' 'str*' free -r all -o "$T/trace" -- ls /
done_testing
