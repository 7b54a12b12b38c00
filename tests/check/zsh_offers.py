#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""zsh_offers.py FOLDER LINE: what zsh offers, with the completion of the folder, where LINE ends. Drives a zsh on a
terminal of its own, as the line editor alone completes."""
import os
import pty
import re
import select
import sys
import time

PROMPT = "@ready@"


def read_until(fd, text, seconds=60):
    """All that comes until text; the limit only ends hangs."""
    out, end = "", time.time() + seconds
    while text not in out and time.time() < end:
        if select.select([fd], [], [], 0.5)[0]:
            try:
                out += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
    return out


def main():
    folder, line = sys.argv[1:]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    setup = (
        "stty cols 300 rows 1000 -echo; fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=100000; "
        "zstyle ':completion:*' menu no; setopt no_always_last_prompt no_auto_menu no_list_beep; PS1=%s'>'\n"
        % (folder, PROMPT)
    )
    os.write(fd, setup.encode())
    read_until(fd, PROMPT + ">")
    os.write(fd, line.encode() + b"\t\t")
    out = read_until(fd, PROMPT + ">")
    os.write(fd, b"\x15exit\n")
    os.close(fd)
    os.waitpid(pid, 0)
    out = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\x07", "", out)
    print("\n".join(text.strip() for text in out.split("\n")[1:] if PROMPT not in text))


main()
