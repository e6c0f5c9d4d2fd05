"""The command line as a person uses it: in a process of its own, piped or on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "whybox")
PATIENCE = 120.0
"""Seconds after which a command is taken to hang."""

ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_78=>])")


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str = ""

    @property
    def events(self) -> list[dict[str, Any]]:
        """What ``--json`` printed, one object a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Shell:
    """Runs commands with a data folder of its own.

    Args:
        home: the folder of everything the commands keep.
        env: variables besides the usual ones.
    """

    home: Path
    env: dict[str, str] = field(default_factory=dict)

    def environment(self, **more: str | None) -> dict[str, str]:
        # A key of whoever runs the tests must not be used by them.
        own = {name for name in os.environ if name.startswith(("WHYBOX_", "NO_COLOR")) or name.endswith("_API_KEY")}
        kept = {name: value for name, value in os.environ.items() if name not in own}
        folders = {"WHYBOX_DATA_DIR": str(self.home / "data"), "WHYBOX_CACHE_DIR": str(self.home / "cache")}
        folders["XDG_CONFIG_HOME"] = str(self.home / "config")
        wanted = {**kept, **folders, "NO_PROXY": "*", "PYTHONUTF8": "1", **self.env, **more}
        return {name: value for name, value in wanted.items() if value is not None}

    def start(self, *args: str | Path, prefix: Sequence[str] = (), **env: str | None) -> subprocess.Popen[str]:
        """Begin a command whose output is read while it runs."""
        return subprocess.Popen(
            [*prefix, *COMMAND, *map(str, args)],
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="backslashreplace",
            cwd=self.home,
        )

    def __call__(
        self, *args: str | Path, stdin: str | bytes = "", prefix: Sequence[str] = (), **env: str | None
    ) -> Done:
        """Run a command to its end, piped."""
        done = subprocess.run(
            [*prefix, *COMMAND, *map(str, args)],
            env=self.environment(**env),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            cwd=self.home,
        )
        return Done(
            done.returncode, *(stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr))
        )

    def on_terminal(
        self,
        *args: str | Path,
        columns: int = 80,
        rows: int = 40,
        typed: Callable[[str], str | int] = lambda _: "",
        **env: str | None,
    ) -> Done:
        """Run a command on a terminal of its own and return everything that was written to it.

        Args:
            columns: width of the terminal; rows likewise.
            typed: given what there is on the terminal so far, what a person types then, or the signal they send.
        """
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        env = {"TERM": "xterm-256color", "COLUMNS": None, "LINES": None, **env}
        process = subprocess.Popen(
            [*COMMAND, *map(str, args)],
            env=self.environment(**env),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=self.home,
            start_new_session=True,
        )
        os.close(slave)
        seen, ends = b"", time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                more = os.read(master, 65536)
            except OSError:  # Linux says so when the last writer has left
                break
            if not more:
                break
            seen += more
            wish = typed(seen.decode("utf-8", "replace"))
            if isinstance(wish, int):
                process.send_signal(signal.Signals(wish))
            elif wish:
                os.write(master, wish.encode())
        else:
            process.kill()
        os.close(master)
        return Done(process.wait(PATIENCE), seen.decode("utf-8", "replace"))


def plain(text: str) -> str:
    """Return what was written to a terminal, without escapes."""
    return ESCAPE.sub("", text)


def rows_left(text: str) -> list[str]:
    """Return the rows that a terminal shows after ``text``, by the few movements that are used in it.

    Raises:
        AssertionError: something else is used, or text is written over other text.
    """
    rows, at, fresh = [""], 0, False
    for piece in re.split(rf"({ESCAPE.pattern}|[\r\n])", text):
        if piece == "\r":
            fresh = True
        elif piece == "\n":
            at, fresh = at + 1, True
            rows += [""] * (at + 1 - len(rows))
        elif piece == "\x1b[2K":
            rows[at] = ""
        elif up := re.fullmatch(r"\x1b\[(\d*)A", piece):
            at -= int(up[1] or 1)
        elif piece.startswith("\x1b"):
            assert re.fullmatch(r"\x1b\[(?:[\d;]*m|\?25[hl])", piece), piece
        elif piece:
            assert not (fresh and rows[at]), (rows[at], piece)
            rows[at], fresh = rows[at] + piece, False
    return [row.rstrip() for row in rows]
