# SPDX-License-Identifier: BSD-2-Clause
"""diff_rest.py DIFF A B: is all that `bbtrace diff -F json` (all differences) doesn't tell of really the same?

A and B are what `bbtrace report -F json` prints of both files. Between two differences, and behind the last one, the steps of
two threads must be equal, one by one. Also tells how much of what difflib can match is told to be the same.
"""
import difflib
import json
import sys


def key(row):
    if row["event"] in ("lost", "unknown"):
        return ("gap",)
    to = row.get("to") or {}
    # where a call or a ret leads in code that isn't traced follows from its symbol
    where = to.get("symbol") if row.get("kind") in ("ijmp", "icall", "ret") else None
    return (row["event"], row.get("symbol"), row.get("offset") if row["event"] == "branch" else None, row.get("taken"), where)


def threads(path):
    """The steps of each thread, by its tid."""
    steps = {}
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        if row["event"] in ("entry", "branch", "return", "lost", "unknown"):
            steps.setdefault(row["tid"], []).append(key(row))
    return steps


def main():
    diff, a, b = sys.argv[1], threads(sys.argv[2]), threads(sys.argv[3])
    by_pair, summary, bad, same, most, small = {}, None, 0, 0, 0, True

    for line in open(diff, encoding="utf-8"):
        row = json.loads(line)
        if row["event"] == "difference":
            t = row["threads"]
            pair = tuple((t.get(s) or {}).get("tid") for s in "ab")
            by_pair.setdefault(pair, []).append(row)
        elif row["event"] == "summary":
            summary = row
    if sum(len(rows) for rows in by_pair.values()) != summary["differences"]:
        print("not all differences are shown")
        return 2
    used = {"a": set(), "b": set()}
    for (ta, tb), rows in by_pair.items():
        used["a"].add(ta)
        used["b"].add(tb)
        if ta is None or tb is None:
            continue
        x, y, i, k = a[ta], b[tb], 0, 0
        rows.sort(key=lambda r: r["same"])
        for row in rows + [None]:
            end = [len(x), len(y)]
            after = list(end)
            if row:
                end = [row[s]["index"] if row[s].get("index") is not None else n for s, n in zip("ab", end)]
                if row["meet"]:
                    after = [row["meet"]["a"], row["meet"]["b"]]
            if x[i:end[0]] != y[k:end[1]]:
                bad += 1
                print("thread", ta, tb, "steps", i, end[0], k, end[1], "differ")
            same += end[0] - i
            i, k = after
        if len(x) * len(y) < 4_000_000:
            most += sum(m.size for m in difflib.SequenceMatcher(None, x, y, autojunk=False).get_matching_blocks())
        else:
            small = False
    # threads without a difference: equal to one that is left in the other run
    rest = sorted(v for t, v in b.items() if t not in used["b"])
    alone = sorted(v for t, v in a.items() if t not in used["a"])
    if rest != alone:
        bad += 1
        print("threads without a difference differ")
    same += sum(len(v) for v in alone)
    most += sum(len(v) for v in alone)
    if same != summary["same"]:
        bad += 1
        print("the summary says", summary["same"], "steps are the same; it is", same)
    if small and same < 0.9 * most:
        bad += 1
        print("too little is told to be the same")
    print(f"{same} steps of {most if small else '?'} that can be matched")
    return 1 if bad else 0


sys.exit(main())
