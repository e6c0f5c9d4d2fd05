"""Where sentences end, in English and Chinese."""

from __future__ import annotations

import re
from typing import Final

from whybox.tools.segmentation import is_cjk

_SENTENCE_END: Final = re.compile(
    r"""[.!?]{1,3}["'”’)\]]{0,2}\s{1,4}(?=["'“‘(\[]{0,2}[^\W_a-z])|[。！？；]{1,3}["”’』」）)]{0,2}\s{0,4}"""
)
_ABBREVIATION: Final = re.compile(r"(?:\b[A-Za-z]|\b(?:Dr|Mr|Mrs|Ms|St|Prof|No|vs|ca|approx|Jr|Sr|Mt|Inc|e\.g|i\.e))$")
_NO_SPACE_AFTER: Final = "，。；：、！？（“”「」《》"


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each sentence of ``text``; together they cover it."""
    spans, start = [], 0
    breaks = [(match.start(), match.end()) for match in _SENTENCE_END.finditer(text)]
    breaks += [(match.start(), match.end()) for match in re.finditer(r"\n", text)]
    for stop, end in sorted(breaks):
        if end <= start or (text[stop] == "." and _ABBREVIATION.search(text, max(start, stop - 8), stop)):
            continue
        spans.append((start, end))
        start = end
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def joint(before: str, after: str) -> str:
    """Return what belongs between two pieces of running text: a blank, or nothing around Chinese."""
    if not before or not after:
        return ""
    return "" if before[-1] in _NO_SPACE_AFTER or (is_cjk(before[-1]) and is_cjk(after[0])) else " "
