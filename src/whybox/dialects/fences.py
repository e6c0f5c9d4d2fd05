"""Code fences around text: which are decoration, and where they end."""

from __future__ import annotations

import re

_OPENING = re.compile(r"(`{3,}|~{3,})(?:[\w+#.-]{0,30}[ \t]*(?:\r?\n|(?=[{\[]))|[ \t]*)")
_FENCE_START = re.compile(r"[ \t]*(?:`{3,}|~{3,})[\w+-]{0,30}")
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


def first_fence(text: str) -> tuple[str, str, bool]:
    """Return what the fence holds that ``text`` begins with, what follows it, and whether it is closed.

    The text must begin with the fence.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return text, "", False
    marks, start = opening[1], opening.end()
    closing = re.compile(rf"[\r\n][ \t>]{{0,8}}{marks}").search(text, start - 1)
    if closing is not None:
        return text[start : closing.start()].strip("\r\n"), text[closing.end() :].lstrip("`~"), True
    end = len(text.rstrip())
    if end - len(marks) >= start and text.endswith(marks, 0, end):
        return text[start : end - len(marks)].strip("\r\n"), "", True
    return text[start:], "", False


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
