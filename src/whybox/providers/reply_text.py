"""What the text of a reply passes through between a server and its reader. Pure.

Each part is fed with pieces cut anywhere and returns what may be delivered now; ``close`` returns what was held back.
However the text is cut, the joined result is the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def scalar(text: str) -> str:
    """Return ``text`` with surrogate pairs combined and each lone surrogate as U+FFFD, so that it can be encoded."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def scalars(value: Any) -> Any:
    """Return a value of JSON with :func:`scalar` applied to every text in it."""
    if isinstance(value, str):
        return scalar(value)
    if isinstance(value, list):
        return [scalars(each) for each in value]
    if isinstance(value, dict):
        return {scalar(name): scalars(each) for name, each in value.items()}
    return value


class JoinSurrogates:
    """Combines a surrogate pair whose halves come in two pieces, as JSON escapes of one character may."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be delivered now."""
        if not text:
            return ""
        text, self._held = self._held + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return scalar(text)

    def close(self) -> str:
        """Return what was held back."""
        held, self._held = self._held, ""
        return scalar(held)


class DropEcho:
    """Removes the prefix that a server repeats at the beginning of its output; other output is left as it is."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._held = ""

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be delivered now."""
        if not self._prefix:
            return text
        self._held += text
        if self._held.startswith(self._prefix):
            text = self._held[len(self._prefix) :]
        elif self._prefix.startswith(self._held):
            return ""
        else:
            text = self._held
        self._prefix = self._held = ""
        return text

    def close(self) -> str:
        """Return what was held back because it might have become an echo."""
        held, self._prefix, self._held = self._held, "", ""
        return held


class CutAtStop:
    """Ends the text before the first stop string; ``cut`` says that it has.

    The first stop is the one that is complete first (of two that end together, the longer one).
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.cut = False

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be delivered now."""
        if self.cut:
            return ""
        text = self._held + text
        found = [(at + len(stop), at) for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            self.cut, self._held = True, ""
            return text[: min(found)[1]]
        keep = self._beginning_of_a_stop(text)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def close(self) -> str:
        """Return what was held back because it might have become a stop string."""
        held, self._held = self._held, ""
        return held

    def _beginning_of_a_stop(self, text: str) -> int:
        longest = 0
        for stop in self._stops:
            for length in range(min(len(stop) - 1, len(text)), longest, -1):
                if text.endswith(stop[:length]):
                    longest = length
                    break
        return longest


class ReplyText:
    """The three of them in a row: surrogates, then the echo of ``prefix``, then ``stops``."""

    def __init__(self, prefix: str, stops: Sequence[str]) -> None:
        self._surrogates = JoinSurrogates()
        self._echo = DropEcho(prefix)
        self._stop = CutAtStop(stops)

    @property
    def cut(self) -> bool:
        """A stop string was found; nothing that follows belongs to the reply."""
        return self._stop.cut

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be delivered now."""
        return self._stop.feed(self._echo.feed(self._surrogates.feed(text)))

    def close(self) -> str:
        """Return what was held back."""
        rest = self._echo.feed(self._surrogates.close()) + self._echo.close()
        return self._stop.feed(rest) + self._stop.close()
