#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""diff_json.py A B DIFF: are the steps of `diff -F json` the lines of `report -F json` at their places, and its counts what
these lines add up to? Prints what is not."""
import collections
import json
import sys

PATH = ("entry", "branch", "return", "lost", "unknown")


def lines(name):
    with open(name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def paths(events):
    """by thread: the steps of its path; a tid is used once in these tests"""
    by = collections.defaultdict(list)
    for e in events:
        if e["event"] in PATH:
            by[e["tid"]].append(e)
    return by


def counts(events):
    functions, edges = collections.Counter(), collections.Counter()
    for e in events:
        if e["event"] == "entry":
            functions[e["object"], e["symbol"]] += 1
        elif e["event"] == "branch":
            to = e.get("to", {})
            edges[e["vaddr"], e.get("taken"), to.get("object"), to.get("symbol"), to.get("offset")] += 1
    return functions, edges


def differing(a, b):
    return {k: (a[k], b[k]) for k in a.keys() | b.keys() if a[k] != b[k]}


def check(what, got, wanted):
    if got != wanted:
        print(f"{what}: {json.dumps(got)[:300]} instead of {json.dumps(wanted)[:300]}")


def check_difference(d, of):
    n = d["number"]
    path = {s: of[s][d["threads"][s]["tid"]] if d["threads"][s] else [] for s in "ab"}
    at = {s: d[s].get("index", len(path[s])) if d[s] else 0 for s in "ab"}
    for s in "ab":
        if d[s]:
            check(f"{n}: way of {s}", d[s]["steps"], path[s][at[s]:at[s] + len(d[s]["steps"])])
    common = d["common"]
    check(f"{n}: before", common, path["a"][at["a"] - len(common):at["a"]] if common else [])
    if d["meet"]:
        for s in "ab":
            way = path[s][at[s] + (d["kind"] == "branch"):d["meet"][s]]
            check(f"{n}: branches of {s}", d[s]["branches"], sum(e["event"] == "branch" for e in way))
            check(f"{n}: calls of {s}", d[s]["calls"], sum(e["event"] == "entry" for e in way))
        meet, steps = d["meet"], d["meet"]["steps"]
        check(f"{n}: meet", steps, path["a"][meet["a"]:meet["a"] + len(steps)])
        for i, step in enumerate(steps):
            other = path["b"][meet["b"] + i]
            check(f"{n}: both", [step.get(k) for k in ("event", "symbol", "offset", "taken")],
                  [other.get(k) for k in ("event", "symbol", "offset", "taken")])
    if d["kind"] == "branch":
        for s in "ab":
            first = path[s][at[s]]
            check(f"{n}: to of {s}", d[s].get("to"), first.get("to"))
            check(f"{n}: taken of {s}", d[s].get("taken"), first.get("taken"))
            check(f"{n}: at", d["at"], {k: first[k] for k in ("object", "symbol", "offset", "vaddr")})
            check(f"{n}: src", d.get("src"), first.get("src"))
    for call in d["calls"]:
        for s in "ab":
            regs = call.get(s) and call[s]["regs"]
            if regs and not any(e.get("regs") == regs and e["symbol"] == call["symbol"] for e in path[s][:at[s]]):
                print(f"{n}: no call of {call['symbol']} in {s} has {regs}")


def main(a, b, diff):
    of = {"a": lines(a), "b": lines(b)}
    rows = lines(diff)
    by = {s: paths(of[s]) for s in "ab"}
    for d in rows:
        if d["event"] == "difference":
            check_difference(d, by)
    functions, edges = zip(counts(of["a"]), counts(of["b"]))
    check("functions", sorted([e["object"], e["symbol"], e["a"], e["b"]] for e in rows if e["event"] == "function"),
          sorted([*k, *v] for k, v in differing(*functions).items()))
    got = collections.Counter()
    for e in rows:
        if e["event"] == "edge":
            to = e.get("to", {})
            got[e["vaddr"], e.get("taken"), to.get("object"), to.get("symbol"), to.get("offset"), e["a"], e["b"]] += 1
    check("edges", sorted(map(str, got)), sorted(str((*k, *v)) for k, v in differing(*edges).items()))


main(*sys.argv[1:])
