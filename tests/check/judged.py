# SPDX-License-Identifier: BSD-2-Clause
#
# judged.py ALL LIST: LIST has lines SOME|NAME|CONDITION|FUNCTION... Are the steps in SOME, a JSON trace with --if, exactly those
# of ALL, one of the same program without, in invocations of these functions for which the condition holds? CONDITION: Python,
# of a (the arguments, by name) and ret, which is None at the entry: what raises KeyError or TypeError at the entry is tried at
# the return. Prints for each SOME|NAME| and the numbers of steps, of invocations that hold and that don't, and what differs
# first.

import json, sys


class Never(Exception):
    pass


def steps_of(path):
    by_thread, summary = {}, None
    for line in open(path):
        e = json.loads(line)
        if e["event"] == "summary":
            summary = e
        elif "tid" in e:
            by_thread.setdefault((e.get("comm"), e["tid"]), []).append(e)
    return by_thread, summary


def simple(e):
    args = {k: v for k, v in e.get("args", {}).items() if not (isinstance(v, str) and v.startswith("0x"))}
    return (e["event"], e.get("symbol"), e.get("offset"), e.get("depth"), e.get("taken"), json.dumps(args, sort_keys=True),
            e.get("ret"), e.get("target_symbol"))


def judged(function, wanted):
    return function in wanted


def of_calls(steps):
    """Each step with the calls that it is in, outermost first, as indexes of their entries."""
    open_calls, out = [], []
    for i, e in enumerate(steps):
        depth = e.get("depth")
        if depth is None or e["event"] not in ("entry", "branch", "return", "unknown"):
            out.append(list(x for _, x in open_calls))
            continue
        while open_calls and open_calls[-1][0] > depth:
            open_calls.pop()
        if e["event"] == "entry":
            while open_calls and open_calls[-1][0] >= depth:
                open_calls.pop()
            open_calls.append((depth, i))
        out.append(list(x for _, x in open_calls))
        if e["event"] == "return" and open_calls and open_calls[-1][0] == depth:
            open_calls.pop()
    return out


def judge(everything, some_path, condition, functions):
    some, summary = steps_of(some_path)
    code = compile(condition, "condition", "eval")
    holds = fails = nsteps = 0
    wanted, seen, bad = {}, {}, []
    for (comm, _), (steps, within) in everything.items():
        verdicts, returns = {}, {}
        for i, e in enumerate(steps):
            if e["event"] == "return" and within[i]:
                returns[within[i][-1]] = e
        for i, e in enumerate(steps):
            if e["event"] != "entry" or e["symbol"] not in functions:
                continue
            r = returns.get(i)
            try:
                verdicts[i] = bool(eval(code, {"a": e.get("args", {}), "ret": r.get("ret") if r else None, "int": int}))
            except TypeError:
                verdicts[i] = False
        shown = [e for i, e in enumerate(steps) if all(verdicts.get(x, True) for x in within[i])]
        holds += sum(verdicts.values())
        fails += len(verdicts) - sum(verdicts.values())
        wanted.setdefault(comm, []).extend(simple(e) for e in shown if e["event"] in ("entry", "branch", "return"))
    for (comm, _), steps in some.items():
        seen.setdefault(comm, []).extend(simple(e) for e in steps if e["event"] in ("entry", "branch", "return"))
    for comm in sorted(set(wanted) | set(seen)):
        w, s = wanted.get(comm, []), seen.get(comm, [])
        nsteps += len(s)
        for i in range(max(len(w), len(s))):
            if (w[i] if i < len(w) else None) != (s[i] if i < len(s) else None):
                bad.append("%s, step %d of %d (%d): wanted %s, got %s" % (comm, i, len(w), len(s),
                           w[i] if i < len(w) else None, s[i] if i < len(s) else None))
                break
    return "|".join(map(str, [nsteps, holds, fails, len(bad), summary.get("unmet", 0), summary["lost"], summary["unknown"],
                              "; ".join(bad)]))


def main(all_path, list_path):
    everything = {who: (steps, of_calls(steps)) for who, steps in steps_of(all_path)[0].items()}
    for line in open(list_path):
        some, name, condition, functions = line.rstrip("\n").split("|")
        print("%s|%s|%s" % (some, name, judge(everything, some, condition, functions.split())))


main(*sys.argv[1:])
