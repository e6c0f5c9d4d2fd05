"""How a download looks in the terminal: a bar for people, a line every tenth for logs. Always on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from whybox.providers.weights import Progress, amount

if TYPE_CHECKING:
    from rich.console import Console

_TITLES = {
    "waiting": "waiting: another process is downloading",
    "checking": "checking what is here",
    "downloading": "downloading",
}

_WIDE = 60
"""Columns of a terminal in which bar and rate have room beside the rest."""


@contextmanager
def shown(console: Console | None = None, clock: Callable[[], float] = time.monotonic) -> Iterator[Show]:
    """Show the progress of one download at a time inside the ``with`` block.

    Args:
        console: where to; stderr by default. A terminal gets a bar, anything else plain lines.
        clock: seconds that only grow, for the rate in plain lines.

    Returns:
        The function to be given as ``progress`` to :func:`whybox.providers.weights.pull`. It may be called from
        any one thread.
    """
    from rich.console import Console

    console = console or Console(stderr=True)
    if console.is_terminal and not console.is_dumb_terminal:
        with _bar(console) as show:
            yield show
    else:
        yield _Lines(console, clock)


Show = Callable[[Progress], None]


@contextmanager
def _bar(console: Console) -> Iterator[Show]:
    from rich import progress as rich
    from rich.table import Column

    wide = (rich.BarColumn(bar_width=None), rich.DownloadColumn(), rich.TransferSpeedColumn())
    bar = rich.Progress(
        rich.TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", min_width=8)),
        *(wide if console.width >= _WIDE else (rich.DownloadColumn(),)),
        rich.TimeRemainingColumn(compact=True),
        console=console,
        expand=True,
    )
    tasks: dict[str, rich.TaskID] = {}
    stage = ""

    def show(now: Progress) -> None:
        nonlocal stage
        if now.stage != stage:
            # A task for each stage, because the rates of reading and of downloading have nothing in common; and one
            # that begins at what is here already, so that a resumed download does not look infinitely fast.
            for task in tasks.values():
                bar.update(task, visible=False)
            stage = now.stage
            tasks[stage] = bar.add_task(_TITLES[stage], total=now.total, completed=now.done)
        bar.update(tasks[stage], completed=now.done, visible=True)

    with bar:
        yield show


class _Lines:
    """One line at the start, at every tenth and when the stage changes."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._stage = ""
        self._began = (0.0, 0)
        self._tenth = 0

    def __call__(self, now: Progress) -> None:
        tenth = 10 * now.done // now.total
        if now.stage != self._stage:
            self._stage, self._tenth, self._began = now.stage, tenth, (self._clock(), now.done)
            here = f", {amount(now.done)} are here" if now.stage == "downloading" and now.done else ""
            self._print(now, f"{_TITLES[now.stage]} ({amount(now.total)}{here})")
        elif now.stage != "waiting" and tenth > self._tenth:
            self._tenth = tenth
            self._print(now, f"{10 * tenth} %, {amount(now.done)} of {amount(now.total)}{self._pace(now)}")

    def _pace(self, now: Progress) -> str:
        since, at = self._began
        seconds = self._clock() - since
        if seconds <= 0 or now.done <= at:
            return ""
        rate = (now.done - at) / seconds
        left = round((now.total - now.done) / rate)
        return f", {amount(round(rate))}/s, {left // 60}:{left % 60:02} left"

    def _print(self, now: Progress, text: str) -> None:
        self._console.print(f"{now.name}: {text}", markup=False, highlight=False, soft_wrap=True)
