"""What of a text is the expression: words of asking and units around it are dropped.

Words are dropped only when they are known to mean nothing (``please compute``, ``等于多少``) or to be a unit, and
units only when there is one of them; see :mod:`whybox.tools.words`.
"""

from __future__ import annotations

from whybox.tools import words
from whybox.tools.arithmetic import Unreadable
from whybox.tools.lexer import Token

_LONGEST_SHOWN = 40


def unknown_word(word: str) -> Unreadable:
    """Return the error of a word that is no part of an expression."""
    shown = word if len(word) <= _LONGEST_SHOWN else f"{word[:_LONGEST_SHOWN]}..."
    return Unreadable(f'"{shown}" is not part of an expression', f"“{shown}”不是算式的一部分")


def several() -> Unreadable:
    """Return the error of more than one expression in one input."""
    return Unreadable("there is more than one expression, or an operator is missing", "有多个算式，或者缺少运算符")


def expression_tokens(tokens: list[Token]) -> list[Token]:
    """Return the tokens of the expression alone.

    Raises:
        Unreadable: there is no number, a word is not understood, or there is more than one unit or expression.
    """
    kept: list[Token] = []
    units: dict[str, str] = {}
    apart = False
    for token in tokens:
        if token.kind == "unknown" or (token.kind == "unit" and not _may_have_unit(token, kept, apart)):
            raise unknown_word(token.text)
        if token.kind == "unit":
            units.setdefault(token.text.casefold().removesuffix("s"), token.text)
        elif token.kind == "filler":
            apart = True
        else:
            token.apart = apart
            kept.append(token)
            apart = False
    if len(units) > 1:
        names = ", ".join(units.values())
        raise Unreadable(f"there is more than one unit ({names}); convert first", f"有多个单位（{names}），请先换算")
    return _inner(kept)


def _may_have_unit(token: Token, kept: list[Token], apart: bool) -> bool:
    if token.text in words.PREFIX_UNITS:
        return True
    return bool(kept) and not apart and (kept[-1].kind == "number" or kept[-1].text == ")")


def _inner(tokens: list[Token]) -> list[Token]:
    """Return the tokens without ``=``, commas and line ends around the expression and line ends inside brackets."""
    start, end = 0, len(tokens)
    while start < end and tokens[start].kind == "op" and tokens[start].text in {"=", ",", ";", "of"}:
        start += 1
    while end > start and tokens[end - 1].kind == "op" and tokens[end - 1].text in {"=", ",", ";", "of"}:
        end -= 1
    inner: list[Token] = []
    depth = 0
    for token in tokens[start:end]:
        depth += (token.text in {"(", "["}) - (token.text in {")", "]"})
        if not (token.text == ";" and (depth > 0 or (inner and inner[-1].text in set("+-*/^=<>")))):
            inner.append(token)
    return inner


def without_words(cleaned: str, tokens: list[Token]) -> str | None:
    """Return the expression without the words behind its numbers (``17 boxes * 24 apples``: ``17 * 24``), or None.

    None where leaving them out could change what is meant: a word that may stand for a number or a function, or
    several units in anything but a product.
    """
    kept: list[Token] = []
    dropped: dict[str, None] = {}
    last: Token | None = None
    for token in tokens:
        if token.kind in {"number", "name", "op"}:
            kept.append(token)
        elif token.kind != "filler":
            apart = last is not None and (last.end < token.start or not token.text.isascii())
            if last is None or not apart or not (last.kind in {"number", "unit", "unknown"} or last.text == ")"):
                return None
            dropped[token.text] = None
        last = token
    if not dropped or (len(dropped) > 1 and any(token.kind == "op" and token.text != "*" for token in kept)):
        return None
    return " ".join(cleaned[token.start : token.end] for token in kept)
