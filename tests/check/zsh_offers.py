#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""zsh_offers.py [-l] FOLDER LINE...: what zsh offers, with the completion of the folder, where each LINE ends; a line with a
form feed follows each. -l: the line as it is completed, where there is one offer. Drives a zsh on a terminal of its own, as the line editor alone completes."""
import os
import pty
import re
import select
import sys
import time

PROMPT = "@prompt@"


class Terminal:
    def __init__(self, fd):
        self.fd, self.come = fd, ""

    def type(self, text):
        os.write(self.fd, text.encode())

    def until(self, text, seconds=60):
        """What has come up to text, and text; the limit only ends hangs."""
        end = time.time() + seconds
        while text not in self.come and time.time() < end:
            if select.select([self.fd], [], [], 0.5)[0]:
                try:
                    self.come += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
        at = self.come.find(text) + len(text) if text in self.come else len(self.come)
        out, self.come = self.come[:at], self.come[at:]
        return out


def start(folder):
    """A zsh that shows a prompt: its process and its terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    setup = (
        "stty cols 300 rows 1000 -echo; fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=100000; "
        "zstyle ':completion:*' menu no; setopt no_always_last_prompt no_auto_menu no_list_beep; PS1=%s'>'\n"
        % (folder, PROMPT)
    )
    terminal = Terminal(fd)
    terminal.type(setup)
    terminal.until(PROMPT + ">")
    return pid, terminal


def completed(terminal, line):
    """The line after a tab, and all that comes up until the editor reads on."""
    terminal.type(line + "\t@end@\x01")
    out = terminal.until("@end@")
    terminal.type("\x0b")
    terminal.type("print @rea''d@\n")
    terminal.until("@read@")
    terminal.until(PROMPT + ">")
    return [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\x07\x08]", "", out).replace("@end@", "")]


def offers(terminal, line):
    """Completes the line and takes it away. The editor has to be at its prompt."""
    terminal.type(line + "\t\t")
    out = terminal.until(PROMPT + ">")
    terminal.type("\x15print @rea''d@\n")
    terminal.until("@read@")
    terminal.until(PROMPT + ">")
    out = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\x07", "", out)
    return [text.strip() for text in out.split("\n")[1:] if PROMPT not in text]


def main():
    whole = sys.argv[1] == "-l"
    folder, *lines = sys.argv[1 + whole :]
    pid, terminal = start(folder)
    for line in lines:
        print("\n".join((completed if whole else offers)(terminal, line) + ["\f"]))
    terminal.type("exit\n")
    os.close(terminal.fd)
    os.waitpid(pid, 0)


main()
