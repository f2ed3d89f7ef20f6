"""What zsh's completion does for a person who presses Tab in a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

TIMEOUT_S = 30
TAB, SHOW = "\t", "\x14"
# All choices of a list are shown at once, on a page that has room for them.
ROWS, COLUMNS = 400, 200
START = r"""
PROMPT= RPROMPT= LISTMAX=1000
autoload -Uz compinit && compinit -u -D
%s
_show() { print -r -- "LINE($BUFFER)" }
zle -N _show
bindkey '^T' _show
print ready
"""


def complete(line, start, folder):
    """Types the line and Tab: what the line is then, and the choices that are listed.

    `start` are lines of zsh that make the completion known; `folder` is for files of this function.
    """
    with open(folder + "/start.zsh", "w", encoding="utf-8") as file:
        file.write(START % start)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb"})
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.write(terminal, f" . {folder}/start.zsh\n".encode())
        read_until(terminal, "\nready\r")
        os.write(terminal, (line + TAB + SHOW).encode())
        shown = read_until(terminal, r"LINE\(.*\)\r")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    before, after = shown.split("LINE(", 1)
    # The line itself comes before the list, and again after it.
    listed = before.split("\r\n")[1:-1]
    return after[:after.index(")\r")], [word for line in listed for word in line.split()]


def read_until(terminal, pattern):
    """What the terminal shows, up to the pattern and what came with it."""
    text, end = "", time.monotonic() + TIMEOUT_S
    while not re.search(pattern, text):
        left = end - time.monotonic()
        if left <= 0 or not select.select([terminal], [], [], left)[0]:
            raise TimeoutError(f"no {pattern!r} within {TIMEOUT_S} s in {text!r}")
        text += os.read(terminal, 1 << 16).decode(errors="replace")
    return text
