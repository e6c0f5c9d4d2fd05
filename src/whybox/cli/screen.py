"""Where steps are drawn: a terminal that can be redrawn, or a plain stream of text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.style import Style
from rich.text import Text

GUTTER = 13
SECONDS_BETWEEN_DRAWINGS = 1 / 12


class Screen(Protocol):
    """What a view of steps needs of a place to draw on."""

    def begin(self, label: str, style: str) -> None:
        """Open a section; ``label`` stands left of it."""
        ...

    def write(self, text: str) -> None:
        """Add text to the open section."""
        ...

    def end(self) -> None:
        """Close the open section."""
        ...

    def line(self, text: str, style: str = "") -> None:
        """Print one line of its own."""
        ...

    def status(self, text: str) -> None:
        """Say what is going on, where that can be shown and taken away again."""
        ...

    def close(self) -> None:
        """Leave the place as it should stay."""
        ...


class PlainScreen:
    """Text that goes on and on: a pipe, a file, a dumb terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._style = ""
        self._indent = " " * GUTTER
        self._open = False

    def begin(self, label: str, style: str) -> None:
        """Open a section."""
        self._style, self._open = style, True
        self._put(label + " " * max(1, GUTTER - cell_len(label)), "dim")

    def write(self, text: str) -> None:
        """Add text, at once."""
        self._put(text.replace("\n", "\n" + self._indent), self._style)

    def end(self) -> None:
        """Close the section."""
        if self._open:
            self._put("\n", "")
        self._open = False

    def line(self, text: str, style: str = "") -> None:
        """Print one line."""
        self._put(text + "\n", style)

    def status(self, text: str) -> None:
        """Say nothing: what was written here stays."""

    def close(self) -> None:
        """Close a section that was left open."""
        self.end()

    def _put(self, text: str, style: str) -> None:
        self._console.print(Text(text, style=style), end="", soft_wrap=True)
        self._console.file.flush()


class LiveScreen:
    """A terminal: whole rows scroll by, the row that is being written and a status line stay at the bottom.

    It is made, and used, inside a running event loop, which draws what came too soon behind the last drawing.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        # rich's own refreshing thread would write frames that are outdated by then, in between our rows.
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._live.start()
        self._loop = asyncio.get_running_loop()
        self._due: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._label = ""
        self._style = ""
        self._row = ""
        self._status = ""
        self._markdown: list[str] | None = None

    def begin(self, label: str, style: str) -> None:
        """Open a section."""
        self._label, self._style, self._row = label, style, ""
        self._markdown = [] if style == "answer" else None
        self._redraw()

    def write(self, text: str) -> None:
        """Add text; rows that are full move up."""
        if self._markdown is not None:
            self._markdown.append(text)
        else:
            self._row += text
            *whole, self._row = self._wrapped(self._row)
            self._scroll(whole)
        self._redraw()

    def end(self) -> None:
        """Close the section; what is left of it moves up."""
        if self._markdown is not None:
            answer, self._markdown = self._answer("".join(self._markdown)), None
            self._label = ""
            self._redraw(at_once=True)
            self._live.console.print(answer)
        elif self._row or self._label:
            row, self._row = self._row, ""
            self._scroll([row])
        self._redraw()

    def line(self, text: str, style: str = "") -> None:
        """Print one line above the status."""
        self._live.console.print(Text(text, style=style))

    def status(self, text: str) -> None:
        """Show ``text`` at the bottom."""
        self._status = text
        self._redraw()

    def close(self) -> None:
        """Take the status line away."""
        if self._label or self._row or self._markdown:
            self.end()
        self._status = ""
        self._redraw(at_once=True)
        self._live.stop()

    def _wrapped(self, text: str) -> list[str]:
        width = max(20, self._console.width - GUTTER - 1)
        rows: list[str] = []
        for line in text.split("\n"):
            wrapped = Text(line).wrap(self._console, width, no_wrap=False)
            rows += [row.plain.rstrip() if index < len(wrapped) - 1 else row.plain for index, row in enumerate(wrapped)]
            if not wrapped:
                rows.append("")
        return rows

    def _scroll(self, rows: Sequence[str]) -> None:
        """Print rows above the bottom, which is redrawn first, or a row would stand there twice for a moment."""
        lines = []
        for row in rows:
            lines.append(self._gutter(row))
            self._label = ""
        if lines:
            self._redraw(at_once=True)
            self._live.console.print(Group(*lines), no_wrap=True, crop=False)

    def _gutter(self, row: str) -> Text:
        pad = " " * max(0 if not self._label else 1, GUTTER - cell_len(self._label))
        return Text.assemble((self._label + pad, "dim"), (row, self._style))

    def _answer(self, text: str) -> RenderableType:
        from rich.padding import Padding

        label = Text(self._label, style="dim")
        if not text.strip():
            return label
        return Group(label, Padding(Markdown(text.strip(), style="answer", code_theme="ansi_dark"), (0, 0, 0, 2)))

    def _redraw(self, *, at_once: bool = False) -> None:
        parts: list[RenderableType] = []
        if self._markdown is not None:
            rows = max(3, self._console.height - 4)
            tail = "\n".join("".join(self._markdown).split("\n")[-rows:])
            parts.append(self._answer(tail))
        elif self._row or self._label:
            parts.append(self._gutter(self._row))
        if self._status:
            parts.append(Text(self._status, style=Style(dim=True), no_wrap=True, overflow="ellipsis"))
        self._live.update(Group(*parts), refresh=False)
        wait = self._drawn_at + SECONDS_BETWEEN_DRAWINGS - self._loop.time()
        if at_once or wait <= 0:
            self._draw()
        elif self._due is None:
            self._due = self._loop.call_later(wait, self._draw)

    def _draw(self) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due, self._drawn_at = None, self._loop.time()
        self._live.refresh()
