# SPDX-License-Identifier: BSD-2-Clause
"""
Compares the parameters that bbtrace shows with those that gdb does: same_values.py TRUTH ENTRY TEXT. TRUTH: gdb's, of a build
that has them all; ENTRY: gdb's, at the entries of the build that was traced; TEXT: bbtrace's lines. Each value is that of TRUTH or
declared, and none is shown where ENTRY has none. Prints the numbers of calls, of values, of those declared and of wrong ones, then these.
"""
import json
import re
import sys

DECLARED = "(not recorded)", "(unreadable)"


def parse(text):
    """A value as lists of (name, value); strings and numbers as they are, characters as numbers."""
    token = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[{},=]|\((?:not recorded|unreadable)\)|<[^>]*>|[^\s{},=]+)')
    words, at = [], 0
    while (m := token.match(text, at)):
        words.append(m.group(1))
        at = m.end()

    def scalar():
        word = words.pop(0)
        while words and words[0] not in ",}":  # gdb: 97 'a'; 2.5 + 1i
            rest = words.pop(0)
            word = rest if rest in DECLARED else word
        if word[0] == "'":
            return ord(eval("b" + word))
        if word[0] == '"':
            return eval("b" + word).split(b"\0")[0]
        if word in ("NULL", "0x0"):
            return 0
        try:
            return float(word) if re.fullmatch(r"-?\d+\.\d+(e.*)?|-?\d+e[+-]\d+", word) else int(word, 0)
        except ValueError:
            return word

    def value():
        if words[0] != "{":
            return scalar()
        words.pop(0)
        parts = []
        while words and words[0] != "}":
            name = None
            if len(words) > 1 and words[1] == "=":
                name = words.pop(0)
                words.pop(0)
            parts.append((name, value()))
            if words and words[0] == ",":
                words.pop(0)
        words.pop(0)
        return parts
    parts = []
    while words:
        name = words.pop(0)
        words.pop(0)
        parts.append((name, value()))
        if words:
            words.pop(0)
    return parts


def flatten(value, path):
    if not isinstance(value, list):
        yield path, value
        return
    for i, (name, part) in enumerate(value):
        yield from flatten(part, path + (name or str(i),))


def as_text(value):
    """A string of characters, where gdb or bbtrace shows an array of them."""
    return bytes(n & 255 for _, n in value).split(b"\0")[0] if isinstance(value, list) and value and \
        all(isinstance(n, int) for _, n in value) else value


calls = {}
for line in open(sys.argv[3]):
    if (m := re.search(r"\b(\w+)\((.*)\)(?:  .*)?$", line)) and "=" in m.group(2):
        calls.setdefault(m.group(1), []).append(parse(m.group(2)))
truth, entry = {}, {}
for path, into in (sys.argv[1], truth), (sys.argv[2], entry):
    for line in open(path):
        name, args = json.loads(line)
        into.setdefault(name, []).append(args)
shown = declared = ncalls = 0
wrong = []
for name, all_args in calls.items():
    for i, args in enumerate(all_args):
        want = truth.get(name, [])[i:i + 1]
        here = entry.get(name, [])[i:i + 1]
        if not want or not here:
            continue
        ncalls += 1
        for param, value in args:
            if param not in want[0]:
                wrong.append("%s: no parameter %s" % (name, param))
                continue
            right = parse("x=" + (want[0][param] or "NULL"))[0][1]  # gdb shows nothing of a null pointer
            if isinstance(right, bytes) and isinstance(value, list):
                value = as_text(value)
            flat = {}
            for where, v in flatten(right, ()):  # of bytes, which gdb shows as text, also each
                flat[where] = v
                for i, byte in enumerate(v if isinstance(v, bytes) else b""):
                    flat[where + (str(i),)] = byte
            absent = here[0].get(param, "").startswith("<optimized out>")
            for where, v in flatten(value, ()):
                if v in DECLARED:
                    declared += 1
                    continue
                shown += 1
                pointer = isinstance(v, int) and v > 1 << 40
                if absent:
                    wrong.append("%s: %s%s is %s, but optimized out" % (name, param, where, v))
                elif where not in flat or (flat[where] != v and not pointer):
                    wrong.append("%s: %s%s is %r, not %r" % (name, param, where, v, flat.get(where, right)))
print(ncalls, shown, declared, len(wrong))
print("\n".join(wrong))
