"""Text of models and tools, made safe to show on a terminal."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_CONTROLS = dict.fromkeys([*range(32), *range(127, 160), 8206, 8207, *range(8234, 8239), *range(8294, 8298)])
for _kept in (9, 10):
    del _CONTROLS[_kept]


def printable(text: str) -> str:
    """Return ``text`` without terminal escapes, control characters and marks that turn the writing direction.

    Line breaks and tabs stay; ``\\r\\n`` becomes ``\\n``.
    """
    return _ESCAPES.sub("", text.replace("\r\n", "\n")).translate(_CONTROLS)


def folded(text: str, lines: int = 8, chars: int = 700) -> tuple[str, int, int]:
    """Return the head of ``text``, and how many lines and characters were left out of it.

    A text that is only a little longer than the bounds is shown whole: folding it would hide little and cost a look.
    """
    if len(text) <= chars * 4 // 3 and text.count("\n") < lines + 3:
        return text, 0, 0
    head = "\n".join(text[:chars].split("\n")[:lines])
    rest = text[len(head) :]
    return head, rest.rstrip("\n").count("\n"), len(rest)
