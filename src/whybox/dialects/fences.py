"""Code fences around text: which are decoration, and where they end."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPENING = re.compile(r"(`{3,}|~{3,})(?:[\w+#.-]{0,30}[ \t]*(?:\r?\n|(?=[{\[]))|[ \t]*)")
_FENCE_START = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[\w+-]{0,30}")
_FENCE_LINE = re.compile(r"[ \t>]{0,8}(?:`{3,}|~{3,})")


def is_fence(line: str) -> bool:
    """Return whether a line opens or closes a code fence."""
    return _FENCE_LINE.match(line) is not None


def fence_length(line: str) -> int:
    """Return how many characters of a line the opening fence and its language take."""
    found = _FENCE_START.match(line)
    return found.end() if found else 0


def bare_fence(line: str) -> bool:
    """Return whether a line is a fence and nothing else, so that it can close one."""
    return is_fence(line) and not line.strip(" \t\r\n>`~")


@dataclass(frozen=True, slots=True)
class Fence:
    """Where a fence's content stands in a text, where the text goes on, and whether the fence is closed."""

    start: int
    end: int
    rest: int
    closed: bool


def first_fence(text: str) -> tuple[str, str, bool]:
    """Return what the fence holds that ``text`` begins with, what follows it, and whether it is closed.

    The text must begin with the fence.
    """
    fence = fence_at(text, 0)
    return text[fence.start : fence.end].strip("\r\n"), text[fence.rest :], fence.closed


def fence_at(text: str, at: int) -> Fence:
    """Return the fence that begins at ``at``; when none does, all the text from there counts as its content."""
    opening = _OPENING.match(text, at)
    if opening is None:
        return Fence(at, len(text), len(text), closed=False)
    marks, start = opening[1], opening.end()
    closing = re.compile(rf"[\r\n][ \t>]{{0,8}}{marks}[`~]*").search(text, start - 1)
    if closing is not None:
        return Fence(start, max(start, closing.start()), closing.end(), closed=True)
    end = len(text.rstrip())
    if end - len(marks) >= start and text.endswith(marks, 0, end):
        return Fence(start, end - len(marks), len(text), closed=True)
    return Fence(start, len(text), len(text), closed=False)


def unfenced(text: str) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` stripped and without a code fence, or a pair of backticks, around the whole of it."""
    text = text.strip()
    if text.startswith(("```", "~~~")):
        inside, rest, closed = first_fence(text)
        if not rest.strip() or (closed and rest.startswith(("\n", "\r"))):
            return inside.strip(), ("fence_removed", "chatter_dropped") if rest.strip() else ("fence_removed",)
    elif text.endswith(("\n```", "\n~~~")) and text.count(text[-3:]) == 1:
        return text[:-3].rstrip(), ("fence_removed",)
    return text, ()
