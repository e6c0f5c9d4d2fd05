"""Names and signs around labels that readers look for, and how text is folded to compare it with them."""

from __future__ import annotations

import re
import unicodedata

FINISH = frozenset(
    {"finish", "final answer", "final_answer", "finalanswer", "final-answer", "完成", "结束", "最终答案"}
)
"""Names of the built-in action that gives the answer."""

NO_ACTION = frozenset(
    {"none", "null", "n/a", "na", "nil", "no action", "no tool", "nothing", "no", "-", "—", "无", "沒有", "没有"}
)
"""What a model writes for an action when it means that there is none."""

_NO_ACTION_STARTS = re.compile(
    r"(?:无需|不需要|不用|没有必要|無需|none needed|none required|not needed|not required|not applicable"
    r"|no (?:further |more |other )?(?:action|tool|tools|function|call)(?: is| are)?"
    r"(?: (?:needed|required|necessary|call|use)| ?$))"
)

INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0f\u00ad\u20e3"
"""Characters that show nothing and mean nothing in a label."""

_ACCENTS = str.maketrans({"ø": "o", "đ": "d"})


def fold(text: str) -> str:
    """Return ``text`` in lower case, with full-width letters made plain and accents removed; lengths stay the same."""
    return text.lower() if text.isascii() else "".join(map(_folded, text))


def _folded(char: str) -> str:
    if "\uff01" <= char <= "\uff5e":
        char = chr(ord(char) - 0xFEE0)
    lower = char.lower()
    if len(lower) != 1:
        return char
    # Hangul syllables and kana with marks are letters of their own.
    base = lower if "\u1100" <= lower <= "\ud7ff" or lower < "\x80" else unicodedata.normalize("NFD", lower)[0]
    return base.translate(_ACCENTS)


def is_no_action(name: str) -> bool:
    """Return whether ``name``, folded, says that there is no action."""
    first = re.split(r"[(（;；,，.。!\n]", name, maxsplit=1)[0].strip(" *`'\"[]【】")
    return first in NO_ACTION or _NO_ACTION_STARTS.match(first) is not None
