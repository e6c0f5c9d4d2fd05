"""Reading an expression, as people and models write it, into tokens: once, from left to right."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from whybox.tools import words
from whybox.tools.arithmetic import MAX_DIGITS, Unreadable, too_large, too_small
from whybox.tools.cleaning import CHINESE_DIGITS, CHINESE_UNITS, plain_formula, read_chinese_integer, unwrap
from whybox.tools.functions import ALIASES, CONSTANTS, FUNCTIONS

Kind = Literal["number", "name", "op", "unit", "filler", "unknown"]

_NUMBER = re.compile(r"(?:\d[\d_]*+(?:\.(?!\.)\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})++(?!\d)(?:\.\d++)?")
_WORD = re.compile(r"[A-Za-z_](?:[A-Za-z_0-9']|\.(?=[A-Za-z]))*+")
_OPERATOR = re.compile(r"\*\*|//|<=|>=|==|!=(?=.*\S)|[-+*/%^!()\[\]=<>°,;]")
_CHINESE = re.compile(r"[〇\u4e00-\u9fff]")
_NUMERAL = re.compile(f"[{''.join(sorted(CHINESE_DIGITS | CHINESE_UNITS))}]+")
_POWER = re.compile(r"的?\s?(\d{1,6}|" + _NUMERAL.pattern + r")\s?次[方幂]")
_GLUED = re.compile(r"([a-z]+)(\d.*)", re.DOTALL)
_BLANKS = re.compile(r"[ \t\r\f\v]*")
_FILLER_MARKS = "?:.…~"


@dataclass(slots=True)
class Token:
    """One piece of an expression.

    Args:
        kind: what it is.
        text: an operator or a name in its plain form, otherwise the text as it stands.
        start: where it begins in the cleaned text.
        end: where it ends.
        value: of a number.
        apart: something that was dropped stood before it.
    """

    kind: Kind
    text: str
    start: int
    end: int
    value: Fraction = Fraction(0)
    apart: bool = False


def read_tokens(text: str) -> tuple[str, list[Token]]:
    """Return the cleaned text and all its tokens, also the fillers, units and unknown words.

    Raises:
        Trouble: a number is too long, or ``!=`` may also be ``! =``.
    """
    cleaned = unwrap(plain_formula(text))
    return cleaned, _Lexer(cleaned).read()


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tokens: list[Token] = []
        self.separating: list[bool] = []
        """For each open bracket: whether commas in it stand between arguments, not between thousands."""

    def read(self) -> list[Token]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char.isspace():
                self._blank(char)
            elif _NUMBER.match(self.text, self.at):
                self._number()
            elif _WORD.match(self.text, self.at):
                self._word()
            elif _CHINESE.match(char):
                self._chinese()
            else:
                self._sign(char)
        return self.tokens

    def _add(self, kind: Kind, text: str, end: int, value: Fraction = Fraction(0)) -> None:
        self.tokens.append(Token(kind, text, self.at, end, value))
        self.at = end

    def _blank(self, char: str) -> None:
        if char == "\n":
            self._add("op", ";", self.at + 1)
        else:
            self.at += 1

    def _sign(self, char: str) -> None:
        found = _OPERATOR.match(self.text, self.at)
        if found:
            operator = {"**": "^", "==": "="}.get(found[0], found[0])
            if operator == "!=" and not self.text[self.at - 1 : self.at].isspace():
                raise Unreadable("!= without a space has two meanings: 3! = 6, 3 != 6", "!= 有歧义：3! = 6 还是 3 != 6")
            self._bracket(operator)
            self._add("op", operator, found.end())
        elif char in words.PREFIX_UNITS:
            self._add("unit", char, self.at + 1)
        else:
            self._add("filler" if char in _FILLER_MARKS else "unknown", char, self.at + 1)

    def _bracket(self, operator: str) -> None:
        if operator == "(":
            last = self.tokens[-1] if self.tokens else None
            called = last is not None and last.kind == "name" and last.text in FUNCTIONS
            self.separating.append(called and last is not None and FUNCTIONS[last.text].most != 1)
        elif operator == "[":
            self.separating.append(bool(self.separating) and self.separating[-1])
        elif operator in ")]" and self.separating:
            self.separating.pop()

    def _number(self) -> None:
        grouped = None if self.separating and self.separating[-1] else _GROUPED.match(self.text, self.at)
        plain = _NUMBER.match(self.text, self.at)
        found = grouped or plain
        if found is None:
            raise AssertionError("only called where a number begins")
        value = read_decimal(found[0].replace(",", ""))
        end = found.end()
        multiplied = self._multiplier(end)
        if multiplied:
            value, end = value * multiplied[0], multiplied[1]
            # 3万5千: a smaller part follows at once.
            part = _NUMBER.match(self.text, end)
            smaller = self._multiplier(part.end()) if part else None
            if part and smaller and smaller[0] < multiplied[0]:
                value, end = value + read_decimal(part[0]) * smaller[0], smaller[1]
        self._add("number", self.text[self.at : end], end, value)

    def _multiplier(self, at: int) -> tuple[int, int] | None:
        """Return what a word behind a number multiplies it by (万, million), and where the word ends."""
        blanks = _BLANKS.match(self.text, at)
        start = blanks.end() if blanks else at
        found = _WORD.match(self.text, start)
        word = found[0].casefold() if found else self._longest(start, words.MULTIPLIERS.keys())
        if word not in words.MULTIPLIERS:
            return None
        if not found and len(self._longest(start, words.CHINESE)) > len(word):
            return None
        return words.MULTIPLIERS[word], start + len(word)

    def _longest(self, at: int, vocabulary: Container[str]) -> str:
        """Return the longest word of the Chinese vocabulary that stands at a place, or nothing."""
        for length in range(min(words.LONGEST_CHINESE, len(self.text) - at), 0, -1):
            word = self.text[at : at + length]
            if word in vocabulary:
                return word
        return ""

    def _word(self) -> None:
        found = _WORD.match(self.text, self.at)
        if found is None:
            raise AssertionError("only called where a word begins")
        word = found[0].casefold()
        follows = _BLANKS.match(self.text, found.end())
        called = follows is not None and self.text[follows.end() : follows.end() + 1] == "("
        name = _resolve(word)
        phrase, end = self._phrase()
        if name == "factorial" and not called and self.tokens and self.tokens[-1].kind == "number":
            self._add("op", "spoken!", found.end())
        elif name and (called or phrase is None):
            self._add("name", name, found.end())
        elif phrase is not None:
            self._known(phrase, end)
        elif word[0] == "x" and self._is_times(found.end(), word):
            self._add("op", "*", self.at + 1)
        else:
            self._unknown_word(word, found.end())

    def _unknown_word(self, word: str, end: int) -> None:
        glued = _GLUED.fullmatch(word)
        name = _resolve(glued[1]) if glued else None
        if glued and name in FUNCTIONS:
            self._add("name", name, self.at + len(glued[1]))
        else:
            self._add("unknown", self.text[self.at : end], end)

    def _is_times(self, end: int, word: str) -> bool:
        """Tell whether an x stands between two numbers: ``3 x 4``, ``3x4``."""
        if not self.tokens or not (self.tokens[-1].kind == "number" or self.tokens[-1].text in {")", "!", "%"}):
            return False
        if len(word) > 1:
            return word[1:].isdigit()
        follows = _BLANKS.match(self.text, end)
        after = follows.end() if follows else end
        return self.text[after : after + 1] == "(" or _NUMBER.match(self.text, after) is not None

    def _phrase(self) -> tuple[str | None, int]:
        """Return the longest known English phrase that begins here, and where it ends."""
        best: tuple[str | None, int] = (None, self.at)
        spoken: list[str] = []
        at = self.at
        for _ in range(words.LONGEST_PHRASE):
            found = _WORD.match(self.text, at)
            if not found:
                break
            spoken.append(found[0].casefold())
            phrase = " ".join(spoken)
            if phrase in words.ENGLISH:
                best = (phrase, found.end())
            blanks = _BLANKS.match(self.text, found.end())
            at = blanks.end() if blanks else found.end()
        return best

    def _chinese(self) -> None:
        power = _POWER.match(self.text, self.at)
        word = self._longest(self.at, words.CHINESE)
        numeral = _NUMERAL.match(self.text, self.at)
        if power:
            exponent = read_chinese_integer(power[1])
            self._add("op", "spoken^", power.start(1))
            self._add("number", power[1], power.end(), Fraction(int(power[1]) if exponent is None else exponent))
        elif numeral and len(numeral[0]) > len(word):
            self._chinese_number(numeral[0])
        elif word:
            self._known(word, self.at + len(word))
        else:
            self._unknown_character()

    def _unknown_character(self) -> None:
        """Take a character that begins no known word, together with those before it."""
        last = self.tokens[-1] if self.tokens else None
        if last and last.kind == "unknown" and last.end == self.at:
            self.at = last.end = last.end + 1
            last.text = self.text[last.start : last.end]
        else:
            self._add("unknown", self.text[self.at], self.at + 1)

    def _chinese_number(self, whole: str) -> None:
        value = read_chinese_integer(whole)
        end = self.at + len(whole)
        decimals = _NUMERAL.match(self.text, end + 1) if self.text[end : end + 1] == "点" else None
        digits = "".join(str(read_chinese_integer(char)) for char in decimals[0]) if decimals else ""
        if value is None or not (digits.isdigit() or not decimals):
            self._add("unknown", whole, end)
            return
        end = decimals.end() if decimals else end
        self._add("number", self.text[self.at : end], end, value + Fraction(int(digits or 0), 10 ** len(digits)))

    def _known(self, word: str, end: int) -> None:
        if word in words.OPERATORS:
            self._add("op", words.OPERATORS[word], end)
        elif word in words.NAMES:
            self._add("name", words.NAMES[word], end)
        elif word in words.FILLERS:
            self._add("filler", word, end)
        else:
            self._add("unit" if word in words.UNITS else "unknown", self.text[self.at : end], end)


def _resolve(word: str) -> str | None:
    """Return the function or constant that a word names, in any of its spellings."""
    bare = word.removeprefix("math.").removeprefix("numpy.").removeprefix("np.")
    if bare != word and bare == "log":
        return ALIASES["math.log"]
    name = ALIASES.get(bare, bare)
    return name if name in FUNCTIONS or name in CONSTANTS else None


def read_decimal(text: str) -> Fraction:
    """Return the exact value of ``1_200.50e3``.

    Raises:
        Trouble: it has too many digits or is too close to zero.
    """
    mantissa, _, exponent = text.casefold().replace("_", "").partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent) > len(str(MAX_DIGITS)) + 1 or abs(int(exponent or 0)) > MAX_DIGITS:
        raise too_small() if exponent.startswith("-") else too_large()
    whole, _, decimals = mantissa.partition(".")
    return Fraction(int(whole + decimals)) * Fraction(10) ** (int(exponent or 0) - len(decimals))
