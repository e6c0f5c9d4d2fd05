"""Which language a text is in, as far as prompts need to know."""

from __future__ import annotations


def language_of(text: str) -> str:
    """Return ``zh`` when the text is mostly Chinese, else ``en``.

    A Chinese character counts for two letters, since it carries about as much.
    """
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in text)
    latin = sum(char.isascii() and char.isalpha() for char in text)
    return "zh" if chinese and chinese * 2 >= latin else "en"
