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
# Copies log witnesses: what is read must be among what report shows, in its order, and each ret with its time.
program crunch -O1
cat >"$T/follows.py" <<'EOF'
import json, struct, sys
read, shown = {}, {}
for line in open(sys.argv[1]):
    time, _, tid, _, vaddr, taken = line.split()
    read.setdefault(tid, []).append((vaddr, taken, time))
for line in open(sys.argv[2]):
    e = json.loads(line)
    if e["event"] == "branch":
        taken = str(int(e["taken"])) if e["kind"] in ("jcc", "loop") else "-"
        shown.setdefault(str(e["tid"]), []).append((e["vaddr"], taken, str(e["ts"]) if "ts" in e else None))
assert read.keys() == shown.keys()
for tid, branches in shown.items():
    left = iter(branches)
    for vaddr, taken, time in read[tid]:
        for other in left:
            assert not other[2] or (vaddr, taken, time) == other, (other, vaddr, taken, time)
            if other[:2] == (vaddr, taken):
                break
        else:
            assert False, "not shown: %s %s" % (vaddr, taken)
    assert not any(other[2] for other in left)
data, at, logged = open(sys.argv[3], "rb").read(), 20, 0
while at < len(data):
    logged += data[at] == 36
    at += 20 + struct.unpack_from("<I", data, at + 8)[0]
assert logged, "no block of logs"
EOF

# follows NAME ARG...
follows() {
	local name=$1
	shift

	BBTRACE_ENGINE=inline bb user "$@"
	bb report -q "$T/trace" -F json -T abs
	python3 "$ROOT/tests/formats/trace_page.py" "$ROOT/man/bbtrace-trace.5" "$T/trace" >"$T/read" 2>"$T/err" &&
		python3 "$T/follows.py" "$T/read" "$T/out" "$T/trace" 2>>"$T/err"
	ok $? "by the page, the logs of $name are read ($(wc -l <"$T/read"))" || diag "$(tail -n 5 "$T/err")"
}
follows 'calls' "$T/crunch" '*' -o "$T/trace" -- "$T/crunch"
follows 'all registers' "$T/crunch" '*' -r all -o "$T/trace" -- "$T/crunch"
follows 'forked processes' "$T/forks" '*' -f -o "$T/trace" -- "$T/forks"
cp "$(command -v gzip)" "$T/gz"
follows 'gzip' "$T/gz" '*' -o "$T/trace" -- "$T/gz" -c "$ROOT/Makefile"
done_testing
