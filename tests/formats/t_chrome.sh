#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F chrome: the trace event format as Perfetto and chrome://tracing define it, with the figures of JSON.
. "$(dirname "$0")/../e2e/lib.sh"
needs recorded cmd:python3

# check FILE: strict JSON; slices nest and are closed, track by track; times never go back. Prints figures.
check() {
	python3 - "$1" <<'END'
import collections, json, sys

def no_constant(x): raise ValueError(x)
def once(pairs):
    assert len({k for k, v in pairs}) == len(pairs), "a key twice"
    return dict(pairs)
text = open(sys.argv[1], "rb").read().decode("utf-8", "strict")
trace = json.loads(text, parse_constant=no_constant, object_pairs_hook=once)
assert set(trace) == {"displayTimeUnit", "traceEvents", "otherData"} and trace["displayTimeUnit"] == "ns"
count = collections.Counter()
stack, last, named = collections.defaultdict(list), {}, set()
for e in trace["traceEvents"]:
    track = e["pid"], e["tid"]
    assert isinstance(e["pid"], int) and isinstance(e["tid"], int) and isinstance(e["args"], dict), e
    if e["ph"] == "M":
        assert e["name"] in ("thread_name", "process_name") and isinstance(e["args"]["name"], str)
        named.add(track)
        continue
    assert isinstance(e["ts"], (int, float)) and e["ts"] >= last.get(track, 0), "time goes back: %r" % e
    last[track] = e["ts"]
    if e["ph"] == "B":
        stack[track].append(e["name"])
        count["calls"] += 1
    elif e["ph"] == "E":
        assert stack[track].pop() == e["name"], "ends what isn't open: %r" % e
        count["returns"] += "return" not in e["args"]
        count["cut"] += "return" in e["args"]
    else:
        assert e["ph"] == "i" and e["s"] == "t" and e["name"], e
        count[e["cat"]] += 1
        count["taken"] += e["args"].get("taken") is True
        count["not"] += e["args"].get("taken") is False
assert not any(stack.values()), "left open"
assert set(last) <= named, "a track without name"
print(*(count[k] for k in ("calls", "returns", "cut", "branch", "taken", "not")), len(last))
END
}
# figures: the same of $T/json. Threads: those with events.
figures() {
	python3 - "$T/json" <<'END'
import collections, json, sys
count, threads = collections.Counter(), set()
for line in open(sys.argv[1]):
    e = json.loads(line)
    count[e["event"]] += 1
    if "tid" in e: threads.add(e["tid"])
    count["taken"] += e.get("taken") is True
    count["not"] += e.get("taken") is False
print(*(count[k] for k in ("entry", "return")), count["entry"] - count["return"], *(count[k] for k in ("branch", "taken", "not")), len(threads))
END
}
both() { # PROGRAM FUNC...
	recorded "${1##*/}" user "$@" -- "$1"
	bb report "$T/trace" -F json -o "$T/json"
	bb report "$T/trace" -F chrome -o "$T/chrome"
}

program fib -O1
both "$T/fib" fib
is "$(check "$T/chrome")" "$(figures)" 'chrome: calls, returns and branches of a recursion are as in JSON'
program loops -O1
both "$T/loops" nested
is "$(check "$T/chrome")" "$(figures)" 'chrome: branches of loops are as in JSON'
program threads -O1 -pthread
both "$T/threads" collatz worker
is "$(check "$T/chrome" | cut -d' ' -f1-3,7)" "$(figures | cut -d' ' -f1-3,7)" 'chrome: each thread has a track'
program longjmp -O1
both "$T/longjmp" '*'
is "$(check "$T/chrome" | cut -d' ' -f1,4-6)" "$(figures | cut -d' ' -f1,4-6)" 'chrome: slices that longjmp leaves are closed'
# ---- arguments, results and what conditionals test are those of text ----
cat >"$T/typed.c" <<'END'
struct p { int count; };
__attribute__((noipa)) int find(const char *name, struct p *p, unsigned n) { return p->count < (int)n ? -2 : name[0]; }
__attribute__((noipa)) void nothing(char c, _Bool b) { __asm__("" : : "r"(c), "r"(b)); }
int main(void)
{
	struct p p = {5};

	nothing('x', 1);
	return find("hello, \"you\"", &p, 7) + find("x", &p, 3) == 0;
}
END
cc -g -O1 -o "$T/typed" "$T/typed.c" || exit 2
recorded typed user "$T/typed" find nothing --args --why -- "$T/typed"
mv "$T/trace" "$T/typed.bbt"
"$BBTRACE" report "$T/typed.bbt" -F text -T none --no-fold 2>/dev/null >"$T/text"
"$BBTRACE" report "$T/typed.bbt" -F chrome -o "$T/chrome" 2>/dev/null
"$BBTRACE" report "$T/typed.bbt" -F perfetto -o "$T/perfetto" 2>/dev/null
isnt "$(check "$T/chrome")" '' 'chrome: with arguments by type'
python3 - "$T/chrome" >"$T/got" <<'END'
import json, sys
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    args = e["args"]
    if e["ph"] == "B":
        print("%s(%s)" % (e["name"], ", ".join("%s=%s" % a for a in args.items())))
    elif e["ph"] == "E" and "ret" in args:
        print("%s returns %s" % (e["name"], args["ret"]))
    elif "why" in args:
        print(args["why"])
END
grep -oE '(find|nothing)\(.*\)|find returns [-0-9]+|p->count = .*\(read again\)' "$T/text" >"$T/wanted"
is "$(wc -l <"$T/wanted")" 7 'text has three calls, two results, and what two conditionals test'
same "$T/got" "$T/wanted" 'chrome: arguments, results and conditionals are those of text'
gzip -dc "$T/perfetto" >"$T/packets"
is "$(for word in 'p->count = 5, n = 7: p->count < n' 'p->count = 5, n = 3: p->count >= n' "'x'" '"hello, \"you\""'; do
	grep -qaF -e "$word" "$T/packets" || echo "$word"; done)" '' 'perfetto: has them, too'
bb report "$T/typed.bbt" find -F chrome -o "$T/chrome"
! is_root || bb user "$T/typed" find --args --why -F chrome -o "$T/chrome" -- "$T/typed"
like "$T/chrome" '"why":"p->count = 5, n = 7: p->count < n' 'chrome, while it is traced: in words of the source'

name=$'we"ird \\ \xff\x01 name'
cp "$T/fib" "$T/$name"
recorded hostile user "$T/$name" fib -- "$T/$name"
bb report "$T/trace" -F chrome -o "$T/chrome"
isnt "$(check "$T/chrome")" '' 'chrome: a hostile name stays within its string'
recorded fib-l7 user "$T/fib" fib -l 7 -- "$T/fib"
bb report "$T/trace" -F chrome -o "$T/chrome"
isnt "$(check "$T/chrome")" '' 'chrome: a trace cut off by -l is whole JSON'
done_testing
