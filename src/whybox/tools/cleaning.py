"""Cleaning of what models put into a tool's input: full-width characters, mathematical signs, quotes, labels.

Everything here reads its text a fixed number of times.
"""

from __future__ import annotations

import re

_FULL_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}

_SIGNS = {
    "\u3000": " ", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2007": " ",
    "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "", "\ufe0f": "",
    "，": ",", "、": ",", "。": ".", "．": ".", "：": ":", "；": ";", "？": "?", "！": "!",
    "（": "(", "）": ")", "【": "[", "】": "]", "〔": "(", "〕": ")",
    "“": '"', "”": '"', "„": '"', "「": '"', "」": '"', "『": '"', "』": '"', "«": '"', "»": '"', "《": '"', "》": '"',
    "‘": "'", "’": "'", "′": "'", "´": "'",
    "×": "*", "✕": "*", "✖": "*", "⋅": "*", "·": "*", "∙": "*", "∗": "*", "⨯": "*",
    "÷": "/", "∕": "/", "⁄": "/", "➗": "/",
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "‒": "-", "﹣": "-", "➖": "-",
    "＋": "+", "➕": "+", "﹢": "+", "﹪": "%", "⩵": "==", "≈": "=",
    "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "≠": "!=",
    "π": "pi", "Π": "pi", "𝜋": "pi", "℃": " ", "º": "°", "˚": "°", "￥": "¥",
}  # fmt: skip

_PLAIN = str.maketrans({**{chr(code): char for code, char in _FULL_WIDTH.items()}, **_SIGNS})

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SUPERSCRIPT_RUN = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")

_FRACTIONS = {
    "½": "(1/2)", "⅓": "(1/3)", "⅔": "(2/3)", "¼": "(1/4)", "¾": "(3/4)", "⅕": "(1/5)", "⅛": "(1/8)",
}  # fmt: skip
_MATHS = str.maketrans({**_FRACTIONS, "√": " sqrt ", "∛": " cbrt "})

_FENCE = re.compile(r"^```(?:[A-Za-z]{0,12}\s)?|```$")
_PAIRS = {'"': '"', "'": "'", "`": "`"}


def plain(text: str) -> str:
    """Return ``text`` with full-width characters, typographic quotes, dashes and mathematical signs as ASCII.

    ``×`` and ``÷`` become ``*`` and ``/``, ``π`` becomes ``pi``, ``。`` becomes ``.``; zero-width characters go.
    Chinese characters stay.
    """
    return text.translate(_PLAIN)


def plain_formula(text: str) -> str:
    """Return :func:`plain` text in which ``²``, ``√`` and ``½`` too are ASCII: ``^2``, ``sqrt``, ``(1/2)``."""
    raised = _SUPERSCRIPT_RUN.sub(lambda run: f"^({run[0].translate(_SUPERSCRIPTS)})", text)
    return plain(raised.translate(_MATHS))


def unwrap(text: str) -> str:
    """Return ``text`` without blanks, quotes, backticks and code fences around the whole of it."""
    text = _FENCE.sub("", text.strip()).strip() if "```" in text else text.strip()
    start, end = 0, len(text)
    while end - start >= 2 and _PAIRS.get(text[start]) == text[end - 1]:
        start += 1
        end -= 1
    return text[start:end].strip()


def number_text(text: str) -> str:
    """Return a number as ``int`` and ``float`` read it: ``１，２００ `` becomes ``1200``; other text is only tidied."""
    tidy = unwrap(plain(text))
    grouped = re.fullmatch(r"([+-]?\d{1,3})((?:,\d{3})+)(\.\d+)?", tidy)
    if grouped:
        return grouped[1] + grouped[2].replace(",", "") + (grouped[3] or "")
    return tidy


_DIGIT_CHARS = ("零〇○", "一壹", "二两兩贰", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖")
_DIGITS = {char: value for value, chars in enumerate(_DIGIT_CHARS) for char in chars}
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_BIG_UNITS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

_LONGEST_NUMERAL = 40

CHINESE_DIGITS = frozenset(_DIGITS)
CHINESE_UNITS = frozenset(_UNITS) | frozenset(_BIG_UNITS)


def read_chinese_integer(text: str) -> int | None:
    """Return the value of a whole number in Chinese characters (``三十二``, ``一万二``, ``二〇二四``), or None.

    A last digit right behind a unit counts in the next lower one, as it is spoken: ``三千五`` is 3500.
    """
    if not 0 < len(text) <= _LONGEST_NUMERAL or any(char not in _DIGITS and char not in CHINESE_UNITS for char in text):
        return None
    if all(char in _DIGITS for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    return _read_with_units(text)


def _read_with_units(text: str) -> int | None:
    total = section = 0
    digit: int | None = None
    last_unit, last_big = 10**5, 10**13
    for position, char in enumerate(text):
        if char in _DIGITS:
            if digit not in (None, 0):
                return None
            digit = _DIGITS[char]
        elif char in _UNITS:
            if _UNITS[char] >= last_unit or (digit is None and _UNITS[char] != 10) or digit == 0:
                return None
            section += (1 if digit is None else digit) * _UNITS[char]
            digit, last_unit = None, _UNITS[char]
        elif text[position - 1] in _BIG_UNITS and _BIG_UNITS[char] > last_big:
            total, last_big = total * _BIG_UNITS[char], 0
        else:
            if _BIG_UNITS[char] >= last_big or not (section or digit):
                return None
            total += (section + (digit or 0)) * _BIG_UNITS[char]
            section, digit, last_unit, last_big = 0, None, 10**5, _BIG_UNITS[char]
        if position == len(text) - 1:
            return total + section + _spoken_end(text, digit)
    return None


def _spoken_end(text: str, digit: int | None) -> int:
    """Return what the last digit counts: behind 百, 千, 万 or 亿 it stands for the next lower unit."""
    if not digit:
        return 0
    unit = {**_UNITS, **_BIG_UNITS}.get(text[-2], 1)
    return digit * unit // 10 if unit >= 100 else digit
