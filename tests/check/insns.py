# SPDX-License-Identifier: BSD-2-Clause
"""Instructions of a kernel's code that was read from memory, by objdump, for logged.py and paths.py."""
import re
import subprocess

INSN = re.compile(r"^\s*([0-9a-f]+):\s+(.*)$")


def kind_of(text, thunks=()):
    words = [w for w in text.split() if w not in ("bnd", "notrack", "rep", "repz", "repnz", "cs", "ds", "data16")
             and not w.startswith("rex")]
    name = words[0].split(",")[0] if words else ""
    operand = words[1] if len(words) > 1 else ""
    target = int(operand, 16) if re.fullmatch(r"(0x)?[0-9a-f]+", operand) else None
    if name in ("ret", "retq") or (name in ("jmp", "jmpq") and target in thunks):
        return "ret", None
    if name in ("jmp", "jmpq"):
        return ("jmp", target) if target is not None else ("ijmp", None)
    if name in ("call", "callq"):
        return "call", target
    if name.startswith("j") or name.startswith("loop"):
        return "jcc", target
    return ("stop" if name in ("ud2", "hlt", "(bad)") else "plain"), None


def instructions(command, end, thunks=()):
    """By address: kind, target, the next address."""
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [(int(m[1], 16), m[2]) for m in map(INSN.match, out.splitlines()) if m]
    return {at: (*kind_of(text, thunks), behind)
            for (at, text), behind in zip(rows, [r[0] for r in rows[1:]] + [end])}


def of_memory(folder, start, size, thunks=()):
    return instructions(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "--no-show-raw-insn",
                         f"--adjust-vma={start:#x}", f"{folder}/{start:#x}"], start + size, thunks)


def of_object(path, start, end):
    return instructions(["objdump", "-d", "--no-show-raw-insn", f"--start-address={start}", f"--stop-address={end}",
                         path], end)
