"""How many tokens a text has, roughly, for models whose tokenizer is not here. Pure."""

from __future__ import annotations

import re

_PARTS = re.compile(r"(?P<cjk>[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+)|(?P<word>\w+)|(?P<mark>[^\w\s])")


def estimated_tokens(text: str) -> int:
    """Return the likely length of ``text`` in tokens: 4 letters, 1.6 Chinese characters or one mark each."""
    tokens = 0.0
    for part in _PARTS.finditer(text):
        length = len(part[0])
        tokens += length / 1.6 if part["cjk"] else max(1.0, length / 4) if part["word"] else length
    return round(tokens)
