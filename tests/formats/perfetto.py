#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""perfetto.py packets | json: the events of a trace, a line each, thread by thread: time, depth, what, with what.

packets: stdin is what `protoc --decode=perfetto.protos.Trace` prints. It is read as the comments of Perfetto's protos say,
and anything that these forbid ends the script. Ends of calls whose return was not seen are left out.
json: stdin is -F json of the same trace."""
import collections
import json
import re
import sys

out = collections.defaultdict(list)


def put(thread, time, depth, *what):
    out[thread].append(" ".join(map(str, (thread, time, depth) + what)))


# ---- packets ----

CLEARED, NEEDS_STATE = 1, 2
STRINGS = {"event_categories": "name", "event_names": "name", "debug_annotation_names": "name",
           "debug_annotation_string_values": "str"}


def message(lines):
    """A message of the text format: each name becomes a list."""
    m = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            m[line[:-2]].append(message(lines))
        else:
            name, value = line.split(": ", 1)
            m[name].append(string(value) if value[0] == '"' else value)
    return m


def string(text):
    raw = re.sub(rb"\\(\d{3}|.)", lambda e: bytes([int(e[1], 8)]) if len(e[1]) == 3 else
                 {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(e[1], e[1]), text[1:-1].encode())
    return raw.decode("utf-8", "strict")


def one(m, name, default=None):
    assert len(m[name]) <= 1, (name, m)
    if default is None:
        assert m[name], (name, m)
    return m[name][0] if m[name] else default


class Sequence:
    def __init__(self):
        self.strings = {kind: {} for kind in STRINGS}
        self.track = self.clock = None
        self.clocks = {}

    def take(self, p):
        """What the packet adds to the state."""
        for defaults in p["trace_packet_defaults"]:
            self.track = one(one(defaults, "track_event_defaults"), "track_uuid")
            self.clock = one(defaults, "timestamp_clock_id")
        for clock in (c for s in p["clock_snapshot"] for c in s["clocks"]):
            self.clocks[one(clock, "clock_id")] = [int(one(clock, "timestamp")), one(clock, "is_incremental", "") == "true"]
        for data in p["interned_data"]:
            assert set(data) <= set(STRINGS), data
            for kind, text in STRINGS.items():
                for entry in data[kind]:
                    assert one(entry, "iid") not in self.strings[kind], "told twice: %r" % entry
                    self.strings[kind][one(entry, "iid")] = one(entry, text)

    def time(self, p):
        clock, stamp = self.clocks[self.clock], int(one(p, "timestamp"))
        if not clock[1]:
            return stamp
        clock[0] += stamp
        return clock[0]

    def args(self, event):
        args = {}
        for note in event["debug_annotations"]:
            key = self.strings["debug_annotation_names"][one(note, "name_iid")]
            kind, = (k for k in note if note[k] and k != "name_iid")
            value = one(note, kind)
            assert key not in args, (key, args)
            args[key] = (self.strings["debug_annotation_string_values"][value] if kind == "string_value_iid" else
                         hex(int(value)) if kind == "pointer_value" else value)
        return args


def read_event(s, event, time, tracks, stacks):
    phase, args = one(event, "type"), s.args(event)
    stack, last = stacks[s.track]
    assert s.track in tracks, "a track without descriptor: %s" % s.track
    assert time >= last, "time goes back"
    stacks[s.track] = stack, time
    if phase == "TYPE_SLICE_END":
        depth, name = len(stack) - 1, stack.pop()
        if "return" not in args:
            put(tracks[s.track], time, depth, "return", name, args.get("value", "-"))
        return
    name = s.strings["event_names"][one(event, "name_iid")]
    category = s.strings["event_categories"][one(event, "category_iids")]
    if phase == "TYPE_SLICE_BEGIN":
        assert category == "function", category
        put(tracks[s.track], time, len(stack), "entry", name, *("%s=%s" % a for a in args.items()))
        stack.append(name)
    else:
        assert phase == "TYPE_INSTANT", phase
        if category == "branch":
            taken = {"taken": " taken", "not": " not taken"}.get((name + "  ").split(" ")[1], "")
            assert args.get("taken", "") == {" taken": "true", " not taken": "false"}.get(taken, ""), args
            put(tracks[s.track], time, "-", "branch", name, args["at"], args["vaddr"], args.get("to", "-"),
                args.get("implied", "-"))
        else:
            put(tracks[s.track], time, "-", category, name, *("%s=%s" % a for a in args.items()))


def read_track(track, tracks):
    if track["thread"]:
        tracks[one(track, "uuid")] = one(one(track, "thread"), "tid")
    else:
        tracks[one(track, "uuid")] = one(track, "name", "process")


def read_packets(lines):
    sequences, tracks, stacks = {}, {}, collections.defaultdict(lambda: ([], 0))
    for line in lines:
        assert line == "packet {\n", line
        p = message(lines)
        known = {k for k in p if p[k]}
        assert known <= {"timestamp", "trusted_packet_sequence_id", "sequence_flags", "track_event", "track_descriptor",
                         "clock_snapshot", "interned_data", "trace_packet_defaults"}, known
        number, flags = one(p, "trusted_packet_sequence_id"), int(one(p, "sequence_flags"))
        assert flags in (CLEARED, NEEDS_STATE), flags
        if flags == CLEARED:
            sequences[number] = Sequence()
        sequences[number].take(p)
        for track in p["track_descriptor"]:
            read_track(track, tracks)
        for event in p["track_event"]:
            s = sequences[number]
            read_event(s, event, s.time(p), tracks, stacks)
    assert not any(stack for stack, _ in stacks.values()), "left open"


# ---- JSON ----

def place(at):
    if "symbol" in at:
        return "%s+%s" % (at["symbol"], hex(at["offset"]))
    return at["vaddr"] if "vaddr" in at else at["addr"]


def values(entry):
    """Arguments by their types where these are known, registers otherwise."""
    return entry.get("args", entry.get("regs", {}))


def read_json(lines):
    now = {}
    for line in lines:
        e = json.loads(line)
        if e["event"] == "summary":
            continue
        thread = e["tid"]
        now[thread] = e.get("ts", now.get(thread, 0))
        time = now[thread]
        if e["event"] == "entry":
            put(thread, time, e["depth"], "entry", e["symbol"], *("%s=%s" % v for v in values(e).items()))
        elif e["event"] == "return":
            put(thread, time, e["depth"], "return", e["symbol"], e.get("value", "-"))
        elif e["event"] == "branch":
            taken = {True: " taken", False: " not taken"}.get(e.get("taken"), "")
            put(thread, time, "-", "branch", e["insn"] + taken, place(e), e["vaddr"],
                place(e["to"]) if "to" in e else "-", "true" if e.get("implied") else "-")
        else:
            put(thread, time, "-", "task" if e["event"] in ("fork", "exec", "exit") else e["event"], e["event"])


{"packets": read_packets, "json": read_json}[sys.argv[1]](iter(sys.stdin))
for thread in sorted(out, key=str):
    print(*out[thread], sep="\n")
