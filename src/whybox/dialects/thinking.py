"""The tags around a model's reasoning, as data."""

from __future__ import annotations

import re
from typing import Literal

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "analysis", "scratchpad", "plan")
PAIRS = (
    *((f"<{name}>", f"</{name}>") for name in _NAMES),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
)
"""Opening and closing tags, in lower case."""

_OPENINGS = dict(PAIRS)
_CLOSINGS = tuple(closing for _, closing in PAIRS)
_CLOSING = re.compile("|".join(map(re.escape, _CLOSINGS)), re.IGNORECASE)
LONGEST = max(len(tag) for pair in PAIRS for tag in pair)


def opening_tag(line: str) -> tuple[str, str] | Literal["more"] | None:
    """Return the opening tag that ``line`` begins with, and the one that closes it; ``more`` when that is not clear."""
    lower = line[:LONGEST].lower()
    for tag, closing in PAIRS:
        if lower.startswith(tag):
            return tag, closing
    return "more" if any(tag.startswith(lower) for tag in _OPENINGS) else None


def closing_tag(text: str, at: int) -> str | Literal["more"] | None:
    """Return the closing tag that stands at ``at``; ``more`` when that is not clear yet."""
    if (found := _CLOSING.match(text, at)) is not None:
        return found[0].lower()
    if len(text) - at >= LONGEST:
        return None
    lower = text[at:].lower()
    return "more" if any(tag.startswith(lower) for tag in _CLOSINGS) else None


FIRST_CHARACTERS = "".join(sorted({tag[0] for tag in _CLOSINGS}))


def finds(closing: str) -> re.Pattern[str]:
    """Return what finds this closing tag, in any case."""
    return re.compile(re.escape(closing), re.IGNORECASE)
